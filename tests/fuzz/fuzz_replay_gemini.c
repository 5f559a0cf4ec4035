/* A reply of gemini on arbitrary provider bytes, as an event stream or as an array. */
#include "tests/fuzz/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool array = size && data[0] & 32;
    fuzz_reply(API_GEMINI, array ? REPLY_ARRAY : REPLY_SSE, data, size);
    return 0;
}
