/* Of a program that was built without pocketsphinx, libsndfile and libsamplerate. */
#include "attachments/speech.h"

const char *const speech_folders[] = {NULL};

bool speech_works(void)
{
    return false;
}

enum render_status speech_decode(struct span file, struct buf *pcm, char sentence[RENDER_SENTENCE])
{
    (void)file, (void)pcm, (void)sentence;
    return RENDER_FAILED;
}

enum render_status speech_recognise(struct span pcm, struct buf *out, char sentence[RENDER_SENTENCE])
{
    (void)pcm, (void)out, (void)sentence;
    return RENDER_FAILED;
}
