#ifndef BASE_LOG_H
#define BASE_LOG_H
/*
 * JSON lines on standard error, one write each:
 *   {"time":"2026-11-30T12:00:00.000Z","level":"info","event":"upstream.closed","consult":"…","status":200,…}
 * The event is a dotted name; what follows are fields. Never log content, keys or secrets: no prompt, no
 * reply text, no header value, no query string. Values are escaped and cut to a sane length; a value that
 * looks like an API key ("sk-…", "Bearer …") is masked as a second line of defence.
 *
 * The level is the one piece of process-wide state; it is set once at start and on reload.
 */
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR };

/* A field of a log line; make them with the functions below. */
struct log_field {
    const char *key;
    enum { LOG_FIELD_TEXT, LOG_FIELD_INT, LOG_FIELD_BOOL } type;
    struct span text;
    int64_t number;
};

static inline struct log_field log_text(const char *key, struct span value)
{
    return (struct log_field){.key = key, .type = LOG_FIELD_TEXT, .text = value};
}

static inline struct log_field log_str(const char *key, const char *value)
{
    return log_text(key, span_str(value));
}

static inline struct log_field log_int(const char *key, int64_t value)
{
    return (struct log_field){.key = key, .type = LOG_FIELD_INT, .number = value};
}

static inline struct log_field log_bool(const char *key, bool value)
{
    return (struct log_field){.key = key, .type = LOG_FIELD_BOOL, .number = value};
}

void log_set_level(enum log_level level);
bool log_enabled(enum log_level level);
/* "debug" …; -1: no such level. */
int log_level_parse(struct span name, enum log_level *out) MUST_USE;
void log_event(enum log_level level, const char *event, const struct log_field *fields, size_t n);
/* Appends the text with what looks like an API key masked, as in a line's values: for what strangers say and
 * people get to see. */
void log_mask(struct span text, struct buf *out);

#define LOG_(level, event, ...)                                                                              \
    do {                                                                                                     \
        if (log_enabled(level)) {                                                                            \
            const struct log_field fields_[] = {__VA_ARGS__};                                                \
            log_event(level, event, fields_, sizeof fields_ / sizeof fields_[0]);                            \
        }                                                                                                    \
    } while (0)
/* log_info("worker.started", log_int("worker", 0), …): at least one field. */
#define log_debug(...)   LOG_(LOG_DEBUG, __VA_ARGS__)
#define log_info(...)    LOG_(LOG_INFO, __VA_ARGS__)
#define log_warning(...) LOG_(LOG_WARNING, __VA_ARGS__)
#define log_error(...)   LOG_(LOG_ERROR, __VA_ARGS__)

#endif
