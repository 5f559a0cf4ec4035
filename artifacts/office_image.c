#include "artifacts/office_image.h"

#include <stdio.h>

#include "base/base64.h"

enum { DATA_MAX = 10 * 1024 * 1024, SIDE_MAX = 65000, CHART_MAX = 16 * 1024 * 1024 };

static unsigned be16(const char *p)
{
    return (unsigned)(unsigned char)p[0] << 8 | (unsigned char)p[1];
}

static unsigned be32(const char *p)
{
    return be16(p) << 16 | be16(p + 2);
}

/* The size stands in the frame's header, behind any number of other segments. */
static bool measure_jpeg(struct span b, struct office_image *out)
{
    size_t at = 2;
    while (at + 9 < b.n && (unsigned char)b.p[at] == 0xff) {
        unsigned mark = (unsigned char)b.p[at + 1];
        if (mark == 0xff) {
            at++;
            continue;
        }
        if (mark >= 0xc0 && mark <= 0xcf && mark != 0xc4 && mark != 0xc8 && mark != 0xcc) {
            out->height = be16(b.p + at + 5);
            out->width = be16(b.p + at + 7);
            return true;
        }
        if (mark == 0xd9 || mark == 0xda)
            return false;
        at += 2 + be16(b.p + at + 2);
    }
    return false;
}

static bool measure(struct office_image *out)
{
    struct span b = out->bytes;
    bool ok = false;
    if (b.n > 33 && memcmp(b.p, "\x89PNG\r\n\x1a\n", 8) == 0 && memcmp(b.p + 12, "IHDR", 4) == 0) {
        out->extension = "png";
        out->width = be32(b.p + 16);
        out->height = be32(b.p + 20);
        ok = true;
    } else if (b.n > 20 && memcmp(b.p, "\xff\xd8\xff", 3) == 0) {
        out->extension = "jpeg";
        ok = measure_jpeg(b, out);
    } else if (b.n > 20 && memcmp(b.p, "GIF8", 4) == 0) {
        out->extension = "gif";
        out->width = (unsigned char)b.p[6] | (unsigned)(unsigned char)b.p[7] << 8;
        out->height = (unsigned char)b.p[8] | (unsigned)(unsigned char)b.p[9] << 8;
        ok = true;
    }
    return ok && out->width && out->height && out->width <= SIDE_MAX && out->height <= SIDE_MAX;
}

/* data:image/png;base64,… */
static bool read_data(struct span source, struct office_image *out)
{
    const char *comma = memchr(source.p, ',', source.n);
    if (!comma || comma - source.p < 12 || memcmp(comma - 7, ";base64", 7) != 0)
        return false;
    struct span text = span_from(source, (size_t)(comma - source.p) + 1);
    if (text.n > DATA_MAX / 3 * 4 + 8)
        return false;
    buf_init(&out->own, text.n + 4);
    if (base64_read_leniently(text, &out->own) == 0) {
        out->bytes = buf_span(&out->own);
        if (measure(out))
            return true;
    }
    office_image_free(out);
    return false;
}

bool office_image_find(const struct render_params *params, struct span source, struct office_image *out)
{
    *out = (struct office_image){.extension = ""};
    if (source.n > 11 && strncasecmp(source.p, "data:image/", 11) == 0)
        return read_data(source, out);
    while (span_starts(source, "./"))
        source = span_from(source, 2);
    if (span_starts(source, "attachment:"))
        source = span_from(source, 11);
    for (size_t i = 0; i < params->n_assets; i++)
        if (span_is_nocase(source, params->assets[i].name)) {
            out->bytes = params->assets[i].bytes;
            return measure(out);
        }
    return false;
}

bool office_is_chart(const struct markdown_block *block)
{
    return block->type == MARKDOWN_CODE && span_is_nocase(block->language, "chart");
}

bool office_image_chart(const struct render_params *params, const struct markdown_block *code,
                        struct office_image *out)
{
    const struct renderer_ops *chart = renderer_find("png");
    struct render_params own = *params;
    char sentence[RENDER_SENTENCE] = "";
    *out = (struct office_image){.extension = ""};
    if (!chart)
        return false;
    own.format = "png";
    own.title = "";
    own.options = span_of("", 0);
    own.assets = NULL;
    own.n_assets = 0;
    buf_init(&out->own, CHART_MAX);
    if (chart->render(code->code, &own, &out->own, sentence) == RENDER_OK) {
        out->bytes = buf_span(&out->own);
        if (measure(out)) {
            /* Charts have two pixels for one. */
            out->width /= 2;
            out->height /= 2;
            if (out->width && out->height)
                return true;
        }
    }
    office_image_free(out);
    return false;
}

void office_image_free(struct office_image *image)
{
    buf_free(&image->own);
    *image = (struct office_image){.extension = ""};
}

/* ---- parts of the file ---- */

bool office_pictures_room(const struct office_pictures *p)
{
    return p->n < OFFICE_PICTURES && p->bytes < OFFICE_PICTURE_BYTES;
}

unsigned office_pictures_keep(struct office_pictures *p, struct office_image *image)
{
    unsigned i = 0;
    while (i < p->n && p->list[i].bytes.p != image->bytes.p)
        i++;
    if (i < p->n)
        return i;
    struct office_picture *picture = &p->list[p->n++];
    *picture = (struct office_picture){.bytes = image->bytes, .width = image->width, .height = image->height};
    snprintf(picture->target, sizeof picture->target, "media/image%u.%s", p->n, image->extension);
    buf_init(&picture->own, image->own.max);
    buf_move(&picture->own, &image->own);
    p->bytes += image->bytes.n;
    return i;
}

void office_pictures_write(const struct office_pictures *p, struct office_zip *zip, const char *folder)
{
    for (unsigned i = 0; i < p->n; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", folder, p->list[i].target);
        office_zip_open(zip, name, false);
        office_zip_write(zip, p->list[i].bytes);
        office_zip_close(zip);
    }
}

void office_pictures_note(const struct office_pictures *p, char sentence[RENDER_SENTENCE])
{
    if (p->lost)
        snprintf(sentence, RENDER_SENTENCE, "%u picture%s not among the files of the reply: shown as words",
                 p->lost, p->lost == 1 ? " is" : "s are");
}

void office_pictures_free(struct office_pictures *p)
{
    for (unsigned i = 0; i < p->n; i++)
        buf_free(&p->list[i].own);
    p->n = 0;
}
