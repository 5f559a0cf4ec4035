#include "proxy/thread.h"

#include <errno.h>
#include <stdio.h>

#include "artifacts/threads.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "filters/recorder.h"
#include "net/decode.h"
#include "providers/words.h"
#include "proxy/thread_line.h"
#include "transcript/ending.h"
#include "transcript/status.h"

enum { LINE_MOST = 1 << 30 /* what goes into one is capped before */ };

struct exchange_thread {
    char name[THREAD_NAME];
    int64_t began_us; /* wall clock */
    struct request_words words;
    bool stored; /* a stored reply is fetched again: it may end a consult that was left running */
    bool has_words, begun, gone, shut_down;
    int status; /* of the provider's reply; 0: none came */
    struct recorder *said;
    struct buf error_body, error_codings; /* the body as it came, and its content codings */
};

/* What both jobs need to write a line. */
struct line_job {
    struct job job; /* first: the queue gives this back */
    struct threads *threads;
    struct metrics *metrics;
    const struct dialect *dialect;
    enum api api;
    char org[LIMIT_ORG + 1], name[THREAD_NAME], consult[CONSULT_ID];
    int64_t at_us;
};

struct begin_job {
    struct line_job line; /* first */
    char *names[CALLER_NAMES], *model, *provider;
    struct buf body, attachments;
    struct request_words words;
    bool has_words;
};

struct end_job {
    struct line_job line; /* first */
    bool stored;
    struct recorder *said;
    struct buf artifacts, error_body, error_codings;
    struct thread_ending ending; /* its strings are constants or `message` */
    char message[LIMIT_ERROR_TEXT];
};

static void fill_line(struct line_job *l, const struct exchange *ex, void (*work)(struct job *),
                      void (*done)(struct job *))
{
    l->job.work = work;
    l->job.done = done;
    l->threads = ex->worker->threads;
    l->metrics = ex->worker->metrics;
    l->dialect = ex->dialect;
    l->api = ex->api;
    snprintf(l->org, sizeof l->org, "%s", ex->owner.org);
    snprintf(l->name, sizeof l->name, "%s", ex->thread->name);
    snprintf(l->consult, sizeof l->consult, "%s", ex->consult_id);
}

static void write_line(const struct line_job *l, struct span line)
{
    struct buf first;
    buf_init(&first, LIMIT_READ);
    thread_line_first(l->name, l->org, &first);
    if (line.n == 0 || threads_append(l->threads, l->org, l->name, buf_span(&first), line) < 0)
        log_error("thread.lost", log_str("consult", l->consult), log_str("org", l->org),
                  log_str("reason", line.n ? strerror(errno) : "too long"));
    buf_free(&first);
}

static void submit(struct exchange *ex, struct line_job *l)
{
    if (job_submit(ex->worker->queues[QUEUE_JOURNALS].jobs, &l->job) == 0)
        return;
    log_error("thread.lost", log_str("consult", ex->consult_id), log_str("org", ex->owner.org),
              log_str("reason", "too many lines wait to be written"));
    l->job.done(&l->job);
}

/* ---- the first line ---- */

static void words_init(struct request_words *words)
{
    *words = (struct request_words){.cut = false};
    buf_init(&words->text, LIMIT_THREAD_TEXT);
}

static void read_words(const struct dialect *dialect, struct span body, struct request_words *words)
{
    struct request_facts facts = {0};
    dialect->request(body, &facts);
    if (facts.root.n)
        request_words(dialect->api, facts.root, words);
}

static void begin_work(struct job *job)
{
    struct begin_job *j = (struct begin_job *)job;
    struct buf line;
    if (!j->has_words)
        read_words(j->line.dialect, buf_span(&j->body), &j->words);
    buf_free(&j->body);
    struct thread_begin_line l = {
        .id = j->line.consult,
        .run = threads_run(j->line.threads),
        .at_us = j->line.at_us,
        .parent = j->names[CALLER_PARENT],
        .turn = j->names[CALLER_TURN],
        .trigger = j->names[CALLER_TRIGGER],
        .headline = j->names[CALLER_HEADLINE],
        .query = buf_span(&j->words.text),
        .query_cut = j->words.cut,
        .results = j->words.results,
        .attachments = buf_span(&j->attachments),
        .model = j->model,
        .provider = j->provider,
    };
    buf_init(&line, LINE_MOST);
    thread_line_begin(&l, &line);
    write_line(&j->line, buf_full(&line) ? span_of("", 0) : buf_span(&line));
    buf_free(&line);
}

