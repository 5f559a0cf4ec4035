#ifndef TESTS_UNIT_PROVIDERS_DIALECT_TEST_H
#define TESTS_UNIT_PROVIDERS_DIALECT_TEST_H
/* What the tests of all dialects need: tables of what requests and events say, in words, and the loops over
 * them. Includes what cmocka wants. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "providers/dialect.h"

enum { ROOM = 1 << 16 };

/* Fails with the input at hand, so that a row of a table is found. */
static inline void expect(const char *input, struct buf *said, const char *want)
{
    if (strcmp(buf_cstr(said), want) != 0)
        fail_msg("%s\n  says \"%s\"\n  not  \"%s\"", input, buf_cstr(said), want);
}

/* ---- requests ---- */

struct facts_case {
    const char *body, *want; /* want: as say_facts says it */
};

/* What the body says, in words; choices only if it is not one. A body that is not usable says nothing. */
static inline void say_facts(const struct dialect *d, const char *body, struct buf *said)
{
    struct request_facts f;
    d->request(span_str(body), &f);
    buf_printf(said, "%s%s%s%s%s", f.root.n ? "usable " : "", f.stream ? "stream " : "",
               f.machine_read ? "machine " : "", f.explains_protocol ? "explained " : "",
               f.kept ? "kept " : "");
    if (f.choices != 1)
        buf_printf(said, "n=%u ", f.choices);
}

static inline void check_facts(const struct dialect *d, const struct facts_case *table, size_t n)
{
    struct buf said;
    buf_init(&said, ROOM);
    for (size_t i = 0; i < n; i++) {
        buf_reset(&said);
        say_facts(d, table[i].body, &said);
        expect(table[i].body, &said, table[i].want);
    }
    buf_free(&said);
}

/* Penstock's own keys are found, and of the others the last of equal ones counts; Penstock's own may
 * not be there twice. `rest`: what makes the body
 * one of the API's. */
static inline void check_own_keys(const struct dialect *d, const char *rest)
{
    char body[300];
    struct request_facts facts;
    int n = snprintf(body, sizeof body,
                     " { \"hw\" : {\"org\":\"a\"} , \"model\":\"x\\n\",\"model\":\"y\", %s, "
                     "\"attachments\":[ ] }",
                     rest);
    d->request(span_str(body), &facts);
    assert_true(span_is(facts.hw, "{\"org\":\"a\"}"));
    assert_true(span_is(facts.hw_whole, "\"hw\" : {\"org\":\"a\"}"));
    assert_true(span_is(facts.attachments, "[ ]"));
    assert_true(span_is(facts.attachments_whole, "\"attachments\":[ ]"));
    if (!d->target) /* else the model is in the path */
        assert_true(span_is(facts.model, "y"));
    assert_int_equal(facts.root.n, n - 1);
    assert_null(facts.repeated);
    snprintf(body, sizeof body, "{\"hw\":1,%s,\"h\\u0077\":2}", rest);
    d->request(span_str(body), &facts);
    assert_string_equal(facts.repeated, "hw");
    snprintf(body, sizeof body, "{\"attachments\":[],%s,\"attachments\":[]}", rest);
    d->request(span_str(body), &facts);
    assert_string_equal(facts.repeated, "attachments");
}

struct protocol_case {
    const char *body, *want;
};

/* Penstock's keys out and the protocol in, as a consult is sent. */
static inline void check_protocol(const struct dialect *d, const char *protocol,
                                  const struct protocol_case *table, size_t n)
{
    static const char *const ours[] = {"hw", "attachments"};
    for (size_t i = 0; i < n; i++) {
        struct request_facts facts;
        struct edits edits = {0};
        struct span body = span_str(table[i].body), value;
        struct buf room, out;
        buf_init(&room, ROOM);
        buf_init(&out, ROOM);
        d->request(body, &facts);
        json_remove_members(body, facts.root, ours, 2, &edits);
        d->add_protocol(body, &facts, span_str(protocol), &room, &edits);
        assert_int_equal(edits_apply(&edits, body, &out), 0);
        expect(table[i].body, &out, table[i].want);
        assert_true(json_document(buf_span(&out), &value));
        edits_free(&edits);
        buf_free(&room);
        buf_free(&out);
    }
}

