/*
 * The admin listener's pages of threads: a list, a thread as a raw document, and as a conversation to read.
 * Journals are read and rendered in the threads' job queue, behind the lines that this worker still has to
 * write.
 */
#include <inttypes.h>
#include <stdio.h>

#include "artifacts/store.h"
#include "artifacts/threads.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "net/query.h"
#include "proxy/thread.h"
#include "transcript/journal.h"
#include "transcript/transcript.h"

enum {
    PAGE_DEFAULT = 100,
    PAGE_MOST = 1000,
    LISTED_MOST = 200000, /* journals that are looked at for a list */
    VALUE = LIMIT_THREAD + 1,
};

enum page { PAGE_LIST, PAGE_RAW, PAGE_CONVERSATION };

struct page_job {
    struct job job; /* first: the queue gives this back */
    struct worker *worker;
    uint64_t conn_number;
    enum page page;
    bool head_only;
    char org[VALUE], thread[THREAD_NAME], after[VALUE];
    size_t limit;
    int status;
    struct buf out;
};

static void fail(struct page_job *j, int status, const char *why)
{
    buf_reset(&j->out);
    j->status = status;
    buf_adds(&j->out, "{\"error\":\"");
    if (json_escape(span_str(why), &j->out) == 0)
        buf_adds(&j->out, "\"}");
}

/* ---- the list ---- */

