/* Answers of transcribing providers: a whole text, or none and a reason. */
#include <stdlib.h>

#include "proxy/transcript.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct buf out;
    char why[LIMIT_ERROR_TEXT] = "";
    buf_init(&out, n ? 64 * (size_t)data[0] + 1 : 1);
    struct span body = span_of((const char *)data + (n > 0), n - (n > 0));
    int answer = transcript_read(body, SPAN_LIT("a.mp3"), "whisper-1", &out, why);
    if (answer < 0 ? out.n || !why[0]
                   : buf_full(&out) || !span_starts(buf_span(&out), "### Audio transcript ("))
        abort();
    buf_free(&out);
    return 0;
}
