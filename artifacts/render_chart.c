/* Charts as pictures: PNG with two pixels a unit of length, and SVG whose text is drawn as outlines, so that
 * it looks the same everywhere. */
#include <cairo-svg.h>
#include <fontconfig/fontconfig.h>
#include <stdio.h>

#include "artifacts/chart.h"

static const double WIDTH = 800, HEIGHT = 480, PIXELS = 2;

static int warm(void)
{
    return FcInit() ? 0 : -1;
}

static enum render_status draw_png(const struct chart *c, double width, double height, struct buf *out)
{
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(width * PIXELS), (int)(height * PIXELS));
    cairo_t *cr = cairo_create(surface);
    cairo_scale(cr, PIXELS, PIXELS);
    chart_draw(cr, c, width, height);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png_stream(surface, draw_write, out);
    cairo_surface_destroy(surface);
    return status == CAIRO_STATUS_SUCCESS ? RENDER_OK : RENDER_FAILED;
}

static enum render_status draw_svg(const struct chart *c, double width, double height, struct buf *out)
{
    cairo_surface_t *surface = cairo_svg_surface_create_for_stream(draw_write, out, width, height);
    cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
    cairo_t *cr = cairo_create(surface);
    chart_draw(cr, c, width, height);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return status == CAIRO_STATUS_SUCCESS ? RENDER_OK : RENDER_FAILED;
}

static enum render_status render(struct span source, const struct render_params *params, struct buf *out,
                                 char sentence[RENDER_SENTENCE])
{
    struct chart c;
    enum render_status status = chart_read(source, params, &c, sentence);
    if (status == RENDER_OK) {
        double width = c.width > 0 ? c.width : WIDTH, height = c.height > 0 ? c.height : HEIGHT;
        status = strcmp(params->format, "svg") == 0 ? draw_svg(&c, width, height, out)
                                                    : draw_png(&c, width, height, out);
        if (status == RENDER_FAILED)
            snprintf(sentence, RENDER_SENTENCE,
                     buf_full(out) ? "the chart is larger than the limit" : "the chart could not be drawn");
        if (buf_full(out))
            status = RENDER_LIMIT;
    }
    chart_free(&c);
    return status;
}

static const char *const formats[] = {"png", "svg", NULL};

const struct renderer_ops render_chart = {
    .name = "chart",
    .version = "1",
    .formats = formats,
    .limits = {.source_bytes = 4 << 20,
               .out_bytes = 64 << 20,
               .memory_bytes = 512 << 20,
               .cpu_s = 20,
               .wall_ms = 30000},
    .fonts = true,
    .warm = warm,
    .render = render,
};
