/* Names of sheets that every spreadsheet takes. */
#include <stdio.h>

#include "artifacts/artifact.h"
#include "artifacts/office_xml.h"
#include "artifacts/utf8.h"
#include "artifacts/xlsx.h"

static bool name_taken(const struct xlsx_book *book, size_t before, const char *name)
{
    if (artifact_name_same(name, "History")) /* Excel keeps that one for itself */
        return true;
    for (size_t i = 0; i < before; i++)
        if (artifact_name_same(book->sheets[i].shown, name))
            return true;
    return false;
}

void xlsx_name_sheet(struct xlsx_book *book, size_t index)
{
    struct xlsx_sheet *sheet = &book->sheets[index];
    char clean[512];
    size_t n = 0, step;
    struct span s = span_of(sheet->name.p, utf8_cut(sheet->name, sizeof clean - 8));
    for (const char *p = s.p, *end = p + s.n; p < end; p += step) {
        uint32_t c = utf8_next(p, end, &step);
        if (c < 0x20 || c == UTF8_INVALID || c == 0xfffe || c == 0xffff || utf8_invisible(c))
            continue;
        if (c < 0x80 && strchr("[]:*?/\\", (int)c))
            clean[n++] = c == '/' || c == ':' || c == '\\' ? '-' : ' ';
        else
            n += utf8_put(c, clean + n);
    }
    struct span name = office_cut_units(span_of(clean, n), XLSX_NAME_UNITS);
    while (name.n && (name.p[0] == ' ' || name.p[0] == '\''))
        name = span_from(name, 1);
    while (name.n && (name.p[name.n - 1] == ' ' || name.p[name.n - 1] == '\''))
        name.n--;
    if (name.n)
        snprintf(sheet->shown, sizeof sheet->shown, "%.*s", (int)name.n, name.p);
    else
        snprintf(sheet->shown, sizeof sheet->shown, "Sheet%zu", index + 1);
    char base[sizeof sheet->shown];
    memcpy(base, sheet->shown, sizeof base);
    for (unsigned i = 2; name_taken(book, index, sheet->shown); i++) {
        char suffix[16];
        int length = snprintf(suffix, sizeof suffix, " (%u)", i);
        struct span stem = office_cut_units(span_str(base), XLSX_NAME_UNITS - (size_t)length);
        snprintf(sheet->shown, sizeof sheet->shown, "%.*s%s", (int)stem.n, stem.p, suffix);
    }
}
