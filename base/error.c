#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
    const char *name;
    int status;
    enum error_level level;
} codes[ERROR_CODES] = {
    [ERROR_NONE] = {"NONE", 200, LEVEL_WARNING},
    [ERROR_BAD_REQUEST] = {"BAD_REQUEST", 400, LEVEL_WARNING},
    [ERROR_NOT_FOUND] = {"NOT_FOUND", 404, LEVEL_WARNING},
    [ERROR_ATTACHMENT_TOO_LARGE] = {"ATTACHMENT_TOO_LARGE", 400, LEVEL_WARNING},
    [ERROR_ATTACHMENT_INVALID] = {"ATTACHMENT_INVALID", 422, LEVEL_WARNING},
    [ERROR_ATTACHMENT_UNSUPPORTED] = {"ATTACHMENT_UNSUPPORTED", 422, LEVEL_WARNING},
    [ERROR_ATTACHMENT_NOT_FOUND] = {"ATTACHMENT_NOT_FOUND", 422, LEVEL_WARNING},
    [ERROR_ATTACHMENT_FORBIDDEN_PATH] = {"ATTACHMENT_FORBIDDEN_PATH", 422, LEVEL_WARNING},
    [ERROR_REQUEST_TOO_LARGE] = {"REQUEST_TOO_LARGE", 413, LEVEL_WARNING},
    [ERROR_REQUEST_TIMEOUT] = {"REQUEST_TIMEOUT", 408, LEVEL_WARNING},
    [ERROR_UNKNOWN_KEY] = {"AUTH_ERROR", 401, LEVEL_WARNING},
    [ERROR_AUTH_ERROR] = {"AUTH_ERROR", 401, LEVEL_ERROR},
    [ERROR_FORBIDDEN] = {"FORBIDDEN", 403, LEVEL_ERROR},
    [ERROR_RATE_LIMIT] = {"RATE_LIMIT", 429, LEVEL_ERROR},
    [ERROR_KEY_FORBIDDEN] = {"FORBIDDEN", 403, LEVEL_WARNING},
    [ERROR_KEY_LIMITED] = {"RATE_LIMIT", 429, LEVEL_WARNING},
    [ERROR_UPSTREAM_UNREACHABLE] = {"UPSTREAM_UNREACHABLE", 502, LEVEL_ERROR},
    [ERROR_UPSTREAM_TIMEOUT] = {"UPSTREAM_TIMEOUT", 504, LEVEL_ERROR},
    [ERROR_UPSTREAM_INVALID] = {"UPSTREAM_INVALID", 502, LEVEL_ERROR},
    [ERROR_REPLY_TOO_LARGE] = {"REPLY_TOO_LARGE", 502, LEVEL_ERROR},
    [ERROR_OVERLOADED] = {"OVERLOADED", 503, LEVEL_ERROR},
};

int error_set(struct error *e, enum error_code code, const char *format, ...)
{
    va_list args;
    e->code = code;
    e->status = codes[code].status;
    e->details[0] = '\0';
    va_start(args, format);
    vsnprintf(e->message, sizeof e->message, format, args);
    va_end(args);
    return -1;
}

const char *error_name(enum error_code code)
{
    return codes[code].name;
}

int error_status(enum error_code code)
{
    return codes[code].status;
}

enum error_level error_level(enum error_code code)
{
    return codes[code].level;
}

const char *error_level_name(enum error_level level)
{
    return level == LEVEL_WARNING ? "warning" : "error";
}
