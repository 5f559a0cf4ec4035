#include "filters/recorder.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/xalloc.h"

/* No note is of this kind. */
static const uint64_t RUN_NONE = UINT64_MAX;

struct recorder *recorder_create(bool parts, void (*read_calls)(struct reply_event *e, struct span value))
{
    struct recorder *r = xcalloc(1, sizeof *r);
    r->parts = parts;
    r->read_calls = read_calls;
    r->run = &r->reasoning;
    r->run_is = RUN_NONE;
    buf_init(&r->raw, LIMIT_THREAD_ARGUMENTS);
    buf_init(&r->text, LIMIT_THREAD_TEXT);
    buf_init(&r->reasoning, LIMIT_THREAD_TEXT);
    buf_init(&r->citations, LIMIT_THREAD_TEXT);
    buf_init(&r->finish, LIMIT_THREAD_WORD);
    buf_init(&r->error_type, LIMIT_THREAD_WORD);
    buf_init(&r->error_code, LIMIT_THREAD_WORD);
    buf_init(&r->error_message, LIMIT_THREAD_WORD);
    buf_init(&r->reply_id, LIMIT_THREAD_WORD);
    return r;
}

void recorder_destroy(struct recorder *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->ncalls; i++) {
        buf_free(&r->calls[i].id);
        buf_free(&r->calls[i].name);
        buf_free(&r->calls[i].arguments);
    }
    xfree(r->calls);
    buf_free(&r->raw);
    buf_free(&r->text);
    buf_free(&r->reasoning);
    buf_free(&r->citations);
    buf_free(&r->finish);
    buf_free(&r->error_type);
    buf_free(&r->error_code);
    buf_free(&r->error_message);
    buf_free(&r->reply_id);
    xfree(r);
}

void recorder_add_cut(struct buf *to, struct span escaped, bool *cut)
{
    size_t room = to->max - to->n, n = 0;
    if (*cut)
        return;
    if (escaped.n <= room) {
        buf_add(to, escaped);
        return;
    }
    while (n < escaped.n) {
        size_t step = escaped.p[n] != '\\' ? 1 : n + 1 < escaped.n && escaped.p[n + 1] == 'u' ? 6 : 2;
        if (n + step > room)
            break;
        n += step;
    }
    while (n && ((unsigned char)escaped.p[n] & 0xc0) == 0x80)
        n--;
    buf_add(to, span_of(escaped.p, n));
    *cut = true;
}

/* How long a buffer may become without a look at its memory and its cap. */
static size_t room_of(const struct buf *b, bool cut)
{
    return cut ? 0 : b->room < b->max ? b->room : b->max;
}

/* A value as the inside of a string: of a string its own, else its JSON text. */
static void add_value(struct buf *to, struct span value, bool *cut)
{
    struct buf escaped;
    if (json_type(value) == JSON_STRING) {
        recorder_add_cut(to, json_inside(value), cut);
        return;
    }
    buf_init(&escaped, SIZE_MAX / 2); /* a value of an event, which is capped */
    if (json_escape(value, &escaped) == 0)
        recorder_add_cut(to, buf_span(&escaped), cut);
    buf_free(&escaped);
}

/* A word that says how it ended. The first one of its kind counts, the last one of a finish. */
static void set_word(struct buf *to, struct span value, bool again)
{
    bool cut = false;
    if (to->n && !again)
        return;
    buf_reset(to);
    add_value(to, value, &cut);
}

/* ---- calls of tools ---- */

static struct recorder_call *add_call(struct recorder *r, uint32_t number)
{
    r->refused = r->ncalls == LIMIT_THREAD_CALLS;
    if (r->refused) {
        r->calls_cut = true;
        return NULL;
    }
    if (!r->calls)
        r->calls = xcalloc(LIMIT_THREAD_CALLS, sizeof *r->calls);
    struct recorder_call *c = &r->calls[r->ncalls++];
    c->number = number;
    buf_init(&c->id, LIMIT_THREAD_WORD);
    buf_init(&c->name, LIMIT_THREAD_WORD);
    buf_init(&c->arguments, LIMIT_THREAD_ARGUMENTS);
    return c;
}

