/* HTML pages as Markdown. */
#include "attachments/extract.h"
#include "attachments/html.h"

static enum render_status extract_html(struct span source, const struct render_params *params,
                                       struct buf *out, char sentence[RENDER_SENTENCE])
{
    struct extraction x;
    extraction_init(&x, sentence, EXTRACT_NODES);
    struct markup *m = markup_create(out, &x);
    (void)params;
    if (html_read(source, m, &x) == 0)
        (void)!markup_finish(m);
    markup_destroy(m);
    if (x.status == RENDER_OK && out->n == 0)
        extraction_fail(&x, RENDER_INVALID,
                        "has no visible text; what a script writes into it is not there.");
    return x.status;
}

static const char *const formats[] = {"text:html", NULL};

const struct renderer_ops extract_html_ops = {
    .name = "html",
    .version = "1",
    .formats = formats,
    .limits = EXTRACT_LIMITS,
    .warm = html_warm,
    .render = extract_html,
};
