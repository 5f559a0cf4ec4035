/*
 * What the recorder keeps of a reply, for every API. tests/data/recorded.txt has the cases:
 *
 *   == name | api [whole] [ndjson] [array] [cut] [links] [n=2]
 *   -- upstream            or: -- stream FILE of tests/data/streams
 *   lines …                (<CR> is a carriage return, <+> joins a line with the next one)
 *   -- recorded
 *   key: value             (strings as they came)
 *
 * Each runs in one piece, byte by byte and cut in two at every place: what is kept must be this every time,
 * and the client must get the same bytes as without a recorder.
 */
#include "replay.h"

#include "filters/recorder.h"

enum { LINES = 1 << 16 };

static void add_word(struct buf *out, const char *key, const struct buf *word)
{
    if (!word->n)
        return;
    buf_printf(out, "%s: ", key);
    buf_add(out, buf_span(word));
    buf_addc(out, '\n');
}

static void print(const struct recorder *r, struct buf *out)
{
    add_word(out, "text", &r->text);
    add_word(out, "reasoning", &r->reasoning);
    for (size_t i = 0; i < r->ncalls; i++) {
        const struct recorder_call *c = &r->calls[i];
        buf_printf(out, "call: %.*s | %.*s | %.*s\n", (int)c->id.n, buf_span(&c->id).p, (int)c->name.n,
                   buf_span(&c->name).p, (int)c->arguments.n, buf_span(&c->arguments).p);
    }
    add_word(out, "citations", &r->citations);
    add_word(out, "finish", &r->finish);
    add_word(out, "type", &r->error_type);
    add_word(out, "code", &r->error_code);
    add_word(out, "message", &r->error_message);
    add_word(out, "reply", &r->reply_id);
    buf_printf(out, "ended:%s%s%s%s\n", r->finished ? " finished" : "", r->failed ? " failed" : "",
               r->canceled ? " canceled" : "", r->pending ? " pending" : "");
}

static void check(const char *name, struct run *run, struct span upstream, struct span expected, size_t step,
                  size_t at)
{
    struct buf said, plain, out;
    run->settings.recorder = NULL;
    plain = run_reply(run, upstream, step, at, true);
    run->settings.recorder = recorder_create(run->settings.dialect.parts, run->dialect->calls);
    out = run_reply(run, upstream, step, at, true);
    buf_init(&said, ROOM);
    recorder_settle(run->settings.recorder);
    print(run->settings.recorder, &said);
    if (out.n != plain.n || memcmp(buf_span(&out).p, buf_span(&plain).p, out.n) != 0)
        fail_msg("%s, cut at %zu: the client gets other bytes when somebody records", name, at);
    if (said.n != expected.n || memcmp(buf_span(&said).p, expected.p, expected.n) != 0)
        fail_msg("%s, pieces of %zu, cut at %zu:\n%s---- expected\n%.*s", name, step, at, buf_cstr(&said),
                 (int)expected.n, expected.p);
    recorder_destroy(run->settings.recorder);
    buf_free(&said);
    buf_free(&plain);
    buf_free(&out);
}

static void read_file(const char *path, struct buf *out)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("%s cannot be read", path);
    char *to = buf_reserve(out, ROOM / 2);
    buf_commit(out, fread(to, 1, ROOM / 2, f));
    fclose(f);
}

static struct span next_line(struct span *rest)
{
    const char *end = memchr(rest->p, '\n', rest->n);
    struct span line = span_of(rest->p, end ? (size_t)(end - rest->p) : rest->n);
    *rest = span_from(*rest, end ? line.n + 1 : line.n);
    return line;
}

static bool has(struct span options, const char *word)
{
    return memmem(options.p, options.n, word, strlen(word)) != NULL;
}

static struct run options_of(struct span head)
{
    static const enum api apis[] = {API_OPENAI_CHAT, API_OPENAI_RESPONSES, API_ANTHROPIC_MESSAGES, API_GEMINI,
                                    API_OLLAMA};
    const char *bar = memchr(head.p, '|', head.n);
    struct span options = bar ? span_from(head, (size_t)(bar - head.p)) : span_of(head.p, 0);
    struct run run = {.cut = false};
    for (size_t i = 0; i < sizeof apis / sizeof apis[0]; i++)
        if (has(options, api_name(apis[i])))
            run = run_defaults(apis[i]);
    assert_non_null(run.dialect);
    run.cut = has(options, " cut");
    run.settings.links = has(options, " links");
    run.settings.choices = has(options, "n=2") ? 2 : 1;
    run.settings.framing = has(options, " whole")    ? REPLY_WHOLE
                           : has(options, " ndjson") ? REPLY_NDJSON
                           : has(options, " array")  ? REPLY_ARRAY
                                                     : REPLY_SSE;
    return run;
}

static void run_case(struct span head, struct span upstream, struct span expected)
{
    struct run run = options_of(head);
    char *name = xspandup(head);
    check(name, &run, upstream, expected, upstream.n, 0);
    check(name, &run, upstream, expected, 1, 0);
    for (size_t at = 1; at < upstream.n && upstream.n < LONG_STREAM; at++)
        check(name, &run, upstream, expected, upstream.n, at);
    xfree(name);
}

