#ifndef BASE_FLAG_H
#define BASE_FLAG_H
/* Why a person should look at a reply (product.md §3): stable words, each with a sentence for the reader. */
#include "base/span.h"

enum flag {
    FLAG_NONE,
    FLAG_INVALID_METADATA,
    FLAG_UNSUPPORTED_FORMAT,
    FLAG_INVALID_CONTENT,
    FLAG_UNTERMINATED,
    FLAG_STRAY_MARKER,
    FLAG_RENDER_FAILED,
    FLAG_RENDER_TIMEOUT,
    FLAG_TOO_LARGE,
    FLAG_TOO_MANY,
    FLAG_IMAGE_GENERATION_DISABLED,
    FLAG_STORAGE_FAILED,
    FLAGS /* how many */
};

/* "invalid_metadata" … */
const char *flag_name(enum flag flag);

#endif
