/* A recording as its transcript, without a network (attachments/speech.h). */
#include "attachments/extract.h"
#include "attachments/extraction.h"
#include "attachments/speech.h"

static int warm_audio(void)
{
    return speech_works() ? 0 : 1;
}

static enum render_status extract_audio(struct span source, const struct render_params *params,
                                        struct buf *out, char sentence[RENDER_SENTENCE])
{
    struct buf pcm, lines;
    buf_init(&pcm, ((size_t)SPEECH_SECONDS + 2) * SPEECH_RATE * sizeof(short));
    buf_init(&lines, out->max);
    enum render_status status = speech_decode(source, SPEECH_SECONDS, &pcm, sentence);
    if (status == RENDER_OK)
        status = speech_recognise(buf_span(&pcm), &lines, sentence);
    if (status == RENDER_OK)
        speech_transcript("Audio transcript", params->filename, pcm.n / sizeof(short) / SPEECH_RATE,
                          buf_span(&lines), out);
    buf_free(&pcm);
    buf_free(&lines);
    return status;
}

static const char *const formats[] = {"text:audio", NULL};

const struct renderer_ops extract_audio_ops = {
    .name = "audio",
    .version = "1",
    .formats = formats,
    .limits = {.source_bytes = RENDER_SOURCE,
               .out_bytes = EXTRACT_TEXT,
               .memory_bytes = SPEECH_MEMORY,
               .cpu_s = SPEECH_SECONDS + SPEECH_CPU_EXTRA,
               .wall_ms = (SPEECH_SECONDS + SPEECH_CPU_EXTRA) * 1000},
    .reads = speech_folders,
    .warm = warm_audio,
    .render = extract_audio,
};
