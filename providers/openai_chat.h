#ifndef PROVIDERS_OPENAI_CHAT_H
#define PROVIDERS_OPENAI_CHAT_H
/* The dialect of OpenAI Chat Completions (API_OPENAI_CHAT), for registry.c. */
#include "providers/dialect.h"

extern const struct dialect openai_chat;

/* {"error":{"message","type","param":null,"code"}}, with "details" inside when there are any. */
void openai_chat_error_body(const struct error *e, struct buf *out);

#endif
