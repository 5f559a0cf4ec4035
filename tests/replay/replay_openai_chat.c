/*
 * Replies of openai-chat from the provider's bytes to the client's. The cases are in
 * tests/data/replay/openai_chat.txt:
 *
 *   == name | [whole] [ndjson] [buffer] [links] [cut] [n=2] [directives=2] [directive=100]
 *   -- upstream
 *   lines …
 *   -- client            or: -- client same
 *   lines …
 *
 * Lines that begin with '#' between cases are comments. In the lines <CR> is a carriage return and <+> joins
 * a line with the next one. Each case runs in one piece, byte by byte and cut in two at every place, with
 * files that are ready at once and with files that are late: the client's bytes must be these every time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/xalloc.h"
#include "filters/reply.h"
#include "providers/dialect.h"

enum { MOST_FILES = 256, ROOM = 1 << 24 };

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

static void settle(struct files *f, unsigned i)
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

static void on_directive(void *arg, unsigned number, struct buf *text, enum flag refused)
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
static enum reply_state wait_for_files(struct files *f, enum reply_state state, struct buf *out)
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
    bool cut;
};

static struct run run_defaults(void)
{
    const struct dialect *d = dialect_find(API_OPENAI_CHAT);
    return (struct run){.settings = {.dialect = {d->event, d->keep_shape, d->text_event, d->report_event},
                                     .framing = REPLY_SSE,
                                     .choices = 1,
                                     .directive_max = 1 << 20,
                                     .directive_total = 1 << 20,
                                     .directives = 16,
                                     .event_max = 1 << 20}};
}

/* Feeds the upstream bytes in pieces: `step` bytes each, or cut once at `at`. Answers what the client got; to
 * be freed. */
