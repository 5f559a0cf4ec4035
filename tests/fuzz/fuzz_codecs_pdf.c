/* Markdown on pages. */
#include <stdint.h>

#include "jobs/renderer.h"
#include "tests/font_leaks.h"

extern const struct renderer_ops render_pdf;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct render_params params = {
        .format = "pdf", .title = "T", .options = SPAN_LIT("{\"page_size\":\"A5\"}")};
    char sentence[RENDER_SENTENCE] = "";
    struct buf out;
    buf_init(&out, 16 << 20);
    enum render_status status = render_pdf.render(span_of((const char *)data, size), &params, &out, sentence);
    if (status == RENDER_FAILED || (status != RENDER_OK && !sentence[0]))
        __builtin_trap();
    buf_free(&out);
    return 0;
}
