/* A raw thread document read: turns in order, what the thread is called, its sources. */
#include <stdarg.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "transcript/print.h"
#include "transcript/text.h"
#include "transcript/thread.h"
#include "transcript/time.h"

enum { WARNING = 512 };

void *thread_grow(void *list, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return list;
    *room = *room ? 2 * *room : 16;
    return xrealloc(list, *room * size);
}

void thread_warn(struct transcript *t, const char *format, ...)
{
    char line[WARNING];
    va_list args;
    if (t->nwarnings == TRANSCRIPT_WARNINGS)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    text_line(span_str(line), &t->warnings);
    buf_addc(&t->warnings, '\n');
    t->nwarnings++;
}

static int compare_turns(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->created != y->created)
        return x->created < y->created ? -1 : 1;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

struct span thread_keep(struct transcript *t, struct span text)
{
    enum { SHORT = 48 };
    if (text.n == 0)
        return (struct span){"", 0};
    for (unsigned i = 0; i < THREAD_RECENT && text.n <= SHORT; i++)
        if (t->recent[i].n == text.n && memcmp(t->recent[i].p, text.p, text.n) == 0)
            return t->recent[i];
    struct span kept = arena_copy(&t->texts, text);
    if (text.n <= SHORT)
        t->recent[t->nrecent++ % THREAD_RECENT] = kept;
    return kept;
}

/* ---- sources ---- */

static void cited_init(struct cited_list *l)
{
    *l = (struct cited_list){.list = NULL};
    names_init(&l->urls);
}

static void cited_finish(struct cited_list *l)
{
    names_finish(&l->urls);
    xfree(l->list);
    l->list = NULL;
}

static void add_cited(struct cited_list *l, struct cited c)
{
    if (!names_add(&l->urls, c.url, 0))
        return;
    l->list = thread_grow(l->list, l->n, &l->room, sizeof *l->list);
    l->list[l->n++] = c;
}

static void note_sources(struct transcript *t, struct cited_list *l, const json_t *entry)
{
    json_t *source;
    size_t i;
    json_array_foreach(raw_list(entry, "sources"), i, source)
    {
        struct span name = raw_str(source, "name"), url = raw_str(source, "url");
        if (!url.n || names_find(&l->urls, url) != NAMES_NONE)
            continue;
        add_cited(l, (struct cited){.name = thread_keep(t, name.n ? name : raw_str(source, "title")),
                                    .url = thread_keep(t, url),
                                    .snippet = thread_keep(t, raw_str(source, "snippet")),
                                    .timestamp = thread_keep(t, raw_str(source, "timestamp"))});
    }
}

/* ---- entries ---- */

/* The newest time of an entry that says one; times that no calendar has are none. */
static void note_time(struct transcript *t, const json_t *entry)
{
    struct buf scratch;
    int64_t us = raw_us(entry, "updated_us");
    if (us == 0 && !raw_time(entry, "entry_updated_datetime", &us) &&
        !raw_time(entry, "updated_datetime", &us)) {
        us = raw_us(entry, "created_us");
        if (us == 0 && !raw_time(entry, "entry_created_datetime", &us))
            return;
    }
    buf_init(&scratch, 64);
    if (us > t->last_us && time_print(us, &scratch))
        t->last_us = us;
    buf_free(&scratch);
}

/* What the platform calls its modes; the most specific of several counts. */
static const struct {
    const char *platform, *mode;
    bool attributed;
} modes[] = {{"ASI", "computer", true},   {"AGENTIC_RESEARCH", "council", true},
             {"STUDY", "study", false},   {"RESEARCH", "deep-research", false},
             {"SEARCH", "search", false}, {"STUDIO", "search", false}};
enum { MODES = sizeof modes / sizeof modes[0] };

static void note_mode(struct transcript *t, const json_t *entry)
{
    struct span said = raw_str(entry, "search_mode");
    for (size_t m = 0; m < t->best_mode && said.n; m++)
        if (span_is(said, modes[m].platform))
            t->best_mode = m;
}

static struct turn read_turn(struct transcript *t, const json_t *entry, size_t i)
{
    struct turn turn = {.entry = i};
    struct span query = shape_query(entry);
    const json_t *last = shape_last_workflow(entry), *workflow;
    turn.created = raw_us(entry, "created_us");
    if (turn.created == 0 && !raw_time(entry, "entry_created_datetime", &turn.created))
        turn.created = 0;
    turn.status = thread_keep(t, raw_str(last, "status"));
    turn.locked = thread_keep(t, raw_str(entry, "locked_reason"));
    turn.blank = text_is_blank(query);
    turn.notice = span_is(raw_str(entry, "trigger"), "subagent_result");
    if (status_classify(turn.status, turn.locked) != STATUS_COMPLETED)
        turn.headline = thread_keep(t, text_cut(query, TEXT_TITLE));
    for (size_t w = 0; (workflow = shape_next_workflow(entry, &w));)
        turn.steps += json_array_size(raw_list(workflow, "steps"));
    return turn;
}