static struct buf run_reply(const struct run *run, struct span upstream, size_t step, size_t at, bool late)
{
    struct files *files = xcalloc(1, sizeof *files);
    struct reply_callbacks callbacks = {on_directive};
    struct buf out, error;
    struct error e;
    buf_init(&out, ROOM);
    buf_init(&error, ROOM);
    files->late = late;
    files->reply = reply_create(&run->settings, &callbacks, files);
    for (size_t i = 0; i < upstream.n;) {
        size_t n = at && i < at ? at : step;
        if (n > upstream.n - i)
            n = upstream.n - i;
        enum reply_state state = reply_feed(files->reply, span_of(upstream.p + i, n), &out);
        assert_int_equal(wait_for_files(files, state, &out), REPLY_GOING);
        i += n;
    }
    if (run->cut) {
        error_set(&e, ERROR_UPSTREAM_INVALID, "The provider broke off.");
        dialect_find(API_OPENAI_CHAT)->error_event(&e, false, &error);
    }
    enum reply_state state = reply_end(files->reply, !run->cut, buf_span(&error), &out);
    assert_int_equal(wait_for_files(files, state, &out), REPLY_DONE);
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

static void read_settings(struct replay *c, char *words)
{
    snprintf(c->name, sizeof c->name, "%s", words);
    for (char *save, *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        if (strcmp(w, "whole") == 0)
            c->run.settings.framing = REPLY_WHOLE;
        else if (strcmp(w, "ndjson") == 0)
            c->run.settings.framing = REPLY_NDJSON;
        else if (strcmp(w, "buffer") == 0)
            c->run.settings.mode = REPLY_BUFFER;
        else if (strcmp(w, "links") == 0)
            c->run.settings.links = true;
        else if (strcmp(w, "cut") == 0)
            c->run.cut = true;
        else if (strncmp(w, "n=", 2) == 0)
            c->run.settings.choices = (unsigned)strtoul(w + 2, NULL, 10);
        else if (strncmp(w, "directives=", 11) == 0)
            c->run.settings.directives = (unsigned)strtoul(w + 11, NULL, 10);
        else if (strncmp(w, "directive=", 10) == 0)
            c->run.settings.directive_max = strtoul(w + 10, NULL, 10);
    }
}

static void add_line(struct buf *b, char *line)
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

static void check_output(const struct replay *c, struct buf *out, const char *how, size_t at)
{
    struct span want = c->same ? buf_span(&c->upstream) : buf_span(&c->client), got = buf_span(out);
    if (got.n != want.n || memcmp(got.p, want.p, want.n) != 0) {
        print_error("%s (%s %zu)\n--- expected\n%.*s\n--- got\n%.*s\n", c->name, how, at, (int)want.n, want.p,
                    (int)got.n, got.p);
        fail();
    }
    buf_free(out);
}

static void run_replay(struct replay *c)
{
    struct span upstream = buf_span(&c->upstream);
    for (int late = 0; late < 2; late++) {
        struct buf out = run_reply(&c->run, upstream, upstream.n, 0, late);
        check_output(c, &out, "whole", 0);
        out = run_reply(&c->run, upstream, 1, 0, late);
        check_output(c, &out, "bytes", 0);
        for (size_t at = 1; at < upstream.n; at++) {
            out = run_reply(&c->run, upstream, upstream.n, at, late);
            check_output(c, &out, "cut at", at);
        }
    }
    buf_free(&c->upstream);
    buf_free(&c->client);
}

static void test_replays(void **state)
{
    (void)state;
    FILE *file = fopen(TEST_DATA "/replay/openai_chat.txt", "r");
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
            c = (struct replay){.run = run_defaults()};
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
    assert_true(cases > 20);
    free(line);
    fclose(file);
}

/* ---- however the text is cut into deltas ---- */

#define OPENER "<<<HW_ATTACHMENT"
#define CLOSER "HW_ATTACHMENT>>>"
#define FILE_A OPENER "\n{\"filename\":\"a.txt\",\"format\":\"txt\"}\n---\nA\n" CLOSER

static const char *const texts[] = {
    "Hello, " FILE_A " and bye",
    "x\n```\n" FILE_A "\n```\nrest",
    FILE_A,
    "a < b << c <<< d <<<H " OPENER " stray " CLOSER " e <<<HW_ATT",
    "t\xc3\xa9xt \xf0\x9f\x98\x80 " FILE_A "\n\n" FILE_A "\nz",
    "open " OPENER "\n{\"filename\":\"never",
    "```\ncode\n```\n",
};

/* A chunk with this text, and an entry for each of its bytes in the place of log probabilities. */
static void add_chunk(struct buf *b, const char *text, size_t n)
{
    buf_adds(b, "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"");
    assert_int_equal(json_escape(span_of(text, n), b), 0);
    buf_adds(b, "\"},\"logprobs\":{\"content\":[");
    for (size_t i = 0; i < n; i++)
        buf_printf(b, "%s{\"token\":\"?\",\"bytes\":[%u]}", i ? "," : "", (unsigned char)text[i]);
    buf_adds(b, "]},\"finish_reason\":null}]}\n\n");
}

static void add_token_bytes(struct span entries, struct buf *out)
{
    struct buf array;
    buf_init(&array, ROOM);
    buf_addc(&array, '[');
    buf_add(&array, entries);
    buf_addc(&array, ']');
    struct json_iter it = json_iter(buf_span(&array));
    while (json_next(&it) == 1) {
        struct span bytes;
        int64_t value;
        assert_true(json_member(it.value, "bytes", &bytes));
        assert_true(json_int(span_of(bytes.p + 1, bytes.n - 2), &value));
        buf_addc(out, (char)value);
    }
    buf_free(&array);
}

/* Collects the text and the log probabilities' bytes of a client's stream, and looks at each prefix of the
 * text. */
static void read_client(struct span stream, struct buf *text, struct buf *tokens)
{
    struct reply_event e = {0};
    struct reply_ends ends = {0};
    const char *p = stream.p, *end = stream.p + stream.n, *stop;
    while ((stop = memmem(p, (size_t)(end - p), "\n\n", 2))) {
        reply_event_reset(&e, span_of(p, (size_t)(stop - p)));
        e.json = span_from(e.raw, 6);
        e.json_at = 6;
        dialect_find(API_OPENAI_CHAT)->event(&e, 1, &ends);
        for (size_t i = 0; i < e.n; i++) {
            struct span at = span_of(e.raw.p + e.deltas[i].at, e.deltas[i].n);
            if (e.deltas[i].kind == DELTA_TEXT)
                assert_int_equal(json_unescape(at, text), 0);
            if (e.deltas[i].kind == DELTA_TOKENS)
                add_token_bytes(at, tokens);
        }
        assert_null(memmem(buf_span(text).p, text->n, OPENER, 16));
        assert_null(memmem(buf_span(text).p, text->n, CLOSER, 16));
        p = stop + 2;
    }
    assert_ptr_equal(p, end);
    reply_event_free(&e);
}

static void check_text(const struct run *run, const char *text, size_t first, size_t step,
                       struct buf *expected)
{
    static const char end[] =
        "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}"
        "\n\ndata: [DONE]\n\n";
    struct buf upstream, said, tokens;
    size_t n = strlen(text);
    buf_init(&upstream, ROOM);
    buf_init(&said, ROOM);
    buf_init(&tokens, ROOM);
    for (size_t i = 0; i < n;) {
        size_t piece = i == 0 && first ? first : step;
        if (piece > n - i)
            piece = n - i;
        add_chunk(&upstream, text + i, piece);
        i += piece;
    }
    buf_adds(&upstream, end);
    struct buf out = run_reply(run, buf_span(&upstream), upstream.n, 0, true);
    read_client(buf_span(&out), &said, &tokens);
    if (expected->n == 0)
        buf_add(expected, buf_span(&said));
    assert_string_equal(buf_cstr(&said), buf_cstr(expected));
    /* A sentence that stands in has no log probabilities. */
    if (strncmp(buf_cstr(&said), "Attached: ", 10) != 0)
        assert_string_equal(buf_cstr(&said), buf_cstr(&tokens));
    buf_free(&upstream);
    buf_free(&said);
    buf_free(&tokens);
    buf_free(&out);
}

static void test_every_cut_of_the_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        size_t n = strlen(texts[i]);
        struct buf expected;
        struct run run = run_defaults();
        buf_init(&expected, ROOM);
        for (int mode = 0; mode < 2; mode++) {
            run.settings.mode = mode ? REPLY_BUFFER : REPLY_SUPPRESS;
            check_text(&run, texts[i], 0, n, &expected);
            for (size_t step = 1; step < 20; step++)
                check_text(&run, texts[i], 0, step, &expected);
            for (size_t at = 1; at < n; at++)
                check_text(&run, texts[i], at, n, &expected);
        }
        buf_free(&expected);
    }
}