static void test_cases(void **state)
{
    struct buf file, upstream, expected;
    (void)state;
    buf_init(&file, ROOM);
    buf_init(&upstream, ROOM);
    buf_init(&expected, ROOM);
    read_file(TEST_DATA "/recorded.txt", &file);
    struct span rest = buf_span(&file), head = {0};
    struct buf *into = NULL;
    unsigned n = 0;
    while (rest.n) {
        struct span line = next_line(&rest);
        if (span_starts(line, "== ")) {
            if (head.n)
                run_case(head, buf_span(&upstream), buf_span(&expected));
            head = span_from(line, 3);
            buf_reset(&upstream);
            buf_reset(&expected);
            into = NULL;
            n++;
        } else if (span_is(line, "-- upstream")) {
            into = &upstream;
        } else if (span_starts(line, "-- stream ")) {
            char path[512];
            snprintf(path, sizeof path, "%s/streams/%.*s", TEST_DATA, (int)line.n - 10, line.p + 10);
            read_file(path, &upstream);
        } else if (span_is(line, "-- recorded")) {
            into = &expected;
        } else if (into) {
            char *copy = xspandup(line);
            add_line(into, copy);
            xfree(copy);
        }
    }
    run_case(head, buf_span(&upstream), buf_span(&expected));
    assert_true(n > 30);
    buf_free(&file);
    buf_free(&upstream);
    buf_free(&expected);
}

/* Texts that are too long keep their beginning, whole characters and escapes of it, and a mark. */
static void test_caps(void **state)
{
    (void)state;
    struct recorder *r = recorder_create(false, NULL);
    char *long_text = xmalloc(LIMIT_THREAD_TEXT + 10);
    for (int i = 0; i < LIMIT_THREAD_TEXT + 10; i += 2) {
        long_text[i] = '\\';
        long_text[i + 1] = 'n';
    }
    recorder_text(r, 0, SPAN_LIT("x"));
    recorder_text(r, 1, SPAN_LIT("of another choice"));
    recorder_text(r, 0, span_of(long_text, LIMIT_THREAD_TEXT + 10));
    assert_true(r->text_cut);
    assert_int_equal(r->text.n, LIMIT_THREAD_TEXT - 1);
    recorder_text(r, 0, SPAN_LIT("y"));
    assert_int_equal(r->text.n, LIMIT_THREAD_TEXT - 1);
    recorder_destroy(r);

    r = recorder_create(false, NULL);
    struct reply_event e = {.noting = true};
    long_text[0] = long_text[LIMIT_THREAD_ARGUMENTS - 101] = '"';
    for (uint32_t i = 0; i < 2; i++)
        reply_event_note(&e, NOTE_CALL_MORE, i, span_of(long_text, LIMIT_THREAD_ARGUMENTS - 100));
    recorder_take_notes(r, &e);
    assert_int_equal(r->ncalls, 2);
    assert_true(r->calls_cut);
    assert_in_range(r->calls[0].arguments.n + r->calls[1].arguments.n, LIMIT_THREAD_ARGUMENTS - 2,
                    LIMIT_THREAD_ARGUMENTS);
    for (uint32_t i = 2; i < 2 * LIMIT_THREAD_CALLS; i++)
        reply_event_note(&e, NOTE_CALL, i, (struct span){0});
    recorder_take_notes(r, &e);
    assert_int_equal(r->ncalls, LIMIT_THREAD_CALLS);
    reply_event_free(&e);
    recorder_destroy(r);
    xfree(long_text);

    struct buf to;
    bool cut = false;
    buf_init(&to, 10);
    recorder_add_cut(&to, SPAN_LIT("12345678\xe2\x82\xac"), &cut);
    assert_true(cut);
    assert_int_equal(to.n, 8);
    buf_free(&to);
    cut = false;
    recorder_add_cut(&to, SPAN_LIT("12345\\u20ac"), &cut);
    assert_true(cut);
    assert_int_equal(to.n, 5);
    buf_free(&to);
}

/* An event with one note, as a dialect would tell it. */
static void take(struct recorder *r, struct reply_event *e, enum note_kind kind, uint32_t number,
                 struct span value)
{
    e->nnotes = 0;
    reply_event_note(e, kind, number, value);
    recorder_event(r, e);
}

