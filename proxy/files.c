/* Penstock's own files (product.md §5.3): found and opened in the disk thread, sent from the loop. */
#include <stdio.h>
#include <unistd.h>

#include "artifacts/files_api.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "proxy/exchange_state.h"

enum file_method { FILE_GET, FILE_HEAD, FILE_DELETE };

enum { CONDITIONS = 6 };

struct file_job {
    struct job job;            /* first: the queue gives this back */
    struct exchange *exchange; /* NULL: the client has gone */
    struct store *store;
    struct owner owner;
    bool by_organisation; /* any key of the organisation will do */
    enum file_method method;
    enum files_shape shape;
    bool content;
    char *id, *query;
    char *conditions[CONDITIONS];
    /* the result */
    bool found, gone;
    struct artifact artifact;
    int fd;
};

static const char *const condition_names[CONDITIONS] = {
    "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"};

/* Whoever holds a signed link, or the key that made the consult (or none, as that did); with tenancy by keys,
 * any key of the organisation. */
static bool allowed(const struct file_job *f)
{
    const struct owner *theirs = &f->artifact.owner, *mine = &f->owner;
    if (f->method != FILE_DELETE && f->content &&
        store_signed(f->store, span_str(f->id), span_str(f->query), clock_wall_ms() / 1000))
        return true;
    if (f->by_organisation)
        return strcmp(theirs->org, mine->org) == 0;
    if (theirs->has_key != mine->has_key)
        return false;
    return theirs->has_key ? memcmp(theirs->key, mine->key, DIGEST) == 0
                           : strcmp(theirs->org, mine->org) == 0;
}

static void file_work(struct job *job)
{
    struct file_job *f = (struct file_job *)job;
    f->found = store_find(f->store, span_str(f->id), &f->artifact) == 0 && allowed(f);
    if (!f->found)
        return;
    if (f->method == FILE_DELETE)
        f->gone = store_delete(f->store, &f->artifact) == 0;
    else if (f->content)
        f->found = (f->fd = store_open_content(f->store, &f->artifact)) >= 0;
}

/* ---- answering ---- */

static void answer_content(struct exchange *ex, struct file_job *f)
{
    struct conn *c = ex->conn;
    const struct artifact *a = &f->artifact;
    struct files_conditions conditions = {
        .range = span_str(f->conditions[0]),
        .if_range = span_str(f->conditions[1]),
        .if_match = span_str(f->conditions[2]),
        .if_none_match = span_str(f->conditions[3]),
        .if_modified_since = span_str(f->conditions[4]),
        .if_unmodified_since = span_str(f->conditions[5]),
    };
    struct files_answer answer = files_decide(a, &conditions);
    struct buf head;
    bool body = answer.status == FILES_OK || answer.status == FILES_PARTIAL;
    buf_init(&head, LIMIT_HTTP_HEAD);
    ex->status = (int)answer.status;
    buf_printf(&head, "HTTP/1.1 %d %s\r\n", (int)answer.status, http_reason((int)answer.status));
    if (body)
        buf_printf(&head, "Content-Type: %s\r\n", a->media_type);
    if (answer.status != FILES_NOT_MODIFIED)
        buf_printf(&head, "Content-Length: %llu\r\n", (unsigned long long)(body ? answer.n : 0));
    if (answer.status == FILES_PARTIAL || answer.status == FILES_RANGE) {
        buf_adds(&head, "Content-Range: ");
        files_content_range(a, &answer, &head);
        buf_adds(&head, "\r\n");
    }
    buf_adds(&head, "ETag: ");
    files_etag(a, &head);
    buf_adds(&head, "\r\nLast-Modified: ");
    files_http_date(a->created_at, &head);
    buf_adds(&head, "\r\nContent-Disposition: ");
    artifact_disposition(a->filename, &head);
    buf_adds(&head, "\r\nAccept-Ranges: bytes\r\nX-Content-Type-Options: nosniff\r\n"
                    "Content-Security-Policy: sandbox; default-src 'none'\r\nReferrer-Policy: no-referrer\r\n"
                    "Cross-Origin-Resource-Policy: same-origin\r\nCache-Control: private, no-cache\r\n");
    buf_printf(&head, "%s\r\n", conn_will_close(c) ? "Connection: close\r\n" : "");
    conn_send_span(c, buf_span(&head));
    buf_free(&head);
    if (body && f->method == FILE_GET) {
        conn_send_file(c, f->fd, (int64_t)answer.from, (int64_t)answer.n);
        f->fd = -1;
    }
    if (conn_unsent(c) == 0 || f->method != FILE_GET || !body)
        exchange_answered(ex);
}

