/* A chart's specification: the first byte chooses the metadata, the rest is the content. Reads it, and draws
 * what is valid small enough to be quick. */
#include <stdint.h>

#include "artifacts/chart.h"
#include "tests/font_leaks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const options[] = {"", "{\"chart\":\"line\"}", "{\"chart\":\"scatter\"}",
                                          "{\"chart\":\"pie\",\"width\":\"300\"}"};
    if (size < 1)
        return 0;
    struct render_params params = {.format = "svg", .title = "T", .options = span_str(options[data[0] % 4])};
    char sentence[RENDER_SENTENCE] = "";
    struct chart c;
    if (chart_read(span_of((const char *)data + 1, size - 1), &params, &c, sentence) == RENDER_OK) {
        cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 200, 160);
        cairo_t *cr = cairo_create(surface);
        chart_draw(cr, &c, 200, 160);
        if (cairo_status(cr) != CAIRO_STATUS_SUCCESS)
            __builtin_trap();
        cairo_destroy(cr);
        cairo_surface_destroy(surface);
    } else if (!sentence[0]) {
        __builtin_trap(); /* a refusal says why */
    }
    chart_free(&c);
    return 0;
}