/* Pieces that are appended one after the other end at the same cap, whole, and so do whole calls. */
static void test_caps_in_pieces(void **state)
{
    (void)state;
    struct recorder *r = recorder_create(false, NULL);
    struct reply_event e = {.noting = true};
    struct span piece = SPAN_LIT("\"12345\\u00e9\"");
    size_t n = piece.n - 2;
    for (size_t i = 0; i < LIMIT_THREAD_TEXT / n + 3; i++) {
        take(r, &e, NOTE_REASONING, 0, piece);
        recorder_text(r, 0, SPAN_LIT("12345678"));
    }
    assert_true(r->reasoning_cut);
    assert_int_equal(r->reasoning.n,
                     LIMIT_THREAD_TEXT - LIMIT_THREAD_TEXT % n + (LIMIT_THREAD_TEXT % n > 5 ? 5 : 0));
    for (size_t i = 0; i < LIMIT_THREAD_TEXT / n; i++)
        recorder_text(r, 0, SPAN_LIT("12345678"));
    assert_int_equal(r->text.n, LIMIT_THREAD_TEXT);
    assert_true(r->text_cut);
    take(r, &e, NOTE_REFUSAL, 0, SPAN_LIT("\"x\""));
    take(r, &e, NOTE_REFUSAL, 0, SPAN_LIT("\"x\""));
    assert_int_equal(r->text.n, LIMIT_THREAD_TEXT);
    /* Two calls in turns, ten pieces each. */
    for (size_t i = 0; i < LIMIT_THREAD_ARGUMENTS / n + 30; i++)
        take(r, &e, NOTE_CALL_MORE, i / 10 % 2, piece);
    assert_int_equal(r->ncalls, 2);
    assert_true(r->calls_cut);
    assert_in_range(r->calls[0].arguments.n + r->calls[1].arguments.n, LIMIT_THREAD_ARGUMENTS - n,
                    LIMIT_THREAD_ARGUMENTS);
    reply_event_free(&e);
    recorder_destroy(r);
}

static void test_whole_calls(void **state)
{
    static const char *const samples[] = {"{\"name\":\"f\",\"args\":{\"i\":%d}}",
                                          "[{\"function\":{\"name\":\"f\",\"arguments\":{\"i\":%d}}}]"};
    static const enum api apis[] = {API_GEMINI, API_OLLAMA};
    (void)state;
    for (int a = 0; a < 2; a++) {
        struct recorder *r = recorder_create(false, dialect_find(apis[a])->calls);
        struct reply_event e = {.noting = true};
        char call[100];
        for (int i = 0; i < LIMIT_THREAD_CALLS + 5; i++) {
            snprintf(call, sizeof call, samples[a], i);
            take(r, &e, NOTE_CALLS, 0, span_str(call));
        }
        recorder_settle(r);
        recorder_settle(r);
        assert_int_equal(r->ncalls, LIMIT_THREAD_CALLS);
        assert_true(r->calls_cut);
        assert_int_equal(r->raw.n, 0);
        snprintf(call, sizeof call, "{\\\"i\\\":%d}", LIMIT_THREAD_CALLS - 1);
        assert_true(span_is(buf_span(&r->calls[LIMIT_THREAD_CALLS - 1].arguments), call));
        reply_event_free(&e);
        recorder_destroy(r);
    }
}

/* More than is kept as it came: what there is gets read, and the next one after it. */
static void test_long_calls(void **state)
{
    (void)state;
    struct recorder *r = recorder_create(false, dialect_find(API_GEMINI)->calls);
    struct reply_event e = {.noting = true};
    struct buf call;
    buf_init(&call, 2 * LIMIT_THREAD_ARGUMENTS);
    for (unsigned i = 0; i < 4; i++) {
        size_t n = i == 3 ? LIMIT_THREAD_ARGUMENTS : LIMIT_THREAD_ARGUMENTS / 3;
        buf_reset(&call);
        buf_printf(&call, "{\"name\":\"f%u\",\"args\":\"", i);
        while (call.n < n)
            buf_addc(&call, 'x');
        buf_adds(&call, "\"}");
        take(r, &e, NOTE_CALLS, 0, buf_span(&call));
        assert_true(r->raw.n <= LIMIT_THREAD_ARGUMENTS);
    }
    recorder_settle(r);
    assert_int_equal(r->ncalls, 4);
    assert_true(r->calls_cut);
    assert_true(span_is(buf_span(&r->calls[3].name), "f3"));
    size_t sum = 0;
    for (size_t i = 0; i < 4; i++)
        sum += r->calls[i].arguments.n;
    assert_int_equal(sum, LIMIT_THREAD_ARGUMENTS);
    buf_free(&call);
    reply_event_free(&e);
    recorder_destroy(r);
}

/* Calls in calls in calls take no stack. */
static void test_deep_call(void **state)
{
    enum { DEPTH = 200000 };
    (void)state;
    struct run run = run_defaults(API_OPENAI_CHAT);
    struct buf event;
    buf_init(&event, ROOM);
    buf_adds(&event, "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{");
    for (int i = 0; i < DEPTH; i++)
        buf_adds(&event, "\"function\":{");
    for (int i = 0; i < DEPTH; i++)
        buf_addc(&event, '}');
    buf_adds(&event, "}]}}]}\n\n");
    assert_false(buf_full(&event));
    check("a deep call", &run, buf_span(&event), SPAN_LIT("ended:\n"), event.n, 0);
    buf_free(&event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),          cmocka_unit_test(test_caps),
        cmocka_unit_test(test_caps_in_pieces), cmocka_unit_test(test_whole_calls),
        cmocka_unit_test(test_long_calls),     cmocka_unit_test(test_deep_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