/* The one last begun under that number. */
static struct recorder_call *call_of(struct recorder *r, uint32_t number)
{
    for (size_t i = r->ncalls; i-- > 0;)
        if (r->calls[i].number == number)
            return &r->calls[i];
    return add_call(r, number);
}

/* Some servers give every call the number 0, and only the id tells them apart. */
static struct recorder_call *call_with_id(struct recorder *r, const struct note *note)
{
    struct recorder_call *c = call_of(r, note->number);
    struct span id = json_type(note->value) == JSON_STRING ? json_inside(note->value) : note->value;
    struct span known = c ? buf_span(&c->id) : (struct span){0};
    bool other = known.n && id.n && (known.n != id.n || memcmp(known.p, id.p, id.n) != 0);
    return other ? add_call(r, note->number) : c;
}

/* All calls share one cap. */
static void add_arguments(struct recorder *r, struct recorder_call *c, struct span value)
{
    size_t before = c->arguments.n;
    c->arguments.max = before + (LIMIT_THREAD_ARGUMENTS - r->arguments);
    add_value(&c->arguments, value, &r->calls_cut);
    r->arguments += c->arguments.n - before;
}

static void take_call(struct recorder *r, const struct note *note)
{
    bool next = note->number == NOTE_NEXT_CALL, begins = next && note->kind == NOTE_CALL;
    if (next && !begins && r->refused)
        return;
    struct recorder_call *c = begins                       ? add_call(r, note->number)
                              : note->kind == NOTE_CALL_ID ? call_with_id(r, note)
                                                           : call_of(r, note->number);
    if (!c)
        return;
    switch (note->kind) {
    case NOTE_CALL_ID:
        set_word(&c->id, note->value, false);
        break;
    case NOTE_CALL_NAME:
        set_word(&c->name, note->value, false);
        break;
    case NOTE_CALL_ARGUMENTS:
        r->arguments -= c->arguments.n;
        buf_reset(&c->arguments);
        add_arguments(r, c, note->value);
        break;
    case NOTE_CALL_MORE:
        add_arguments(r, c, note->value);
        break;
    default:
        break;
    }
}

/* The notes of calls as the API writes them. */
static void read_calls(struct recorder *r, struct span value)
{
    struct reply_event e = {.noting = true};
    r->read_calls(&e, value);
    for (size_t i = 0; i < e.nnotes; i++)
        take_call(r, &e.notes[i]);
    reply_event_free(&e);
}

void recorder_settle(struct recorder *r)
{
    struct span rest = buf_span(&r->raw), value;
    const char *end = rest.p + rest.n;
    while (rest.n && !r->refused && json_value_as(rest.p, end, JSON_LENIENT, &value) == 0) {
        read_calls(r, value);
        rest = span_from(rest, value.n);
    }
    buf_free(&r->raw);
    r->raw_room = 0;
}

static void keep_calls(struct recorder *r, struct span value)
{
    if (value.n > r->raw.max - r->raw.n)
        recorder_settle(r);
    if (value.n > r->raw.max)
        read_calls(r, value);
    else
        buf_add(&r->raw, value);
    r->raw_room = room_of(&r->raw, false);
}

/* ---- sources ---- */

/* The first one of an address counts. */
static void take_citation(struct recorder *r, struct span url)
{
    struct buf *out = &r->citations;
    struct span inside = json_inside(url);
    r->titled = true; /* until it is added */
    if (json_type(url) != JSON_STRING || inside.n == 0)
        return;
    struct buf member;
    buf_init(&member, LIMIT_READ);
    buf_adds(&member, "\"url\":");
    buf_add(&member, url);
    buf_addc(&member, '}');
    bool fits = !buf_full(&member) && r->ncitations < LIMIT_THREAD_CITATIONS &&
                out->max - out->n > member.n + LIMIT_READ;
    if (!fits) {
        r->citations_cut = true;
    } else if (!out->n || !memmem(buf_span(out).p, out->n, buf_span(&member).p, member.n)) {
        buf_adds(out, out->n ? ",{" : "{");
        buf_add(out, buf_span(&member));
        r->ncitations++;
        r->titled = false;
    }
    buf_free(&member);
}