static void answer_object(struct exchange *ex, struct file_job *f)
{
    struct buf body;
    struct conn *c = ex->conn;
    buf_init(&body, LIMIT_READ);
    if (f->method == FILE_DELETE)
        files_deleted(f->shape, span_str(f->id), &body);
    else
        files_object(f->shape, &f->artifact, &body);
    ex->conn = NULL;
    ex->status = 200;
    conn_reply(c, 200, "application/json", "Cache-Control: private, no-cache\r\n", buf_span(&body),
               f->method == FILE_HEAD);
    buf_free(&body);
    exchange_try_over(ex);
}

static void answer(struct exchange *ex, struct file_job *f)
{
    struct error e;
    if (!f->found || (f->method == FILE_DELETE && !f->gone)) {
        error_set(&e, ERROR_NOT_FOUND,
                  "There is no such file, it has expired, or it belongs to somebody else.");
        exchange_fail(ex, &e);
    } else if (f->content && f->method != FILE_DELETE) {
        answer_content(ex, f);
    } else {
        answer_object(ex, f);
    }
}

static void file_done(struct job *job)
{
    struct file_job *f = (struct file_job *)job;
    struct exchange *ex = f->exchange;
    ex->jobs--;
    if (ex->conn)
        answer(ex, f);
    else
        exchange_try_over(ex);
    if (f->fd >= 0)
        close(f->fd);
    xfree(f->id);
    xfree(f->query);
    for (int i = 0; i < CONDITIONS; i++)
        xfree(f->conditions[i]);
    xfree(f);
}

/* ---- asking ---- */

static bool read_method(struct span method, enum file_method *out)
{
    if (span_is(method, "GET"))
        *out = FILE_GET;
    else if (span_is(method, "HEAD"))
        *out = FILE_HEAD;
    else if (span_is(method, "DELETE"))
        *out = FILE_DELETE;
    else
        return false;
    return true;
}

bool files_request(struct exchange *ex, const struct http_head *head, const struct route *route)
{
    struct files_path path;
    enum file_method method;
    struct error e;
    if (!files_path_parse(route->path, &path))
        return false;
    exchange_enter(ex, EX_LOCAL);
    if (!read_method(head->method, &method) || (method == FILE_DELETE && path.content)) {
        error_set(&e, ERROR_NOT_FOUND, "A file can be fetched with GET or HEAD and removed with DELETE.");
        exchange_fail(ex, &e);
        return true;
    }
    struct file_job *f = xcalloc(1, sizeof *f);
    f->job.work = file_work;
    f->job.done = file_done;
    f->exchange = ex;
    f->store = ex->worker->store;
    f->owner = *exchange_owner(ex);
    f->by_organisation = ex->config->tenancy == TENANCY_KEYS;
    f->method = method;
    f->shape = http_head_find(head, "anthropic-version") ? FILES_ANTHROPIC : FILES_OPENAI;
    f->content = path.content;
    f->id = xspandup(path.id);
    f->query = xspandup(route->query);
    f->fd = -1;
    for (int i = 0; i < CONDITIONS; i++) {
        const struct http_field *field = http_head_find(head, condition_names[i]);
        f->conditions[i] = field ? xspandup(field->value) : NULL;
    }
    ex->jobs++;
    if (job_submit(ex->worker->queues[QUEUE_DISK].jobs, &f->job) < 0) {
        error_set(&e, ERROR_OVERLOADED, "Too many files are being read at this moment; try again.");
        ex->jobs--;
        exchange_fail(ex, &e);
        xfree(f->id);
        xfree(f->query);
        for (int i = 0; i < CONDITIONS; i++)
            xfree(f->conditions[i]);
        xfree(f);
    }
    return true;
}
