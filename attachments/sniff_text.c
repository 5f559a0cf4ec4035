/* Which kind of text it is. */
#include "attachments/sniff_parts.h"
#include "base/json.h"

static size_t utf8_length(const unsigned char *p, size_t n)
{
    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    size_t len = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    unsigned low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    unsigned high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    if (n < len || p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

bool sniff_is_text(struct span b)
{
    const unsigned char *p = (const unsigned char *)b.p;
    for (size_t i = 0, n; i < b.n; i += n) {
        /* Escape colours the logs of many a program. */
        if (p[i] < 0x20 && !(p[i] == '\t' || p[i] == '\n' || p[i] == '\r' || p[i] == '\f' || p[i] == 0x1b))
            return false;
        n = utf8_length(p + i, b.n - i);
        if (n == 0)
            return false;
    }
    return true;
}

/* Without regard to case; white space, comments and declarations of XML before it are passed over. */
static bool root_is(struct span b, const char *root)
{
    size_t at = HAS(b, 0, "\xef\xbb\xbf") ? 3 : 0, n = strlen(root);
    while (at < b.n) {
        struct span rest = span_from(b, at);
        if (strchr(" \t\r\n", rest.p[0])) {
            at++;
            continue;
        }
        if (rest.n >= n && strncasecmp(rest.p, root, n) == 0)
            return rest.n == n || strchr(" \t\r\n>/", rest.p[n]);
        bool comment = HAS(rest, 0, "<!--"), other = HAS(rest, 0, "<?") || HAS(rest, 0, "<!");
        const char *end = comment ? memmem(rest.p, rest.n, "-->", 3)
                          : other ? memchr(rest.p, '>', rest.n)
                                  : NULL;
        if (!end)
            return false;
        at = (size_t)(end - b.p) + (comment ? 3 : 1);
    }
    return false;
}

static bool named(struct span name, const char *const *extensions)
{
    for (; *extensions; extensions++) {
        size_t n = strlen(*extensions);
        if (name.n > n && name.p[name.n - n - 1] == '.' &&
            strncasecmp(name.p + name.n - n, *extensions, n) == 0)
            return true;
    }
    return false;
}

/* Among texts the name may choose. */
static bool sniff_named(struct span name, struct media *out)
{
    static const char *const csv[] = {"csv", NULL}, *const tsv[] = {"tsv", "tab", NULL},
                             *const md[] = {"md", "markdown", NULL},
                             *const html[] = {"html", "htm", "xhtml", NULL};
    if (named(name, html))
        *out = media(MEDIA_DOCUMENT, "text/html", "an HTML page");
    else if (named(name, csv))
        *out = media(MEDIA_TEXT, "text/csv", "a CSV table");
    else if (named(name, tsv))
        *out = media(MEDIA_TEXT, "text/tab-separated-values", "a TSV table");
    else if (named(name, md))
        *out = media(MEDIA_TEXT, "text/markdown", "Markdown text");
    else
        return false;
    return true;
}

/* No sign of control, so that it may be text in an older encoding. */
static bool lacks_controls(struct span b)
{
    for (size_t i = 0; i < b.n; i++)
        if ((unsigned char)b.p[i] < 0x20 && !memchr("\t\n\r\f\x1b", b.p[i], 5))
            return false;
    return true;
}

/* Text in UTF-16 with its mark: as spreadsheets save "Unicode text". */
static bool is_utf16(struct span b)
{
    bool big = HAS(b, 0, "\xfe\xff");
    if ((!big && !HAS(b, 0, "\xff\xfe")) || b.n % 2)
        return false;
    for (size_t i = 2; i < b.n; i += 2) {
        uint64_t unit = number(b, i, 2, big);
        bool pair = (unit & 0xfc00) == 0xd800;
        if (unit < 0x20 && !memchr("\t\n\r\f\x1b", (int)unit, 5))
            return false;
        if (unit == 0xfffe || unit == 0xffff || (unit & 0xfc00) == 0xdc00 ||
            (pair && (b.n - i < 4 || (number(b, i + 2, 2, big) & 0xfc00) != 0xdc00)))
            return false;
        i += pair ? 2 : 0;
    }
    return true;
}

static bool is_html(struct span b)
{
    return root_is(b, "<!doctype html") || root_is(b, "<html");
}

/* The same in UTF-16: of its beginning, what is not ASCII is of no matter. */
static bool is_wide_html(struct span b)
{
    char first[1024];
    size_t n = 0;
    bool big = HAS(b, 0, "\xfe\xff");
    for (size_t i = 2; i + 1 < b.n && n < sizeof first; i += 2) {
        uint64_t unit = number(b, i, 2, big);
        first[n++] = unit < 0x80 ? (char)unit : '?';
    }
    return is_html(span_of(first, n));
}

bool sniff_encoded(struct span b, struct span name, struct media *out)
{
    bool wide = is_utf16(b);
    if (!wide && !lacks_controls(b))
        return false;
    if (sniff_named(name, out) && strcmp(out->type, "text/markdown") != 0)
        ;
    else if (wide ? is_wide_html(b) : is_html(b))
        *out = media(MEDIA_DOCUMENT, "text/html", "an HTML page");
    else if (wide)
        *out = media(MEDIA_DOCUMENT, "text/plain", "text in UTF-16");
    else
        return false;
    out->kind = MEDIA_DOCUMENT;
    return true;
}

struct media sniff_text(struct span b, struct span name)
{
    struct span value;
    struct media found;
    if (root_is(b, "<svg"))
        return media(MEDIA_TEXT, "image/svg+xml", "an SVG drawing");
    if (is_html(b))
        return media(MEDIA_DOCUMENT, "text/html", "an HTML page");
    if (HAS(b, 0, "BEGIN:VCALENDAR"))
        return media(MEDIA_TEXT, "text/calendar", "a calendar");
    if (json_document(b, &value) && (json_type(value) == JSON_OBJECT || json_type(value) == JSON_ARRAY))
        return media(MEDIA_TEXT, "application/json", "JSON");
    if (sniff_named(name, &found))
        return found;
    return media(MEDIA_TEXT, "text/plain", "plain text");
}
