/*
 * Formulas that a directive asks for. A spreadsheet refuses to open a file with one malformed formula, and
 * some functions reach out of the file; so a formula is read by the grammar (ISO/IEC 29500-1, 18.17), less
 * the parts that are not wanted: structured references, other workbooks, DDE, intersections by blanks.
 */
#include "artifacts/xlsx.h"

enum { DEPTH = 64, ARGUMENTS = 255 };

struct reader {
    const char *at, *end;
    struct buf *out;
    unsigned depth;
};

static bool expression(struct reader *r);

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t'))
        r->at++;
}

static bool peek(struct reader *r, char c)
{
    skip_blanks(r);
    return r->at < r->end && *r->at == c;
}

static bool take(struct reader *r, char c)
{
    if (!peek(r, c))
        return false;
    buf_addc(r->out, c);
    r->at++;
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '\\' ||
           (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool word_in(struct span word, const char *list)
{
    for (size_t n; *list; list += n + (list[n] == ' ')) {
        n = strcspn(list, " ");
        if (n == word.n && strncasecmp(list, word.p, n) == 0)
            return true;
    }
    return false;
}

/* "…", with doubled quotes; what it holds in *inside. */
static bool string(struct reader *r, struct span *inside)
{
    const char *from = r->at + 1, *p = from;
    while (p < r->end && (*p != '"' || (p + 1 < r->end && p[1] == '"')))
        p += *p == '"' ? 2 : 1;
    if (p >= r->end || p - from > 255)
        return false;
    *inside = span_of(from, (size_t)(p - from));
    buf_addn(r->out, r->at, (size_t)(p + 1 - r->at));
    r->at = p + 1;
    return true;
}

static bool number(struct reader *r)
{
    const char *from = r->at;
    size_t digits = 0;
    for (; r->at < r->end && (is_digit(*r->at) || *r->at == '.'); r->at++)
        digits += is_digit(*r->at);
    if (r->at + 1 < r->end && (*r->at | 0x20) == 'e' &&
        (is_digit(r->at[1]) ||
         (r->at + 2 < r->end && (r->at[1] == '+' || r->at[1] == '-') && is_digit(r->at[2])))) {
        r->at += 2;
        while (r->at < r->end && is_digit(*r->at))
            r->at++;
    }
    struct span text = span_of(from, (size_t)(r->at - from));
    const char *point = memchr(text.p, '.', text.n);
    bool two = point && memchr(point + 1, '.', (size_t)(r->at - point - 1));
    buf_add(r->out, text);
    return digits && !two;
}

/* {1,2;3,4} */
static bool array(struct reader *r)
{
    if (!take(r, '{'))
        return false;
    do {
        struct span inside;
        skip_blanks(r);
        if (r->at < r->end && *r->at == '"') {
            if (!string(r, &inside))
                return false;
        } else {
            take(r, '-');
            skip_blanks(r);
            if (r->at >= r->end || !number(r))
                return false;
        }
    } while (take(r, ',') || take(r, ';'));
    return take(r, '}');
}

/* The only link that a formula may make is to an address written out in it. */
static bool link_ok(struct reader *r)
{
    static const char *const schemes[] = {"http://", "https://", "mailto:", "#"};
    const char *p = r->at;
    while (p < r->end && *p == ' ')
        p++;
    if (p == r->end || *p != '"')
        return false;
    const char *close = memchr(p + 1, '"', (size_t)(r->end - p - 1));
    if (!close)
        return false;
    const char *after = close + 1;
    while (after < r->end && *after == ' ')
        after++;
    if (after == r->end || (*after != ',' && *after != ')'))
        return false;
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        size_t n = strlen(schemes[i]);
        if ((size_t)(close - p - 1) > n && strncasecmp(p + 1, schemes[i], n) == 0)
            return true;
    }
    return false;
}

static bool call(struct reader *r, struct span name)
{
    static const char banned[] =
        "WEBSERVICE FILTERXML ENCODEURL CALL REGISTER REGISTER.ID EXEC RTD DDE IMAGE "
        "IMPORTDATA IMPORTXML IMPORTHTML IMPORTFEED IMPORTRANGE SQL.REQUEST EVALUATE "
        "GET.CELL GET.WORKBOOK STOCKHISTORY PY FILES RUN";
    static const char newer[] =
        "ACOT ARABIC BASE BINOM.DIST.RANGE BITAND BITOR BITXOR CEILING.MATH CHOOSECOLS "
        "CHOOSEROWS COMBINA CONCAT CONFIDENCE.NORM COVARIANCE.P COVARIANCE.S DAYS DECIMAL "
        "DROP EXPAND FLOOR.MATH FORECAST.LINEAR FORMULATEXT HSTACK IFNA IFS ISFORMULA "
        "ISOWEEKNUM MAXIFS MINIFS MODE.SNGL MODE.MULT NORM.DIST NORM.INV NORM.S.DIST "
        "NORM.S.INV NUMBERVALUE PDURATION PERCENTILE.EXC PERCENTILE.INC PERCENTRANK.INC "
        "QUARTILE.EXC QUARTILE.INC RANK.AVG RANK.EQ RRI SEQUENCE SHEET SHEETS SKEW.P "
        "STDEV.P STDEV.S SWITCH TAKE TEXTAFTER TEXTBEFORE TEXTJOIN TEXTSPLIT TOCOL TOROW "
        "UNICHAR UNICODE UNIQUE VAR.P VAR.S VSTACK XLOOKUP XMATCH XOR";
    while (name.n > 6 && (strncasecmp(name.p, "_xlfn.", 6) == 0 || strncasecmp(name.p, "_xlws.", 6) == 0))
        name = span_from(name, 6);
    if (word_in(name, banned) || word_in(name, "LAMBDA LET") || !name.n)
        return false;
    if (word_in(name, newer))
        buf_adds(r->out, "_xlfn.");
    else if (word_in(name, "FILTER SORT"))
        buf_adds(r->out, "_xlfn._xlws.");
    for (size_t i = 0; i < name.n; i++)
        buf_addc(r->out, name.p[i] >= 'a' && name.p[i] <= 'z' ? (char)(name.p[i] - 0x20) : name.p[i]);
    if (!take(r, '('))
        return false;
    if (word_in(name, "HYPERLINK") && !link_ok(r))
        return false;
    if (take(r, ')'))
        return true;
    unsigned n = 1;
    do
        /* An argument may be left out. */
        if (!peek(r, ',') && !peek(r, ')') && !expression(r))
            return false;
    while (take(r, ',') && ++n <= ARGUMENTS);
    return take(r, ')');
}

/* A reference, a name, TRUE, or a function's call. */
static bool named(struct reader *r)
{
    const char *from = r->at;
    while (r->at < r->end && (is_letter(*r->at) || is_digit(*r->at) || *r->at == '.' || *r->at == '$'))
        r->at++;
    struct span name = span_of(from, (size_t)(r->at - from));
    if (!name.n || name.n > 255)
        return false;
    if (peek(r, '('))
        return !memchr(name.p, '$', name.n) && call(r, name);
    buf_add(r->out, name);
    if (!peek(r, '!'))
        return true;
    take(r, '!');
    return r->at < r->end && (is_letter(*r->at) || *r->at == '$' || is_digit(*r->at)) && !peek(r, '(') &&
           named(r);
}

/* 'Sheet one'!A1 */
static bool quoted_sheet(struct reader *r)
{
    const char *from = r->at++;
    while (r->at < r->end && (*r->at != '\'' || (r->at + 1 < r->end && r->at[1] == '\'')))
        r->at += *r->at == '\'' ? 2 : 1;
    if (r->at >= r->end || r->at - from < 2)
        return false;
    r->at++;
    struct span name = span_of(from, (size_t)(r->at - from));
    if (memchr(name.p, '[', name.n) || memchr(name.p, ']', name.n) || memchr(name.p, '/', name.n) ||
        memchr(name.p, '\\', name.n) || memchr(name.p, '|', name.n))
        return false;
    buf_add(r->out, name);
    return take(r, '!') && r->at < r->end && (is_letter(*r->at) || *r->at == '$') && named(r);
}

static bool error_value(struct reader *r)
{
    static const char *const words[] = {"#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NUM!", "#NAME?", "#NULL!"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(r->end - r->at) >= n && memcmp(r->at, words[i], n) == 0) {
            buf_adds(r->out, words[i]);
            r->at += n;
            return true;
        }
    }
    return false;
}

