#include "transcript/clean.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define REPLACEMENT "\xef\xbf\xbd"

struct cleaner {
    struct span rest;
    struct buf *out;
};

static void copy(struct cleaner *c, size_t n)
{
    buf_addn(c->out, c->rest.p, n);
    c->rest = span_from(c->rest, n);
}

/* Bytes of the valid UTF-8 character at the beginning; 0: none. */
static size_t character(struct span s)
{
    unsigned char a = (unsigned char)s.p[0], b = s.n > 1 ? (unsigned char)s.p[1] : 0;
    size_t n = a < 0x80 ? 1 : a < 0xc2 ? 0 : a < 0xe0 ? 2 : a < 0xf0 ? 3 : a < 0xf5 ? 4 : 0;
    if (n == 0 || n > s.n || (a == 0xe0 && b < 0xa0) || (a == 0xed && b > 0x9f) || (a == 0xf0 && b < 0x90) ||
        (a == 0xf4 && b > 0x8f))
        return 0;
    for (size_t i = 1; i < n; i++)
        if (((unsigned char)s.p[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* The four digits of \uXXXX; -1: it is none. */
static int unit(struct span s)
{
    int value = 0;
    if (s.n < 6 || s.p[0] != '\\' || s.p[1] != 'u')
        return -1;
    for (size_t i = 2; i < 6; i++) {
        char c = s.p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static void clean_escape(struct cleaner *c)
{
    int first = unit(c->rest);
    if (first < 0) {
        copy(c, c->rest.n > 1 ? 2 : 1);
        return;
    }
    int second = first >= 0xd800 && first <= 0xdbff ? unit(span_from(c->rest, 6)) : -1;
    if (second >= 0xdc00 && second <= 0xdfff) {
        copy(c, 12);
    } else if (first == 0 || (first >= 0xd800 && first <= 0xdfff)) {
        buf_adds(c->out, REPLACEMENT);
        c->rest = span_from(c->rest, 6);
    } else {
        copy(c, 6);
    }
}

static void clean_string(struct cleaner *c)
{
    copy(c, 1);
    while (c->rest.n) {
        size_t n = 0;
        while (n < c->rest.n && c->rest.p[n] != '"' && c->rest.p[n] != '\\' && c->rest.p[n] >= ' ')
            n++; /* the usual */
        copy(c, n);
        if (!c->rest.n)
            return;
        char next = c->rest.p[0];
        if (next == '"') {
            copy(c, 1);
            return;
        }
        if (next == '\\') {
            clean_escape(c);
        } else if ((n = character(c->rest)) > 1) {
            copy(c, n);
        } else {
            if (n && next)
                buf_printf(c->out, "\\u%04x", next);
            else
                buf_adds(c->out, REPLACEMENT);
            c->rest = span_from(c->rest, 1);
        }
    }
}

/* A number or a bare word. */
static void clean_word(struct cleaner *c)
{
    char text[512];
    size_t n = 0;
    bool whole = true;
    while (n < c->rest.n && !strchr(" \t\r\n,:[]{}\"", c->rest.p[n])) {
        whole = whole && !strchr(".eE", c->rest.p[n]);
        n++;
    }
    if (n == 0) { /* a NUL */
        copy(c, 1);
        return;
    }
    struct span word = span_of(c->rest.p, n);
    bool number = (word.p[0] >= '0' && word.p[0] <= '9') || word.p[0] == '-', fits = true;
    snprintf(text, sizeof text, "%.*s", (int)(n < sizeof text ? n : sizeof text - 1), word.p);
    errno = 0;
    if (number && whole) {
        (void)strtoll(text, NULL, 10);
        fits = errno == 0 && n < sizeof text;
    } else if (number) {
        fits = !isinf(strtod(text, NULL)) && n < sizeof text;
    }
    if (!fits || span_is(word, "NaN") || span_is(word, "Infinity") || span_is(word, "-Infinity")) {
        buf_adds(c->out, "null");
        c->rest = span_from(c->rest, n);
    } else {
        copy(c, n);
    }
}

/* Over a container whose bracket comes next. */
static void skip_container(struct cleaner *c)
{
    size_t depth = 0;
    bool string = false;
    for (size_t i = 0; i < c->rest.n; i++) {
        char next = c->rest.p[i];
        if (string && next == '\\') {
            i++;
        } else if (next == '"') {
            string = !string;
        } else if (!string && (next == '[' || next == '{')) {
            depth++;
        } else if (!string && (next == ']' || next == '}') && --depth == 0) {
            c->rest = span_from(c->rest, i + 1);
            return;
        }
    }
    c->rest.n = 0;
}

void clean_json(struct span text, struct buf *out)
{
    struct cleaner c = {.rest = text, .out = out};
    size_t depth = 0;
    if (span_starts(c.rest, "\xef\xbb\xbf"))
        c.rest = span_from(c.rest, 3);
    while (c.rest.n && !buf_full(out)) {
        char next = c.rest.p[0];
        bool opens = next == '[' || next == '{', closes = next == ']' || next == '}';
        if (next == '"') {
            clean_string(&c);
        } else if (opens && depth == CLEAN_DEPTH) {
            buf_adds(out, "null");
            skip_container(&c);
        } else if (opens || closes || strchr(" \t\r\n,:", next)) {
            depth += opens;
            depth -= closes && depth > 0;
            copy(&c, 1);
        } else {
            clean_word(&c);
        }
    }
}