static void take_title(struct recorder *r, struct span title)
{
    struct buf *out = &r->citations;
    if (r->titled || title.n > LIMIT_THREAD_WORD || json_type(title) != JSON_STRING)
        return;
    r->titled = true;
    buf_cut(out, out->n - 1);
    buf_adds(out, ",\"name\":");
    buf_add(out, title);
    buf_addc(out, '}');
}

/* ---- all of it ---- */

static void take_reasoning(struct recorder *r, struct span value)
{
    if (r->broken && r->reasoning.n && !r->reasoning_cut)
        recorder_add_cut(&r->reasoning, SPAN_LIT("\\n\\n"), &r->reasoning_cut);
    r->broken = false;
    add_value(&r->reasoning, value, &r->reasoning_cut);
}

static void take_note(struct recorder *r, const struct note *note)
{
    switch (note->kind) {
    case NOTE_REASONING:
        take_reasoning(r, note->value);
        break;
    case NOTE_REASONING_BREAK:
        r->broken = true;
        break;
    case NOTE_REFUSAL:
        add_value(&r->text, note->value, &r->text_cut);
        r->text_room = room_of(&r->text, r->text_cut);
        break;
    case NOTE_CALLS:
        keep_calls(r, note->value);
        break;
    case NOTE_CITATION:
        take_citation(r, note->value);
        break;
    case NOTE_CITATION_TITLE:
        take_title(r, note->value);
        break;
    case NOTE_FINISH:
        set_word(&r->finish, note->value, true);
        break;
    case NOTE_PENDING:
        r->pending = true;
        set_word(&r->finish, note->value, true);
        break;
    case NOTE_CANCELED:
        r->canceled = true;
        break;
    case NOTE_REPLY_ID:
        set_word(&r->reply_id, note->value, false);
        break;
    case NOTE_ERROR:
        break;
    case NOTE_ERROR_TYPE:
        set_word(&r->error_type, note->value, false);
        break;
    case NOTE_ERROR_CODE:
        set_word(&r->error_code, note->value, false);
        break;
    case NOTE_ERROR_MESSAGE:
        set_word(&r->error_message, note->value, false);
        break;
    default:
        take_call(r, note);
    }
}

static void end_run(struct recorder *r)
{
    if ((uint32_t)r->run_is == NOTE_CALL_MORE)
        r->arguments += r->run->n - r->run_from;
    r->run_is = RUN_NONE;
    r->run_room = 0;
}

/* What goes on where this note ended. */
static void begin_run(struct recorder *r, const struct note *last)
{
    struct recorder_call *c = last->kind == NOTE_CALL_MORE ? call_of(r, last->number) : NULL;
    size_t room = 0;
    if (last->kind == NOTE_REASONING) {
        r->run = &r->reasoning;
        room = room_of(r->run, r->reasoning_cut);
    } else if (last->kind == NOTE_REFUSAL) {
        r->run = &r->text;
        room = r->text_room;
    } else if (c) {
        r->run = &c->arguments;
        room = room_of(r->run, r->calls_cut);
    }
    r->run_is = room ? recorder_run_of(last) : RUN_NONE;
    r->run_from = r->run->n;
    r->run_room = room;
}

void recorder_add_text(struct recorder *r, struct span escaped)
{
    if (r->run == &r->text)
        end_run(r);
    recorder_add_cut(&r->text, escaped, &r->text_cut);
    r->text_room = room_of(&r->text, r->text_cut);
}

void recorder_take_notes(struct recorder *r, const struct reply_event *e)
{
    bool failed = e->error, finished = e->ends_stream;
    end_run(r);
    for (size_t i = 0; i < e->nnotes; i++) {
        failed = failed || e->notes[i].kind == NOTE_ERROR;
        finished = finished || e->notes[i].kind == NOTE_FINISH;
        r->pending = r->pending && e->notes[i].kind != NOTE_FINISH;
        take_note(r, &e->notes[i]);
    }
    if (failed && !r->finished)
        r->failed = true;
    if (finished && !r->failed)
        r->finished = true;
    if (e->nnotes)
        begin_run(r, &e->notes[e->nnotes - 1]);
}
