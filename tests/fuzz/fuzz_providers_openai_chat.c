/* The dialect of Chat Completions on arbitrary bytes. */
#include "tests/fuzz/dialect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_dialect(API_OPENAI_CHAT, data, size);
    return 0;
}
