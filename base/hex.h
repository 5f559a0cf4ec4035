#ifndef BASE_HEX_H
#define BASE_HEX_H
/* Bytes as hexadecimal digits, in lower case: digests, tokens, names of files. */
#include <stddef.h>

/* Writes 2 * n digits and a terminator. */
static inline void hex_write(const unsigned char *bytes, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * n] = '\0';
}

#endif
