#ifndef TESTS_REPLAY_REPLAY_H
#define TESTS_REPLAY_REPLAY_H
/*
 * Replies from the provider's bytes to the client's, through a dialect and the reply filter. The cases of an
 * API are in tests/data/replay/<api>.txt:
 *
 *   == name | [whole] [ndjson] [array] [buffer] [links] [cut] [unreadable] [n=2] [directives=2]
 * [directive=100]
 *   -- upstream
 *   lines …
 *   -- client            or: -- client same
 *   lines …
 *
 * Lines that begin with '#' between cases are comments. In the lines <CR> is a carriage return and <+> joins
 * a line with the next one. Each case runs in one piece, byte by byte and cut in two at every place, with
 * files that are ready at once and with files that are late: the client's bytes must be these every time.
 *
 * Files in tests/data/streams/ hold replies without a directive: the client's bytes are the provider's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/xalloc.h"
#include "filters/reply.h"
#include "providers/dialect.h"

enum { MOST_FILES = 256, ROOM = 1 << 24, LONG_STREAM = 1500 };

/* Stands for everything that makes files: each becomes {"filename":…,"url":…}, unless its text says "refuse
 * me". */
struct files {
    struct reply *reply;
    bool late;
    unsigned n, settled;
    struct {
        char name[128];
        bool bad;
        enum flag refused;
    } list[MOST_FILES];
};

static inline void settle(struct files *f, unsigned i)
{
    char entry[300], url[64];
    snprintf(entry, sizeof entry, "{\"filename\":\"%s\",\"url\":\"http://files/%u\"}", f->list[i].name, i);
    snprintf(url, sizeof url, "http://files/%u", i);
    struct reply_artifact a = {.filename = span_str(f->list[i].name), .flag = f->list[i].refused};
    if (f->list[i].bad) {
        a.flag = FLAG_INVALID_CONTENT;
        a.sentence = span_str("the content is empty; nothing to make.");
    } else if (a.flag == FLAG_NONE) {
        a.entry = span_str(entry);
        a.url = span_str(url);
    }
    reply_settle(f->reply, i, &a);
    f->settled++;
}

static inline void on_directive(void *arg, unsigned number, struct buf *text, enum flag refused)
{
    struct files *f = arg;
    assert_int_equal(number, f->n);
    assert_true(number < MOST_FILES);
    const char *name = strstr(buf_cstr(text), "\"filename\":\""),
               *quote = name ? strchr(name + 12, '"') : NULL;
    if (quote)
        snprintf(f->list[number].name, sizeof f->list[number].name, "%.*s", (int)(quote - name - 12),
                 name + 12);
    f->list[number].bad = strstr(buf_cstr(text), "refuse me") != NULL;
    f->list[number].refused = refused;
    f->n++;
    if (!f->late)
        settle(f, number);
}

/* Late files come in the wrong order, the last one first. */
static inline enum reply_state wait_for_files(struct files *f, enum reply_state state, struct buf *out)
{
    while (state == REPLY_WAITING) {
        assert_int_equal(reply_pending(f->reply), f->n - f->settled);
        for (unsigned i = f->n; i > 0; i--)
            settle(f, i - 1);
        f->settled = f->n;
        state = reply_resume(f->reply, out);
    }
    return state;
}

struct run {
    struct reply_settings settings;
    const struct dialect *dialect;
    bool cut;        /* the upstream's bytes end before the reply does */
    bool unreadable; /* the filter must refuse it */
};

static inline struct run run_defaults(enum api api)
{
    const struct dialect *d = dialect_find(api);
    assert_non_null(d);
    return (struct run){.dialect = d,
                        .settings = {.dialect = {.event = d->event,
                                                 .keep_shape = d->keep_shape,
                                                 .text_event = d->text_event,
                                                 .report_event = d->report_event,
                                                 .citation = d->citation,
                                                 .offsets = d->offsets,
                                                 .parts = d->parts},
                                     .framing = REPLY_SSE,
                                     .choices = 1,
                                     .directive_max = 1 << 20,
                                     .directive_total = 1 << 20,
                                     .directives = 16,
                                     .event_max = 1 << 20}};
}

/* Feeds the upstream bytes in pieces: `step` bytes each, or cut once at `at`. Answers what the client got; to
 * be freed. */
static inline struct buf run_reply(const struct run *run, struct span upstream, size_t step, size_t at,
                                   bool late)
{
    struct files *files = xcalloc(1, sizeof *files);
    struct reply_callbacks callbacks = {on_directive};
    struct buf out, error;
    struct error e;
    buf_init(&out, ROOM);
    buf_init(&error, ROOM);
    files->late = late;
    files->reply = reply_create(&run->settings, &callbacks, files);
    enum reply_state state = REPLY_GOING;
    for (size_t i = 0; i < upstream.n && state == REPLY_GOING;) {
        size_t n = at && i < at ? at : step;
        if (n > upstream.n - i)
            n = upstream.n - i;
        state = wait_for_files(files, reply_feed(files->reply, span_of(upstream.p + i, n), &out), &out);
        i += n;
    }
    if (run->unreadable && state == REPLY_GOING)
        state = wait_for_files(files, reply_end(files->reply, true, buf_span(&error), &out), &out);
    assert_int_equal(state, run->unreadable ? REPLY_FAILED : REPLY_GOING);
    assert_int_equal(reply_unreadable(files->reply), run->unreadable);
    if (run->cut || run->unreadable) {
        error_set(&e, ERROR_UPSTREAM_INVALID, "The provider broke off.");
        run->dialect->error_event(&e, false, &error);
    }
    state = reply_end(files->reply, !run->cut && !run->unreadable, buf_span(&error), &out);
    bool nothing = run->unreadable && run->settings.framing == REPLY_WHOLE;
    assert_int_equal(wait_for_files(files, state, &out), nothing ? REPLY_FAILED : REPLY_DONE);
    reply_destroy(files->reply);
    buf_free(&error);
    xfree(files);
    return out;
}