/* What must be done in the turns' order. */
static void add_turn(struct transcript *t, unsigned turn, const json_t *entry)
{
    note_sources(t, &t->sources, entry);
    interruptions_note(t, SIDE_TURNS, entry);
    waterfall_add_turn(t, turn, entry);
}

/* Turns that stand in another order than that of their times are read a second time. */
static void read_turns_again(struct transcript *t)
{
    waterfall_forget_turns(t);
    cited_finish(&t->sources);
    cited_init(&t->sources);
    t->alerts[SIDE_TURNS].n = 0;
    qsort(t->turns, t->nturns, sizeof *t->turns, compare_turns);
    for (size_t i = 0; i < t->nturns; i++) {
        json_t *entry = document_entry(t->document, SIDE_TURNS, t->turns[i].entry);
        add_turn(t, (unsigned)i + 1, entry);
        json_decref(entry);
    }
}

static void read_turns(struct transcript *t)
{
    bool sorted = true;
    for (size_t i = 0; i < document_entries(t->document, SIDE_TURNS); i++) {
        json_t *entry = document_entry(t->document, SIDE_TURNS, i);
        note_time(t, entry);
        if (json_is_object(entry)) {
            note_mode(t, entry);
            t->turns = thread_grow(t->turns, t->nturns, &t->turns_room, sizeof *t->turns);
            t->turns[t->nturns++] = read_turn(t, entry, i);
            sorted = sorted &&
                     (t->nturns < 2 || t->turns[t->nturns - 2].created <= t->turns[t->nturns - 1].created);
            if (sorted)
                add_turn(t, (unsigned)t->nturns, entry);
        }
        json_decref(entry);
    }
    if (!sorted)
        read_turns_again(t);
}

static void read_background(struct transcript *t)
{
    for (size_t i = 0; i < document_entries(t->document, SIDE_BACKGROUND); i++) {
        json_t *entry = document_entry(t->document, SIDE_BACKGROUND, i);
        note_time(t, entry);
        note_sources(t, &t->background_sources, entry);
        interruptions_note(t, SIDE_BACKGROUND, entry);
        records_find(t, entry, i);
        json_decref(entry);
    }
}

/* ---- the thread ---- */

static void find_last(struct transcript *t)
{
    struct span said = raw_str(document_head(t->document), "lastUpdated");
    if (said.n)
        buf_add(&t->last, said);
    else if (t->last_us != INT64_MIN)
        time_print(t->last_us, &t->last);
}

static json_t *find_metadata(const struct transcript *t)
{
    const json_t *head = document_head(t->document);
    json_t *metadata = raw_obj(head, "thread_metadata");
    return metadata ? metadata : raw_obj(head, "metadata"); /* in older dumps */
}

/* As the document spells it, if the document is good JSON. */
static void keep_metadata(struct transcript *t, struct span plain, struct span blocks)
{
    const json_t *metadata = find_metadata(t);
    struct span found;
    if (json_object_size(metadata) == 0)
        return;
    if (print_find(plain, "thread_metadata", &found) || print_find(plain, "metadata", &found) ||
        print_find(blocks, "thread_metadata", &found) || print_find(blocks, "metadata", &found))
        if (span_starts(found, "{") && found.n > 2) {
            buf_add(&t->metadata, found);
            return;
        }
    json_dump_callback(metadata, buf_sink, &t->metadata, JSON_COMPACT);
}

static void find_title(struct transcript *t)
{
    struct span title = raw_str(document_head(t->document), "title");
    if (!title.n)
        title = raw_str(find_metadata(t), "title");
    title = text_trim(title);
    buf_add(&t->title, title);
    for (size_t i = 0; i < t->nturns && !t->title.n; i++)
        if (!t->turns[i].blank) {
            json_t *entry = document_entry(t->document, SIDE_TURNS, t->turns[i].entry);
            buf_add(&t->title, text_cut(text_first_line(text_trim(shape_query(entry))), TEXT_TITLE));
            json_decref(entry);
        }
    if (!t->title.n)
        buf_adds(&t->title, "untitled");
}

static void find_mode(struct transcript *t)
{
    t->mode = raw_str(document_head(t->document), "mode");
    if (!t->mode.n)
        t->mode = t->best_mode < MODES ? span_str(modes[t->best_mode].mode) : SPAN_LIT("consult");
    t->attributed = true;
    for (size_t m = 0; m < MODES; m++)
        if (span_is(t->mode, modes[m].mode))
            t->attributed = modes[m].attributed;
}

