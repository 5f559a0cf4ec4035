/* The dialect of Anthropic's Messages on arbitrary bytes. */
#include "tests/fuzz/dialect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_dialect(API_ANTHROPIC_MESSAGES, data, size);
    return 0;
}
