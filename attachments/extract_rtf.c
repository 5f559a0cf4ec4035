/* RTF documents as Markdown. */
#include "attachments/charset.h"
#include "attachments/extraction.h"
#include "attachments/rtf.h"

static enum render_status extract_rtf(struct span source, const struct render_params *params, struct buf *out,
                                      char sentence[RENDER_SENTENCE])
{
    struct extraction x;
    extraction_init(&x, sentence, EXTRACT_NODES);
    struct markup *m = markup_create(out, &x);
    (void)params;
    if (!span_starts(source, "{\\rtf"))
        extraction_fail(&x, RENDER_INVALID, "is no RTF document.");
    else if (rtf_read(source, m, &x) == 0)
        (void)!markup_finish(m);
    markup_destroy(m);
    if (x.status == RENDER_OK && out->n == 0)
        extraction_fail(&x, RENDER_INVALID, "has no text.");
    return x.status;
}

const struct renderer_ops extract_rtf_ops = {
    .name = "rtf",
    .version = "1",
    .formats = (const char *const[]){"text:rtf", NULL},
    .limits = EXTRACT_LIMITS,
    .warm = charset_warm,
    .render = extract_rtf,
};