static void begin_done(struct job *job)
{
    struct begin_job *j = (struct begin_job *)job;
    for (int i = 0; i < CALLER_NAMES; i++)
        xfree(j->names[i]);
    xfree(j->model);
    xfree(j->provider);
    buf_free(&j->body);
    buf_free(&j->attachments);
    buf_free(&j->words.text);
    xfree(j);
}

void thread_start(struct exchange *ex)
{
    const char *said = ex->caller.names[CALLER_THREAD];
    if (!said || !ex->consult || !ex->config->threads.record || !ex->worker->threads)
        return;
    struct exchange_thread *t = xcalloc(1, sizeof *t);
    threads_name(span_str(said), t->name);
    t->began_us = clock_wall_us();
    t->stored = ex->stored;
    words_init(&t->words);
    buf_init(&t->error_body, LIMIT_THREAD_ERROR_BODY);
    buf_init(&t->error_codings, LIMIT_HTTP_HEAD);
    t->said = recorder_create(ex->dialect->parts, ex->dialect->calls);
    ex->thread = t;
}

void thread_give_words(struct exchange *ex, struct request_words *words)
{
    struct exchange_thread *t = ex->thread;
    if (!t)
        return;
    t->words.cut = words->cut;
    t->words.results = words->results;
    buf_move(&t->words.text, &words->text);
    t->has_words = true;
}

void thread_begin(struct exchange *ex)
{
    struct exchange_thread *t = ex->thread;
    if (!t || t->begun || t->stored)
        return;
    struct begin_job *j = xcalloc(1, sizeof *j);
    t->begun = true;
    fill_line(&j->line, ex, begin_work, begin_done);
    j->line.at_us = t->began_us;
    for (int i = 0; i < CALLER_NAMES; i++)
        j->names[i] = ex->caller.names[i] ? xstrdup(ex->caller.names[i]) : NULL;
    j->model = ex->model ? xstrdup(ex->model) : NULL;
    j->provider = xstrdup(ex->provider->name);
    buf_init(&j->body, ex->body.max);
    buf_move(&j->body, &ex->body);
    buf_init(&j->attachments, ex->attachments.max);
    buf_add(&j->attachments, buf_span(&ex->attachments));
    words_init(&j->words);
    j->words.cut = t->words.cut;
    j->words.results = t->words.results;
    buf_move(&j->words.text, &t->words.text);
    j->has_words = t->has_words;
    submit(ex, &j->line);
}

/* ---- meanwhile ---- */

struct recorder *thread_recorder(const struct exchange *ex)
{
    return ex->thread ? ex->thread->said : NULL;
}

void thread_reply(struct exchange *ex, const struct http_head *head)
{
    struct exchange_thread *t = ex->thread;
    if (!t)
        return;
    t->status = head->status;
    buf_reset(&t->error_codings);
    if (head->status >= 400)
        http_head_codings(head, &t->error_codings);
}

void thread_error_bytes(struct exchange *ex, struct span bytes)
{
    struct exchange_thread *t = ex->thread;
    if (t && t->status >= 400)
        buf_add(&t->error_body, bytes); /* one that is too long is not read */
}

void thread_client_gone(struct exchange *ex)
{
    struct exchange_thread *t = ex->thread;
    if (!t || t->said->finished || t->said->failed || t->status >= 400)
        return;
    t->gone = true;
    t->shut_down = ex->worker->ended;
}

/* ---- the last line ---- */

/* Undoes the codings of an error's body: it goes to the client as it came. Nothing is left of one that cannot
 * be decoded, or is too long. */
static void decode_error(struct end_job *j)
{
    struct span unknown, rest = buf_span(&j->error_body);
    struct decoder *d = decoder_create(buf_span(&j->error_codings), &unknown);
    struct buf plain;
    size_t used;
    int more = d ? 1 : -1;
    buf_init(&plain, LIMIT_THREAD_ERROR_BODY);
    while (more >= 0 && (more > 0 || rest.n) && !buf_full(&plain)) {
        size_t before = plain.n;
        more = decoder_feed(d, rest, plain.max, &used, &plain);
        rest = span_from(rest, used);
        if (used == 0 && plain.n == before)
            break;
    }
    if (more < 0 || !decoder_complete(d))
        buf_reset(&plain);
    decoder_destroy(d);
    buf_move(&j->error_body, &plain);
    buf_free(&plain);
}

