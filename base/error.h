#ifndef BASE_ERROR_H
#define BASE_ERROR_H
/*
 * What went wrong, in the product's closed vocabulary (product.md §7). A fallible function takes a
 * `struct error *` and fills it when it answers -1. The message is safe to show to a client: it names the
 * thing, says what to do, and never holds content or secrets.
 */
#include "base/limits.h"
#include "base/span.h"

enum error_code {
    ERROR_NONE,
    ERROR_BAD_REQUEST,
    ERROR_NOT_FOUND, /* of Penstock's own paths: a file that does not exist or is somebody else's */
    ERROR_ATTACHMENT_TOO_LARGE,
    ERROR_ATTACHMENT_INVALID,
    ERROR_ATTACHMENT_UNSUPPORTED,
    ERROR_ATTACHMENT_NOT_FOUND,
    ERROR_ATTACHMENT_FORBIDDEN_PATH,
    ERROR_REQUEST_TOO_LARGE,
    ERROR_REQUEST_TIMEOUT,
    ERROR_AUTH_ERROR,
    ERROR_UNKNOWN_KEY, /* a caller's key that no organisation has, or that a provider refuses: AUTH_ERROR on
                          the wire, but the caller's doing */
    ERROR_FORBIDDEN,
    ERROR_RATE_LIMIT,
    ERROR_KEY_FORBIDDEN, /* a provider that refuses the caller's key to a call of Penstock's own: FORBIDDEN
                            and RATE_LIMIT on the wire, but the caller's doing, as ERROR_UNKNOWN_KEY is for
                            401 */
    ERROR_KEY_LIMITED,
    ERROR_UPSTREAM_UNREACHABLE,
    ERROR_UPSTREAM_TIMEOUT,
    ERROR_UPSTREAM_INVALID,
    ERROR_REPLY_TOO_LARGE,
    ERROR_OVERLOADED,
    ERROR_CODES /* how many */
};

enum error_level { LEVEL_WARNING, LEVEL_ERROR };

struct error {
    enum error_code code;
    int status;                     /* HTTP */
    char message[LIMIT_ERROR_TEXT]; /* terminated, UTF-8 */
    char details[LIMIT_ERROR_TEXT]; /* a JSON object's text, or empty */
};

/* Fills *e with the code's own status and the message; always answers -1, so that callers can return it. */
int error_set(struct error *e, enum error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "BAD_REQUEST" …, the word on the wire and in metrics. */
const char *error_name(enum error_code code);
int error_status(enum error_code code);
enum error_level error_level(enum error_code code);
const char *error_level_name(enum error_level level);

#endif
