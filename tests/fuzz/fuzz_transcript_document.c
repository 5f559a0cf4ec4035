/*
 * Raw thread documents: one, or two with a NUL between them. Whatever loads is drawn twice, into the same
 * bytes; no id of a record is drawn in two places; thread.json is JSON that can be updated into itself.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "transcript/print.h"
#include "transcript/thread.h"

enum { CAP = 8 << 20 };

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                  \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void draw(const struct transcript *t, struct buf *out)
{
    buf_init(out, CAP);
    int failed = transcript_draw(t, TRANSCRIPT_CONVERSATION, out) ||
                 transcript_draw(t, TRANSCRIPT_SOURCES_MD, out) ||
                 transcript_draw(t, TRANSCRIPT_SOURCES_JSON, out) || transcript_alert(t, out);
    for (unsigned i = 1; i <= t->nturns && !failed; i++)
        failed = transcript_turn(t, i, out);
    CHECK(!failed || buf_full(out));
}

static void check_thread_json(const struct transcript *t)
{
    struct buf json, again;
    buf_init(&json, CAP);
    buf_init(&again, CAP);
    if (transcript_thread_json(t, SPAN_LIT("now"), &json) == 0) {
        CHECK(transcript_update_thread_json(t, buf_span(&json), &again) == 0);
        CHECK(json.n == again.n && memcmp(buf_span(&json).p, buf_span(&again).p, json.n) == 0);
    }
    buf_free(&json);
    buf_free(&again);
}

/* Owned, matched and left over are all records, each once. */
static void check_places(const struct transcript *t)
{
    size_t owned = 0;
    for (size_t i = 0; i < t->nrecords; i++) {
        CHECK(t->records[i].turn <= t->nturns);
        owned += t->records[i].owned;
    }
    CHECK(owned + t->nmatches + t->nappendix == t->nrecords);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span all = span_of((const char *)data, size), blocks = {0};
    const char *nul = size ? memchr(data, 0, size) : NULL;
    struct transcript *t;
    struct buf first, second;
    struct error e;
    if (nul) {
        blocks = span_from(all, (size_t)(nul - all.p) + 1);
        all.n = (size_t)(nul - all.p);
    }
    if (transcript_load(all, blocks, &t, &e))
        return 0;
    draw(t, &first);
    draw(t, &second);
    CHECK(first.n == second.n && memcmp(buf_span(&first).p, buf_span(&second).p, first.n) == 0);
    check_places(t);
    check_thread_json(t);
    buf_free(&first);
    buf_free(&second);
    transcript_destroy(t);
    return 0;
}