static void name_thread(struct transcript *t)
{
    const json_t *head = document_head(t->document);
    t->id = raw_str(head, "thread_id");
    if (!t->id.n)
        t->id = raw_str(head, "web_uuid");
    if (!t->id.n)
        t->id = raw_str(find_metadata(t), "thread_id");
    if (!t->id.n)
        t->id = SPAN_LIT("thread");
    t->author = raw_str(head, "author");
    if (!t->author.n && t->nturns) {
        json_t *first = document_entry(t->document, SIDE_TURNS, t->turns[0].entry);
        t->author = thread_keep(t, raw_str(first, "author_username"));
        json_decref(first);
    }
    find_title(t);
    find_mode(t);
    find_last(t);
}

/* The mode has no background work. */
static void forget_records(struct transcript *t)
{
    waterfall_forget_turns(t);
    names_finish(&t->record_ids);
    names_init(&t->record_ids);
    t->nrecords = 0;
    t->nwarnings = 0;
    buf_reset(&t->warnings);
}

static void load(struct transcript *t, struct span plain, struct span blocks)
{
    buf_init(&t->title, TRANSCRIPT_DOCUMENT);
    buf_init(&t->last, TRANSCRIPT_DOCUMENT);
    buf_init(&t->metadata, TRANSCRIPT_DOCUMENT);
    buf_init(&t->warnings, TRANSCRIPT_WARNINGS * 2 * WARNING);
    names_init(&t->record_ids);
    names_init(&t->sub_ids);
    cited_init(&t->sources);
    cited_init(&t->background_sources);
    t->last_us = INT64_MIN;
    t->best_mode = MODES;
    read_background(t);
    read_turns(t);
    name_thread(t);
    keep_metadata(t, plain, blocks);
    for (size_t i = 0; i < t->background_sources.n; i++)
        add_cited(&t->sources, t->background_sources.list[i]);
    cited_finish(&t->background_sources);
    names_finish(&t->sources.urls);
    if (t->attributed)
        waterfall_place(t);
    else
        forget_records(t);
}

int transcript_load(struct span plain, struct span blocks, struct transcript **out, struct error *e)
{
    struct document *document = document_open(plain, blocks, e);
    if (!document)
        return -1;
    *out = xcalloc(1, sizeof **out);
    (*out)->document = document;
    load(*out, plain, blocks);
    return 0;
}

int transcript_load_journal(const struct journal *j, struct transcript **out, struct error *e)
{
    struct transcript *t = xcalloc(1, sizeof *t);
    t->document = document_open_journal(j);
    load(t, (struct span){0}, (struct span){0});
    *out = t;
    if (!transcript_failed(t))
        return 0;
    transcript_destroy(t);
    *out = NULL;
    return error_set(e, ERROR_BAD_REQUEST, "The thread's journal cannot be read any more; try again.");
}

bool transcript_failed(const struct transcript *t)
{
    return document_failed(t->document);
}

void transcript_destroy(struct transcript *t)
{
    if (!t)
        return;
    names_finish(&t->record_ids);
    names_finish(&t->sub_ids);
    buf_free(&t->title);
    buf_free(&t->last);
    buf_free(&t->metadata);
    buf_free(&t->warnings);
    xfree(t->turns);
    xfree(t->records);
    xfree(t->subs);
    xfree(t->matches);
    xfree(t->appendix);
    cited_finish(&t->sources);
    arena_free(&t->texts);
    document_close(t->document);
    xfree(t);
}

struct transcript_entry transcript_entry(const struct transcript *t)
{
    struct buf scratch;
    buf_init(&scratch, TRANSCRIPT_FILE);
    struct transcript_entry entry = {.id = t->id,
                                     .title = buf_span(&t->title),
                                     .mode = t->mode,
                                     .author = t->author,
                                     .last_updated = buf_span(&t->last),
                                     .turns = (unsigned)t->nturns,
                                     .sources = (unsigned)t->sources.n,
                                     .interruptions = (unsigned)interruptions_add(t, &scratch)};
    buf_free(&scratch);
    return entry;
}

size_t transcript_warnings(const struct transcript *t)
{
    return t->nwarnings;
}

struct span transcript_warning(const struct transcript *t, size_t i)
{
    struct span rest = buf_span(&t->warnings);
    for (; i > 0; i--)
        rest = span_from(rest, (size_t)((const char *)memchr(rest.p, '\n', rest.n) - rest.p) + 1);
    return text_first_line(rest);
}
