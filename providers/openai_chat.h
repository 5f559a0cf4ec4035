#ifndef PROVIDERS_OPENAI_CHAT_H
#define PROVIDERS_OPENAI_CHAT_H
/* The dialect of OpenAI Chat Completions (API_OPENAI_CHAT), for registry.c, and its parts in files of their
 * own, for the dialect; they are as providers/dialect.h says. */
#include "providers/dialect.h"
#include "providers/walk.h"

extern const struct dialect openai_chat;

/* request_openai_chat.c */
void openai_chat_request(struct span body, struct request_facts *facts);
void openai_chat_add_protocol(struct span body, const struct request_facts *facts, struct span protocol,
                              struct buf *room, struct edits *edits);

/* own_openai_chat.c */
void openai_chat_keep_shape(const struct reply_event *e, uint32_t channel, struct buf *out);
void openai_chat_text_event(struct span shape, uint32_t channel, int64_t number, struct span escaped,
                            struct span tokens, struct buf *out);
void openai_chat_report_event(struct span shape, int64_t number, struct span report, bool cut,
                              struct buf *out);
void openai_chat_error_event(const struct error *e, bool named, struct buf *out);

/* Members of a chunk that stand in every one of them and say nothing of this one. */
static inline bool openai_chat_is_frame(const struct walk *w, struct span key)
{
    switch (w->escaped ? 0 : key.n) {
    case 2:
        return memcmp(key.p, "id", 2) == 0;
    case 5:
        return memcmp(key.p, "model", 5) == 0;
    case 6:
        return memcmp(key.p, "object", 6) == 0;
    case 7:
        return memcmp(key.p, "created", 7) == 0;
    case 11:
        return memcmp(key.p, "obfuscation", 11) == 0;
    case 12:
        return memcmp(key.p, "service_tier", 12) == 0;
    case 18:
        return memcmp(key.p, "system_fingerprint", 18) == 0;
    default:
        return false;
    }
}

#endif
