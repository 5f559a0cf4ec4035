#include "artifacts/metadata.h"

#include <ctype.h>

#include "artifacts/utf8.h"

enum { DEPTH = 64, DIGITS = 17 /* of a number that every parser reads */ };

struct repair {
    const char *p, *end;
    struct buf *out;
    bool comma; /* one was read and not written yet: it is dropped before a closing bracket */
    bool exact; /* numbers of any length stay numbers */
    unsigned depth;
    char open[DEPTH]; /* the brackets that are open */
};

/* The typographic character at p, mapped to the plain quote it stands for; 0: none. */
static char typographic(const char *p, const char *end, size_t *n)
{
    switch (utf8_next(p, end, n)) {
    case 0x201c:
    case 0x201d:
    case 0x201e:
    case 0x201f:
    case 0xab:
    case 0xbb:
    case 0xff02:
        return '"';
    case 0x2018:
    case 0x2019:
    case 0x201a:
    case 0x201b:
    case 0x2039:
    case 0x203a:
        return '\'';
    default:
        return 0;
    }
}

/* White space and comments. */
static void skip(struct repair *r)
{
    while (r->p < r->end) {
        size_t n;
        char c = *r->p;
        uint32_t full = utf8_next(r->p, r->end, &n);
        bool slash = c == '/' && r->end - r->p > 1;
        if (c == '\r' || c == '\n' || utf8_blank(full) || full == 0xfeff || full == 0x200b) {
            r->p += n;
        } else if (c == '#' || (slash && r->p[1] == '/')) {
            const char *line = memchr(r->p, '\n', (size_t)(r->end - r->p));
            r->p = line ? line : r->end;
        } else if (slash && r->p[1] == '*') {
            const char *close = memmem(r->p + 2, (size_t)(r->end - r->p - 2), "*/", 2);
            r->p = close ? close + 2 : r->end;
        } else {
            return;
        }
    }
}

/* A quote that is an apostrophe in ordinary text ends no string: behind one that does, a comma, colon,
 * bracket or line end stands. */
static bool ends_string(const struct repair *r, const char *after)
{
    while (after < r->end && (*after == ' ' || *after == '\t'))
        after++;
    return after == r->end || strchr(",:}]\r\n#/", *after) != NULL;
}

static int add_unicode(struct repair *r)
{
    unsigned v = 0;
    for (int i = 2; i < 6; i++) {
        if (r->end - r->p <= i || !isxdigit((unsigned char)r->p[i]))
            return -1;
        unsigned char c = (unsigned char)r->p[i];
        v = v << 4 | (unsigned)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
    }
    bool high = v >= 0xd800 && v < 0xdc00, low = v >= 0xdc00 && v < 0xe000;
    bool pair = high && r->end - r->p >= 12 && r->p[6] == '\\' && r->p[7] == 'u' && (r->p[8] | 0x20) == 'd' &&
                strchr("cdefCDEF", r->p[9]) && r->p[9] && isxdigit((unsigned char)r->p[10]) &&
                isxdigit((unsigned char)r->p[11]);
    size_t n = pair ? 12 : 6;
    if ((high || low) && !pair)
        buf_adds(r->out, "\\ufffd");
    else
        buf_addn(r->out, r->p, n);
    r->p += n;
    return 0;
}

static void add_escape(struct repair *r)
{
    char c = r->p[1];
    if (c == 'u' && add_unicode(r) == 0)
        return;
    if (c && strchr("\"\\/bfnrt", c)) {
        buf_addn(r->out, r->p, 2);
        r->p += 2;
    } else if (c == '\'' || c == '\n') {
        r->p += 1; /* the next turn takes the character itself */
    } else {
        buf_adds(r->out, "\\\\");
        r->p += 1;
    }
}

static void add_character(struct repair *r)
{
    size_t n;
    uint32_t c = utf8_next(r->p, r->end, &n);
    if (c < 0x20)
        buf_printf(r->out, "\\u%04x", (unsigned)c);
    else if (c == '"')
        buf_adds(r->out, "\\\"");
    else if (c == UTF8_INVALID && n == 1)
        buf_adds(r->out, "\xef\xbf\xbd");
    else
        buf_addn(r->out, r->p, n);
    r->p += n;
}

/* p stands behind the opening quote. A string in plain double quotes ends with the next one; the others where
 * ends_string says. */
static int add_string(struct repair *r, char quote, bool plain)
{
    buf_addc(r->out, '"');
    while (r->p < r->end) {
        size_t n = 1;
        char other = *r->p & 0x80 ? typographic(r->p, r->end, &n) : *r->p;
        if (plain ? *r->p == quote : other == quote) {
            if ((plain && quote == '"') || ends_string(r, r->p + n)) {
                r->p += n;
                buf_addc(r->out, '"');
                return 0;
            }
        }
        if (*r->p == '\\' && r->end - r->p > 1)
            add_escape(r);
        else
            add_character(r);
    }
    return -1;
}

