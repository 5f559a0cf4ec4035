#include "artifacts/office_zip.h"

#include <zlib.h>

#include "base/xalloc.h"

enum {
    LOCAL_HEADER = 30,
    PIECE = 32 * 1024,   /* room for deflate's output, a piece at a time */
    INPUT = 1024 * 1024, /* of one call */
    VERSION = 20,
    FLAG_UTF8 = 0x800,
    DATE_1980 = 0x21, /* 1 January */
    PARTS = 60000,
    PART_BYTES = 1 << 30,
};

static void put16(struct buf *b, unsigned v)
{
    char bytes[] = {(char)(v & 0xff), (char)(v >> 8 & 0xff)};
    buf_addn(b, bytes, sizeof bytes);
}

static void put32(struct buf *b, uint32_t v)
{
    put16(b, v & 0xffff);
    put16(b, v >> 16);
}

static void set32(char *to, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (char)(v >> 8 * i & 0xff);
}

void office_zip_begin(struct office_zip *z, struct buf *out)
{
    *z = (struct office_zip){.out = out, .base = out->n};
    buf_init(&z->directory, (size_t)PARTS * 256);
    z->stream = xcalloc(1, sizeof *z->stream);
    z->failed = deflateInit2(z->stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK;
}

/* What both headers of a part share, from the version on. */
static void put_fields(struct buf *b, const struct office_zip *z, uint32_t packed)
{
    put16(b, VERSION);
    put16(b, FLAG_UTF8);
    put16(b, z->deflated ? Z_DEFLATED : 0);
    put16(b, 0);
    put16(b, DATE_1980);
    put32(b, z->crc);
    put32(b, packed);
    put32(b, (uint32_t)z->size);
    put16(b, (unsigned)strlen(z->name));
    put16(b, 0);
}

void office_zip_open(struct office_zip *z, const char *name, bool deflate)
{
    size_t n = strlen(name);
    if (z->failed || z->open || n >= sizeof z->name || z->parts == PARTS) {
        z->failed = true;
        return;
    }
    memcpy(z->name, name, n + 1);
    z->header = z->out->n - z->base;
    z->crc = (uint32_t)crc32(0, NULL, 0);
    z->size = 0;
    z->deflated = deflate;
    z->open = true;
    buf_adds(z->out, "PK\3\4");
    put_fields(z->out, z, 0);
    buf_adds(z->out, name);
    z->body = z->out->n - z->base;
    z->failed = deflateReset(z->stream) != Z_OK || buf_full(z->out);
}

static void squeeze(struct office_zip *z, struct span bytes, int flush)
{
    z->stream->next_in = (Bytef *)bytes.p;
    z->stream->avail_in = (uInt)bytes.n;
    int result;
    do {
        char *to = buf_reserve(z->out, PIECE);
        char last[PIECE];
        /* Near the cap the piece has no room of its own: what it really gives may still fit. */
        z->stream->next_out = (Bytef *)(to ? to : last);
        z->stream->avail_out = PIECE;
        if (!to)
            z->out->over = false;
        result = deflate(z->stream, flush);
        size_t n = PIECE - z->stream->avail_out;
        if (to)
            buf_commit(z->out, n);
        else
            buf_addn(z->out, last, n);
    } while (!buf_full(z->out) && result == Z_OK && (z->stream->avail_in || flush == Z_FINISH));
    z->failed |= buf_full(z->out) || result == Z_STREAM_ERROR;
}

void office_zip_write(struct office_zip *z, struct span bytes)
{
    while (bytes.n && !z->failed) {
        size_t n = bytes.n < INPUT ? bytes.n : INPUT;
        struct span piece = span_of(bytes.p, n);
        z->size += n;
        z->crc = (uint32_t)crc32(z->crc, (const Bytef *)piece.p, (uInt)n);
        if (!z->open || z->size > PART_BYTES)
            z->failed = true;
        else if (z->deflated)
            squeeze(z, piece, Z_NO_FLUSH);
        else
            z->failed = buf_add(z->out, piece) != 0;
        bytes = span_from(bytes, n);
    }
}

void office_zip_close(struct office_zip *z)
{
    if (!z->failed && z->deflated)
        squeeze(z, span_of("", 0), Z_FINISH);
    if (z->failed || !z->open) {
        z->failed = true;
        return;
    }
    uint32_t packed = (uint32_t)(z->out->n - z->base - z->body);
    char *header = z->out->data + z->out->start + z->base + z->header;
    set32(header + 14, z->crc);
    set32(header + 18, packed);
    set32(header + 22, (uint32_t)z->size);
    buf_adds(&z->directory, "PK\1\2");
    put16(&z->directory, VERSION);
    put_fields(&z->directory, z, packed);
    put16(&z->directory, 0); /* comment */
    put16(&z->directory, 0); /* disk */
    put16(&z->directory, 0); /* internal attributes */
    put32(&z->directory, 0); /* external attributes */
    put32(&z->directory, (uint32_t)z->header);
    buf_adds(&z->directory, z->name);
    z->parts++;
    z->open = false;
}

void office_zip_part(struct office_zip *z, const char *name, struct span bytes)
{
    office_zip_open(z, name, true);
    office_zip_write(z, bytes);
    office_zip_close(z);
}

int office_zip_finish(struct office_zip *z)
{
    size_t at = z->out->n - z->base;
    buf_add(z->out, buf_span(&z->directory));
    buf_addn(z->out, "PK\5\6\0\0\0\0", 8);
    put16(z->out, z->parts);
    put16(z->out, z->parts);
    put32(z->out, (uint32_t)z->directory.n);
    put32(z->out, (uint32_t)at);
    put16(z->out, 0);
    int result = z->failed || z->open || buf_full(z->out) || buf_full(&z->directory) ? -1 : 0;
    deflateEnd(z->stream);
    xfree(z->stream);
    buf_free(&z->directory);
    return result;
}
