/* {"slides":[{"title","bullets","notes"}]} as Markdown, from which everything else is made. */
#include "artifacts/pptx.h"
#include "base/json.h"

enum { LEVELS = 6, INDENT = 4 };

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static bool member(struct span object, const char *const *names, struct span *value)
{
    for (; *names; names++)
        if (json_member(object, *names, value) && json_type(*value) != JSON_NULL)
            return true;
    return false;
}

/* A string or number as text in one line. `raw`: what it holds may be Markdown. */
static void put_text(struct buf *out, struct span value, bool raw)
{
    struct buf text;
    if (json_type(value) == JSON_NUMBER || json_type(value) == JSON_TRUE || json_type(value) == JSON_FALSE)
        buf_add(out, value);
    if (json_type(value) != JSON_STRING)
        return;
    buf_init(&text, value.n);
    if (json_unescape(json_inside(value), &text) == 0)
        for (size_t i = 0; i < text.n; i++) {
            char c = buf_span(&text).p[i];
            if (!raw && (c == '|' || c == '#' || c == '<'))
                buf_addc(out, '\\');
            buf_addc(out, c == '\n' || c == '\r' ? ' ' : c);
        }
    buf_free(&text);
}

static void put_bullets(struct buf *out, struct span value, unsigned level)
{
    struct span inner;
    if (json_type(value) == JSON_ARRAY) {
        struct json_iter it = json_iter(value);
        while (json_next(&it) == 1)
            put_bullets(out, it.value, level + (json_type(it.value) == JSON_ARRAY));
        return;
    }
    bool object = json_type(value) == JSON_OBJECT;
    if (object && !member(value, NAMES("text", "title", "bullet", "content"), &inner))
        return;
    unsigned shown = level < LEVELS ? level : LEVELS - 1;
    for (unsigned i = 0; i < shown * INDENT; i++)
        buf_addc(out, ' ');
    buf_adds(out, "- ");
    put_text(out, object ? inner : value, true);
    buf_addc(out, '\n');
    if (object && member(value, NAMES("children", "bullets", "items", "sub_bullets", "subpoints"), &inner))
        put_bullets(out, inner, level + 1);
}

static void put_row(struct buf *out, struct span row, bool rule)
{
    struct json_iter it = json_iter(row);
    buf_addc(out, '|');
    while (json_next(&it) == 1) {
        buf_adds(out, rule ? " --- |" : " ");
        if (rule)
            continue;
        put_text(out, it.value, false);
        buf_adds(out, " |");
    }
    buf_addc(out, '\n');
}

/* The words as a code block. Line ends of the value could close the fence around it. */
static void put_block(struct buf *out, const char *language, struct span value)
{
    buf_printf(out, "\n```%s\n", language);
    for (size_t i = 0; i < value.n; i++)
        buf_addc(out, value.p[i] == '\n' || value.p[i] == '\r' ? ' ' : value.p[i]);
    buf_adds(out, "\n```\n");
}

/* A list of nothing but lists. */
static bool are_rows(struct span value)
{
    if (!value.n || json_type(value) != JSON_ARRAY)
        return false;
    struct json_iter it = json_iter(value);
    int more;
    while ((more = json_next(&it)) == 1 && json_type(it.value) == JSON_ARRAY)
        ;
    return more == 0;
}

/* Rows, of which the first is the heads where no columns are named. What is something else is shown as it was
 * written, so that it is not lost. */
static void put_table(struct buf *out, struct span table)
{
    struct span columns = {.n = 0}, rows = {.n = 0};
    if (json_type(table) == JSON_OBJECT) {
        (void)member(table, NAMES("columns", "headers", "header"), &columns);
        (void)member(table, NAMES("rows", "data"), &rows);
    } else {
        rows = table;
    }
    if ((columns.n && json_type(columns) != JSON_ARRAY) || (!columns.n && !rows.n) ||
        (rows.n && !are_rows(rows))) {
        put_block(out, "json", table);
        return;
    }
    struct json_iter it = json_iter(rows.n ? rows : SPAN_LIT("[]"));
    if (!columns.n && json_next(&it) == 1)
        columns = it.value;
    if (!columns.n)
        return;
    buf_addc(out, '\n');
    put_row(out, columns, false);
    put_row(out, columns, true);
    while (json_next(&it) == 1)
        put_row(out, it.value, false);
}

static void put_slide(struct buf *out, struct span slide, bool first)
{
    struct span value;
    buf_adds(out, "\n---\n\n");
    if (member(slide, NAMES("title", "heading"), &value)) {
        buf_adds(out, first ? "# " : "## ");
        put_text(out, value, false);
        buf_adds(out, "\n\n");
    }
    if (member(slide, NAMES("subtitle"), &value)) {
        put_text(out, value, true);
        buf_adds(out, "\n\n");
    }
    if (member(slide, NAMES("bullets", "points", "items", "content", "body", "text"), &value)) {
        if (json_type(value) == JSON_STRING)
            put_text(out, value, true);
        else
            put_bullets(out, value, 0);
        buf_addc(out, '\n');
    }
    if (member(slide, NAMES("table"), &value))
        put_table(out, value);
    if (member(slide, NAMES("chart"), &value) && json_type(value) == JSON_OBJECT)
        put_block(out, "chart", value);
    if (member(slide, NAMES("image"), &value) && json_type(value) == JSON_STRING) {
        buf_adds(out, "\n![](<");
        put_text(out, value, true);
        buf_adds(out, ">)\n");
    }
    if (member(slide, NAMES("notes", "speaker_notes"), &value)) {
        buf_adds(out, "\nNotes: ");
        put_text(out, value, true);
        buf_addc(out, '\n');
    }
}

bool pptx_json(struct span document, struct buf *out)
{
    struct span slides = document, title;
    if (json_type(document) == JSON_OBJECT && (!json_member(document, "slides", &slides)))
        return false;
    if (json_type(slides) != JSON_ARRAY)
        return false;
    bool titled = json_type(document) == JSON_OBJECT && member(document, NAMES("title"), &title);
    if (titled) {
        buf_adds(out, "# ");
        put_text(out, title, false);
        buf_adds(out, "\n\n");
        if (member(document, NAMES("subtitle"), &title))
            put_text(out, title, true);
    }
    struct json_iter it = json_iter(slides);
    for (bool first = !titled; json_next(&it) == 1; first = false)
        if (json_type(it.value) == JSON_OBJECT)
            put_slide(out, it.value, first);
    return !buf_full(out);
}