/* What an error's body says of it. Some APIs stream errors as an array of one. */
static void read_error(struct end_job *j)
{
    struct span value;
    if (j->error_codings.n && j->error_body.n && !buf_full(&j->error_body))
        decode_error(j);
    struct span body = buf_span(&j->error_body);
    if (body.n == 0 || buf_full(&j->error_body) || !json_document(body, &value))
        return;
    struct json_iter it = json_iter(value);
    if (json_type(value) == JSON_ARRAY && json_next(&it) == 1)
        value = it.value;
    struct reply_event e = {.raw = value, .json = value, .whole = true, .noting = true};
    struct reply_ends ends = {.count = 0};
    j->line.dialect->event(&e, 1, &ends);
    recorder_take_notes(j->said, &e);
    reply_event_free(&e);
}

/* A word that the provider gave, as text. */
static struct span plain_word(const struct buf *escaped, struct buf *room)
{
    size_t from = room->n;
    thread_plain(buf_span(escaped), room);
    return span_from(buf_span(room), from);
}

/* Whoever looks after the proxy hears of what did not go well; the words of a conversation stay out of it. */
static void alert(const struct end_job *j)
{
    const struct thread_ending *end = &j->ending;
    char status[ENDING_STATUS];
    struct buf room;
    bool ours = end->error_code != NULL;
    buf_init(&room, 16 * LIMIT_THREAD_WORD);
    char *reserved = buf_reserve(&room, room.max); /* so that it does not move */
    (void)reserved;
    int told = thread_error_status(j->said);
    struct ending e = {
        .cause = span_str(end->cause),
        .finish_reason = plain_word(&j->said->finish, &room),
        .error_type = plain_word(&j->said->error_type, &room),
        .error_code = ours ? span_str(end->error_code) : plain_word(&j->said->error_code, &room),
        .error_message = ours ? span_of("", 0) : plain_word(&j->said->error_message, &room),
        .http_status = told && strcmp(end->cause, "stream_error") == 0 ? told : end->http_status,
    };
    const char *locked = ending_status(&e, status);
    enum status_kind kind = status_classify(span_str(status), span_str(locked));
    if (kind != STATUS_COMPLETED) {
        j->line.metrics->interrupted[kind]++;
        log_warning("thread.interrupted", log_str("consult", j->line.consult), log_str("org", j->line.org),
                    log_str("thread", j->line.name), log_str("kind", status_kind_name(kind)),
                    log_str("status", status), log_str("cause", end->cause));
    }
    buf_free(&room);
}

/* The consult of a journal that was left running under this reply's id and has not ended since. */
static bool find_running(const struct source *journal, struct span reply, char consult[CONSULT_ID])
{
    struct source_lines lines;
    struct span line, value, id, its;
    size_t at;
    bool found = false;
    source_lines_init(&lines, journal, LIMIT_THREAD_SEARCHED);
    while (source_next_line(&lines, &line, &at)) {
        if (!span_starts(line, "{\"ev\":\"end\"") || !json_document(line, &value) ||
            !json_member(value, "id", &id) || json_type(id) != JSON_STRING || id.n >= CONSULT_ID)
            continue;
        id = json_inside(id);
        if (json_member(value, "reply", &its) && json_type(its) == JSON_STRING &&
            json_inside(its).n == reply.n && memcmp(json_inside(its).p, reply.p, reply.n) == 0) {
            snprintf(consult, CONSULT_ID, "%.*s", (int)id.n, id.p);
            found = true;
        } else if (found && span_is(id, consult)) {
            found = false;
        }
    }
    source_lines_free(&lines);
    return found;
}

/* Whose end a stored reply is; false: nobody's, or it is none yet. */
static bool find_consult(struct end_job *j)
{
    struct source journal;
    const char *cause = j->ending.cause;
    bool over =
        strcmp(cause, "finish") == 0 || strcmp(cause, "canceled") == 0 || strcmp(cause, "stream_error") == 0;
    if (!over || !j->said->reply_id.n)
        return false;
    bool found = threads_source(j->line.threads, j->line.org, j->line.name, &journal) == THREADS_READ &&
                 journal.n <= LIMIT_THREAD_SEARCHED &&
                 find_running(&journal, buf_span(&j->said->reply_id), j->line.consult);
    threads_source_close(&journal);
    return found;
}

