#ifndef TESTS_ZIP_MADE_H
#define TESTS_ZIP_MADE_H
/* Small archives, made in memory; one may say what is not true of them. */
#include <stdint.h>

#include <zlib.h>

#include "base/buf.h"
#include "base/span.h"

struct zip_member {
    const char *name;
    struct span bytes;
    uint32_t says;   /* the size that headers give; 0: the true one */
    uint16_t flags;  /* 1: encrypted */
    uint16_t method; /* 0: as it is; 8: deflated; others: as it is, and headers say so */
};

static inline void zip_little(struct buf *b, uint32_t v, int n)
{
    for (; n--; v >>= 8)
        buf_addc(b, (char)v);
}

static inline void zip_make(struct buf *out, const struct zip_member *members, size_t n)
{
    struct buf directory;
    buf_init(&directory, 1 << 24);
    for (size_t i = 0; i < n; i++) {
        const struct zip_member *m = &members[i];
        uint32_t at = (uint32_t)out->n, size = m->says ? m->says : (uint32_t)m->bytes.n;
        uint32_t crc = (uint32_t)crc32(0, (const Bytef *)m->bytes.p, (uInt)m->bytes.n);
        struct buf packed;
        buf_init(&packed, 1 << 28);
        if (m->method == 8) {
            z_stream z = {.next_in = (Bytef *)(uintptr_t)m->bytes.p, .avail_in = (uInt)m->bytes.n};
            deflateInit2(&z, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY);
            uLong room = deflateBound(&z, m->bytes.n);
            z.next_out = (Bytef *)buf_reserve(&packed, room);
            z.avail_out = (uInt)room;
            deflate(&z, Z_FINISH);
            buf_commit(&packed, z.total_out);
            deflateEnd(&z);
        } else
            buf_add(&packed, m->bytes);
        for (int central = 0; central < 2; central++) {
            struct buf *to = central ? &directory : out;
            buf_adds(to, central ? "PK\1\2" : "PK\3\4");
            zip_little(to, 20, central ? 2 : 0);
            zip_little(to, 20, 2);
            zip_little(to, m->flags, 2);
            zip_little(to, m->method, 2);
            zip_little(to, 0x00210000, 4);
            zip_little(to, crc, 4);
            zip_little(to, (uint32_t)packed.n, 4);
            zip_little(to, size, 4);
            zip_little(to, (uint32_t)strlen(m->name), 2);
            zip_little(to, 0, 2);
            if (central) {
                zip_little(to, 0, 2 + 2 + 2);
                zip_little(to, 0, 4);
                zip_little(to, at, 4);
            }
            buf_adds(to, m->name);
        }
        buf_add(out, buf_span(&packed));
        buf_free(&packed);
    }
    uint32_t at = (uint32_t)out->n;
    buf_add(out, buf_span(&directory));
    buf_adds(out, "PK\5\6");
    zip_little(out, 0, 4);
    zip_little(out, (uint32_t)n, 2);
    zip_little(out, (uint32_t)n, 2);
    zip_little(out, (uint32_t)directory.n, 4);
    zip_little(out, at, 4);
    zip_little(out, 0, 2);
    buf_free(&directory);
}

#endif
