/* Any text is either refused with a message, or printed and read again to the same. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config_error e;
    struct buf first, second;
    struct config *c = config_parse(span_of((const char *)data, size), "f", &e);
    if (!c) {
        if (!e.message[0])
            abort();
        return 0;
    }
    buf_init(&first, 16 << 20);
    buf_init(&second, 16 << 20);
    config_print(c, &first);
    config_unref(c);
    c = config_parse(buf_span(&first), "printed", &e);
    if (!c) {
        fprintf(stderr, "%s\n%s\n", e.message, buf_cstr(&first));
        abort();
    }
    config_print(c, &second);
    if (strcmp(buf_cstr(&first), buf_cstr(&second)) != 0)
        abort();
    config_unref(c);
    buf_free(&first);
    buf_free(&second);
    return 0;
}
