/* A header: whatever is accepted is accepted the same without what follows, and no shorter piece of it is
 * accepted or refused. */
#include <stdint.h>
#include <stdlib.h>

#include "net/proxy_protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char address[64], again[64];
    struct span bytes = span_of((const char *)data, size);
    int n = proxy_protocol_parse(bytes, address);
    if (n < -1 || (n > 0 && (size_t)n > size) || !memchr(address, '\0', sizeof address))
        abort();
    if (n <= 0) {
        if (address[0])
            abort();
        return 0;
    }
    if (proxy_protocol_parse(span_of(bytes.p, (size_t)n), again) != n || strcmp(address, again) != 0)
        abort();
    for (size_t cut = 0; cut < (size_t)n; cut++)
        if (proxy_protocol_parse(span_of(bytes.p, cut), again) != 0)
            abort();
    return 0;
}