/* ---- what no file of bytes can say ---- */

static void test_limits(void **state)
{
    (void)state;
    struct files files = {0};
    struct reply_callbacks callbacks = {on_directive};
    struct buf out;
    buf_init(&out, ROOM);
    struct run run = run_defaults();
    run.settings.event_max = 100;

    struct reply *r = reply_create(&run.settings, &callbacks, &files);
    char bytes[6000];
    memset(bytes, 'x', sizeof bytes);
    assert_int_equal(reply_feed(r, span_of(bytes, sizeof bytes), &out), REPLY_FAILED);
    assert_int_equal(reply_feed(r, span_of(bytes, 1), &out), REPLY_FAILED);
    assert_int_equal(reply_end(r, true, SPAN_LIT(""), &out), REPLY_FAILED);
    reply_destroy(r);

    /* What was before the event that is too large is delivered, and the error stands last. */
    static const char before[] =
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a <<<HW\"}}]}\n\n";
    for (size_t piece = 1000; piece <= sizeof bytes; piece += 5000) {
        enum reply_state got = REPLY_GOING;
        r = reply_create(&run.settings, &callbacks, &files);
        assert_int_equal(reply_feed(r, span_str(before), &out), REPLY_GOING);
        while (got == REPLY_GOING)
            got = reply_feed(r, span_of(bytes, piece), &out);
        assert_int_equal(got, REPLY_FAILED);
        assert_int_equal(reply_end(r, false, SPAN_LIT("data: broken\n\n"), &out), REPLY_DONE);
        assert_non_null(strstr(buf_cstr(&out), "\"content\":\"<<<HW\""));
        assert_string_equal(buf_cstr(&out) + out.n - 14, "data: broken\n\n");
        reply_destroy(r);
        buf_reset(&out);
    }

    run.settings.framing = REPLY_WHOLE;
    r = reply_create(&run.settings, &callbacks, &files);
    assert_int_equal(reply_feed(r, span_of(bytes, 60), &out), REPLY_GOING);
    assert_int_equal(reply_feed(r, span_of(bytes, 60), &out), REPLY_FAILED);
    reply_destroy(r);

    /* Half a body is of no use to anybody. */
    r = reply_create(&run.settings, &callbacks, &files);
    assert_int_equal(reply_feed(r, SPAN_LIT("{\"choices\":[{\"mess"), &out), REPLY_GOING);
    assert_int_equal(reply_end(r, false, SPAN_LIT(""), &out), REPLY_FAILED);
    assert_int_equal(out.n, 0);
    reply_destroy(r);

    run = run_defaults();
    r = reply_create(&run.settings, &callbacks, &files);
    enum reply_state last = REPLY_GOING;
    for (int i = 0; i <= LIMIT_CHANNELS; i++) {
        char event[200];
        assert_int_equal(last, REPLY_GOING);
        snprintf(event, sizeof event,
                 "data: {\"choices\":[{\"index\":%d,\"delta\":{\"content\":\"x\"}}]}\n\n", i);
        last = reply_feed(r, span_str(event), &out);
    }
    assert_int_equal(last, REPLY_FAILED);
    reply_destroy(r);
    reply_destroy(NULL);
    buf_free(&out);
}

