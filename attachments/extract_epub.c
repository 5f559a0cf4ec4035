/*
 * Books (EPUB 2 and 3) as Markdown: title and authors, then the chapters in the order of the spine, each as
 * the page that it is. META-INF/container.xml names the package document, whose manifest has the files and
 * whose spine has the order (EPUB 3.3, 4.2.6.3.1 and 5.7). Chapters are read as HTML, so document type
 * declarations in them, which EPUB 2 wants, are nothing that is looked at.
 */
#include <stdlib.h>

#include "attachments/extract_archive.h"
#include "attachments/extract_office.h"
#include "attachments/html.h"
#include "attachments/office_package.h"
#include "attachments/xml.h"

struct epub {
    struct archive *archive;
    struct extraction *x;
    struct markup *m;
    struct arena memory;
    const char *package;           /* the package document's name in the archive */
    const struct xml_node **items; /* of the manifest that have an id, sorted by it */
    size_t n;
    size_t chapters; /* written */
};

static int by_id(const void *a, const void *b)
{
    return strcmp(xml_get(*(const struct xml_node *const *)a, "id"),
                  xml_get(*(const struct xml_node *const *)b, "id"));
}

static int id_of(const void *id, const void *item)
{
    return strcmp(id, xml_get(*(const struct xml_node *const *)item, "id"));
}

static void index_items(struct epub *e, const struct xml_node *manifest)
{
    const struct xml_node *first = manifest ? manifest->first : NULL;
    size_t n = 0;
    for (const struct xml_node *i = first; i; i = i->next)
        n += xml_is(i, "item");
    e->items = arena_take(&e->memory, n * sizeof *e->items);
    for (const struct xml_node *i = first; i; i = i->next)
        if (xml_is(i, "item") && xml_get(i, "id"))
            e->items[e->n++] = i;
    qsort(e->items, e->n, sizeof *e->items, by_id);
}

