/*
 * A row of stages, the outermost coding first; between two stages a small buffer of fixed size. What a call
 * may produce is bounded by the caller's room and by those buffers, however well the input was compressed.
 */
#include "net/decode.h"

#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

#include "base/xalloc.h"

enum {
    SLICE = 16 * 1024,    /* a stage's output in one step */
    ZSTD_WINDOW_LOG = 23, /* 8 MiB, the most that the coding allows (RFC 9659) */
};

struct stage;

/* Bytes to read and room to write; step moves both ends forward. */
struct flow {
    const char *in;
    size_t in_n;
    char *out;
    size_t out_n;
};

struct coding {
    const char *name;
    int (*start)(struct stage *s);
    /* 0, or -1: not valid. Called with input, or without while `full` says that output may wait. */
    int (*step)(struct stage *s, struct flow *f);
    void (*finish)(struct stage *s);
};

struct stage {
    const struct coding *coding;
    bool ended; /* the coded stream is at an end of its own */
    bool full;  /* the last step used all its room */
    union {
        z_stream z;
        BrotliDecoderState *brotli;
        ZSTD_DStream *zstd;
    };
    uint8_t head[2]; /* deflate: the first bytes, until they say which format it is */
    uint8_t head_n, head_at;
};

struct decoder {
    unsigned n;
    bool started; /* a byte was fed */
    struct stage stages[DECODE_CODINGS];
    struct middle {
        char *data; /* of SLICE bytes */
        size_t start, n;
    } middles[DECODE_CODINGS - 1];
};

/* ---- zlib ---- */

static int inflate_step(struct stage *s, struct flow *f)
{
    s->z.next_in = (Bytef *)(uintptr_t)f->in;
    s->z.avail_in = f->in_n > UINT32_MAX ? UINT32_MAX : (uInt)f->in_n;
    s->z.next_out = (Bytef *)f->out;
    s->z.avail_out = (uInt)f->out_n;
    int done = inflate(&s->z, Z_SYNC_FLUSH);
    f->in_n -= (size_t)((const char *)s->z.next_in - f->in);
    f->in = (const char *)s->z.next_in;
    f->out = (char *)s->z.next_out;
    f->out_n = s->z.avail_out;
    if (done == Z_STREAM_END)
        s->ended = true;
    return done == Z_OK || done == Z_STREAM_END || done == Z_BUF_ERROR ? 0 : -1;
}

static int gzip_start(struct stage *s)
{
    return inflateInit2(&s->z, MAX_WBITS + 16) == Z_OK ? 0 : -1;
}

static int gzip_step(struct stage *s, struct flow *f)
{
    /* A member may follow a member (RFC 1952, 2.2). */
    if (s->ended && f->in_n) {
        if (inflateReset(&s->z) != Z_OK)
            return -1;
        s->ended = false;
    }
    return s->ended ? 0 : inflate_step(s, f);
}

static void zlib_finish(struct stage *s)
{
    (void)inflateEnd(&s->z);
}

/* Raw until its first bytes say otherwise: `deflate` means the zlib format (RFC 9110, 8.4.1.2), yet some
 * servers send raw deflate. */
static int deflate_start(struct stage *s)
{
    return inflateInit2(&s->z, -MAX_WBITS) == Z_OK ? 0 : -1;
}

static int deflate_step(struct stage *s, struct flow *f)
{
    if (s->ended)
        return f->in_n ? -1 : 0;
    while (s->head_n < sizeof s->head && f->in_n) {
        s->head[s->head_n++] = (uint8_t)*f->in++;
        f->in_n--;
        bool zlib = s->head_n == 2 && (s->head[0] & 0xf) == Z_DEFLATED && s->head[0] >> 4 <= 7 &&
                    (s->head[0] << 8 | s->head[1]) % 31 == 0;
        if (zlib && inflateReset2(&s->z, MAX_WBITS) != Z_OK)
            return -1;
    }
    if (s->head_n < sizeof s->head)
        return 0;
    if (s->head_at < sizeof s->head) {
        struct flow head = {(const char *)s->head + s->head_at, sizeof s->head - s->head_at, f->out,
                            f->out_n};
        if (inflate_step(s, &head) != 0 || (s->ended && head.in_n))
            return -1;
        s->head_at = (uint8_t)(sizeof s->head - head.in_n);
        f->out = head.out;
        f->out_n = head.out_n;
        if (s->ended)
            return f->in_n ? -1 : 0;
        if (f->out_n == 0 || s->head_at < sizeof s->head)
            return 0;
    }
    return inflate_step(s, f);
}