static bool is_number(struct span s, bool exact)
{
    size_t i = 0, digits = 0;
    if (s.n > DIGITS && !exact)
        return false;
    i += i < s.n && s.p[i] == '-';
    bool zero = i < s.n && s.p[i] == '0';
    for (; i < s.n && isdigit((unsigned char)s.p[i]); i++)
        digits++;
    if (!digits || (zero && digits > 1))
        return false;
    if (i < s.n && s.p[i] == '.') {
        for (digits = 0, i++; i < s.n && isdigit((unsigned char)s.p[i]); i++)
            digits++;
        if (!digits)
            return false;
    }
    if (i + 1 < s.n && (s.p[i] | 0x20) == 'e') {
        i += s.p[i + 1] == '-' || s.p[i + 1] == '+' ? 2 : 1;
        for (digits = 0; i < s.n && isdigit((unsigned char)s.p[i]); i++)
            digits++;
        if (!digits || (digits > 2 && !exact)) /* no parser has larger ones */
            return false;
    }
    return i == s.n;
}

/* A word without quotes, as a key or a value: to the next character that ends it. */
static int add_word(struct repair *r)
{
    static const char *const words[][2] = {{"true", "true"},     {"false", "false"}, {"null", "null"},
                                           {"True", "true"},     {"False", "false"}, {"None", "null"},
                                           {"undefined", "null"}};
    const char *start = r->p;
    while (r->p < r->end && !strchr(",:{}[]\"\r\n \t", *r->p))
        r->p++;
    struct span word = span_of(start, (size_t)(r->p - start));
    if (!word.n || word.p[0] == '\'' || word.p[0] == '`')
        return -1;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (span_is(word, words[i][0]))
            return buf_adds(r->out, words[i][1]);
    if (is_number(word, r->exact))
        return buf_add(r->out, word);
    const char *end = r->p;
    struct repair inner = {.p = start, .end = end, .out = r->out};
    buf_addc(r->out, '"');
    while (inner.p < end)
        add_character(&inner);
    return buf_addc(r->out, '"');
}

static void add_pending_comma(struct repair *r)
{
    if (r->comma)
        buf_addc(r->out, ',');
    r->comma = false;
}

/* One token. 1: the outermost bracket is closed. */
static int step(struct repair *r)
{
    size_t n = 1;
    char c = *r->p, quote = c & 0x80 ? typographic(r->p, r->end, &n) : c;
    if (c == '}' || c == ']') {
        if (r->open[r->depth - 1] != c)
            return -1;
        r->comma = false;
        buf_addc(r->out, c);
        r->p++;
        return --r->depth == 0;
    }
    if (c == ',') {
        r->comma = true;
        r->p++;
        return 0;
    }
    if (c == ':') {
        r->p++;
        return buf_addc(r->out, c);
    }
    add_pending_comma(r);
    if (c == '{' || c == '[') {
        if (r->depth == DEPTH)
            return -1;
        r->open[r->depth++] = c == '{' ? '}' : ']';
        r->p++;
        return buf_addc(r->out, c);
    }
    if (quote == '"' || quote == '\'') {
        r->p += n;
        return add_string(r, quote, c == quote);
    }
    return add_word(r);
}

static size_t repair(struct span text, bool exact, struct buf *out)
{
    struct repair r = {.p = text.p, .end = text.p + text.n, .out = out, .exact = exact};
    int done = 0;
    if (!text.n || *text.p != '{')
        return 0;
    while (done == 0) {
        skip(&r);
        if (r.p == r.end || buf_full(out))
            return 0;
        done = step(&r);
    }
    return done == 1 && !buf_full(out) ? (size_t)(r.p - text.p) : 0;
}

size_t metadata_repair(struct span text, struct buf *out)
{
    return repair(text, false, out);
}

static struct span without_blanks(struct span s)
{
    if (span_starts(s, "\xef\xbb\xbf"))
        s = span_from(s, 3);
    while (s.n && isspace((unsigned char)s.p[0]))
        s = span_from(s, 1);
    return s;
}

/* An array is repaired as a member of an object around it. */
int metadata_repair_document(struct span text, struct buf *out)
{
    static const char around[] = "{\"\":";
    struct buf given, strict;
    text = without_blanks(text);
    bool array = text.n && text.p[0] == '[';
    if (!array && (!text.n || text.p[0] != '{'))
        return -1;
    buf_init(&given, text.n + sizeof around + 2);
    buf_init(&strict, text.n * 2 + 1024);
    buf_adds(&given, array ? around : "");
    buf_add(&given, text);
    buf_adds(&given, array ? "\n}" : ""); /* a comment may end the text */
    size_t read = repair(buf_span(&given), true, &strict);
    struct span left = without_blanks(span_from(buf_span(&given), read));
    struct span whole = buf_span(&strict);
    /* A comment or a semicolon may stand behind it. */
    int failed = !read || (left.n && left.p[0] != '/' && left.p[0] != ';');
    if (!failed && array) {
        const char *from = memchr(whole.p, '[', whole.n);
        failed = !from;
        if (from)
            failed = buf_addn(out, from, whole.n - (size_t)(from - whole.p) - 1);
    } else if (!failed) {
        failed = buf_add(out, whole);
    }
    buf_free(&given);
    buf_free(&strict);
    return failed ? -1 : 0;
}
