#ifndef PROVIDERS_OPENAI_RESPONSES_H
#define PROVIDERS_OPENAI_RESPONSES_H
/* The dialect of OpenAI Responses (API_OPENAI_RESPONSES), for registry.c, and its parts in files of their
 * own, for the dialect; they are as providers/dialect.h says. */
#include "providers/dialect.h"

extern const struct dialect openai_responses;

/* request_openai_responses.c */
void openai_responses_request(struct span body, struct request_facts *facts);
void openai_responses_add_protocol(struct span body, const struct request_facts *facts, struct span protocol,
                                   struct buf *room, struct edits *edits);

/* own_openai_responses.c */
void openai_responses_keep_shape(const struct reply_event *e, uint32_t channel, struct buf *out);
void openai_responses_text_event(struct span shape, uint32_t channel, int64_t number, struct span escaped,
                                 struct span tokens, struct buf *out);
void openai_responses_report_event(struct span shape, int64_t number, struct span report, bool cut,
                                   struct buf *out);
void openai_responses_citation(struct span entry, size_t at, struct buf *out);
void openai_responses_error_event(const struct error *e, bool named, struct buf *out);

#endif
