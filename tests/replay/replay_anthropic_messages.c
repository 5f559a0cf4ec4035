/* Replies of anthropic-messages from the provider's bytes to the client's. */
#include "tests/replay/replay.h"

static void test_replays(void **state)
{
    (void)state;
    replay_file(API_ANTHROPIC_MESSAGES, TEST_DATA "/replay/anthropic_messages.txt", 30);
}

static void test_streams(void **state)
{
    (void)state;
    static const char *const streams[] = {"anthropic", "anthropic-error", "anthropic-max-tokens",
                                          "anthropic-tools-citations"};
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        char path[300];
        snprintf(path, sizeof path, TEST_DATA "/streams/%s.sse", streams[i]);
        replay_same(API_ANTHROPIC_MESSAGES, REPLY_SSE, path);
    }
}

#define FILE_A                                                                                               \
    "<<<HW_ATTACHMENT\\n{\\\"filename\\\":\\\"a.txt\\\",\\\"format\\\":\\\"txt\\\"}\\n---\\nA\\nHW_"         \
    "ATTACHMENT>>>"

/* A long answer with citations has hundreds of blocks. */
static void test_many_blocks(void **state)
{
    (void)state;
    enum { BLOCKS = 400 };
    struct buf stream, whole;
    struct run run = run_defaults(API_ANTHROPIC_MESSAGES);
    buf_init(&stream, ROOM);
    buf_init(&whole, ROOM);
    buf_adds(&whole, "{\"type\":\"message\",\"content\":[");
    for (unsigned i = 0; i < BLOCKS; i++) {
        const char *text = i == BLOCKS - 1 ? "last " FILE_A : "x <";
        buf_printf(
            &stream,
            "data: {\"type\":\"content_block_start\",\"index\":%u,\"content_block\":{\"type\":\"text\","
            "\"text\":\"\"}}\n\n"
            "data: {\"type\":\"content_block_delta\",\"index\":%u,\"delta\":{\"type\":\"text_delta\","
            "\"text\":\"%s\"}}\n\n"
            "data: {\"type\":\"content_block_stop\",\"index\":%u}\n\n",
            i, i, text, i);
        buf_printf(&whole, "%s{\"type\":\"text\",\"text\":\"%s\"}", i ? "," : "", text);
    }
    buf_adds(&stream, "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n");
    buf_adds(&whole, "]}");

    struct buf out = run_reply(&run, buf_span(&stream), stream.n, 0, true);
    assert_non_null(
        strstr(buf_cstr(&out), "\"index\":398,\"delta\":{\"type\":\"text_delta\",\"text\":\"<\"}"));
    assert_non_null(strstr(buf_cstr(&out), "\"text\":\"last \"}"));
    assert_non_null(strstr(buf_cstr(&out), "\"outbound_artifacts\":[{\"filename\":\"a.txt\""));
    buf_free(&out);

    run.settings.framing = REPLY_WHOLE;
    out = run_reply(&run, buf_span(&whole), whole.n, 0, true);
    assert_non_null(strstr(buf_cstr(&out), "\"text\":\"x <\"},{\"type\":\"text\",\"text\":\"last \"}]"
                                           ",\"outbound_artifacts\":[{\"filename\":\"a.txt\""));
    buf_free(&out);
    buf_free(&stream);
    buf_free(&whole);
}

/* Where Penstock's own pings may stand. */
static void test_inside(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        bool inside;
    } steps[] = {
        {"event: message_start\ndata: {\"type\":\"message_start\",", false},
        {"\"message\":{}}\n\n", true},
        {"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":"
         "\"<<<HW_ATTACHMENT\\n{\"}}\n\n",
         true},
        {"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n", true},
        {"event: message_stop\ndata: {\"type\":", true},
        {"\"message_stop\"}\n\n", false},
    };
    struct files files = {.late = false};
    struct reply_callbacks callbacks = {on_directive};
    struct run run = run_defaults(API_ANTHROPIC_MESSAGES);
    struct buf out;
    buf_init(&out, ROOM);
    files.reply = reply_create(&run.settings, &callbacks, &files);
    assert_false(reply_is_inside(files.reply));
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_int_equal(reply_feed(files.reply, span_str(steps[i].bytes), &out), REPLY_GOING);
        assert_int_equal(reply_is_inside(files.reply), steps[i].inside);
    }
    reply_destroy(files.reply);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replays),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_many_blocks),
        cmocka_unit_test(test_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
