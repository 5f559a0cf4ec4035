/*
 * A journal's line of whatever a provider says: the first byte chooses the API and whether the rest is an
 * event or a whole reply; it is the text, the request's query and headline as well. What must hold: each line
 * is one JSON object in valid UTF-8 and one line end.
 */
#include <stdint.h>
#include <stdlib.h>

#include "artifacts/utf8.h"
#include "base/json.h"
#include "base/xalloc.h"
#include "providers/dialect.h"
#include "proxy/thread_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct buf *line)
{
    struct span value, text = buf_span(line);
    if (buf_full(line) || !json_document(text, &value) || json_type(value) != JSON_OBJECT ||
        !utf8_valid(text) || memchr(text.p, '\n', text.n) != text.p + text.n - 1)
        abort();
    buf_free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const causes[] = {"finish", "stream_error", "http_error", "running"};
    if (size < 2)
        return 0;
    const struct dialect *d = dialect_find((enum api)(API_OPENAI_CHAT + data[0] % 5));
    struct span bytes = span_of((const char *)data + 1, size - 1), value;
    struct recorder *r = recorder_create(d->parts, d->calls);
    struct reply_event e = {.raw = bytes, .json = bytes, .whole = data[0] & 128, .noting = true};
    struct reply_ends ends = {.count = 0};
    struct buf line;
    char *headline = xspandup(bytes);
    d->event(&e, 1, &ends);
    recorder_take_notes(r, &e);
    if (json_document_as(bytes, JSON_LENIENT, &value) && json_type(value) == JSON_STRING)
        recorder_text(r, 0, json_inside(value));
    recorder_settle(r);
    buf_init(&line, 1 << 24);
    struct thread_end_line end = {
        .id = "hwc-1", .said = r, .ending = {.cause = causes[data[0] / 8 % 4], .http_status = 200}};
    thread_line_end(&end, &line);
    check(&line);
    struct thread_begin_line begin = {.id = "hwc-1",
                                      .run = 1,
                                      .query = bytes,
                                      .provider = "p",
                                      .parent = data[0] & 64 ? "call_1" : NULL,
                                      .headline = data[0] & 32 ? headline : NULL};
    thread_line_begin(&begin, &line);
    check(&line);
    recorder_destroy(r);
    reply_event_free(&e);
    xfree(headline);
    return 0;
}
