/* pdftotext's output, in both modes, one after the other: whatever it is, what comes of it is text. */
#include <stdint.h>
#include <stdlib.h>

#include "attachments/pdf_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct span all = span_of((const char *)data, n), laid_out = span_of(all.p, n / 2);
    struct buf out;
    buf_init(&out, 16 * n + 64);
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
