/* Words for the kind of a column, and number formats. */
#include "artifacts/xlsx.h"

static bool starts(struct span s, size_t at, const char *word)
{
    return at <= s.n && span_starts(span_from(s, at), word);
}

enum xlsx_kind xlsx_kind_named(struct span word)
{
    static const struct {
        const char *word;
        enum xlsx_kind kind;
    } words[] = {
        {"text", KIND_TEXT},         {"string", KIND_TEXT},         {"number", KIND_NUMBER},
        {"float", KIND_NUMBER},      {"decimal", KIND_NUMBER},      {"double", KIND_NUMBER},
        {"numeric", KIND_NUMBER},    {"integer", KIND_INTEGER},     {"int", KIND_INTEGER},
        {"percent", KIND_PERCENT},   {"percentage", KIND_PERCENT},  {"currency", KIND_CURRENCY},
        {"money", KIND_CURRENCY},    {"accounting", KIND_CURRENCY}, {"date", KIND_DATE},
        {"datetime", KIND_DATETIME}, {"timestamp", KIND_DATETIME},  {"bool", KIND_BOOL},
        {"boolean", KIND_BOOL},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (span_is_nocase(word, words[i].word))
            return words[i].kind;
    return KIND_AUTO;
}

static bool bracket_valid(struct span inside)
{
    static const char *const words[] = {"Black",  "Blue", "Cyan", "Green", "Magenta", "Red", "White",
                                        "Yellow", "h",    "hh",   "m",     "mm",      "s",   "ss"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (span_is_nocase(inside, words[i]))
            return true;
    return inside.n > 1 && inside.n < 16 && inside.p[0] == '$' && !memchr(inside.p, '"', inside.n);
}

bool xlsx_format_valid(struct span f)
{
    unsigned sections = 1, places = 0, dates = 0, percents = 0;
    if (span_is_nocase(f, "General") || span_is(f, "@"))
        return true;
    if (!f.n || f.n >= XLSX_FORMAT)
        return false;
    for (size_t i = 0; i < f.n; i++) {
        char c = f.p[i];
        if (c == '"') {
            const char *close = memchr(f.p + i + 1, '"', f.n - i - 1);
            if (!close)
                return false;
            i = (size_t)(close - f.p);
        } else if (c == '[') {
            const char *close = memchr(f.p + i, ']', f.n - i);
            if (!close || !bracket_valid(span_of(f.p + i + 1, (size_t)(close - f.p) - i - 1)))
                return false;
            i = (size_t)(close - f.p);
        } else if (c == '\\' || c == '_') {
            if (++i >= f.n || (unsigned char)f.p[i] >= 0x80)
                return false;
        } else if ((c == 'E' || c == 'e') && places && i + 2 < f.n &&
                   (f.p[i + 1] == '+' || f.p[i + 1] == '-')) {
            i++;
        } else if (starts(f, i, "AM/PM") || starts(f, i, "am/pm")) {
            i += 4;
        } else if (c == '0' || c == '#' || c == '?') {
            places++;
        } else if (memchr("yYmMdDhHsS", c, 10)) {
            dates++;
        } else if (c == ';') {
            if (++sections > 4)
                return false;
        } else if (c == '%') {
            percents++;
        } else if (starts(f, i, "\xe2\x82\xac")) {
            i += 2;
        } else if (starts(f, i, "\xc2\xa3") || starts(f, i, "\xc2\xa5")) {
            i++;
        } else if (!memchr(".,/-: $()+", c, 10)) {
            return false;
        }
    }
    return (places || dates) && !(dates && (percents || memchr(f.p, '#', f.n)));
}
