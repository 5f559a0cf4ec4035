#include "proxy/admin.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "net/query.h"
#include "proxy/exchange.h"
#include "proxy/thread.h"

enum { CONSULTS_DEFAULT = 100, CONSULTS_MOST = 1000, QUERY_VALUE = 128, PAGE_MAX = 64 * 1024 * 1024 };

/* The connection may have gone meanwhile; its number tells. */
static struct conn *find_conn(struct worker *w, uint64_t number)
{
    struct conn *c = w->conns;
    while (c && c->number != number)
        c = c->next;
    return c;
}

/* ---- /consults ---- */

struct consults_job {
    struct job job; /* first: the queue gives this back */
    struct worker *worker;
    uint64_t conn_number;
    char org[QUERY_VALUE], id[QUERY_VALUE];
    int64_t before_ms;
    int limit;
    bool failed, head_only;
    struct buf out;
};

static void consults_work(struct job *job)
{
    struct consults_job *j = (struct consults_job *)job;
    j->failed = records_list(j->worker->records, j->org, j->id, j->before_ms, j->limit, &j->out) < 0;
}

static void consults_done(struct job *job)
{
    struct consults_job *j = (struct consults_job *)job;
    struct conn *c = find_conn(j->worker, j->conn_number);
    if (c && j->failed)
        conn_reply(c, 503, "application/json", "", SPAN_LIT("{\"error\":\"the records cannot be read\"}"),
                   j->head_only);
    else if (c)
        conn_reply(c, 200, "application/json", "", buf_span(&j->out), j->head_only);
    buf_free(&j->out);
    xfree(j);
}

/* Letters, digits, '-', '_': what organisations and ids are made of. */
static bool is_word(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", s.p[i]) || !s.p[i])
            return false;
    return s.n > 0 && s.n <= LIMIT_ORG;
}

static bool is_number(struct span s, int64_t most, int64_t *n)
{
    *n = 0;
    for (size_t i = 0; i < s.n; i++) {
        int64_t digit = s.p[i] - '0';
        if (digit < 0 || digit > 9 || *n > (most - digit) / 10)
            return false;
        *n = *n * 10 + digit;
    }
    return s.n > 0 && *n <= most;
}

/* One `name=value` of the query; NULL, or what is wrong with it. */
static const char *take_value(struct consults_job *j, struct span name, struct span value)
{
    int64_t n;
    if (span_is(name, "org") || span_is(name, "id")) {
        char *to = span_is(name, "id") ? j->id : j->org;
        if (!is_word(value))
            return span_is(name, "id") ? "id must be a consult's id: letters, digits, - and _, at most 64"
                                       : "org must be an organisation: letters, digits, - and _, at most 64";
        snprintf(to, QUERY_VALUE, "%.*s", (int)value.n, value.p);
    } else if (span_is(name, "before")) {
        if (!is_number(value, INT64_MAX, &j->before_ms))
            return "before must be a time in milliseconds since 1970";
    } else if (span_is(name, "limit")) {
        if (!is_number(value, CONSULTS_MOST, &n) || n < 1)
            return "limit must be a number from 1 to 1000";
        j->limit = (int)n;
    } else {
        return "only org, id, before and limit may be asked for";
    }
    return NULL;
}

static const char *take_query(struct consults_job *j, struct span query)
{
    const char *wrong = NULL;
    struct span name, value;
    while (!wrong && query_next(&query, &name, &value))
        wrong = take_value(j, name, value);
    return wrong;
}

static void refuse_query(struct conn *c, const char *wrong, bool head_only)
{
    char body[160];
    int n = snprintf(body, sizeof body, "{\"error\":\"%s\"}", wrong);
    conn_reply(c, 400, "application/json", "", span_of(body, (size_t)n), head_only);
}

static void consults(struct conn *c, struct span query, bool head_only)
{
    struct consults_job *j = xcalloc(1, sizeof *j);
    j->job.work = consults_work;
    j->job.done = consults_done;
    j->worker = c->worker;
    j->conn_number = c->number;
    j->limit = CONSULTS_DEFAULT;
    j->head_only = head_only;
    const char *wrong = take_query(j, query);
    if (wrong) {
        xfree(j);
        refuse_query(c, wrong, head_only);
        return;
    }
    buf_init(&j->out, PAGE_MAX);
    audit_flush(c->worker);
    if (job_submit(c->worker->queues[QUEUE_AUDIT].jobs, &j->job) == 0)
        return;
    xfree(j);
    conn_reply(c, 503, "application/json", "Retry-After: 1\r\n", SPAN_LIT("{\"error\":\"busy\"}"), head_only);
}