static void end_work(struct job *job)
{
    struct end_job *j = (struct end_job *)job;
    struct buf line;
    if (j->stored && !find_consult(j))
        return;
    read_error(j);
    recorder_settle(j->said);
    struct thread_end_line l = {
        .id = j->line.consult,
        .at_us = j->line.at_us,
        .said = j->said,
        .artifacts = buf_span(&j->artifacts),
        .ending = j->ending,
    };
    buf_init(&line, LINE_MOST);
    thread_line_end(&l, &line);
    write_line(&j->line, buf_full(&line) ? span_of("", 0) : buf_span(&line));
    buf_free(&line);
    if (strcmp(j->ending.cause, "running") != 0)
        alert(j);
}

static void end_done(struct job *job)
{
    struct end_job *j = (struct end_job *)job;
    recorder_destroy(j->said);
    buf_free(&j->artifacts);
    buf_free(&j->error_body);
    buf_free(&j->error_codings);
    xfree(j);
}

/* An error of Penstock's own: what became of the provider's stream, or the answer in its place. */
static const char *cause_of_error(const struct exchange *ex, struct thread_ending *end)
{
    end->error_code = error_name(ex->error);
    switch (ex->error) {
    case ERROR_UPSTREAM_TIMEOUT:
        return "upstream_timeout";
    case ERROR_UPSTREAM_UNREACHABLE:
    case ERROR_UPSTREAM_INVALID:
    case ERROR_REPLY_TOO_LARGE:
        return "upstream_closed";
    default:
        end->http_status = error_status(ex->error);
        return "http_error";
    }
}

static bool said_anything(const struct recorder *r)
{
    return r->text.n || r->reasoning.n || r->raw.n || r->ncalls || r->citations.n;
}

/* A whole reply need not say why it ended, but one in which nothing could be read was cut, as a stream that
 * ends without a word was; what is not read, a sound say, is taken for whole. A redirection is no reply. */
static bool ended_well(const struct exchange *ex)
{
    bool whole = ex->treatment == TREAT_WHOLE && said_anything(ex->thread->said);
    bool unread = ex->treatment == TREAT_PASS && ex->thread->status >= 200 && ex->thread->status < 300;
    return ex->upstream_clean && (whole || unread);
}

/* A finish or an error that was received decides, else whichever side ended first. */
static void find_cause(const struct exchange *ex, struct thread_ending *end)
{
    const struct exchange_thread *t = ex->thread;
    const struct recorder *said = t->said;
    *end = (struct thread_ending){.http_status = t->status};
    if (t->gone)
        end->cause = t->shut_down ? "proxy_shutdown" : "client_closed";
    else if (t->status >= 400)
        end->cause = "http_error";
    else if (said->canceled)
        end->cause = "canceled";
    else if (said->failed)
        end->cause = "stream_error";
    else if (said->finished)
        end->cause = "finish";
    else if (said->pending && ex->upstream_clean)
        end->cause = "running"; /* in the background, until somebody fetches it when it is ready */
    else if (ex->error)
        end->cause = cause_of_error(ex, end);
    else
        end->cause = ended_well(ex) ? "finish" : "upstream_closed";
}

void thread_end(struct exchange *ex)
{
    struct exchange_thread *t = ex->thread;
    if (!t)
        return;
    thread_begin(ex);
    struct end_job *j = xcalloc(1, sizeof *j);
    fill_line(&j->line, ex, end_work, end_done);
    j->line.at_us = clock_wall_us();
    j->stored = t->stored;
    find_cause(ex, &j->ending);
    if (j->ending.error_code) {
        snprintf(j->message, sizeof j->message, "%s", ex->failure ? ex->failure->message : "");
        j->ending.error_message = j->message;
    }
    j->said = t->said;
    t->said = NULL;
    buf_init(&j->artifacts, ex->artifacts.max);
    buf_add(&j->artifacts, buf_span(&ex->artifacts));
    buf_init(&j->error_body, t->error_body.max);
    buf_move(&j->error_body, &t->error_body);
    buf_init(&j->error_codings, t->error_codings.max);
    buf_move(&j->error_codings, &t->error_codings);
    submit(ex, &j->line);
    thread_free(ex);
}

void thread_free(struct exchange *ex)
{
    struct exchange_thread *t = ex->thread;
    if (!t)
        return;
    recorder_destroy(t->said);
    buf_free(&t->words.text);
    buf_free(&t->error_body);
    buf_free(&t->error_codings);
    xfree(t);
    ex->thread = NULL;
}
