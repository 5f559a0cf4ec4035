/* Workbooks (xlsx, xlsm, xltx) as Markdown: a heading a sheet, its cells as tables. */
#include "attachments/extract_archive.h"
#include "attachments/extract_office.h"
#include "attachments/office_chart.h"
#include "attachments/sheet.h"
#include "base/xalloc.h"

static const char *part_of(const struct office_relations *r, const char *type)
{
    const struct office_relation *found = office_relation_by_type(r, type);
    return found ? found->target : NULL;
}

static bool on(const char *value)
{
    return value && (*value == '1' || *value == 't' || !strcmp(value, "on"));
}

static void heading(struct markup *m, const char *name, bool hidden)
{
    markup_begin(m, MARKUP_HEADING, 2);
    markup_text(m, span_str(name), 0);
    markup_text(m, hidden ? SPAN_LIT(" (hidden)") : SPAN_LIT(""), 0);
    markup_end(m);
}

static int cells(struct sheet_book *b, const char *part, const struct office_relations *relations)
{
    struct sheet sheet = {.book = b, .relations = relations};
    buf_init(&sheet.cells, (size_t)SHEET_CELLS * sizeof(struct sheet_cell));
    buf_init(&sheet.merges, (size_t)SHEET_MERGES * sizeof(struct sheet_merge));
    buf_init(&sheet.links, (size_t)SHEET_LINKS * sizeof(struct sheet_link));
    buf_init(&sheet.text, SHEET_TEXT);
    buf_init(&sheet.around, EXTRACT_TEXT);
    int tables = sheet_read(&sheet, part) ? -1 : sheet_write(&sheet);
    if (tables == 0)
        markup_line(b->m, "(empty)");
    if (tables >= 0)
        markup_quotes(b->m, buf_span(&sheet.around));
    buf_free(&sheet.around);
    buf_free(&sheet.links);
    buf_free(&sheet.cells);
    buf_free(&sheet.merges);
    buf_free(&sheet.text);
    return tables < 0 ? -1 : 0;
}

static int one_sheet(struct sheet_book *b, const struct xml_node *node, bool hidden)
{
    const char *name = xml_get(node, "name");
    const struct office_relation *r = office_relation_by_id(&b->relations, xml_get_prefixed(node, "id"));
    heading(b->m, name ? name : "", hidden);
    if (!r || r->external || !archive_find(b->archive, r->target))
        return extraction_fail(b->x, RENDER_INVALID, "is damaged: the sheet %s is missing.",
                               extraction_name(span_str(name)).text);
    struct office_relations own;
    if (office_relations_read(b->archive, r->target, &b->memory, &own))
        return -1;
    if (!strcmp(r->type, "worksheet")) {
        if (cells(b, r->target, &own))
            return -1;
    } else if (strcmp(r->type, "chartsheet") != 0)
        markup_line(b->m, "(a sheet of the kind %s, which is not read)",
                    extraction_name(span_str(r->type)).text);
    return sheet_comments(b, &own) || sheet_drawings(b, &own) ? -1 : 0;
}

static int read(struct sheet_book *b)
{
    struct xml_node *root;
    unsigned very_hidden = 0;
    const char *main = office_main_part(b->archive, &b->memory, "xl/workbook.xml", "xlsx");
    if (!main)
        return -1;
    if (span_ends(span_str(main), ".bin"))
        return extraction_fail(b->x, RENDER_INVALID, "is a binary workbook (xlsb); save it as xlsx.");
    if (office_relations_read(b->archive, main, &b->memory, &b->relations) ||
        xml_tree_part(b->archive, main, &b->memory, &root) ||
        sheet_strings_read(b, part_of(&b->relations, "sharedStrings")) ||
        sheet_formats_read(b, part_of(&b->relations, "styles")))
        return -1;
    b->from_1904 = on(xml_get(xml_at(root, "workbookPr"), "date1904"));
    const struct xml_node *sheets = xml_at(root, "sheets");
    if (!sheets)
        return extraction_fail(b->x, RENDER_INVALID, "is no xlsx file: its workbook lists no sheets.");
    for (const struct xml_node *s = sheets->first; s; s = s->next) {
        const char *state = xml_get(s, "state");
        if (!xml_is(s, "sheet"))
            continue;
        if (state && !strcmp(state, "veryHidden"))
            very_hidden++;
        else if (one_sheet(b, s, state && !strcmp(state, "hidden")))
            return -1;
    }
    if (very_hidden)
        markup_line(b->m, "(%u very hidden sheet%s left out)", very_hidden, very_hidden == 1 ? "" : "s");
    return 0;
}

static int document(struct archive *a, struct markup *m, struct extraction *x)
{
    struct sheet_book *b = xcalloc(1, sizeof *b);
    b->archive = a;
    b->x = x;
    b->m = m;
    buf_init(&b->strings, SHEET_TEXT);
    buf_init(&b->string_list, (size_t)SHEET_STRINGS * sizeof(struct sheet_string));
    int answer = read(b);
    buf_free(&b->strings);
    buf_free(&b->string_list);
    arena_free(&b->memory);
    xfree(b);
    return answer;
}

static enum render_status extract(struct span source, const struct render_params *params, struct buf *out,
                                  char sentence[RENDER_SENTENCE])
{
    (void)params;
    return extract_archive(source, out, sentence, EXTRACT_SHEET_NODES, document);
}

static const char *const formats[] = {"text:xlsx", NULL};

const struct renderer_ops extract_xlsx_ops = {
    .name = "text:xlsx",
    .version = "1",
    .formats = formats,
    .limits = EXTRACT_LIMITS,
    .render = extract,
};
