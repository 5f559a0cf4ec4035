/* A recording in an encoding that transcription endpoints do not take, as an MP3 that they do. */
#include <stdio.h>

#include "attachments/extract.h"
#include "attachments/extraction.h"
#include "attachments/speech.h"

enum { SECONDS = 3600 };

static int warm_mp3(void)
{
    return speech_encodes() ? 0 : 1;
}

static enum render_status extract_mp3(struct span source, const struct render_params *params, struct buf *out,
                                      char sentence[RENDER_SENTENCE])
{
    struct buf pcm;
    (void)params;
    buf_init(&pcm, ((size_t)SECONDS + 2) * SPEECH_RATE * sizeof(short));
    enum render_status status = speech_decode(source, SECONDS, &pcm, sentence);
    if (status == RENDER_LIMIT)
        snprintf(
            sentence, RENDER_SENTENCE,
            "is longer than an hour, the most that is made ready for its transcription; split it, or send it "
            "as mp3, m4a or wav.");
    if (status == RENDER_OK)
        status = speech_encode(buf_span(&pcm), out, sentence);
    buf_free(&pcm);
    return status;
}

static const char *const formats[] = {EXTRACT_MP3, NULL};

const struct renderer_ops extract_mp3_ops = {
    .name = "mp3",
    .version = "1",
    .formats = formats,
    .limits = {.source_bytes = RENDER_SOURCE,
               .out_bytes = 32 * 1024 * 1024,
               .memory_bytes = SPEECH_MEMORY,
               .cpu_s = 120,
               .wall_ms = 240000},
    .warm = warm_mp3,
    .render = extract_mp3,
};
