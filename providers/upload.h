#ifndef PROVIDERS_UPLOAD_H
#define PROVIDERS_UPLOAD_H
/*
 * What is said to a provider's files API and what it answers, for files that go to a model by way of an
 * upload (place.h): OpenAI's, Anthropic's, Gemini's and Moonshot's. Pure; who sends it, waits and remembers
 * is elsewhere. A dialect that is not known here makes no uploads.
 *
 *   SEND --(Gemini: DATA, to the address that it names)--> [STATE …] --> there; [CONTENT] … DELETE
 *
 * Formats: https://platform.openai.com/docs/api-reference/files,
 * https://docs.anthropic.com/en/docs/build-with-claude/files, https://ai.google.dev/api/files,
 * https://platform.moonshot.ai/docs/api/files.
 */
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"

enum upload_step {
    UPLOAD_SEND,    /* the file; of Gemini the announcement of it */
    UPLOAD_DATA,    /* of Gemini: the bytes. The path is that of the address in UPLOAD_ADDRESS_FIELD */
    UPLOAD_STATE,   /* is it ready? */
    UPLOAD_CONTENT, /* of Moonshot: the text that was got out of it */
    UPLOAD_DELETE,
};

/* The field of Gemini's answer to UPLOAD_SEND that says where the bytes are to go. */
#define UPLOAD_ADDRESS_FIELD "x-goog-upload-url"

enum { UPLOAD_ID = 256, UPLOAD_URI = 1024 };

struct upload_file {
    struct span name;       /* display name */
    struct span media_type; /* as sniffed */
    struct span bytes;
    int64_t ttl_s; /* for how long it is wanted; providers that delete by themselves are told a longer one */
};

struct upload_message {
    const char *method;
    struct buf path;        /* empty for UPLOAD_DATA */
    struct buf fields;      /* header lines, each with its line end, without key and content type */
    char content_type[128]; /* of the body; empty: there is none */
    struct buf body;
};

/* Bytes that a request may have in all with its files inside of it, as far as is known; 0: nothing is. Above
 * that, files are uploaded. */
size_t upload_inline_most(const char *dialect);
/* Whether a file that was uploaded is wanted for the text that the provider makes of it. */
bool upload_is_for_text(const char *dialect, struct span media_type);
/* Writes what is to be sent. `base_path` is the provider's (it may end with the API's version already),
 * `boundary` as in base/multipart.h; `id` is of the steps behind UPLOAD_SEND; `file`
 * of the first two. To be given back with upload_message_finish. -1: that dialect has no such step. */
int upload_write(const char *dialect, const char *base_path, enum upload_step step,
                 const struct upload_file *file, const char *id, const char *boundary,
                 struct upload_message *out) MUST_USE;
void upload_message_finish(struct upload_message *m);
enum upload_state { UPLOAD_READY, UPLOAD_WAIT, UPLOAD_FAILED };

struct upload_reply {
    enum upload_state state;
    char id[UPLOAD_ID];   /* fit to stand in a path and in JSON */
    char uri[UPLOAD_URI]; /* what a request names it by: the id, or Gemini's URI; fit for JSON */
    int64_t expires_s;    /* when the provider forgets it; 0: not said */
};

/* The body of a good answer to UPLOAD_SEND (of Gemini: UPLOAD_DATA) or UPLOAD_STATE. -1 with a clause in
 * `why`: it is not what it should be. */
int upload_read(const char *dialect, struct span body, struct upload_reply *out,
                char why[LIMIT_ERROR_TEXT]) MUST_USE;

#endif
