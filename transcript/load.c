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
    return x->index < y->index ? -1 : x->index > y->index;
}

static struct turn read_turn(json_t *entry, size_t index)
{
    struct turn turn = {.entry = entry, .index = index, .workflow = shape_last_workflow(entry)};
    json_t *workflow;
    turn.query = raw_str(entry, "query_str");
    if (!turn.query.n)
        turn.query = raw_str(entry, "query");
    turn.created = raw_us(entry, "created_us");
    if (turn.created == 0 && !raw_time(entry, "entry_created_datetime", &turn.created))
        turn.created = 0;
    turn.status = raw_str(turn.workflow, "status");
    turn.locked = raw_str(entry, "locked_reason");
    for (size_t w = 0; (workflow = shape_next_workflow(entry, &w));)
        turn.steps += json_array_size(raw_list(workflow, "steps"));
    return turn;
}

static void read_turns(struct transcript *t)
{
    json_t *entries = raw_list(t->root, "entries"), *entry;
    size_t i;
    t->turns = xcalloc(json_array_size(entries) + 1, sizeof *t->turns);
    json_array_foreach(entries, i, entry) if (json_is_object(entry)) t->turns[t->nturns++] =
        read_turn(entry, i);
    qsort(t->turns, t->nturns, sizeof *t->turns, compare_turns);
}

/* The newest time of an entry that says one; times that no calendar has are none. */
static void take_last(const json_t *entry, int64_t *last, struct buf *scratch)
{
    int64_t us = raw_us(entry, "updated_us");
    if (us == 0 && !raw_time(entry, "entry_updated_datetime", &us) &&
        !raw_time(entry, "updated_datetime", &us)) {
        us = raw_us(entry, "created_us");
        if (us == 0 && !raw_time(entry, "entry_created_datetime", &us))
            return;
    }
    if (us > *last && time_print(us, scratch))
        *last = us;
    buf_reset(scratch);
}

static void find_last(struct transcript *t)
{
    static const char *const lists[] = {"entries", "background_entries"};
    struct span said = raw_str(t->root, "lastUpdated");
    int64_t last = INT64_MIN;
    json_t *entry;
    size_t i;
    for (size_t l = 0; l < 2 && !said.n; l++)
        json_array_foreach(raw_list(t->root, lists[l]), i, entry) take_last(entry, &last, &t->last);
    if (said.n)
        buf_add(&t->last, said);
    else if (last != INT64_MIN)
        time_print(last, &t->last);
}

static json_t *find_metadata(const struct transcript *t)
{
    json_t *metadata = raw_obj(t->root, "thread_metadata");
    return metadata ? metadata : raw_obj(t->root, "metadata"); /* in older dumps */
}

static int append(const char *text, size_t n, void *out)
{
    return buf_addn(out, text, n);
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
    json_dump_callback(metadata, append, &t->metadata, JSON_COMPACT);
}

static void find_title(struct transcript *t)
{
    struct span title = raw_str(t->root, "title");
    if (!title.n)
        title = raw_str(find_metadata(t), "title");
    title = text_trim(title);
    for (size_t i = 0; i < t->nturns && !title.n; i++)
        if (!text_is_blank(t->turns[i].query))
            title = text_cut(text_first_line(text_trim(t->turns[i].query)), TEXT_TITLE);
    buf_add(&t->title, title.n ? title : SPAN_LIT("untitled"));
}

/* What the platform calls its modes; the most specific of several counts. */
static const struct {
    const char *platform, *mode;
    bool attributed;
} modes[] = {{"ASI", "computer", true},   {"AGENTIC_RESEARCH", "council", true},
             {"STUDY", "study", false},   {"RESEARCH", "deep-research", false},
             {"SEARCH", "search", false}, {"STUDIO", "search", false}};
enum { MODES = sizeof modes / sizeof modes[0] };

static void find_mode(struct transcript *t)
{
    size_t best = MODES;
    t->mode = raw_str(t->root, "mode");
    for (size_t i = 0; i < t->nturns; i++)
        for (size_t m = 0; m < best; m++)
            if (span_is(raw_str(t->turns[i].entry, "search_mode"), modes[m].platform))
                best = m;
    if (!t->mode.n)
        t->mode = best < MODES ? span_str(modes[best].mode) : SPAN_LIT("consult");
    t->attributed = true;
    for (size_t m = 0; m < MODES; m++)
        if (span_is(t->mode, modes[m].mode))
            t->attributed = modes[m].attributed;
}

static void name_thread(struct transcript *t)
{
    t->id = raw_str(t->root, "thread_id");
    if (!t->id.n)
        t->id = raw_str(t->root, "web_uuid");
    if (!t->id.n)
        t->id = raw_str(find_metadata(t), "thread_id");
    if (!t->id.n)
        t->id = SPAN_LIT("thread");
    t->author = raw_str(t->root, "author");
    if (!t->author.n && t->nturns)
        t->author = raw_str(t->turns[0].entry, "author_username");
    find_title(t);
    find_mode(t);
    find_last(t);
}

static void add_sources(struct transcript *t, const json_t *entry, struct names *urls)
{
    json_t *sources = raw_list(entry, "sources"), *source;
    size_t i;
    json_array_foreach(sources, i,
                       source) if (raw_str(source, "url").n && names_add(urls, raw_str(source, "url"), 0))
    {
        t->sources = thread_grow(t->sources, t->nsources, &t->sources_room, sizeof *t->sources);
        t->sources[t->nsources++] = source;
    }
}

static void find_sources(struct transcript *t)
{
    struct names urls;
    json_t *entry;
    size_t i;
    names_init(&urls);
    for (i = 0; i < t->nturns; i++)
        add_sources(t, t->turns[i].entry, &urls);
    json_array_foreach(raw_list(t->root, "background_entries"), i, entry) add_sources(t, entry, &urls);
    names_finish(&urls);
}

static json_t *read_document(struct span plain, struct span blocks, struct error *e)
{
    json_t *root = raw_parse(plain, e);
    if (!root || blocks.n == 0)
        return root;
    json_t *second = raw_parse(blocks, e);
    if (second)
        return raw_merge(root, second);
    json_decref(root);
    return NULL;
}

int transcript_load(struct span plain, struct span blocks, struct transcript **out, struct error *e)
{
    json_t *root = read_document(plain, blocks, e);
    if (!root)
        return -1;
    struct transcript *t = xcalloc(1, sizeof *t);
    t->root = root;
    t->made = json_array();
    buf_init(&t->title, TRANSCRIPT_DOCUMENT);
    buf_init(&t->last, TRANSCRIPT_DOCUMENT);
    buf_init(&t->metadata, TRANSCRIPT_DOCUMENT);
    buf_init(&t->warnings, TRANSCRIPT_WARNINGS * 2 * WARNING);
    names_init(&t->record_ids);
    names_init(&t->sub_ids);
    read_turns(t);
    name_thread(t);
    keep_metadata(t, plain, blocks);
    find_sources(t);
    if (t->attributed) {
        records_find(t);
        waterfall_place(t);
    }
    *out = t;
    return 0;
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
    xfree(t->sources);
    json_decref(t->made);
    json_decref(t->root);
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
                                     .sources = (unsigned)t->nsources,
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