static void add_time(struct buf *out, int64_t us)
{
    time_t s = (time_t)(us / 1000000);
    struct tm tm;
    char text[40];
    gmtime_r(&s, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    buf_printf(out, "\"%s.%06dZ\"", text, (int)(us % 1000000));
}

/* Where the last page ended: the time of its last entry and that entry's name, so that entries that change
 * meanwhile move to the front and none is skipped. */
static bool is_after(const struct page_job *j, const struct thread_entry *e)
{
    char mark[VALUE];
    int64_t us;
    const char *dot = strchr(j->after, '.');
    if (!dot || !json_int(span_of(j->after, (size_t)(dot - j->after)), &us))
        return !j->after[0];
    if (e->changed_us != us)
        return e->changed_us < us;
    snprintf(mark, sizeof mark, "%s.%s", e->org, e->name);
    return strcmp(mark, dot + 1) > 0;
}

static void add_entry(struct buf *out, const struct thread_entry *e)
{
    buf_printf(out, "{\"id\":\"%s\",\"org\":\"%s\",\"updated_at\":", e->name, e->org);
    add_time(out, e->changed_us);
    buf_printf(out, ",\"bytes\":%" PRIu64 "}", e->bytes);
}

static void list_work(struct page_job *j)
{
    struct thread_entry *list = NULL;
    size_t n = 0, given = 0, last = 0;
    bool more = false;
    if (threads_list(j->worker->threads, j->org, LISTED_MOST, &list, &n, &more) < 0) {
        fail(j, 503, "the journals cannot be read");
        return;
    }
    buf_adds(&j->out, "{\"data\":[");
    for (size_t i = 0; i < n; i++) {
        if (!is_after(j, &list[i]))
            continue;
        if (given == j->limit) {
            more = true;
            break;
        }
        buf_adds(&j->out, given++ ? "," : "");
        add_entry(&j->out, &list[i]);
        last = i;
    }
    buf_printf(&j->out, "],\"has_more\":%s", more ? "true" : "false");
    if (given && more)
        buf_printf(&j->out, ",\"after\":\"%" PRId64 ".%s.%s\"", list[last].changed_us, list[last].org,
                   list[last].name);
    buf_adds(&j->out, "}\n");
    xfree(list);
}

/* ---- one thread ---- */

static const char too_large[] = "the thread is too large for this page; use penstock transcript export";

static int open_source(struct page_job *j, struct source *journal)
{
    switch (threads_source(j->worker->threads, j->org, j->thread, journal)) {
    case THREADS_READ:
        if (journal->n <= LIMIT_THREAD_JOURNAL)
            return 0;
        fail(j, 413, too_large);
        return -1;
    case THREADS_NONE:
        fail(j, 404, "there is no such thread; name its organisation with ?org=");
        return -1;
    default:
        fail(j, 503, "the journal cannot be read");
        return -1;
    }
}

static void raw_page(struct page_job *j, const struct journal *journal)
{
    struct error e = {0};
    if (journal_to_raw(journal, &j->out, &e) == 0)
        return;
    if (e.code == ERROR_REQUEST_TOO_LARGE)
        fail(j, 413, too_large);
    else
        fail(j, 503, e.message);
}

static void conversation_page(struct page_job *j, const struct journal *journal)
{
    struct transcript *t = NULL;
    struct error e;
    if (transcript_load_journal(journal, &t, &e) < 0)
        fail(j, 503, e.message);
    else if (transcript_draw(t, TRANSCRIPT_CONVERSATION, &j->out) < 0)
        fail(j, 413, too_large);
    else if (transcript_failed(t))
        fail(j, 503, "the journal cannot be read");
    transcript_destroy(t);
}

static void thread_work(struct page_job *j)
{
    const struct journal_live live = {.is_running = threads_is_live, .arg = j->worker->threads};
    struct source source;
    struct journal *journal = NULL;
    struct error e;
    if (open_source(j, &source) < 0)
        goto out;
    if (journal_open(&source, span_str(j->thread), &live, &journal, &e) < 0)
        fail(j, 503, e.message);
    else if (j->page == PAGE_CONVERSATION)
        conversation_page(j, journal);
    else
        raw_page(j, journal);
out:
    journal_close(journal);
    threads_source_close(&source);
}

/* ---- the job ---- */

static void view_work(struct job *job)
{
    struct page_job *j = (struct page_job *)job;
    j->status = 200;
    if (j->page == PAGE_LIST)
        list_work(j);
    else
        thread_work(j);
    if (buf_full(&j->out))
        fail(j, 413, "the page is too large");
}

/* The connection may have gone meanwhile; its number tells. */
static struct conn *find_conn(struct worker *w, uint64_t number)
{
    struct conn *c = w->conns;
    while (c && c->number != number)
        c = c->next;
    return c;
}

static void view_done(struct job *job)
{
    struct page_job *j = (struct page_job *)job;
    struct conn *c = find_conn(j->worker, j->conn_number);
    bool markdown = j->page == PAGE_CONVERSATION && j->status == 200;
    if (c)
        conn_reply(c, j->status, markdown ? "text/markdown; charset=utf-8" : "application/json", "",
                   buf_span(&j->out), j->head_only);
    buf_free(&j->out);
    xfree(j);
}

static bool take_number(struct span s, size_t most, size_t *n)
{
    int64_t number;
    if (s.n == 0 || s.p[0] < '0' || s.p[0] > '9' || !json_int(s, &number) || number < 1 ||
        (uint64_t)number > most)
        return false;
    *n = (size_t)number;
    return true;
}

/* "<microseconds>.<org>.<thread>", as a page gave it. */
static bool is_mark(const char *mark)
{
    const char *dot = strchr(mark, '.');
    int64_t us;
    return dot && json_int(span_of(mark, (size_t)(dot - mark)), &us) && strchr(dot + 1, '.');
}

/* One `name=value` of the query; NULL, or what is wrong with it. */
static const char *take_value(struct page_job *j, struct span name, struct span value)
{
    char text[VALUE];
    snprintf(text, sizeof text, "%.*s", (int)(value.n < VALUE ? value.n : VALUE - 1), value.p);
    if (span_is(name, "org")) {
        if (!store_org_valid(text))
            return "org must be an organisation: letters, digits, - and _, at most 64";
        memcpy(j->org, text, sizeof text);
    } else if (span_is(name, "limit") && j->page == PAGE_LIST) {
        if (!take_number(value, PAGE_MOST, &j->limit))
            return "limit must be a number from 1 to 1000";
    } else if (span_is(name, "after") && j->page == PAGE_LIST) {
        if (!is_mark(text))
            return "after must be what the page before gave as after";
        memcpy(j->after, text, sizeof text);
    } else {
        return j->page == PAGE_LIST ? "only org, limit and after may be asked for"
                                    : "only org may be asked for";
    }
    return NULL;
}

static const char *take_query(struct page_job *j, struct span query)
{
    const char *wrong = NULL;
    struct span name, value;
    while (!wrong && query_next(&query, &name, &value))
        wrong = take_value(j, name, value);
    return wrong;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Without its percent encoding. -1: it is none, or longer than any thread's name. */
static int decode_name(struct span path, struct buf *out)
{
    for (size_t i = 0; i < path.n; i++) {
        int c = (unsigned char)path.p[i];
        if (c == '%') {
            int high = i + 2 < path.n ? hex_digit(path.p[i + 1]) : -1;
            int low = i + 2 < path.n ? hex_digit(path.p[i + 2]) : -1;
            if (high < 0 || low < 0)
                return -1;
            c = high * 16 + low;
            i += 2;
        }
        if (buf_addc(out, (char)c) < 0)
            return -1;
    }
    return 0;
}

/* "/threads", "/threads/{id}", "/threads/{id}/conversation.md"; the id as the caller of the consult said it
 * (percent-encoded where a path needs that), or as the list has it. */
static bool read_path(struct page_job *j, struct span path)
{
    static const char conversation_md[] = "/conversation.md";
    struct buf name;
    path = span_from(path, sizeof "/threads" - 1);
    if (path.n == 0 || span_is(path, "/"))
        return true;
    if (path.p[0] != '/')
        return false;
    path = span_from(path, 1);
    j->page = PAGE_RAW;
    if (span_ends(path, conversation_md)) {
        path.n -= sizeof conversation_md - 1;
        j->page = PAGE_CONVERSATION;
    }
    if (path.n == 0 || memchr(path.p, '/', path.n))
        return false;
    buf_init(&name, LIMIT_THREAD);
    bool good = decode_name(path, &name) == 0;
    if (good)
        threads_name(buf_span(&name), j->thread);
    buf_free(&name);
    return good;
}

bool threads_page(struct conn *c, struct span path, struct span query, bool head_only)
{
    if (!span_starts(path, "/threads"))
        return false;
    struct page_job *j = xcalloc(1, sizeof *j);
    if (!read_path(j, path)) {
        xfree(j);
        return false;
    }
    j->job.work = view_work;
    j->job.done = view_done;
    j->worker = c->worker;
    j->conn_number = c->number;
    j->head_only = head_only;
    j->limit = PAGE_DEFAULT;
    const char *wrong = take_query(j, query);
    if (wrong) {
        char body[160];
        int n = snprintf(body, sizeof body, "{\"error\":\"%s\"}", wrong);
        conn_reply(c, 400, "application/json", "", span_of(body, (size_t)n), head_only);
        xfree(j);
        return true;
    }
    if (j->page != PAGE_LIST && !j->org[0])
        snprintf(j->org, sizeof j->org, "default");
    buf_init(&j->out, LIMIT_THREAD_PAGE);
    if (job_submit(c->worker->queues[QUEUE_JOURNALS].jobs, &j->job) == 0)
        return true;
    xfree(j);
    conn_reply(c, 503, "application/json", "Retry-After: 1\r\n", SPAN_LIT("{\"error\":\"busy\"}"), head_only);
    return true;
}

/* ---- retention ---- */

struct sweep_job {
    struct job job; /* first: the queue gives this back */
    struct threads *threads;
    int64_t before_s;
};

static void sweep_work(struct job *job)
{
    struct sweep_job *s = (struct sweep_job *)job;
    unsigned n = threads_sweep(s->threads, s->before_s);
    if (n)
        log_info("threads.expired", log_int("count", n));
}

static void sweep_done(struct job *job)
{
    xfree(job);
}

void threads_submit_sweep(struct worker *w)
{
    struct sweep_job *s = xcalloc(1, sizeof *s);
    s->job.work = sweep_work;
    s->job.done = sweep_done;
    s->threads = w->threads;
    s->before_s = clock_wall_ms() / 1000 - w->config->threads.retention_s;
    if (job_submit(w->queues[QUEUE_JOURNALS].jobs, &s->job) < 0)
        xfree(s);
}