/* ---- cases from the file ---- */

struct replay {
    char name[200];
    struct run run;
    struct buf upstream, client;
    bool same;
};

static inline void read_settings(struct replay *c, char *words)
{
    snprintf(c->name, sizeof c->name, "%s", words);
    for (char *save, *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        if (strcmp(w, "whole") == 0)
            c->run.settings.framing = REPLY_WHOLE;
        else if (strcmp(w, "ndjson") == 0)
            c->run.settings.framing = REPLY_NDJSON;
        else if (strcmp(w, "array") == 0)
            c->run.settings.framing = REPLY_ARRAY;
        else if (strcmp(w, "buffer") == 0)
            c->run.settings.mode = REPLY_BUFFER;
        else if (strcmp(w, "links") == 0)
            c->run.settings.links = true;
        else if (strcmp(w, "cut") == 0)
            c->run.cut = true;
        else if (strcmp(w, "unreadable") == 0)
            c->run.unreadable = true;
        else if (strcmp(w, "resumed") == 0)
            c->run.settings.resumed = true;
        else if (strcmp(w, "echo") == 0) /* what was added to the prompt */
            c->run.settings.echoes[0] = SPAN_LIT("Files:\\n<<<HW_ATTACHMENT \\u00fc\\ud83d\\ude00");
        else if (strncmp(w, "n=", 2) == 0)
            c->run.settings.choices = (unsigned)strtoul(w + 2, NULL, 10);
        else if (strncmp(w, "directives=", 11) == 0)
            c->run.settings.directives = (unsigned)strtoul(w + 11, NULL, 10);
        else if (strncmp(w, "directive=", 10) == 0)
            c->run.settings.directive_max = strtoul(w + 10, NULL, 10);
    }
}

static inline void add_line(struct buf *b, char *line)
{
    char *mark;
    size_t n = strlen(line);
    bool joined = n >= 3 && strcmp(line + n - 3, "<+>") == 0;
    if (joined)
        line[n - 3] = '\0';
    while ((mark = strstr(line, "<CR>"))) {
        *mark = '\0';
        buf_adds(b, line);
        buf_addc(b, '\r');
        line = mark + 4;
    }
    buf_adds(b, line);
    if (!joined)
        buf_addc(b, '\n');
}

static inline void check_output(const struct replay *c, struct buf *out, const char *how, size_t at)
{
    struct span want = c->same ? buf_span(&c->upstream) : buf_span(&c->client), got = buf_span(out);
    if (got.n != want.n || memcmp(got.p, want.p, want.n) != 0) {
        fprintf(stderr, "%s (%s %zu)\n--- expected\n%.*s\n--- got\n%.*s\n", c->name, how, at, (int)want.n,
                want.p, (int)got.n, got.p);
        fail();
    }
    buf_free(out);
}

static inline void run_replay(struct replay *c)
{
    struct span upstream = buf_span(&c->upstream);
    for (int late = 0; late < 2; late++) {
        struct buf out = run_reply(&c->run, upstream, upstream.n, 0, late);
        check_output(c, &out, "whole", 0);
        out = run_reply(&c->run, upstream, 1, 0, late);
        check_output(c, &out, "bytes", 0);
        /* Of a long one every second place with the one kind of files, and the others with the other. */
        size_t step = upstream.n > LONG_STREAM ? 2 : 1;
        for (size_t at = step == 2 && late ? 2 : 1; at < upstream.n; at += step) {
            out = run_reply(&c->run, upstream, upstream.n, at, late);
            check_output(c, &out, "cut at", at);
        }
    }
    buf_free(&c->upstream);
    buf_free(&c->client);
}

/* All cases of the file, with the API's usual settings but for what the case says. */
static inline void replay_file(enum api api, const char *path, size_t least)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    struct replay c = {0};
    struct buf *into = NULL;
    char *line = NULL;
    size_t room = 0, cases = 0;
    ssize_t n;
    while ((n = getline(&line, &room, file)) >= 0) {
        if (n && line[n - 1] == '\n')
            line[n - 1] = '\0';
        if (strncmp(line, "== ", 3) == 0) {
            if (cases++)
                run_replay(&c);
            c = (struct replay){.run = run_defaults(api)};
            buf_init(&c.upstream, ROOM);
            buf_init(&c.client, ROOM);
            read_settings(&c, line + 3);
            into = NULL;
        } else if (strcmp(line, "-- upstream") == 0) {
            into = &c.upstream;
        } else if (strncmp(line, "-- client", 9) == 0) {
            c.same = strstr(line, "same") != NULL;
            into = c.same ? NULL : &c.client;
        } else if (into) {
            add_line(into, line);
        }
    }
    if (cases)
        run_replay(&c);
    assert_true(cases >= least);
    free(line);
    fclose(file);
}

/* ---- replies that pass as they are ---- */

static inline void replay_same(enum api api, enum reply_framing framing, const char *path)
{
    struct replay c = {.run = run_defaults(api), .same = true};
    FILE *file = fopen(path, "rb");
    char bytes[4096];
    size_t n;
    assert_non_null(file);
    snprintf(c.name, sizeof c.name, "%s", path);
    buf_init(&c.upstream, ROOM);
    buf_init(&c.client, ROOM);
    c.run.settings.framing = framing;
    while ((n = fread(bytes, 1, sizeof bytes, file)) > 0)
        assert_int_equal(buf_addn(&c.upstream, bytes, n), 0);
    fclose(file);
    run_replay(&c);
}

#endif