/* ---- brotli ---- */

static int brotli_start(struct stage *s)
{
    s->brotli = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    return s->brotli ? 0 : -1;
}

static int brotli_step(struct stage *s, struct flow *f)
{
    const uint8_t *in = (const uint8_t *)f->in;
    uint8_t *out = (uint8_t *)f->out;
    if (s->ended)
        return f->in_n ? -1 : 0;
    BrotliDecoderResult done = BrotliDecoderDecompressStream(s->brotli, &f->in_n, &in, &f->out_n, &out, NULL);
    f->in = (const char *)in;
    f->out = (char *)out;
    s->ended = done == BROTLI_DECODER_RESULT_SUCCESS;
    return done == BROTLI_DECODER_RESULT_ERROR ? -1 : 0;
}

static void brotli_finish(struct stage *s)
{
    BrotliDecoderDestroyInstance(s->brotli);
}

/* ---- zstd ---- */

static int zstd_start(struct stage *s)
{
    s->zstd = ZSTD_createDStream();
    return s->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(s->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG))
               ? 0
               : -1;
}

/* A frame may follow a frame (RFC 8878, 3.1); the library begins the next by itself. */
static int zstd_step(struct stage *s, struct flow *f)
{
    ZSTD_inBuffer in = {f->in, f->in_n, 0};
    ZSTD_outBuffer out = {f->out, f->out_n, 0};
    size_t left = ZSTD_decompressStream(s->zstd, &out, &in);
    if (ZSTD_isError(left))
        return -1;
    if (in.pos || out.pos)
        s->ended = left == 0;
    f->in += in.pos;
    f->in_n -= in.pos;
    f->out += out.pos;
    f->out_n -= out.pos;
    return 0;
}

static void zstd_finish(struct stage *s)
{
    ZSTD_freeDStream(s->zstd);
}

/* ---- identity, and the table ---- */

static int copy_start(struct stage *s)
{
    s->ended = true;
    return 0;
}

static int copy_step(struct stage *s, struct flow *f)
{
    size_t n = f->in_n < f->out_n ? f->in_n : f->out_n;
    (void)s;
    if (n)
        memcpy(f->out, f->in, n);
    f->in += n;
    f->in_n -= n;
    f->out += n;
    f->out_n -= n;
    return 0;
}

static void copy_finish(struct stage *s)
{
    (void)s;
}

static const struct coding codings_known[] = {
    {"identity", copy_start, copy_step, copy_finish}, {"gzip", gzip_start, gzip_step, zlib_finish},
    {"x-gzip", gzip_start, gzip_step, zlib_finish},   {"deflate", deflate_start, deflate_step, zlib_finish},
    {"br", brotli_start, brotli_step, brotli_finish}, {"zstd", zstd_start, zstd_step, zstd_finish},
};

static const struct coding *coding_find(struct span name)
{
    for (size_t i = 0; i < sizeof codings_known / sizeof codings_known[0]; i++)
        if (span_is_nocase(name, codings_known[i].name))
            return &codings_known[i];
    return NULL;
}

static struct span trimmed(struct span s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = span_from(s, 1);
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    return s;
}

static int stage_add(struct decoder *d, const struct coding *coding)
{
    struct stage *s = &d->stages[d->n++];
    s->coding = coding;
    return coding->start(s);
}

/* The codings of the list from its end, which is the order of undoing. */
static int stages_add(struct decoder *d, struct span codings, struct span *unknown)
{
    while (codings.n) {
        const char *comma = memrchr(codings.p, ',', codings.n);
        size_t at = comma ? (size_t)(comma - codings.p) + 1 : 0;
        struct span name = trimmed(span_from(codings, at));
        codings.n = comma ? at - 1 : 0;
        if (name.n == 0 || span_is_nocase(name, "identity"))
            continue;
        const struct coding *coding = coding_find(name);
        if (!coding || d->n == DECODE_CODINGS || stage_add(d, coding) != 0) {
            *unknown = name;
            return -1;
        }
    }
    return d->n ? 0 : stage_add(d, &codings_known[0]);
}

