/* A reply of openai-responses on arbitrary provider bytes. */
#include "tests/fuzz/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_reply(API_OPENAI_RESPONSES, REPLY_SSE, data, size);
    return 0;
}