/* The end of the upstream may be noticed while the reply waits for its files. */
static void test_end_while_waiting(void **state)
{
    (void)state;
    static const char stream[] = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a "
                                 "<<<HW_ATTACHMENT\\n{\\\"filename\\\":\\\"a.txt\\\"}\\n"
                                 "---\\nA\\nHW_ATTACHMENT>>>\"}}]}\n\ndata: "
                                 "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    struct files files = {.late = true};
    struct reply_callbacks callbacks = {on_directive};
    struct run run = run_defaults();
    struct buf out;
    buf_init(&out, ROOM);
    files.reply = reply_create(&run.settings, &callbacks, &files);
    assert_int_equal(reply_feed(files.reply, span_str(stream), &out), REPLY_WAITING);
    assert_null(strstr(buf_cstr(&out), "stop"));
    assert_true(reply_between_events(files.reply));
    assert_int_equal(reply_resume(files.reply, &out), REPLY_WAITING);
    assert_int_equal(reply_feed(files.reply, SPAN_LIT("data: [DONE]\n\n"), &out), REPLY_WAITING);
    assert_int_equal(reply_end(files.reply, true, SPAN_LIT(""), &out), REPLY_WAITING);
    settle(&files, 0);
    assert_int_equal(reply_resume(files.reply, &out), REPLY_DONE);
    assert_non_null(strstr(buf_cstr(&out),
                           "\"finish_reason\":\"stop\"}],\"outbound_artifacts\":[{\"filename\":\"a.txt\""));
    assert_string_equal(buf_cstr(&out) + out.n - 14, "data: [DONE]\n\n");
    assert_int_equal(reply_totals(files.reply)->artifacts, 1);
    assert_int_equal(reply_totals(files.reply)->directives, 1);
    assert_true(reply_totals(files.reply)->ended);
    reply_destroy(files.reply);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replays),
        cmocka_unit_test(test_every_cut_of_the_text),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_end_while_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
