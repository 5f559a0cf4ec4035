/* Replies of gemini from the provider's bytes to the client's. */
#include "tests/replay/replay.h"

static void test_replays(void **state)
{
    (void)state;
    replay_file(API_GEMINI, TEST_DATA "/replay/gemini.txt", 16);
}

static void test_streams(void **state)
{
    (void)state;
    replay_same(API_GEMINI, REPLY_SSE, TEST_DATA "/streams/gemini.sse");
    replay_same(API_GEMINI, REPLY_SSE, TEST_DATA "/streams/gemini-tools.sse");
    replay_same(API_GEMINI, REPLY_SSE, TEST_DATA "/streams/gemini-blocked.sse");
    replay_same(API_GEMINI, REPLY_SSE, TEST_DATA "/streams/gemini-error.sse");
    replay_same(API_GEMINI, REPLY_ARRAY, TEST_DATA "/streams/gemini-array.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replays),
        cmocka_unit_test(test_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
