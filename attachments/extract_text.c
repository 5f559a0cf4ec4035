/* Plain text that is not UTF-8: with the mark of UTF-16. */
#include "attachments/charset.h"
#include "attachments/extract.h"
#include "attachments/extraction.h"

static enum render_status extract_text(struct span source, const struct render_params *params,
                                       struct buf *out, char sentence[RENDER_SENTENCE])
{
    (void)params;
    return charset_decode(source, span_of("", 0), out, sentence);
}

const struct renderer_ops extract_text_ops = {
    .name = "text",
    .version = "1",
    .formats = (const char *const[]){"text:plain", NULL},
    .limits = EXTRACT_LIMITS,
    .warm = charset_warm,
    .render = extract_text,
};
