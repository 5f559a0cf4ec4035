/* The dialect of Ollama on arbitrary bytes. */
#include "tests/fuzz/dialect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_dialect(API_OLLAMA, data, size);
    return 0;
}
