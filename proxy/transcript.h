#ifndef PROXY_TRANSCRIPT_H
#define PROXY_TRANSCRIPT_H
/*
 * What is said to a provider that writes down audio and what it answers, in OpenAI's shape (POST
 * /v1/audio/transcriptions, https://platform.openai.com/docs/api-reference/audio/createTranscription), and
 * the text that a model is given. Pure; any thread may call it.
 */
#include "base/buf.h"
#include "base/limits.h"

/* Whether such a provider takes that media type: mp3, mp4, mpeg, mpga, m4a, wav, webm. */
bool transcript_takes(struct span media_type);

struct transcript_file {
    struct span name; /* display name */
    struct span media_type, bytes;
};

/* Appends the request's body; `boundary` as in base/multipart.h. Times are asked for of models that know
 * them. */
void transcript_request(const char *model, const struct transcript_file *file, const char *boundary,
                        struct buf *out);
/*
 * Appends what a model is told, from the body of a good answer:
 *   ### Audio transcript (meeting.mp3, 4:12, whisper-1)
 *
 *   [00:00:12] a line a segment, or the text where there are none
 * -1 with a clause in `why`: it is not what it should be, or it does not fit.
 */
int transcript_read(struct span body, struct span name, const char *engine, struct buf *out,
                    char why[LIMIT_ERROR_TEXT]) MUST_USE;

#endif
