/* pdftotext's output, in both modes, one after the other: whatever it is, what comes of it is text. */
#include <stdint.h>
#include <stdlib.h>

#include "attachments/pdf_text.h"

/* What the shortest page, a lone form feed, becomes: its mark and the note that it has no text. */
enum { PAGE = 80 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct span all = span_of((const char *)data, n), laid_out = span_of(all.p, n / 2);
    struct buf out;
    buf_init(&out, PAGE * (n + 1));
    (void)pdf_text_visible(all);
    (void)pdf_text_has_columns(laid_out);
    pdf_text_write(laid_out, span_from(all, n / 2), &out);
    for (size_t i = 0; i < out.n; i++) {
        unsigned char c = (unsigned char)buf_span(&out).p[i];
        if ((c < 0x20 && c != '\n') || c == 0x7f || c > 0xf4)
            abort();
    }
    if (buf_full(&out))
        abort();
    buf_free(&out);
    return 0;
}
