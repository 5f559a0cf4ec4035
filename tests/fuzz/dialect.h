#ifndef TESTS_FUZZ_DIALECT_H
#define TESTS_FUZZ_DIALECT_H
/*
 * A dialect on arbitrary bytes: the first byte says what they are (mod 4: 0 a request, 1 an event, 2 a whole
 * reply, 3 a path). What must hold: every span lies inside, a usable request stays valid JSON and keeps its
 * bytes when the protocol is added, and what an event says of itself agrees with base/json.h.
 */
#include <stdint.h>
#include <stdlib.h>

#include "providers/place.h"
#include "providers/words.h"

static inline void check(bool holds)
{
    if (!holds)
        abort();
}

static inline bool is_inside(struct span whole, struct span part)
{
    return part.n == 0 || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n);
}

/* Wrapping adds a few levels, beyond which base/json.h does not look. */
static inline bool is_deep(struct span body)
{
    size_t brackets = 0;
    for (size_t i = 0; i < body.n; i++)
        brackets += body.p[i] == '[' || body.p[i] == '{';
    return brackets > LIMIT_JSON_DEPTH - 16;
}

/* Attachments into what the other edits leave: all of them or none, and the rest stays. */
static inline void fuzz_place(const struct dialect *d, struct span body, const struct request_facts *facts,
                              struct edits *edits)
{
    static const struct place_item items[] = {
        {.text = {"<\"\n", 3}},
        {.media_type = {"image/png", 9}, .bytes = {"\x89PNG", 4}},
        {.media_type = {"text/plain", 10}, .bytes = {"t>", 2}, .name = {"\"", 1}},
    };
    static const char *const dialects[] = {"openai", "anthropic", "ollama", "unheard-of"};
    struct place_request r = {body, facts, d->api, dialects[body.n % 4], "provider"};
    struct span value;
    struct error e;
    struct buf room, out;
    size_t n = body.n / 4 % 4, before = edits->n;
    buf_init(&room, 1 << 16);
    buf_init(&out, 1 << 24);
    if (place_attachments(&r, items, n, &room, edits, &e) < 0) {
        check(edits->n == before);
        check(e.code == ERROR_BAD_REQUEST || (e.code == ERROR_ATTACHMENT_UNSUPPORTED && body.n % 4 == 3));
    } else {
        size_t length = body.n;
        for (size_t i = 0; i < edits->n; i++)
            length += edits->list[i].insert.n - edits->list[i].cut;
        check(edits_apply(edits, body, &out) == 0 && json_document(buf_span(&out), &value));
        check(out.n == length); /* which is what Content-Length says */
        check(n == 0 || memmem(buf_span(&out).p, out.n, "<\\\"\\n", 5));
        check(n < 2 || memmem(buf_span(&out).p, out.n, "iVBORw==", 8));
    }
    buf_free(&room);
    buf_free(&out);
}

static inline void fuzz_request(const struct dialect *d, struct span body)
{
    struct request_facts facts;
    struct span value;
    d->request(body, &facts);
    check(is_inside(body, facts.root) && is_inside(body, facts.hw_whole) &&
          is_inside(body, facts.attachments_whole));
    if (facts.root.n == 0)
        return;
    check(json_document(body, &value) && value.p == facts.root.p && value.n == facts.root.n);
    struct request_words words = {.cut = false};
    buf_init(&words.text, 64);
    request_words(d->api, facts.root, &words);
    check(words.text.n <= 64);
    buf_free(&words.text);
    static const char *const ours[] = {"hw", "attachments"};
    struct edits edits = {0};
    struct buf room, out;
    buf_init(&room, 1 << 20);
    buf_init(&out, 1 << 24);
    size_t n = body.n;
    if (facts.hw_whole.n || facts.attachments_whole.n)
        check(json_remove_members(body, facts.root, ours, 2, &edits) > 0);
    d->add_protocol(body, &facts, SPAN_LIT("<<<\\\"\\n"), &room, &edits);
    for (size_t i = 0; i < edits.n; i++)
        n += edits.list[i].insert.n - edits.list[i].cut;
    check(edits.n >= 1 && edits_apply(&edits, body, &out) == 0);
    check(json_document(buf_span(&out), &value) && out.n == n);
    check(memmem(buf_span(&out).p, out.n, "<<<\\\"\\n", 7) != NULL);
    if (!is_deep(body))
        fuzz_place(d, body, &facts, &edits);
    edits_free(&edits);
    buf_free(&room);
    buf_free(&out);
}

static inline void fuzz_event(const struct dialect *d, struct span json, bool whole)
{
    struct reply_event e = {0};
    struct reply_ends ends = {0};
    struct span value;
    struct buf shape, out;
    e.noting = true;
    reply_event_reset(&e, json);
    e.json = json;
    e.whole = whole;
    d->event(&e, 1, &ends);
    struct span calls = {0};
    for (size_t i = 0; i < e.nnotes; i++) {
        check(e.notes[i].value.n == 0 || is_inside(json, e.notes[i].value));
        if (e.notes[i].kind == NOTE_CALLS)
            calls = e.notes[i].value;
    }
    if (calls.n) {
        struct reply_event its = {.noting = true};
        d->calls(&its, calls);
        for (size_t i = 0; i < its.nnotes; i++)
            check(its.notes[i].value.n == 0 || is_inside(calls, its.notes[i].value));
        reply_event_free(&its);
    }
    bool document = json_document_as(json, JSON_LENIENT, &value);
    check(!e.unreadable || (e.n == 0 && e.nnotes == 0 && !e.ends_stream));
    check(document || e.unreadable || e.ends_stream);
    check(document || (e.n == 0 && !e.bare && !e.ends_reply && !e.error));
    for (size_t i = 0; i < e.n; i++)
        check(e.deltas[i].at <= json.n && e.deltas[i].n <= json.n - e.deltas[i].at);
    if (e.ends_reply)
        check(e.report_at < json.n && json.p[e.report_at] == '}');
    if (document && json_type(value) == JSON_OBJECT) {
        buf_init(&shape, 1 << 16);
        buf_init(&out, 1 << 20);
        d->keep_shape(&e, 7, &shape);
        for (int i = 0; i < 2; i++) {
            buf_reset(&out);
            if (i)
                d->report_event(buf_span(&shape), 5, SPAN_LIT("\"outbound_artifacts\":[]"), whole, &out);
            else
                d->text_event(buf_span(&shape), 7, 5, SPAN_LIT("x"), SPAN_LIT(""), &out);
            struct span all = buf_span(&out);
            const char *brace = memchr(all.p, '{', all.n); /* a lenient value may hold a NUL */
            check(brace && json_document_as(span_from(all, (size_t)(brace - all.p)), JSON_LENIENT, &value));
        }
        buf_free(&shape);
        buf_free(&out);
    }
    reply_event_free(&e);
}

static inline void fuzz_dialect(enum api api, const uint8_t *data, size_t size)
{
    const struct dialect *d = dialect_find(api);
    if (size == 0)
        return;
    /* A copy of exactly that size, so that a read beyond it is seen. */
    char *copy = malloc(size);
    check(copy != NULL);
    memcpy(copy, data + 1, size - 1);
    struct span bytes = span_of(copy, size - 1);
    if (data[0] % 4 == 0) {
        fuzz_request(d, bytes);
    } else if (data[0] % 4 == 3) {
        bool stored;
        dialect_api(data[0] & 8 ? SPAN_LIT("GET") : SPAN_LIT("POST"), bytes, &stored);
    } else {
        fuzz_event(d, bytes, data[0] % 4 == 2);
    }
    free(copy);
}

#endif
