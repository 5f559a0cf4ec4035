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

static bool is_running(void *arg, struct span id)
{
    (void)arg;
    return id.n % 2 == 0;
}

static void check_torn(struct span journal, const struct journal_live *live, const struct buf *raw)
{
    struct buf longer, again;
    struct error e;
    buf_init(&longer, CAP);
    buf_init(&again, CAP);
    buf_add(&longer, journal);
    buf_adds(&longer, "\n{\"ev\":\"begin\",\"id\":\"to");
    CHECK(journal_to_raw(buf_span(&longer), SPAN_LIT("t"), live, &again, NULL, &e) == 0);
    CHECK(again.n == raw->n && memcmp(buf_span(&again).p, buf_span(raw).p, raw->n) == 0);
    buf_free(&longer);
    buf_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span journal = span_of((const char *)data, size), document;
    struct journal_live live = {.is_running = is_running};
    struct journal_summary summary;
    struct journal_report report;
    struct transcript *t;
    struct error e;
    struct buf raw, text;
    buf_init(&raw, CAP);
    buf_init(&text, CAP);
    journal_summarize(journal, &summary);
    journal_summary_free(&summary);
    if (journal_to_raw(journal, SPAN_LIT("t"), &live, &raw, &report, &e) == 0) {
        bool shallow = json_document(buf_span(&raw), &document); /* or it is nested too deep */
        CHECK(transcript_load(buf_span(&raw), (struct span){0}, &t, &e) == 0 || !shallow);
        if (shallow) {
            CHECK(transcript_conversation(t, &text) == 0);
            transcript_destroy(t);
        }
        check_torn(journal, &live, &raw);
    }
    buf_free(&raw);
    buf_free(&text);
    return 0;
}
