#include "proxy/admin.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "proxy/exchange.h"
#include "proxy/thread.h"

enum { CONSULTS_DEFAULT = 100, CONSULTS_MOST = 1000, QUERY_VALUE = 128, PAGE_MAX = 64 * 1024 * 1024 };

/* ---- /consults ---- */

struct consults_job {
    struct job job; /* first: the queue gives this back */
    struct worker *worker;
    uint64_t conn_number;
    char org[QUERY_VALUE], id[QUERY_VALUE];
    int64_t before_ms;
    int limit;
    bool failed;
    struct buf out;
};

static void consults_work(struct job *job)
{
    struct consults_job *j = (struct consults_job *)job;
    j->failed = records_list(j->worker->records, j->org, j->id, j->before_ms, j->limit, &j->out) < 0;
}

/* The connection may have gone meanwhile; its number tells. */
static struct conn *find_conn(struct worker *w, uint64_t number)
{
    struct conn *c = w->conns;
    while (c && c->number != number)
        c = c->next;
    return c;
}

static void consults_done(struct job *job)
{
    struct consults_job *j = (struct consults_job *)job;
    struct conn *c = find_conn(j->worker, j->conn_number);
    if (c && j->failed)
        conn_reply(c, 503, "application/json", "", SPAN_LIT("{\"error\":\"the records cannot be read\"}"),
                   false);
    else if (c)
        conn_reply(c, 200, "application/json", "", buf_span(&j->out), false);
    buf_free(&j->out);
    xfree(j);
}

/* A plain query value: letters, digits, '-', '_'; anything else is taken as it stands and will match nothing.
 */
static void query_value(struct span query, const char *name, char out[QUERY_VALUE])
{
    size_t n = strlen(name);
    out[0] = '\0';
    while (query.n) {
        const char *amp = memchr(query.p, '&', query.n);
        size_t len = amp ? (size_t)(amp - query.p) : query.n;
        if (len > n && query.p[n] == '=' && memcmp(query.p, name, n) == 0)
            snprintf(out, QUERY_VALUE, "%.*s", (int)(len - n - 1), query.p + n + 1);
        query = span_from(query, amp ? len + 1 : len);
    }
}

static int64_t query_number(struct span query, const char *name, int64_t otherwise)
{
    char value[QUERY_VALUE];
    int64_t n = 0;
    query_value(query, name, value);
    if (!value[0])
        return otherwise;
    for (const char *p = value; *p; p++) {
        if (*p < '0' || *p > '9' || n > INT64_MAX / 100)
            return otherwise;
        n = n * 10 + (*p - '0');
    }
    return n;
}

static void consults(struct conn *c, struct span query)
{
    struct consults_job *j = xcalloc(1, sizeof *j);
    j->job.work = consults_work;
    j->job.done = consults_done;
    j->worker = c->worker;
    j->conn_number = c->number;
    query_value(query, "org", j->org);
    query_value(query, "id", j->id);
    j->before_ms = query_number(query, "before", 0);
    j->limit = (int)query_number(query, "limit", CONSULTS_DEFAULT);
    if (j->limit < 1 || j->limit > CONSULTS_MOST)
        j->limit = CONSULTS_MOST;
    buf_init(&j->out, PAGE_MAX);
    audit_flush(c->worker);
    if (job_submit(c->worker->audit, &j->job) == 0)
        return;
    xfree(j);
    conn_reply(c, 503, "application/json", "Retry-After: 1\r\n", SPAN_LIT("{\"error\":\"busy\"}"), false);
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

void admin_request(struct conn *c, const struct http_head *head)
{
    const char *mark = memchr(head->target.p, '?', head->target.n);
    struct span path = span_of(head->target.p, mark ? (size_t)(mark - head->target.p) : head->target.n);
    struct span query = mark ? span_from(head->target, path.n + 1) : (struct span){0};
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
    else if (span_is(path, "/consults"))
        consults(c, query);
    else if (!threads_page(c, path, query, head_only))
        conn_reply(c, 404, "text/plain", "", SPAN_LIT("/healthz /readyz /metrics /consults /threads\n"),
                   head_only);
}
