/* Replies of openai-chat from the provider's bytes to the client's. */
#include "tests/replay/replay.h"

static void test_replays(void **state)
{
    (void)state;
    replay_file(API_OPENAI_CHAT, TEST_DATA "/replay/openai_chat.txt", 21);
}

static void test_streams(void **state)
{
    (void)state;
    static const char *const streams[] = {"azure",
                                          "openrouter",
                                          "openrouter-error",
                                          "moonshot",
                                          "vllm",
                                          "vllm-error",
                                          "llamacpp",
                                          "llamacpp-old-error",
                                          "compat-content-array",
                                          "openai-chat",
                                          "openai-chat-n2-logprobs",
                                          "openai-chat-tools",
                                          "openai-chat-refusal",
                                          "openai-chat-error"};
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        char path[300];
        snprintf(path, sizeof path, TEST_DATA "/streams/%s.sse", streams[i]);
        replay_same(API_OPENAI_CHAT, REPLY_SSE, path);
    }
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
        struct run run = run_defaults(API_OPENAI_CHAT);
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
    struct run run = run_defaults(API_OPENAI_CHAT);
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

    run = run_defaults(API_OPENAI_CHAT);
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
    struct run run = run_defaults(API_OPENAI_CHAT);
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
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_every_cut_of_the_text),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_end_while_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