struct decoder *decoder_create(struct span codings, struct span *unknown)
{
    struct decoder *d = xcalloc(1, sizeof *d);
    *unknown = span_of(codings.p, 0);
    if (stages_add(d, codings, unknown) != 0) {
        decoder_destroy(d);
        return NULL;
    }
    for (unsigned i = 0; i + 1 < d->n; i++)
        d->middles[i].data = xmalloc(SLICE);
    return d;
}

void decoder_destroy(struct decoder *d)
{
    if (!d)
        return;
    for (unsigned i = 0; i < d->n; i++)
        d->stages[i].coding->finish(&d->stages[i]);
    for (unsigned i = 0; i + 1 < DECODE_CODINGS; i++)
        xfree(d->middles[i].data);
    xfree(d);
}

/* 1: moved something, 0: nothing to do, -1: not valid. */
static int stage_run(struct stage *s, struct flow *f)
{
    size_t in_n = f->in_n, out_n = f->out_n;
    if (out_n == 0 || (in_n == 0 && !s->full))
        return 0;
    if (s->coding->step(s, f) != 0)
        return -1;
    s->full = f->out_n == 0;
    return f->in_n != in_n || f->out_n != out_n;
}

/* A stage whose output goes into the buffer behind it. */
static int inner_run(struct stage *s, struct flow *from, struct middle *to)
{
    if (to->n == 0)
        to->start = 0;
    size_t end = to->start + to->n;
    struct flow f = {from->in, from->in_n, to->data + end, SLICE - end};
    int moved = stage_run(s, &f);
    from->in = f.in;
    from->in_n = f.in_n;
    to->n = SLICE - f.out_n - to->start;
    return moved;
}

/* The last stage, whose output goes to the caller; *room shrinks by what was made. */
static int outer_run(struct stage *s, struct flow *from, size_t *room, struct buf *out)
{
    size_t slice = *room < SLICE ? *room : SLICE;
    char *to = buf_reserve(out, slice);
    if (!to)
        return -1;
    struct flow f = {from->in, from->in_n, to, slice};
    int moved = stage_run(s, &f);
    from->in = f.in;
    from->in_n = f.in_n;
    buf_commit(out, slice - f.out_n);
    *room -= slice - f.out_n;
    return moved;
}

/* Every stage once. */
static int round_run(struct decoder *d, struct flow *in, size_t *room, struct buf *out)
{
    int moved = 0;
    for (unsigned i = 0; i < d->n && *room; i++) {
        struct middle *before = i ? &d->middles[i - 1] : NULL;
        struct flow from =
            before ? (struct flow){.in = before->data + before->start, .in_n = before->n} : *in;
        int one = i + 1 < d->n ? inner_run(&d->stages[i], &from, &d->middles[i])
                               : outer_run(&d->stages[i], &from, room, out);
        if (before) {
            before->start += before->n - from.in_n;
            before->n = from.in_n;
        } else {
            *in = from;
        }
        if (one < 0)
            return -1;
        moved |= one;
    }
    return moved;
}

int decoder_feed(struct decoder *d, struct span in, size_t room, size_t *used, struct buf *out)
{
    struct flow flow = {.in = in.p ? in.p : "", .in_n = in.n};
    int moved = 1;
    if (room > out->max - out->n)
        room = out->max - out->n;
    if (in.n)
        d->started = true;
    while (moved > 0 && room)
        moved = round_run(d, &flow, &room, out);
    *used = in.n - flow.in_n;
    return moved < 0 ? -1 : room == 0;
}

bool decoder_complete(const struct decoder *d)
{
    if (!d->started)
        return true;
    for (unsigned i = 0; i < d->n; i++)
        if (!d->stages[i].ended || (i + 1 < d->n && d->middles[i].n))
            return false;
    return true;
}
