/* Replies of ollama from the provider's bytes to the client's. */
#include "tests/replay/replay.h"

static void test_replays(void **state)
{
    (void)state;
    replay_file(API_OLLAMA, TEST_DATA "/replay/ollama.txt", 14);
}

static void test_streams(void **state)
{
    (void)state;
    replay_same(API_OLLAMA, REPLY_NDJSON, TEST_DATA "/streams/ollama-chat.ndjson");
    replay_same(API_OLLAMA, REPLY_NDJSON, TEST_DATA "/streams/ollama-chat-thinking-tools.ndjson");
    replay_same(API_OLLAMA, REPLY_NDJSON, TEST_DATA "/streams/ollama-generate.ndjson");
    replay_same(API_OLLAMA, REPLY_NDJSON, TEST_DATA "/streams/ollama-error.ndjson");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replays),
        cmocka_unit_test(test_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