/* ---- the others ---- */

static void metrics_page(struct conn *c, bool head_only)
{
    struct buf out;
    buf_init(&out, PAGE_MAX);
    metrics_print(c->worker->metrics, &out);
    conn_reply(c, 200, "text/plain; version=0.0.4; charset=utf-8", "", buf_span(&out), head_only);
    buf_free(&out);
}

/* ---- what is told from records ---- */

/*
 * A consult whose reply is out is recorded when its last job is, such as keeping what was attached. Whoever
 * has the reply may ask for the record at once; so these pages stand behind the jobs that are in the queue.
 */
struct behind_job {
    struct job job; /* first: the queue gives this back */
    struct worker *worker;
    uint64_t conn_number;
    bool head_only;
    struct buf target;
};

static void behind_work(struct job *job)
{
    (void)job;
}

static bool recorded_page(struct conn *c, struct span target, bool head_only)
{
    const char *mark = memchr(target.p, '?', target.n);
    struct span path = span_of(target.p, mark ? (size_t)(mark - target.p) : target.n);
    struct span query = mark ? span_from(target, path.n + 1) : (struct span){0};
    if (!span_is(path, "/consults"))
        return threads_page(c, path, query, head_only);
    consults(c, query, head_only);
    return true;
}

static void not_found(struct conn *c, bool head_only)
{
    conn_reply(c, 404, "text/plain", "", SPAN_LIT("/healthz /readyz /metrics /consults /threads\n"),
               head_only);
}

static void behind_done(struct job *job)
{
    struct behind_job *j = (struct behind_job *)job;
    struct conn *c = find_conn(j->worker, j->conn_number);
    if (c && !recorded_page(c, buf_span(&j->target), j->head_only))
        not_found(c, j->head_only);
    buf_free(&j->target);
    xfree(j);
}

/* When the queue is empty or full, the page is answered at once. */
static void page_behind_jobs(struct conn *c, struct span target, bool head_only)
{
    struct behind_job *j = NULL;
    if (job_queue_length(c->worker->queues[QUEUE_DISK].jobs)) {
        j = xcalloc(1, sizeof *j);
        j->job.work = behind_work;
        j->job.done = behind_done;
        j->worker = c->worker;
        j->conn_number = c->number;
        j->head_only = head_only;
        buf_init(&j->target, LIMIT_HTTP_HEAD);
        buf_add(&j->target, target);
        if (job_submit(c->worker->queues[QUEUE_DISK].jobs, &j->job) == 0)
            return;
        buf_free(&j->target);
        xfree(j);
    }
    if (!recorded_page(c, target, head_only))
        not_found(c, head_only);
}

void admin_request(struct conn *c, const struct http_head *head)
{
    const char *mark = memchr(head->target.p, '?', head->target.n);
    struct span path = span_of(head->target.p, mark ? (size_t)(mark - head->target.p) : head->target.n);
    bool head_only = span_is(head->method, "HEAD");
    if (c->state == CONN_BODY) /* no page takes a body: it is not read */
        c->close_after = true;
    if (!span_is(head->method, "GET") && !head_only)
        conn_reply(c, 405, "text/plain", "Allow: GET, HEAD\r\n", SPAN_LIT("GET or HEAD, please.\n"), false);
    else if (span_is(path, "/healthz"))
        conn_reply(c, 200, "text/plain", "", SPAN_LIT("ok\n"), head_only);
    else if (span_is(path, "/readyz") && c->worker->draining)
        conn_reply(c, 503, "text/plain", "", SPAN_LIT("draining\n"), head_only);
    else if (span_is(path, "/readyz"))
        conn_reply(c, 200, "text/plain", "", SPAN_LIT("ready\n"), head_only);
    else if (span_is(path, "/metrics"))
        metrics_page(c, head_only);
    else
        page_behind_jobs(c, head->target, head_only);
}
