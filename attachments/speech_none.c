/* Of a program that was built without pocketsphinx, libsndfile and libsamplerate. */
#include "attachments/speech.h"

const char *const speech_folders[] = {NULL};

bool speech_works(void)
{
    return false;
}

enum render_status speech_decode(struct span file, unsigned seconds, struct buf *pcm,
                                 char sentence[RENDER_SENTENCE])
{
    (void)file, (void)seconds, (void)pcm, (void)sentence;
    return RENDER_FAILED;
}

bool speech_encodes(void)
{
    return false;
}

enum render_status speech_encode(struct span pcm, struct buf *mp3, char sentence[RENDER_SENTENCE])
{
    (void)pcm, (void)mp3, (void)sentence;
    return RENDER_FAILED;
}

enum render_status speech_recognise(struct span pcm, struct buf *out, char sentence[RENDER_SENTENCE])
{
    (void)pcm, (void)out, (void)sentence;
    return RENDER_FAILED;
}
