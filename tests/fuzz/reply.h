#ifndef TESTS_FUZZ_REPLY_H
#define TESTS_FUZZ_REPLY_H
/*
 * A reply of an API on arbitrary provider bytes. The first byte chooses the settings, the second the size of
 * the pieces. What must hold: however the bytes are cut, the client gets the same, and so does whoever
 * records the reply; nothing is added to a reply in which neither a directive nor a marker stood and no text
 * was held.
 */
#include <stdint.h>
#include <stdlib.h>

#include "filters/recorder.h"
#include "filters/reply.h"
#include "providers/dialect.h"

enum { MOST = 4096, ROOM = 1 << 24 };

struct files {
    struct reply *reply;
    bool late;
    unsigned waiting[MOST], n;
};

static inline void check(bool holds)
{
    if (!holds)
        abort();
}

static inline void settle(struct files *f, unsigned number)
{
    struct reply_artifact a = {.filename = SPAN_LIT("a\"[.txt"),
                               .url = SPAN_LIT("http://x/()"),
                               .entry = SPAN_LIT("{\"filename\":\"x\"}")};
    if (number % 3 == 2)
        a = (struct reply_artifact){.flag = FLAG_RENDER_FAILED, .sentence = SPAN_LIT("no; \"really\"")};
    reply_settle(f->reply, number, &a);
}

static inline void on_directive(void *arg, unsigned number, struct buf *text, enum flag refused)
{
    struct files *f = arg;
    (void)text;
    (void)refused;
    if (f->late && f->n < MOST)
        f->waiting[f->n++] = number;
    else
        settle(f, number);
}

static inline enum reply_state resume(struct files *f, enum reply_state state, struct buf *out)
{
    while (state == REPLY_WAITING) {
        while (f->n)
            settle(f, f->waiting[--f->n]);
        state = reply_resume(f->reply, out);
    }
    return state;
}

static inline enum reply_state run(const struct dialect *d, enum reply_framing framing, uint8_t how,
                                   struct span bytes, size_t piece, bool late, struct recorder *recorder,
                                   struct buf *out)
{
    static const char error[] = "data: {\"error\":{}}\n\n";
    struct reply_settings settings = {.dialect = {.event = d->event,
                                                  .keep_shape = d->keep_shape,
                                                  .text_event = d->text_event,
                                                  .report_event = d->report_event,
                                                  .citation = d->citation,
                                                  .offsets = d->offsets,
                                                  .parts = d->parts},
                                      .framing = how & 1 ? REPLY_WHOLE : framing,
                                      .mode = how & 2 ? REPLY_BUFFER : REPLY_SUPPRESS,
                                      .choices = how & 4 ? 2 : 1,
                                      .links = how & 8,
                                      .resumed = how & 64,
                                      .directive_max = 200,
                                      .directive_total = 1000,
                                      .directives = 4,
                                      .event_max = 1 << 20,
                                      .recorder = recorder};
    struct reply_callbacks callbacks = {on_directive};
    struct files files = {.late = late};
    bool clean = !(how & 16);
    buf_init(out, ROOM);
    files.reply = reply_create(&settings, &callbacks, &files);
    enum reply_state state = REPLY_GOING;
    for (size_t i = 0; i < bytes.n && state == REPLY_GOING; i += piece) {
        struct span part = span_of(bytes.p + i, bytes.n - i < piece ? bytes.n - i : piece);
        state = resume(&files, reply_feed(files.reply, part, out), out);
    }
    if (state == REPLY_GOING)
        state =
            resume(&files, reply_end(files.reply, clean, clean ? SPAN_LIT("") : SPAN_LIT(error), out), out);
    check(state == REPLY_DONE || state == REPLY_FAILED);
    if (state == REPLY_FAILED) /* as the proxy does, for what was before the event that it failed at */
        state = resume(&files, reply_end(files.reply, false, SPAN_LIT(error), out), out);
    check(state == REPLY_DONE || state == REPLY_FAILED);
    bool unreadable = reply_unreadable(files.reply);
    const struct reply_totals *totals = reply_totals(files.reply);
    if (state == REPLY_DONE && clean && !unreadable && totals->directives == 0 &&
        totals->flags[FLAG_STRAY_MARKER] == 0 && !memmem(bytes.p, bytes.n, "outbound_artifacts", 18))
        check(!memmem(buf_span(out).p, out->n, "outbound_artifacts", 18));
    reply_destroy(files.reply);
    return state;
}

static inline bool is_same(const struct buf *a, const struct buf *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(buf_span(a).p, buf_span(b).p, a->n) == 0);
}

static inline void check_recorders(const struct recorder *a, const struct recorder *b)
{
    check(is_same(&a->text, &b->text) && is_same(&a->reasoning, &b->reasoning));
    check(is_same(&a->citations, &b->citations) && is_same(&a->finish, &b->finish));
    check(a->finished == b->finished && a->failed == b->failed && a->pending == b->pending);
    check(a->ncalls == b->ncalls);
    for (size_t i = 0; i < a->ncalls; i++)
        check(is_same(&a->calls[i].id, &b->calls[i].id) && is_same(&a->calls[i].name, &b->calls[i].name) &&
              is_same(&a->calls[i].arguments, &b->calls[i].arguments));
}

/* framing: of a stream. */
static inline void fuzz_reply(enum api api, enum reply_framing framing, const uint8_t *data, size_t size)
{
    const struct dialect *d = dialect_find(api);
    if (size < 2)
        return;
    struct span bytes = span_of((const char *)data + 2, size - 2);
    struct buf whole, cut;
    /* The client gets the same whether or not somebody records. */
    struct recorder *a = data[1] & 64 ? recorder_create(d->parts, d->calls) : NULL;
    struct recorder *b = recorder_create(d->parts, d->calls);
    enum reply_state state = run(d, framing, data[0], bytes, bytes.n ? bytes.n : 1, false, a, &whole);
    check(run(d, framing, data[0], bytes, data[1] % 64 + 1u, true, b, &cut) == state);
    if (a && state == REPLY_DONE) {
        recorder_settle(a);
        recorder_settle(b);
        check_recorders(a, b);
    }
    recorder_destroy(a);
    recorder_destroy(b);
    check(whole.n == cut.n && (whole.n == 0 || memcmp(buf_span(&whole).p, buf_span(&cut).p, whole.n) == 0));
    buf_free(&whole);
    buf_free(&cut);
}

#endif