/* ---- events ---- */

struct event_case {
    const char *event, *want; /* want: as say_event says it */
};

/* What an event says, in words: of each delta a letter, # before a channel that is counted, the channel, and
 * behind = its bytes (of an end and an item none); then the marks. */
static inline void say_event(const struct dialect *d, struct span raw, bool whole, unsigned choices,
                             struct reply_ends *ends, struct buf *said)
{
    static const char letters[] = {
        [DELTA_TEXT] = 't',          [DELTA_TOKENS] = 'p',  [DELTA_CHANNEL_END] = 'e', [DELTA_REPEAT] = 'r',
        [DELTA_REPEAT_TOKENS] = 'q', [DELTA_EXCERPT] = 'x', [DELTA_LIST] = 'l',        [DELTA_ITEM] = 'i',
        [DELTA_OFFSET] = 'o',        [DELTA_ECHO] = 'h',    [DELTA_WITHHELD] = 'w',    [DELTA_SO_FAR] = 's',
        [DELTA_BESIDE] = 'b'};
    struct reply_event e = {0};
    reply_event_reset(&e, raw);
    e.json = raw;
    e.whole = whole;
    d->event(&e, choices, ends);
    buf_reset(said);
    for (size_t i = 0; i < e.n; i++) {
        const struct delta *delta = &e.deltas[i];
        buf_printf(said, "%c%s%u", letters[delta->kind], delta->nth ? "#" : "", delta->channel);
        if (delta->kind != DELTA_CHANNEL_END && delta->kind != DELTA_ITEM)
            buf_printf(said, "=%.*s", (int)delta->n, raw.p + delta->at);
        buf_addc(said, ' ');
    }
    if (e.number_n)
        buf_printf(said, "n=%.*s ", (int)e.number_n, raw.p + e.number_at);
    buf_printf(said, "%s%s%s%s%s%s%s", e.bare ? "bare " : "", e.begins ? "begins " : "",
               e.error ? "error " : "", e.goes_on ? "on " : "", e.may_go_on ? "perhaps " : "",
               e.ends_stream ? "done " : "", e.ends_reply ? "end " : "");
    if (e.ends_reply)
        assert_int_equal(raw.p[e.report_at], '}');
    reply_event_free(&e);
}

/* The events of a table, each of a reply of its own. */
static inline void check_events(const struct dialect *d, bool whole, const struct event_case *table, size_t n)
{
    struct buf said;
    buf_init(&said, ROOM);
    for (size_t i = 0; i < n; i++) {
        struct reply_ends ends = {0};
        say_event(d, span_str(table[i].event), whole, 1, &ends, &said);
        expect(table[i].event, &said, table[i].want);
    }
    buf_free(&said);
}

/* One event more of the reply whose ends these are. */
static inline void check_event(const struct dialect *d, const char *event, bool whole, unsigned choices,
                               struct reply_ends *ends, const char *want)
{
    struct buf said;
    buf_init(&said, ROOM);
    say_event(d, span_str(event), whole, choices, ends, &said);
    expect(event, &said, want);
    buf_free(&said);
}

/* ---- what is recorded ---- */

/* The notes of an event, each a number (enum note_kind) and, behind =, its value. */
static inline void say_notes(const struct dialect *d, const char *event, struct buf *said)
{
    struct reply_event e = {.noting = true};
    struct reply_ends ends = {0};
    reply_event_reset(&e, span_str(event));
    e.json = e.raw;
    d->event(&e, 1, &ends);
    for (size_t i = 0; i < e.nnotes; i++)
        buf_printf(said, "%d=%.*s ", (int)e.notes[i].kind, (int)e.notes[i].value.n, e.notes[i].value.p);
    reply_event_free(&e);
}

/* ---- events of Penstock's own ---- */

/* What the dialect keeps of this event for the channel. */
static inline void keep_shape_of(const struct dialect *d, const char *event, uint32_t channel,
                                 struct buf *shape)
{
    struct reply_event e = {0};
    struct reply_ends ends = {0};
    reply_event_reset(&e, span_str(event));
    e.json = e.raw;
    d->event(&e, 1, &ends);
    buf_reset(shape);
    d->keep_shape(&e, channel, shape);
    reply_event_free(&e);
}

#endif
