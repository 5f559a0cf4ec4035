/* Books (EPUB 2 and 3) as Markdown: title and authors, then the chapters in reading order (EPUB 3.3, 5 and
 * OCF 3.3). */
#include <stdlib.h>

#include "attachments/extract_office.h"
#include "attachments/html.h"
#include "attachments/office_package.h"

struct book {
    struct archive *archive;
    struct extraction *x;
    struct markup *m;
    struct arena memory;
    const char *package; /* the package document's name in the archive */
};

/* Fonts may be obfuscated in a book that anybody can read; anything else that is encrypted is locked. */
static int check_locks(struct book *b)
{
    static const char part[] = "META-INF/encryption.xml";
    struct xml_node *root;
    if (!archive_find(b->archive, part))
        return 0;
    if (xml_tree_part(b->archive, part, &b->memory, &root))
        return -1;
    for (const struct xml_node *data = root->first; data; data = data->next) {
        const char *how = xml_get(xml_at(data, "EncryptionMethod"), "Algorithm");
        if (how && strcmp(how, "http://www.idpf.org/2008/embedding") != 0 &&
            strcmp(how, "http://ns.adobe.com/pdf/enc#RC") != 0)
            return extraction_fail(
                b->x, RENDER_INVALID,
                "is protected against reading by others than its shop's program; send a copy "
                "without protection.");
    }
    return 0;
}

static int digit(char c)
{
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
}

/* An item's href as a name in the archive: percent encoding undone, without a fragment. */
static const char *name_of(struct book *b, const char *href)
{
    size_t n = 0;
    char *plain = arena_take(&b->memory, strlen(href) + 1);
    for (const char *p = href; *p && *p != '#'; p++) {
        int high = *p == '%' ? digit(p[1]) : -1, low = high >= 0 ? digit(p[2]) : -1;
        bool encoded = low >= 0 && high + low > 0;
        plain[n++] = encoded ? (char)(high * 16 + low) : *p;
        p += encoded ? 2 : 0;
    }
    return office_resolve(&b->memory, b->package, plain);
}

static void say_line(struct book *b, const char *label, struct span value)
{
    if (!value.n)
        return;
    markup_begin(b->m, MARKUP_PARAGRAPH, 0);
    markup_text(b->m, span_str(label), MARKUP_BOLD);
    markup_text(b->m, SPAN_LIT(" "), 0);
    markup_text(b->m, value, 0);
    markup_end(b->m);
}

/* All elements of one name in the metadata, joined with commas. */
static void say(struct book *b, const struct xml_node *metadata, const char *name, const char *label)
{
    struct buf words;
    buf_init(&words, EXTRACT_TEXT);
    for (const struct xml_node *c = metadata ? metadata->first : NULL; c; c = c->next)
        if (xml_is(c, name)) {
            if (words.n)
                buf_adds(&words, ", ");
            xml_text(c, &words);
        }
    say_line(b, label, buf_span(&words));
    buf_free(&words);
}

static int chapter(struct book *b, const char *name)
{
    struct buf bytes;
    buf_init(&bytes, EXTRACT_PART);
    int answer = archive_load(b->archive, name, &bytes);
    if (answer == 0)
        answer = html_read(buf_span(&bytes), b->m, b->x);
    buf_free(&bytes);
    return answer;
}

static const struct xml_node *item_of(const struct xml_node *manifest, const char *id)
{
    for (const struct xml_node *c = id && manifest ? manifest->first : NULL; c; c = c->next) {
        const char *own = xml_get(c, "id");
        if (xml_is(c, "item") && own && !strcmp(own, id))
            return c;
    }
    return NULL;
}

static int chapters(struct book *b, const struct xml_node *package)
{
    const struct xml_node *manifest = xml_at(package, "manifest"), *spine = xml_at(package, "spine");
    size_t n = 0;
    for (const struct xml_node *c = spine ? spine->first : NULL; c; c = c->next) {
        const struct xml_node *item = xml_is(c, "itemref") ? item_of(manifest, xml_get(c, "idref")) : NULL;
        const char *type = xml_get(item, "media-type"), *href = xml_get(item, "href");
        if (!href || (type && !strstr(type, "html")))
            continue;
        if (chapter(b, name_of(b, href)))
            return -1;
        n++;
    }
    return n ? 0 : extraction_fail(b->x, RENDER_INVALID, "has no chapters: its spine leads to no text.");
}

static int read(struct book *b)
{
    struct xml_node *root;
    if (check_locks(b) || xml_tree_part(b->archive, "META-INF/container.xml", &b->memory, &root))
        return -1;
    const char *package = xml_get(xml_find(root, "rootfile"), "full-path");
    b->package = package ? archive_find(b->archive, package) : NULL;
    if (!b->package)
        return extraction_fail(b->x, RENDER_INVALID, "is damaged: its package document is missing.");
    if (xml_tree_part(b->archive, b->package, &b->memory, &root))
        return -1;
    say(b, xml_at(root, "metadata"), "title", "Title:");
    say(b, xml_at(root, "metadata"), "creator", "Authors:");
    return chapters(b, root);
}

static enum render_status extract(struct span source, const struct render_params *params, struct buf *out,
                                  char sentence[RENDER_SENTENCE])
{
    struct extraction x;
    struct book b = {.x = &x};
    (void)params;
    extraction_init(&x, sentence, EXTRACT_NODES);
    b.archive = archive_open(source, &x);
    if (!b.archive)
        return x.status;
    b.m = markup_create(out, &x);
    int answer = read(&b);
    if (markup_finish(b.m) == 0 && answer)
        extraction_fail(&x, RENDER_INVALID, "is damaged and cannot be read.");
    markup_destroy(b.m);
    arena_free(&b.memory);
    archive_close(b.archive);
    return x.status;
}

static const char *const formats[] = {"text:epub", NULL};

const struct renderer_ops extract_epub_ops = {
    .name = "text:epub",
    .version = "1",
    .formats = formats,
    .limits = {.source_bytes = RENDER_SOURCE,
               .out_bytes = EXTRACT_TEXT,
               .memory_bytes = EXTRACT_MEMORY,
               .cpu_s = EXTRACT_CPU_S,
               .wall_ms = EXTRACT_WALL_MS},
    .warm = html_warm,
    .render = extract,
};
