/* What comes out of the cage as a film's text and pictures. */
#include <stdint.h>

#include "attachments/parts.h"
#include "attachments/sniff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct part parts[PARTS_MOST];
    int n = parts_read(span_of((const char *)data, size), parts);
    size_t sum = 0;
    for (int i = 0; i < n; i++) {
        sum += parts[i].bytes.n;
        if (parts[i].bytes.n == 0 || (!parts[i].picture && !parts[i].sound && !sniff_is_text(parts[i].bytes)))
            __builtin_trap();
    }
    if (sum > size)
        __builtin_trap();
    return 0;
}