static bool primary(struct reader *r)
{
    struct span inside;
    skip_blanks(r);
    while (take(r, '+') || take(r, '-'))
        skip_blanks(r);
    if (r->at == r->end)
        return false;
    bool ok;
    char c = *r->at;
    if (c == '(')
        ok = take(r, '(') && expression(r) && take(r, ')');
    else if (c == '"')
        ok = string(r, &inside);
    else if (c == '{')
        ok = array(r);
    else if (c == '\'')
        ok = quoted_sheet(r);
    else if (c == '#')
        ok = error_value(r);
    else if (is_digit(c) || c == '.')
        ok = number(r);
    else
        ok = (is_letter(c) || c == '$') && c != '\\' && named(r);
    while (ok && take(r, '%'))
        ;
    return ok;
}

static bool operator(struct reader *r)
{
    static const char *const marks[] = {"<=", ">=", "<>", "+", "-", "*", "/", "^", "&", "=", "<", ">", ":"};
    skip_blanks(r);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        size_t n = strlen(marks[i]);
        if ((size_t)(r->end - r->at) >= n && memcmp(r->at, marks[i], n) == 0) {
            buf_adds(r->out, marks[i]);
            r->at += n;
            return true;
        }
    }
    return false;
}

static bool expression(struct reader *r)
{
    bool ok = ++r->depth <= DEPTH;
    while (ok && (ok = primary(r)) && operator(r))
        ;
    r->depth--;
    return ok;
}

bool xlsx_formula(struct span formula, struct buf *out)
{
    struct reader r = {.at = formula.p, .end = formula.p + formula.n, .out = out};
    if (!formula.n || formula.n > XLSX_FORMULA || memchr(formula.p, '\0', formula.n))
        return false;
    bool ok = expression(&r);
    skip_blanks(&r);
    return ok && r.at == r.end && out->n <= XLSX_FORMULA && !buf_full(out);
}
