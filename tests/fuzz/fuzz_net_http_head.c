/*
 * Its kind, sizes of pieces, then a connection's bytes: messages one after the other, read whole and cut.
 * Both must give the same heads, bodies, trailers and rest; and no head may be taken that two implementations
 * could read in two ways. What is looked for is found by other means than in the code under test.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "net/http_parser.h"

enum { OUTPUT = 1 << 20, MESSAGES = 8 };

struct reader {
    struct buf out; /* all that was understood, as text */
    struct http_parser parser;
    bool request, to_head;
    bool in_body, stopped;
    size_t scanned;
    struct buf kept; /* an incomplete head */
    int messages;
};

static void on_data(void *arg, struct span bytes)
{
    struct reader *r = arg;
    if (!bytes.n)
        abort();
    buf_add(&r->out, bytes);
}

static void on_trailer(void *arg, struct span name, struct span value)
{
    struct reader *r = arg;
    for (size_t i = 0; i < value.n; i++)
        if (value.p[i] == '\r' || value.p[i] == '\n' || value.p[i] == '\0')
            abort();
    for (size_t i = 0; i < name.n; i++)
        if ((unsigned char)name.p[i] <= ' ' || name.p[i] == ':')
            abort();
    buf_printf(&r->out, "\n{%.*s=%.*s}", (int)name.n, name.p, (int)value.n, value.p);
}

static const struct http_body_sink sink = {.data = on_data, .trailer = on_trailer};

/* How many lines of the head begin with this name and a colon, in any case. */
static int count_fields(struct span head, const char *name)
{
    int n = 0;
    size_t length = strlen(name);
    for (size_t at = 0; at + length + 2 < head.n; at++)
        n += head.p[at] == '\n' && strncasecmp(head.p + at + 1, name, length) == 0 &&
             head.p[at + 1 + length] == ':';
    return n;
}

/* Rules that no accepted head breaks. */
static void check_head(struct span head, const struct http_head *h, bool request)
{
    int lengths = count_fields(head, "content-length"), codings = count_fields(head, "transfer-encoding");
    int hosts = count_fields(head, "host");
    if (lengths > 1 || codings > 1 || lengths + codings > 1)
        abort();
    if ((lengths > 0) != h->has_length || (codings > 0) != h->chunked)
        abort();
    if (request && (hosts > 1 || (hosts == 0 && h->minor != 0)))
        abort();
    if (h->chunked && h->minor == 0)
        abort();
    if (request && span_is(h->method, "CONNECT"))
        abort();
    for (size_t i = 0; i < head.n; i++) {
        char c = head.p[i];
        if (c == '\0' || (c == '\r' && (i + 1 == head.n || head.p[i + 1] != '\n')) ||
            (c == '\n' && (i == 0 || head.p[i - 1] != '\r')))
            abort();
        if (c == '\n' && i + 1 < head.n && (head.p[i + 1] == ' ' || head.p[i + 1] == '\t'))
            abort();
    }
    for (size_t i = 0; i < h->n; i++) {
        struct span name = h->fields[i].name, value = h->fields[i].value;
        if (!name.n || name.p < head.p || value.p + value.n > head.p + head.n || name.p[name.n] != ':')
            abort();
        if (value.n && (value.p[0] == ' ' || value.p[value.n - 1] == ' '))
            abort();
        /* the quick answers of http_head_is_hop agree with the slow ones */
        if (http_head_has_token(h, "connection", "x-hop") != http_head_is_hop(h, SPAN_LIT("x-hop")))
            abort();
    }
}

/* A complete head; answers whether to go on. */
static void take_head(struct reader *r, struct span head)
{
    struct http_head *h = malloc(sizeof *h);
    struct error e;
    enum http_progress progress = http_parser_head(&r->parser, head, r->to_head, h, &e);
    if (progress == HTTP_INVALID) {
        if (e.code != ERROR_BAD_REQUEST || !e.message[0])
            abort();
        buf_adds(&r->out, "\ninvalid head");
        r->stopped = true;
    } else {
        check_head(head, h, r->request);
        if (r->request && (progress == HTTP_MORE) != (h->chunked || (h->has_length && h->length > 0)))
            abort();
        buf_printf(&r->out, "\n[%.*s %.*s %d %zu %d]", (int)h->method.n, h->method.p, (int)h->target.n,
                   h->target.p, h->status, h->n, h->keep_alive);
        r->in_body = progress == HTTP_MORE;
        r->stopped = ++r->messages == MESSAGES;
    }
    free(h);
}

/* What has come; answers nothing, keeps what it needs. */
static void take(struct reader *r, struct span bytes)
{
    while (bytes.n && !r->stopped) {
        size_t used = 0;
        if (r->in_body) {
            enum http_progress progress = http_parser_body(&r->parser, bytes, &sink, r, &used);
            if (used > bytes.n || (progress == HTTP_MORE && used != bytes.n))
                abort();
            if (progress == HTTP_INVALID) {
                buf_adds(&r->out, "\ninvalid body");
                r->stopped = true;
            }
            r->in_body = progress == HTTP_MORE;
            bytes = span_from(bytes, used);
            continue;
        }
        size_t before = r->kept.n;
        buf_add(&r->kept, bytes);
        ssize_t n = http_head_length(buf_span(&r->kept), &r->scanned);
        if (n < 0) {
            buf_adds(&r->out, "\nno head");
            r->stopped = true;
        }
        if (n <= 0)
            return;
        r->scanned = 0;
        take_head(r, span_of(buf_span(&r->kept).p, (size_t)n));
        buf_reset(&r->kept);
        bytes = span_from(bytes, (size_t)n - before);
    }
}

static void read_all(struct reader *r, unsigned kind, struct span in, const uint8_t *sizes, size_t nsizes)
{
    *r = (struct reader){.request = kind % 3 == 0, .to_head = kind % 3 == 2};
    buf_init(&r->out, OUTPUT);
    buf_init(&r->kept, OUTPUT);
    http_parser_init(&r->parser, r->request);
    for (size_t i = 0; in.n && !r->stopped; i++) {
        size_t n = nsizes ? 1u + sizes[i % nsizes] : in.n;
        n = n < in.n ? n : in.n;
        char *copy = malloc(n); /* so that a read beyond the piece is seen */
        memcpy(copy, in.p, n);
        take(r, span_of(copy, n));
        free(copy);
        in = span_from(in, n);
    }
    if (!r->stopped && r->in_body)
        buf_printf(&r->out, "\neof %d", http_parser_eof(&r->parser));
    http_parser_finish(&r->parser);
    buf_free(&r->kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { SIZES = 4 };
    struct reader whole, cut;
    if (size < 1 + SIZES)
        return 0;
    struct span in = span_of((const char *)data + 1 + SIZES, size - 1 - SIZES);
    read_all(&whole, data[0], in, NULL, 0);
    read_all(&cut, data[0], in, data + 1, SIZES);
    if (!buf_full(&whole.out) &&
        (whole.out.n != cut.out.n || memcmp(buf_span(&whole.out).p, buf_span(&cut.out).p, whole.out.n) != 0))
        abort();
    buf_free(&whole.out);
    buf_free(&cut.out);
    return 0;
}
