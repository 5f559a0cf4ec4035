/* What renderers ask of runs and targets. */
#include "artifacts/markdown.h"
#include "artifacts/office_xml.h"
#include "artifacts/utf8.h"

int markdown_plain(const struct markdown_run *runs, struct buf *out)
{
    for (const struct markdown_run *run = runs; run; run = run->next) {
        if (run->type == RUN_BREAK)
            buf_addc(out, ' ');
        else if (run->type != RUN_NOTE)
            buf_add(out, run->text);
    }
    return buf_full(out) ? -1 : 0;
}

bool markdown_link_allowed(struct span href)
{
    static const char *const schemes[] = {"http://", "https://", "mailto:"};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        size_t n = strlen(schemes[i]);
        if (href.n > n && strncasecmp(href.p, schemes[i], n) == 0)
            return true;
    }
    return false;
}

bool markdown_is_rtl(const struct markdown_run *runs)
{
    static const char *const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (const struct markdown_run *run = runs; run; run = run->next) {
        if (run->type != RUN_TEXT || (run->style & STYLE_CODE))
            continue;
        for (size_t i = 0, n; i < run->text.n; i += n) {
            uint32_t c = utf8_next(run->text.p + i, run->text.p + run->text.n, &n);
            if ((c < 0x80 && strchr(letters, (int)c) && c) || (c >= 0xc0 && c != 0xd7 && c != 0xf7))
                return office_is_rtl(span_from(run->text, i));
        }
    }
    return false;
}