/* Where the spine's idref leads; NULL: nowhere. */
static const struct xml_node *item_of(const struct epub *e, const char *id)
{
    const struct xml_node **found = id && e->n ? bsearch(id, e->items, e->n, sizeof *e->items, id_of) : NULL;
    return found ? *found : NULL;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A file's name in the archive: its address begins at the package document's folder, has %20 for a blank
 * and perhaps a fragment. */
static const char *member(struct epub *e, const char *href)
{
    char *plain = arena_take(&e->memory, strlen(href) + 1);
    size_t n = 0;
    for (const char *p = href; *p && *p != '#'; p++) {
        bool encoded = *p == '%' && hex(p[1]) >= 0 && hex(p[2]) >= 0;
        plain[n++] = encoded ? (char)(hex(p[1]) * 16 + hex(p[2])) : *p;
        p += encoded ? 2 : 0;
    }
    return archive_find(e->archive, office_resolve(&e->memory, e->package, plain));
}

/* Fonts may be obfuscated, which hides no text; any other encryption is a lock. */
static int locked(struct epub *e)
{
    struct xml_node *root;
    const char *part = archive_find(e->archive, "META-INF/encryption.xml");
    if (!part)
        return 0;
    if (xml_tree_part(e->archive, part, &e->memory, &root))
        return -1;
    for (const struct xml_node *n = root->first; n; n = n->next) {
        const char *method = xml_get(xml_at(n, "EncryptionMethod"), "Algorithm");
        if (xml_is(n, "EncryptedData") && (!method || (!span_ends(span_str(method), "/2008/embedding") &&
                                                       !span_ends(span_str(method), "/enc#RC"))))
            return extraction_fail(e->x, RENDER_INVALID,
                                   "is encrypted; send a copy without its protection, or send it with "
                                   "handling: native.");
    }
    return 0;
}

/* Of the package document, by META-INF/container.xml; archives that lack it have one *.opf all the same. */
static const char *package_of(struct epub *e)
{
    struct xml_node *root;
    const char *container = archive_find(e->archive, "META-INF/container.xml"), *found = NULL;
    if (container) {
        if (xml_tree_part(e->archive, container, &e->memory, &root))
            return NULL;
        const char *path = xml_get(xml_find(root, "rootfile"), "full-path");
        found = path ? archive_find(e->archive, path) : NULL;
    }
    for (size_t i = 0; !found && i < archive_count(e->archive); i++)
        if (span_ends(span_str(archive_name(e->archive, i)), ".opf"))
            found = archive_name(e->archive, i);
    if (!found)
        extraction_fail(e->x, RENDER_INVALID, "is no epub file: its package document is missing.");
    return found;
}

/* "**Title:** A, B": all elements of the name. */
static void metadata_line(struct epub *e, const struct xml_node *metadata, const char *name,
                          const char *label)
{
    struct buf text;
    bool begun = false;
    for (const struct xml_node *n = metadata ? metadata->first : NULL; n; n = n->next) {
        if (!xml_is(n, name))
            continue;
        buf_init(&text, EXTRACT_TEXT);
        xml_text(n, &text);
        struct span s = buf_span(&text);
        if (strspn(buf_cstr(&text), " \t\r\n") < s.n) {
            if (!begun) {
                markup_begin(e->m, MARKUP_PARAGRAPH, 0);
                markup_text(e->m, span_str(label), MARKUP_BOLD);
            }
            markup_text(e->m, begun ? SPAN_LIT(", ") : SPAN_LIT(" "), 0);
            markup_text(e->m, s, 0);
            begun = true;
        }
        buf_free(&text);
    }
    if (begun)
        markup_end(e->m);
}

static bool is_page(const char *media_type)
{
    return !media_type || !strcmp(media_type, "application/xhtml+xml") || !strcmp(media_type, "text/html") ||
           !strcmp(media_type, "text/x-oeb1-document");
}

static int chapter(struct epub *e, const struct xml_node *item)
{
    const char *href = xml_get(item, "href");
    if (!href || !is_page(xml_get(item, "media-type")))
        return 0;
    const char *name = member(e, href);
    if (!name)
        return extraction_fail(e->x, RENDER_INVALID, "is damaged: the chapter %s is missing.",
                               extraction_name(span_str(href)).text);
    struct buf page;
    buf_init(&page, EXTRACT_PART);
    int answer = archive_load(e->archive, name, &page);
    if (answer == 0)
        answer = html_read(buf_span(&page), e->m, e->x);
    buf_free(&page);
    /* A block that the page left open is no part of the next one. */
    while (answer == 0 && markup_open(e->m))
        markup_end(e->m);
    e->chapters++;
    return answer;
}

static int read(struct epub *e)
{
    struct xml_node *root;
    e->package = package_of(e);
    if (!e->package || xml_tree_part(e->archive, e->package, &e->memory, &root))
        return -1;
    if (locked(e))
        return -1;
    markup_collapse(e->m, true);
    const struct xml_node *metadata = xml_at(root, "metadata");
    if (xml_at(metadata, "dc-metadata"))
        metadata = xml_at(metadata, "dc-metadata");
    metadata_line(e, metadata, "title", "Title:");
    metadata_line(e, metadata, "creator", "Authors:");
    const struct xml_node *spine = xml_at(root, "spine");
    if (!spine)
        return extraction_fail(e->x, RENDER_INVALID, "is damaged: its package document has no spine.");
    index_items(e, xml_at(root, "manifest"));
    for (const struct xml_node *ref = spine->first; ref; ref = ref->next) {
        const struct xml_node *item = xml_is(ref, "itemref") ? item_of(e, xml_get(ref, "idref")) : NULL;
        if (item && chapter(e, item))
            return -1;
    }
    if (e->chapters == 0)
        return extraction_fail(e->x, RENDER_INVALID, "has no chapters that are text.");
    return 0;
}

static int document(struct archive *a, struct markup *m, struct extraction *x)
{
    struct epub e = {.archive = a, .x = x, .m = m};
    int answer = read(&e);
    arena_free(&e.memory);
    return answer;
}

static enum render_status extract(struct span source, const struct render_params *params, struct buf *out,
                                  char sentence[RENDER_SENTENCE])
{
    (void)params;
    return extract_archive(source, out, sentence, EXTRACT_NODES, document);
}

static const char *const formats[] = {"text:epub", NULL};

const struct renderer_ops extract_epub_ops = {
    .name = "text:epub",
    .version = "1",
    .formats = formats,
    .limits = EXTRACT_LIMITS,
    .warm = html_warm,
    .render = extract,
};
