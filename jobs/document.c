#include "jobs/document.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/write_all.h"
#include "base/xalloc.h"
#include "jobs/wire.h"

enum {
    STRINGS = 8,
    TEXT = 1024,
    HEAD_MOST = RENDER_OPTIONS + 64 * 1024,
    SEALS = F_SEAL_GROW | F_SEAL_SHRINK
};

/* ---- writing ---- */

/* The same order in read_strings. */
static void add_strings(struct buf *out, const struct render_params *p)
{
    const char *const strings[STRINGS] = {p->format,       p->filename,           p->title,
                                          p->brand.font,   p->brand.heading_font, p->brand.colour,
                                          p->brand.header, p->brand.footer};
    for (size_t i = 0; i < STRINGS; i++)
        wire_add_text(out, span_str(strings[i]));
}

static int make_head(struct span source, const struct render_params *p, struct buf *out)
{
    uint64_t total = source.n + p->brand.logo.n;
    wire_begin(out, WIRE_DOCUMENT, 0);
    add_strings(out, p);
    wire_add_text(out, p->options);
    wire_add_u64(out, (uint64_t)p->made_at);
    wire_add_u64(out, source.n);
    wire_add_u64(out, p->brand.logo.n);
    wire_add_u32(out, (uint32_t)p->n_assets);
    for (size_t i = 0; i < p->n_assets; i++) {
        wire_add_text(out, span_str(p->assets[i].name));
        wire_add_text(out, span_str(p->assets[i].media_type));
        wire_add_u64(out, p->assets[i].bytes.n);
        total += p->assets[i].bytes.n;
    }
    return wire_end(out) || total > RENDER_SOURCE ? -1 : 0;
}

static int write_document(int fd, struct span head, struct span source, const struct render_params *p)
{
    uint64_t n = head.n;
    if (write_all(fd, span_of((const char *)&n, sizeof n)) || write_all(fd, head) || write_all(fd, source) ||
        write_all(fd, p->brand.logo))
        return -1;
    for (size_t i = 0; i < p->n_assets; i++)
        if (write_all(fd, p->assets[i].bytes))
            return -1;
    return fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_WRITE | F_SEAL_SEAL);
}

int document_create(struct span source, const struct render_params *params)
{
    struct buf head;
    int fd = -1;
    buf_init(&head, HEAD_MOST);
    if (params->n_assets > RENDER_ASSETS || make_head(source, params, &head)) {
        errno = EFBIG;
        goto out;
    }
    fd = memfd_create("document", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && write_document(fd, buf_span(&head), source, params)) {
        int why = errno;
        close(fd);
        errno = why;
        fd = -1;
    }
out:
    buf_free(&head);
    return fd;
}

/* ---- reading ---- */

static int read_strings(struct wire_in *in, struct document *d)
{
    struct render_params *p = &d->params;
    const char **const strings[STRINGS] = {&p->format,       &p->filename,           &p->title,
                                           &p->brand.font,   &p->brand.heading_font, &p->brand.colour,
                                           &p->brand.header, &p->brand.footer};
    for (size_t i = 0; i < STRINGS; i++) {
        char *room = d->strings + i * TEXT;
        wire_get_string(in, room, TEXT);
        *strings[i] = room;
    }
    return in->bad ? -1 : 0;
}

/* The next n bytes of what follows the head. */
static int take(struct span *rest, uint64_t n, struct span *out)
{
    if (n > rest->n)
        return -1;
    *out = span_of(rest->p, (size_t)n);
    *rest = span_from(*rest, (size_t)n);
    return 0;
}

static int read_assets(struct wire_in *in, struct document *d, struct span *rest)
{
    size_t n = wire_get_u32(in);
    if (n > RENDER_ASSETS)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct render_asset *a = &d->assets[i];
        char *name = d->strings + (STRINGS + 2 * i) * TEXT, *type = name + TEXT;
        wire_get_string(in, name, TEXT);
        wire_get_string(in, type, TEXT);
        a->name = name;
        a->media_type = type;
        if (take(rest, wire_get_u64(in), &a->bytes))
            return -1;
    }
    d->params.assets = d->assets;
    d->params.n_assets = n;
    return 0;
}

int document_read(struct span bytes, struct document *out)
{
    struct span head, rest = bytes;
    struct wire_in in;
    uint32_t type;
    uint64_t n, id;
    *out = (struct document){.strings = NULL};
    if (bytes.n < sizeof n)
        return -1;
    memcpy(&n, bytes.p, sizeof n);
    rest = span_from(rest, sizeof n);
    if (take(&rest, n, &head) || wire_open(head, &type, &id, &in) || type != WIRE_DOCUMENT)
        return -1;
    out->strings = xcalloc(STRINGS + 2 * RENDER_ASSETS, TEXT);
    if (read_strings(&in, out))
        return -1;
    out->params.options = wire_get_text(&in, RENDER_OPTIONS);
    out->params.made_at = (int64_t)wire_get_u64(&in);
    if (take(&rest, wire_get_u64(&in), &out->source) ||
        take(&rest, wire_get_u64(&in), &out->params.brand.logo) || read_assets(&in, out, &rest))
        return -1;
    return wire_close(&in) || rest.n ? -1 : 0;
}

void document_finish(struct document *d)
{
    xfree(d->strings);
    d->strings = NULL;
}

/* ---- the output ---- */

int document_output_create(uint64_t n)
{
    int fd = memfd_create("output", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    if (n > INT64_MAX || ftruncate(fd, (off_t)n) || fcntl(fd, F_ADD_SEALS, SEALS)) {
        int why = errno;
        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

int document_output_seal(int fd, uint64_t n)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & SEALS) != SEALS)
        return -1;
    if (!(seals & F_SEAL_WRITE) && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE))
        return -1;
    return fstat(fd, &st) == 0 && st.st_size >= 0 && (uint64_t)st.st_size >= n ? 0 : -1;
}
