/* The JSON files of a thread's directory, and its list of sources. */
#include "transcript/print.h"
#include "transcript/text.h"
#include "transcript/thread.h"

static void add_member(const char *name, struct span text, struct buf *out)
{
    buf_printf(out, "%s\"%s\":", out->n > 1 ? "," : "", name);
    print_string(text, out);
}

static int print_document(struct span compact, struct buf *out)
{
    int failed = print_json(compact, 0, out);
    buf_addc(out, '\n');
    return failed || buf_full(out) ? -1 : 0;
}

int transcript_thread_json(const struct transcript *t, struct span exported_at, struct buf *out)
{
    struct buf compact, registry;
    buf_init(&compact, out->max);
    buf_init(&registry, out->max);
    buf_addc(&compact, '{');
    add_member("thread_id", t->id, &compact);
    add_member("title", buf_span(&t->title), &compact);
    add_member("mode", t->mode, &compact);
    add_member("author", t->author, &compact);
    add_member("lastUpdated", buf_span(&t->last), &compact);
    buf_printf(&compact, ",\"n_turns\":%zu,\"n_sources\":%zu", t->nturns, t->sources.n);
    if (t->metadata.n) {
        buf_adds(&compact, ",\"metadata\":");
        buf_add(&compact, buf_span(&t->metadata));
    }
    add_member("exported_at", exported_at, &compact);
    if (interruptions_add(t, &registry)) {
        buf_adds(&compact, ",\"interruptions\":");
        buf_add(&compact, buf_span(&registry));
    }
    buf_addc(&compact, '}');
    int failed =
        buf_full(&compact) || buf_full(&registry) || print_document(buf_span(&compact), out) ? -1 : 0;
    buf_free(&registry);
    buf_free(&compact);
    return failed;
}

int transcript_update_thread_json(const struct transcript *t, struct span old, struct buf *out)
{
    struct buf registry;
    buf_init(&registry, out->max);
    size_t n = interruptions_add(t, &registry);
    int failed = buf_full(&registry) ||
                 print_with(old, "interruptions", n ? buf_span(&registry) : (struct span){0}, out);
    buf_free(&registry);
    return failed ? -1 : 0;
}

/* ---- sources ---- */

static int print_source(const struct cited *c, bool first, struct buf *out)
{
    struct buf compact;
    buf_init(&compact, out->max);
    buf_addc(&compact, '{');
    add_member("name", c->name, &compact);
    add_member("url", c->url, &compact);
    add_member("snippet", c->snippet, &compact);
    add_member("timestamp", c->timestamp, &compact);
    buf_addc(&compact, '}');
    buf_adds(out, first ? "\n  " : ",\n  ");
    int failed = buf_full(&compact) || print_json(buf_span(&compact), 2, out) ? -1 : 0;
    buf_free(&compact);
    return failed;
}

/* A list that is empty has no line of its own. */
static int sources_json_part(const struct transcript *t, size_t part, struct buf *out)
{
    if (part == 0)
        return buf_printf(out, "{\n \"count\": %zu,\n \"sources\": [", t->sources.n);
    if (part <= t->sources.n)
        return print_source(&t->sources.list[part - 1], part == 1, out);
    return buf_adds(out, t->sources.n ? "\n ]\n}\n" : "]\n}\n");
}

static int sources_md_part(const struct transcript *t, size_t part, struct buf *out)
{
    if (t->sources.n == 0)
        return buf_adds(out, "(none)\n");
    buf_printf(out, "%zu. ", part + 1);
    text_target(t->sources.list[part].name, t->sources.list[part].url, out);
    buf_addc(out, '\n');
    return buf_full(out) ? -1 : 0;
}

/* ---- files in parts ---- */

size_t transcript_parts(const struct transcript *t, enum transcript_file file)
{
    switch (file) {
    case TRANSCRIPT_CONVERSATION:
        return conversation_parts(t);
    case TRANSCRIPT_SOURCES_JSON:
        return t->sources.n + 2;
    case TRANSCRIPT_SOURCES_MD:
        break;
    }
    return t->sources.n ? t->sources.n : 1;
}

int transcript_part(const struct transcript *t, enum transcript_file file, size_t part, struct buf *out)
{
    switch (file) {
    case TRANSCRIPT_CONVERSATION:
        return conversation_part(t, part, out);
    case TRANSCRIPT_SOURCES_JSON:
        return sources_json_part(t, part, out);
    case TRANSCRIPT_SOURCES_MD:
        break;
    }
    return sources_md_part(t, part, out);
}

int transcript_draw(const struct transcript *t, enum transcript_file file, struct buf *out)
{
    int status = 0;
    for (size_t i = 0; i < transcript_parts(t, file) && !status; i++)
        status = transcript_part(t, file, i, out);
    return status;
}
