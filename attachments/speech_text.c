/* How a transcript is written. */
#include <stdio.h>

#include "attachments/speech.h"

void speech_length(uint64_t seconds, char out[24])
{
    unsigned h = (unsigned)(seconds / 3600), m = (unsigned)(seconds / 60 % 60), s = (unsigned)(seconds % 60);
    if (h)
        snprintf(out, 24, "%u:%02u:%02u", h, m, s);
    else
        snprintf(out, 24, "%u:%02u", m, s);
}

void speech_time(uint64_t seconds, char out[24])
{
    snprintf(out, 24, "%02u:%02u:%02u", (unsigned)(seconds / 3600), (unsigned)(seconds / 60 % 60),
             (unsigned)(seconds % 60));
}

void speech_transcript(const char *heading, const char *filename, uint64_t seconds, struct span lines,
                       struct buf *out)
{
    char length[24];
    speech_length(seconds, length);
    buf_printf(out, "### %s (", heading);
    for (const char *p = filename ? filename : ""; *p; p++) /* of the caller's making; one line in any case */
        buf_addc(out, (unsigned char)*p < 0x20 || *p == 0x7f ? ' ' : *p);
    buf_printf(out, "%s%s, " SPEECH_ENGINE ")\n\n(offline recogniser, English only, may be wrong)\n\n",
               filename && *filename ? ", " : "", length);
    buf_add(out, lines.n ? lines : SPAN_LIT("(no speech found)\n"));
}
