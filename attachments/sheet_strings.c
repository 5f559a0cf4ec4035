/* What a workbook keeps once for all sheets: strings and number formats. */
#include <stdlib.h>

#include "attachments/sheet.h"

struct strings {
    struct sheet_book *book;
    struct buf text; /* of the item that is open */
    bool in_item, in_text;
    unsigned phonetic;
};

static int open(void *user, const char *qualified, const char *const *attributes)
{
    struct strings *s = user;
    const char *name = xml_local(qualified);
    (void)attributes;
    if (!strcmp(name, "si")) {
        buf_reset(&s->text);
        s->in_item = true;
    } else if (!strcmp(name, "rPh"))
        s->phonetic++;
    else if (!strcmp(name, "t"))
        s->in_text = s->in_item && s->phonetic == 0;
    return 0;
}

static int close(void *user, const char *qualified)
{
    struct strings *s = user;
    struct sheet_book *b = s->book;
    const char *name = xml_local(qualified);
    if (!strcmp(name, "rPh"))
        s->phonetic--;
    else if (!strcmp(name, "t"))
        s->in_text = false;
    if (strcmp(name, "si") != 0 || !s->in_item)
        return 0;
    struct sheet_string string = {(uint32_t)b->strings.n, 0};
    sheet_string_write(&b->strings, buf_span(&s->text));
    string.n = (uint32_t)b->strings.n - string.at;
    s->in_item = false;
    if (buf_addn(&b->string_list, &string, sizeof string) || buf_full(&b->strings))
        return extraction_fail(b->x, RENDER_LIMIT, "has too much text in its cells; split it.");
    return 0;
}

static int text(void *user, struct span bytes)
{
    struct strings *s = user;
    return s->in_text ? buf_add(&s->text, bytes) : 0;
}

int sheet_strings_read(struct sheet_book *b, const char *part)
{
    static const struct xml_handlers handlers = {.open = open, .close = close, .text = text};
    struct strings s = {.book = b};
    if (!part || !archive_find(b->archive, part))
        return 0;
    buf_init(&s.text, SHEET_TEXT);
    int answer = xml_scan_part(b->archive, part, &handlers, &s);
    if (answer)
        extraction_fail(b->x, RENDER_LIMIT, "has too much text in its cells; split it.");
    buf_free(&s.text);
    return answer;
}

void sheet_string_write(struct buf *out, struct span stored)
{
    for (size_t i = 0; i < stored.n; i++) {
        char code[5] = {0}, *end = code;
        if (stored.p[i] == '_' && i + 7 <= stored.n && stored.p[i + 1] == 'x' && stored.p[i + 6] == '_') {
            memcpy(code, stored.p + i + 2, 4);
            long c = strtol(code, &end, 16);
            if (end == code + 4 && c >= 0 && c < 0x80) {
                if (c == '\n' || c == '\t' || c >= ' ')
                    buf_addc(out, (char)c);
                i += 6;
                continue;
            }
        }
        buf_addc(out, stored.p[i]);
    }
}

int sheet_formats_read(struct sheet_book *b, const char *part)
{
    struct xml_node *root;
    if (!part || !archive_find(b->archive, part))
        return 0;
    if (xml_tree_part(b->archive, part, &b->memory, &root))
        return -1;
    uint8_t *known = arena_take(&b->memory, SHEET_FORMATS);
    for (unsigned i = 0; i < 64; i++)
        known[i] = (uint8_t)office_number_of_id(i);
    const struct xml_node *list = xml_at(root, "numFmts");
    for (const struct xml_node *f = list ? list->first : NULL; f; f = f->next) {
        const char *id = xml_get(f, "numFmtId"), *code = xml_get(f, "formatCode");
        unsigned long n = id ? strtoul(id, NULL, 10) : SHEET_FORMATS;
        if (n < SHEET_FORMATS && code)
            known[n] = (uint8_t)office_number_of_code(span_str(code));
    }
    const struct xml_node *styles = xml_at(root, "cellXfs");
    for (const struct xml_node *xf = styles ? styles->first : NULL; xf; xf = xf->next)
        b->n_formats += xml_is(xf, "xf");
    b->formats = arena_take(&b->memory, b->n_formats);
    size_t i = 0;
    for (const struct xml_node *xf = styles ? styles->first : NULL; xf; xf = xf->next) {
        const char *id = xml_get(xf, "numFmtId");
        unsigned long n = id ? strtoul(id, NULL, 10) : 0;
        if (xml_is(xf, "xf"))
            b->formats[i++] = n < SHEET_FORMATS ? known[n] : OFFICE_PLAIN;
    }
    return 0;
}
