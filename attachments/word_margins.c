/* Headers and footers: what they say stands once at the end, but for numbers of pages. */
#include "attachments/charset.h"
#include "attachments/word.h"

/* Letters of any script, that is, more than a number and what stands around it. */
static bool says_something(struct span text)
{
    for (size_t i = 0, n; i < text.n; i += n) {
        uint32_t c = charset_next(text.p + i, text.p + text.n, &n);
        bool mark = c < 0xc0 || (c >= 0x2000 && c < 0x2c00); /* blanks, dashes, signs */
        if (!mark || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
            return true;
    }
    return false;
}

static uint64_t hash_of(struct span text)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < text.n; i++)
        hash = (hash ^ (unsigned char)text.p[i]) * 1099511628211u;
    return hash;
}

/* Sections have their own, which say the same most of the time. */
static bool is_new(struct buf *seen, struct span text)
{
    uint64_t hash = hash_of(text), other;
    for (size_t at = 0; at + sizeof other <= seen->n; at += sizeof other) {
        memcpy(&other, seen->data + seen->start + at, sizeof other);
        if (other == hash)
            return false;
    }
    return buf_addn(seen, &hash, sizeof hash) == 0;
}

static void write(struct markup *m, const char *name, struct span text)
{
    markup_quote(m);
    if (memchr(text.p, '\n', text.n)) {
        markup_line(m, "%s:", name);
        markup_raw(m, text);
    } else {
        struct buf line;
        buf_init(&line, EXTRACT_TEXT);
        buf_printf(&line, "%s: ", name);
        buf_add(&line, text);
        markup_raw(m, buf_span(&line));
        buf_free(&line);
    }
    markup_leave(m);
}

static int unit(void *user, const struct xml_node *node)
{
    return word_block(user, node);
}

/* One part, as a text of its own. */
static int read(struct word *w, const char *part, const char *container, struct buf *text)
{
    struct markup *whole = w->m;
    w->m = markup_create(text, w->x);
    int answer = office_relations_read(w->archive, part, &w->memory, &w->relations);
    if (answer == 0)
        answer = xml_units(w->archive, part, container, unit, w);
    word_fields_end(w, 0);
    word_flow_end(w);
    if (markup_finish(w->m))
        answer = -1;
    markup_destroy(w->m);
    w->m = whole;
    return answer;
}

int word_margins(struct word *w, const struct office_relations *document)
{
    struct buf seen;
    int answer = 0;
    buf_init(&seen, ARCHIVE_ENTRIES * sizeof(uint64_t));
    for (size_t i = 0; i < document->n && answer == 0; i++) {
        const struct office_relation *r = &document->list[i];
        bool header = !strcmp(r->type, "header");
        if (r->external || (!header && strcmp(r->type, "footer") != 0) ||
            !archive_find(w->archive, r->target))
            continue;
        struct buf text;
        buf_init(&text, EXTRACT_TEXT);
        answer = read(w, r->target, header ? "hdr" : "ftr", &text);
        struct span said = buf_span(&text);
        while (said.n && said.p[said.n - 1] == '\n')
            said.n--;
        if (answer == 0 && says_something(said) && is_new(&seen, said))
            write(w->m, header ? "Header" : "Footer", said);
        buf_free(&text);
    }
    buf_free(&seen);
    return answer;
}
