/* A reply of ollama on arbitrary provider bytes. */
#include "tests/fuzz/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_reply(API_OLLAMA, REPLY_NDJSON, data, size);
    return 0;
}
