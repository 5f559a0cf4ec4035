/* Replies of openai-responses from the provider's bytes to the client's. */
#include "tests/replay/replay.h"

static void test_replays(void **state)
{
    (void)state;
    replay_file(API_OPENAI_RESPONSES, TEST_DATA "/replay/openai_responses.txt", 30);
}

static void test_streams(void **state)
{
    (void)state;
    static const char *const streams[] = {"openai-responses", "openai-responses-error",
                                          "openai-responses-incomplete"};
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        char path[300];
        snprintf(path, sizeof path, TEST_DATA "/streams/%s.sse", streams[i]);
        replay_same(API_OPENAI_RESPONSES, REPLY_SSE, path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replays),
        cmocka_unit_test(test_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
