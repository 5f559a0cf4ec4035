/* OpenDocument texts (odt, ott) as Markdown. */
#include <stdio.h>

#include "attachments/extract_archive.h"
#include "attachments/extract_office.h"
#include "attachments/odt.h"
#include "attachments/office_package.h"

/* ---- frames: pictures, text boxes, objects ---- */

/* "./Object 1" and "Object 1/" are the folder "Object 1". */
static const char *part_of_object(struct odt *o, const char *href)
{
    size_t n;
    while (!strncmp(href, "./", 2))
        href += 2;
    n = strlen(href);
    n -= n && href[n - 1] == '/';
    size_t room = n + sizeof "/content.xml";
    char *part = arena_take(o->memory, room);
    snprintf(part, room, "%.*s/content.xml", (int)n, href);
    return archive_find(o->archive, part);
}

static void equation(struct odt *o, const struct xml_node *math)
{
    const struct xml_node *source = xml_find(math, "annotation");
    struct buf words;
    buf_init(&words, EXTRACT_TEXT);
    buf_addc(&words, '$');
    xml_text(source ? source : math, &words);
    buf_addc(&words, '$');
    markup_verbatim(o->m, buf_span(&words));
    buf_free(&words);
}

static int chart(struct odt *o, const struct xml_node *root)
{
    const struct xml_node *chart = xml_find(root, "chart"), *inner = xml_at(chart, "chart"), *table;
    struct buf title;
    chart = inner ? inner : chart;
    table = xml_find(chart, "table");
    buf_init(&title, 4096);
    if (xml_at(chart, "title"))
        xml_text(xml_at(chart, "title"), &title);
    markup_begin(o->m, MARKUP_HEADING, 3);
    markup_text(o->m, title.n ? SPAN_LIT("Chart: ") : SPAN_LIT("Chart"), 0);
    markup_text(o->m, buf_span(&title), 0);
    markup_end(o->m);
    buf_free(&title);
    if (!table)
        markup_line(o->m, "(Its data is not stored with it.)");
    return table ? odt_table(o, table) : 0;
}

/* A chart, or a document of another kind that stands in this one. */
static int embedded(struct odt *o, const struct xml_node *root)
{
    const struct xml_node *body = xml_at(root, "body"), *sheets = xml_at(body, "spreadsheet");
    if (!sheets)
        return xml_at(body, "chart") || xml_find(root, "chart") ? chart(o, root) : odt_flow(o, body);
    for (const struct xml_node *t = sheets->first; t; t = t->next)
        if (xml_is(t, "table") && odt_table(o, t))
            return -1;
    return 0;
}

static int put_off(struct odt *o, const struct xml_node *node)
{
    struct odt_note note = {node};
    if (buf_addn(&o->later, &note, sizeof note) < 0)
        return extraction_fail(o->x, RENDER_LIMIT, "has more than %d text boxes in a paragraph.", ODT_NOTES);
    return 0;
}

static int object(struct odt *o, const struct xml_node *node, bool in_text)
{
    const char *href = xml_get(node, "href"), *part = href ? part_of_object(o, href) : NULL;
    struct xml_node *root = NULL;
    if (xml_at(node, "math")) {
        equation(o, xml_at(node, "math"));
        return 0;
    }
    if (!part)
        return 0;
    if (xml_tree_part(o->archive, part, o->memory, &root))
        return -1;
    if (!xml_is(root, "math"))
        return in_text ? put_off(o, root) : embedded(o, root);
    equation(o, root);
    return 0;
}

int odt_later(struct odt *o, size_t from)
{
    int answer = 0;
    size_t n = o->later.n / sizeof(struct odt_note);
    for (size_t i = from; i < n && answer == 0; i++) {
        const struct odt_note *list = (const void *)(o->later.data + o->later.start);
        const struct xml_node *node = list[i].body;
        answer = xml_is(node, "document-content") ? embedded(o, node) : odt_flow(o, node);
    }
    buf_cut(&o->later, from * sizeof(struct odt_note));
    return answer;
}

int odt_frame(struct odt *o, const struct xml_node *frame, bool in_text)
{
    const struct xml_node *box = xml_at(frame, "text-box"), *thing = xml_at(frame, "object"),
                          *image = xml_at(frame, "image"), *alt = xml_at(frame, "title");
    const char *href = xml_get(image, "href");
    if (box)
        return in_text ? put_off(o, box) : odt_flow(o, box);
    if (thing &&
        (xml_at(thing, "math") || !xml_get(thing, "href") || part_of_object(o, xml_get(thing, "href"))))
        return object(o, thing, in_text);
    if (!image && !thing && !xml_at(frame, "object-ole") && !xml_at(frame, "plugin"))
        return 0;
    struct buf words;
    buf_init(&words, 8192);
    alt = alt ? alt : xml_at(frame, "desc");
    if (alt)
        xml_text(alt, &words);
    if (!in_text)
        markup_begin(o->m, MARKUP_PARAGRAPH, 0);
    if (image)
        markup_image(o->m, buf_span(&words), span_str(href ? office_base_name(href) : ""));
    else
        markup_verbatim(o->m, SPAN_LIT("(embedded object)"));
    if (!in_text)
        markup_end(o->m);
    buf_free(&words);
    return 0;
}

/* ---- the document ---- */

static int check_lock(struct odt *o)
{
    static const char part[] = "META-INF/manifest.xml";
    struct xml_node *root;
    if (!archive_find(o->archive, part))
        return 0;
    if (xml_tree_part(o->archive, part, o->memory, &root))
        return -1;
    return xml_find(root, "encryption-data")
               ? extraction_fail(
                     o->x, RENDER_INVALID,
                     "is protected with a password; save it without one, or send it with handling: "
                     "native.")
               : 0;
}

static int read(struct odt *o)
{
    struct xml_node *root;
    if (check_lock(o))
        return -1;
    if (!archive_find(o->archive, "content.xml"))
        return extraction_fail(o->x, RENDER_INVALID, "is no odt file: content.xml is missing.");
    if (xml_tree_part(o->archive, "content.xml", o->memory, &root) ||
        odt_styles_read(o->archive, root, o->memory, &o->styles))
        return -1;
    const struct xml_node *text = xml_at(root, "body/text");
    if (!text)
        return extraction_fail(o->x, RENDER_INVALID, "holds no text document.");
    if (odt_blocks(o, text))
        return -1;
    odt_flow_end(o);
    return odt_notes(o);
}

static int document(struct archive *a, struct markup *m, struct extraction *x)
{
    struct arena memory = {0};
    struct odt o = {.archive = a, .x = x, .m = m, .memory = &memory};
    buf_init(&o.notes, ODT_NOTES * sizeof(struct odt_note));
    buf_init(&o.comments, ODT_NOTES * sizeof(struct odt_note));
    buf_init(&o.later, ODT_NOTES * sizeof(struct odt_note));
    int answer = read(&o);
    buf_free(&o.notes);
    buf_free(&o.comments);
    buf_free(&o.later);
    arena_free(&memory);
    return answer;
}

static enum render_status extract(struct span source, const struct render_params *params, struct buf *out,
                                  char sentence[RENDER_SENTENCE])
{
    (void)params;
    return extract_archive(source, out, sentence, EXTRACT_NODES, document);
}

static const char *const formats[] = {"text:odt", NULL};

const struct renderer_ops extract_odt_ops = {
    .name = "text:odt",
    .version = "1",
    .formats = formats,
    .limits = EXTRACT_LIMITS,
    .render = extract,
};
