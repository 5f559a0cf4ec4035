/*
 * Journals: any bytes become a document that loads, and a summary. What is read of a journal does not change
 * when a piece of a line is added at its end.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "transcript/journal.h"
#include "transcript/transcript.h"

enum { CAP = 16 << 20 };

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                  \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_running(void *arg, int64_t run)
{
    (void)arg;
    return run % 2 == 0;
}

static void to_raw(struct span text, struct buf *raw)
{
    const struct journal_live live = {.is_running = is_running};
    const struct source source = source_text(&text);
    struct journal *j;
    struct error e;
    buf_init(raw, CAP);
    CHECK(journal_open(&source, SPAN_LIT("t"), &live, &j, &e) == 0);
    CHECK(journal_to_raw(j, raw, &e) == 0 || e.code == ERROR_REQUEST_TOO_LARGE);
    journal_close(j);
}

static void draw(const struct transcript *t, struct buf *out)
{
    buf_init(out, CAP);
    int failed = transcript_draw(t, TRANSCRIPT_CONVERSATION, out) ||
                 transcript_draw(t, TRANSCRIPT_SOURCES_JSON, out) ||
                 transcript_thread_json(t, SPAN_LIT("now"), out) || transcript_alert(t, out);
    for (unsigned i = 1; i <= transcript_entry(t).turns && !failed; i++)
        failed = transcript_turn(t, i, out);
    CHECK(!failed || buf_full(out));
}

/* What is drawn of a journal is what is drawn of the document that it becomes. */
static void check_same(struct span text, struct span raw)
{
    const struct journal_live live = {.is_running = is_running};
    const struct source source = source_text(&text);
    struct transcript *a, *b;
    struct buf one, other;
    struct journal *j;
    struct error e;
    CHECK(journal_open(&source, SPAN_LIT("t"), &live, &j, &e) == 0);
    CHECK(transcript_load_journal(j, &a, &e) == 0);
    CHECK(transcript_load(raw, (struct span){0}, &b, &e) == 0);
    draw(a, &one);
    draw(b, &other);
    CHECK(one.n == other.n && memcmp(buf_span(&one).p, buf_span(&other).p, one.n) == 0);
    buf_free(&one);
    buf_free(&other);
    transcript_destroy(a);
    transcript_destroy(b);
    journal_close(j);
}

static void check_torn(struct span journal, const struct buf *raw)
{
    struct buf longer, again;
    buf_init(&longer, CAP);
    buf_add(&longer, journal);
    buf_adds(&longer, "\n{\"ev\":\"begin\",\"id\":\"to");
    to_raw(buf_span(&longer), &again);
    CHECK(again.n == raw->n && memcmp(buf_span(&again).p, buf_span(raw).p, raw->n) == 0);
    buf_free(&longer);
    buf_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span journal = span_of((const char *)data, size), document;
    const struct source source = source_text(&journal);
    struct journal_summary summary;
    struct buf raw;
    CHECK(journal_summarize(&source, &summary) == 0);
    journal_summary_free(&summary);
    to_raw(journal, &raw);
    if (!buf_full(&raw) && json_document(buf_span(&raw), &document)) /* or it is nested too deep */
        check_same(journal, buf_span(&raw));
    check_torn(journal, &raw);
    buf_free(&raw);
    return 0;
}
