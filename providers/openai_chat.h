#ifndef PROVIDERS_OPENAI_CHAT_H
#define PROVIDERS_OPENAI_CHAT_H
/* The dialect of OpenAI Chat Completions (API_OPENAI_CHAT), for registry.c, and its requests, which are in a
 * file of their own (request_openai_chat.c); they are as providers/dialect.h says. */
#include "providers/dialect.h"

extern const struct dialect openai_chat;

void openai_chat_request(struct span body, struct request_facts *facts);
void openai_chat_add_protocol(struct span body, const struct request_facts *facts, struct span protocol,
                              struct buf *room, struct edits *edits);

#endif
