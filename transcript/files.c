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
    buf_printf(&compact, ",\"n_turns\":%zu,\"n_sources\":%zu", t->nturns, t->nsources);
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

static struct span source_name(const json_t *source)
{
    struct span name = raw_str(source, "name");
    return name.n ? name : raw_str(source, "title");
}

int transcript_sources_json(const struct transcript *t, struct buf *out)
{
    struct buf compact;
    buf_init(&compact, out->max);
    buf_printf(&compact, "{\"count\":%zu,\"sources\":[", t->nsources);
    for (size_t i = 0; i < t->nsources; i++) {
        buf_adds(&compact, i ? ",{\"name\":" : "{\"name\":");
        print_string(source_name(t->sources[i]), &compact);
        add_member("url", raw_str(t->sources[i], "url"), &compact);
        add_member("snippet", raw_str(t->sources[i], "snippet"), &compact);
        add_member("timestamp", raw_str(t->sources[i], "timestamp"), &compact);
        buf_addc(&compact, '}');
    }
    buf_adds(&compact, "]}");
    int failed = buf_full(&compact) || print_document(buf_span(&compact), out) ? -1 : 0;
    buf_free(&compact);
    return failed;
}

int transcript_sources_md(const struct transcript *t, struct buf *out)
{
    for (size_t i = 0; i < t->nsources; i++) {
        buf_printf(out, "%zu. ", i + 1);
        text_target(source_name(t->sources[i]), raw_str(t->sources[i], "url"), out);
        buf_addc(out, '\n');
    }
    if (t->nsources == 0)
        buf_adds(out, "(none)\n");
    return buf_full(out) ? -1 : 0;
}
