/*
 * The dialect of Chat Completions on arbitrary bytes: the first byte says what they are. What must hold:
 * every span lies inside, a usable request stays valid JSON and keeps its bytes when the protocol is added,
 * and what an event says of itself agrees with base/json.h.
 */
#include <stdint.h>
#include <stdlib.h>

#include "providers/dialect.h"

static void check(bool holds)
{
    if (!holds)
        abort();
}

static bool inside(struct span whole, struct span part)
{
    return part.n == 0 || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n);
}

static void fuzz_request(const struct dialect *d, struct span body)
{
    struct request_facts facts;
    struct span value;
    d->request(body, &facts);
    check(inside(body, facts.root) && inside(body, facts.hw_whole) && inside(body, facts.attachments_whole));
    if (facts.root.n == 0)
        return;
    check(json_document(body, &value) && value.p == facts.root.p && value.n == facts.root.n);
    struct edits edits = {0};
    struct buf room, out;
    buf_init(&room, 1 << 20);
    buf_init(&out, 1 << 24);
    d->add_protocol(body, &facts, SPAN_LIT("<<<\\\"\\n"), &room, &edits);
    check(edits.n == 1 && edits_apply(&edits, body, &out) == 0);
    check(json_document(buf_span(&out), &value) && out.n == body.n + edits.list[0].insert.n);
    edits_free(&edits);
    buf_free(&room);
    buf_free(&out);
}

static void fuzz_event(const struct dialect *d, struct span json, bool whole)
{
    struct reply_event e = {0};
    struct reply_ends ends = {0};
    struct span value;
    struct buf shape, out;
    reply_event_reset(&e, json);
    e.json = json;
    e.whole = whole;
    d->event(&e, 1, &ends);
    bool document = json_document(json, &value);
    check(document || (e.n == 0 && !e.bare && !e.ends_reply && !e.error));
    for (size_t i = 0; i < e.n; i++)
        check(e.deltas[i].at <= json.n && e.deltas[i].n <= json.n - e.deltas[i].at);
    if (e.ends_reply)
        check(e.report_at < json.n && json.p[e.report_at] == '}');
    if (document && json_type(value) == JSON_OBJECT) {
        buf_init(&shape, 1 << 16);
        buf_init(&out, 1 << 20);
        d->keep_shape(&e, 7, &shape);
        d->text_event(buf_span(&shape), 7, SPAN_LIT("x"), SPAN_LIT(""), &out);
        check(json_document(span_from(buf_span(&out), 6), &value));
        buf_free(&shape);
        buf_free(&out);
    }
    reply_event_free(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct dialect *d = dialect_find(API_OPENAI_CHAT);
    if (size == 0)
        return 0;
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
    return 0;
}
