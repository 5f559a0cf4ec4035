#ifndef ATTACHMENTS_SPEECH_H
#define ATTACHMENTS_SPEECH_H
/*
 * Words in a recording, without a network: decoding with libsndfile, resampling with libsamplerate, and
 * pocketsphinx with its English model. Runs in penstock-worker alone. A program that was built without the
 * libraries has speech_none.c instead of speech.c, and offers nothing.
 *
 * The recogniser costs about a third of the recording's time, so the longest recording is short: a longer one
 * is refused by name, at once, and a transcription endpoint is what it needs. timeouts.transcribe has a
 * default that is enough for the longest (half of its time, and a bit).
 */
#include "jobs/renderer.h"

/* What to do about a recording that is too long, for sentences. */
#define SPEECH_ADVICE "configure a provider for it (transcription), or split it."

enum {
    SPEECH_RATE = 16000,   /* samples a second of what is recognised */
    SPEECH_SECONDS = 600,  /* the longest recording */
    SPEECH_CPU_EXTRA = 10, /* seconds beside the recording's length */
    SPEECH_MEMORY = 512 * 1024 * 1024
};

/* What writes the text, as it stands in the transcript's heading. */
#define SPEECH_ENGINE "pocketsphinx"

/* Directories that the recogniser reads, NULL at the end. */
extern const char *const speech_folders[];
/* Whether the model is there. */
bool speech_works(void);

/*
 * Appends a recording's samples to `pcm`: 16 bits each in the machine's order, one channel, SPEECH_RATE a
 * second. RENDER_INVALID: libsndfile cannot read it, RENDER_LIMIT: it is longer than that many seconds; with
 * a sentence.
 */
enum render_status speech_decode(struct span file, unsigned seconds, struct buf *pcm,
                                 char sentence[RENDER_SENTENCE]) MUST_USE;
/* Appends such samples as MP3, which every transcription endpoint takes. RENDER_FAILED: libsndfile was built
 * without it, or the buffer is full. */
enum render_status speech_encode(struct span pcm, struct buf *mp3, char sentence[RENDER_SENTENCE]) MUST_USE;
/* Whether it can. */
bool speech_encodes(void);
/*
 * Appends what is said in such samples, a line a stretch of speech: "[00:00:12] my name is john". Nothing
 * when nothing is said. RENDER_LIMIT: it took more than the recording's own time, RENDER_FAILED: the
 * model cannot be read.
 */
enum render_status speech_recognise(struct span pcm, struct buf *out,
                                    char sentence[RENDER_SENTENCE]) MUST_USE;

/* ---- speech_text.c ---- */

/* "4:12", "1:02:03". */
void speech_length(uint64_t seconds, char out[24]);
/* "00:00:07". */
void speech_time(uint64_t seconds, char out[24]);
/* The transcript: heading with file name and length, the engine's warning, and the lines, or that there are
 * none. */
void speech_transcript(const char *heading, const char *filename, uint64_t seconds, struct span lines,
                       struct buf *out);

#endif
