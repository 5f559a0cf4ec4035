/*
 * Raw thread documents: one, or two with a NUL between them. Whatever loads is drawn twice, into the same
 * bytes, and the same whether its entries are trees one after the other or all of it is one; no id of a
 * record is drawn in two places; thread.json is JSON that can be updated into itself. A tree is jansson's, or
 * there is none.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "transcript/print.h"
#include "transcript/thread.h"
#include "transcript/tree.h"

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

/* With a second document that adds nothing, all of the first becomes a tree. What lies deeper than is read
 * without repair may be cut in different places. */
static void check_whole(struct span text, const struct buf *drawn)
{
    enum { DEEP = 400 };
    struct transcript *whole;
    struct error e;
    struct buf again;
    size_t open = 0;
    for (size_t i = 0; i < text.n; i++)
        open += text.p[i] == '[' || text.p[i] == '{';
    if (open > DEEP || transcript_load(text, SPAN_LIT("{}"), &whole, &e))
        return;
    draw(whole, &again);
    CHECK(drawn->n == again.n && memcmp(buf_span(drawn).p, buf_span(&again).p, again.n) == 0);
    buf_free(&again);
    transcript_destroy(whole);
}

static void check_tree(struct span text)
{
    json_t *tree = tree_load(text), *wanted;
    if (!tree)
        return;
    wanted = json_loadb(text.p, text.n, JSON_DECODE_ANY, NULL);
    CHECK(wanted && json_equal(tree, wanted));
    json_decref(wanted);
    json_decref(tree);
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
    check_tree(all);
    if (transcript_load(all, blocks, &t, &e))
        return 0;
    draw(t, &first);
    draw(t, &second);
    CHECK(first.n == second.n && memcmp(buf_span(&first).p, buf_span(&second).p, first.n) == 0);
    if (!nul)
        check_whole(all, &first);
    check_places(t);
    check_thread_json(t);
    buf_free(&first);
    buf_free(&second);
    transcript_destroy(t);
    return 0;
}
