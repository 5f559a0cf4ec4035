#include "base/flag.h"

const char *flag_name(enum flag flag)
{
    static const char *const names[FLAGS] = {
        [FLAG_NONE] = "none",
        [FLAG_INVALID_METADATA] = "invalid_metadata",
        [FLAG_UNSUPPORTED_FORMAT] = "unsupported_format",
        [FLAG_INVALID_CONTENT] = "invalid_content",
        [FLAG_UNTERMINATED] = "unterminated",
        [FLAG_STRAY_MARKER] = "stray_marker",
        [FLAG_RENDER_FAILED] = "render_failed",
        [FLAG_RENDER_TIMEOUT] = "render_timeout",
        [FLAG_TOO_LARGE] = "too_large",
        [FLAG_TOO_MANY] = "too_many",
        [FLAG_IMAGE_GENERATION_DISABLED] = "image_generation_disabled",
        [FLAG_STORAGE_FAILED] = "storage_failed",
    };
    return names[flag];
}
