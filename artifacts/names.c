/* File names that are safe on every system and in every header (product.md §5.1, last paragraph). */
#include <stdio.h>

#include "artifacts/artifact.h"
#include "artifacts/fold.h"
#include "artifacts/utf8.h"

enum { EXTENSION_MAX = 16, FOLDED_MAX = 1024, TRIES = 100000 };

static bool is_letter_or_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* The last component of a path that is not empty, `.` or `..`. */
static struct span base_name(struct span path)
{
    for (;;) {
        size_t from = path.n;
        while (from && path.p[from - 1] != '/' && path.p[from - 1] != '\\')
            from--;
        struct span last = span_from(path, from);
        bool none = !last.n || span_is(last, ".") || span_is(last, "..");
        if (!none || !from)
            return none ? (struct span){NULL, 0} : last;
        path.n = from - 1;
    }
}

/* Characters that no name may hold are left out when they show nothing, and become `_` when they do. */
static void add_safe(struct span name, struct buf *out)
{
    size_t n;
    for (size_t i = 0; i < name.n; i += n) {
        uint32_t c = utf8_next(name.p + i, name.p + name.n, &n);
        if (utf8_invisible(c))
            continue;
        if ((c < 0x80 && strchr("/\\:*?\"<>|", (int)c)) || (c == UTF8_INVALID && n == 1))
            buf_addc(out, '_');
        else if (utf8_blank(c))
            buf_addc(out, ' ');
        else
            buf_addn(out, name.p + i, n);
    }
}

static struct span trim(struct span s)
{
    while (s.n && s.p[0] == ' ')
        s = span_from(s, 1);
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '.'))
        s.n--;
    return s;
}

/* A name that begins with a dot is hidden on many systems. */
static struct span without_dots(struct span s)
{
    while (s.n && (s.p[0] == '.' || s.p[0] == ' '))
        s = span_from(s, 1);
    return s;
}

/* What stands behind the last dot, when it looks like an extension; empty: none. */
static struct span extension_of(struct span name)
{
    const char *dot = name.n ? memrchr(name.p, '.', name.n) : NULL;
    if (!dot)
        return (struct span){NULL, 0};
    struct span e = span_from(name, (size_t)(dot - name.p) + 1);
    if (!e.n || e.n > EXTENSION_MAX)
        return (struct span){NULL, 0};
    for (size_t i = 0; i < e.n; i++)
        if (!is_letter_or_digit(e.p[i]) && e.p[i] != '+' && e.p[i] != '-')
            return (struct span){NULL, 0};
    return e;
}

/* CON, COM1 and their like are devices, whatever extension they have (Windows' "Naming Files"). */
static bool is_device(struct span stem)
{
    static const char *const words[] = {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"};
    const char *dot = stem.n ? memchr(stem.p, '.', stem.n) : NULL;
    struct span first = trim(span_of(stem.p, dot ? (size_t)(dot - stem.p) : stem.n));
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (span_is_nocase(first, words[i]))
            return true;
    bool numbered =
        first.n >= 4 && (strncasecmp(first.p, "com", 3) == 0 || strncasecmp(first.p, "lpt", 3) == 0);
    if (!numbered)
        return false;
    struct span digit = span_from(first, 3); /* also the superscript digits */
    return (digit.n == 1 && digit.p[0] >= '0' && digit.p[0] <= '9') || span_is(digit, "\u00b9") ||
           span_is(digit, "\u00b2") || span_is(digit, "\u00b3");
}

/* Writes stem + suffix + .extension within LIMIT_FILENAME, cutting the stem. */
static void put_name(struct span stem, const char *suffix, struct span extension,
                     char out[LIMIT_FILENAME + 1])
{
    size_t tail = strlen(suffix) + (extension.n ? extension.n + 1 : 0);
    stem.n = utf8_cut(stem, LIMIT_FILENAME - tail);
    stem = trim(stem);
    snprintf(out, LIMIT_FILENAME + 1, "%.*s%s%s%.*s", (int)stem.n, stem.n ? stem.p : "", suffix,
             extension.n ? "." : "", (int)extension.n, extension.n ? extension.p : "");
}

/* Takes `extension`, which ends `stem`, and its dot off. */
static struct span without(struct span stem, struct span extension)
{
    stem.n -= extension.n + 1;
    return stem;
}

/* Parts a name into stem and the extension that the file will have. An extension of a known format gives way
 * to the format's own; another one ("v1.2", "exe") belongs to the name. */
static void part_name(struct span *stem, struct span *extension, const struct format *format, bool titled)
{
    *extension = extension_of(*stem);
    bool fits = format && extension->n && format_has_extension(format, *extension);
    if (extension->n && (fits || (!titled && (!format || format_find_any(*extension)))))
        *stem = without(*stem, *extension);
    else
        extension->n = 0;
    if (!format || fits)
        return;
    *extension = span_str(format->extension);
    struct span again = extension_of(*stem); /* "safe.txt.html" asked for as txt */
    if (again.n && format_has_extension(format, again))
        *stem = without(*stem, again);
}

void artifact_name(struct span asked, struct span title, const struct format *format,
                   char out[LIMIT_FILENAME + 1])
{
    struct buf safe, guarded;
    buf_init(&safe, 4 * (asked.n + title.n) + 64);
    add_safe(base_name(asked), &safe);
    struct span stem = trim(buf_span(&safe)), extension;
    bool hidden = stem.n && stem.p[0] == '.';
    stem = without_dots(stem);
    if (hidden && format_find_any(stem)) /* ".csv": an extension and no name */
        stem.n = 0;
    bool titled = !stem.n;
    if (titled) {
        buf_reset(&safe);
        add_safe(title, &safe);
        stem = without_dots(trim(buf_span(&safe)));
    }
    part_name(&stem, &extension, format, titled);
    stem = trim(stem);
    if (!stem.n)
        stem = SPAN_LIT("attachment");
    buf_init(&guarded, stem.n + 1);
    if (is_device(stem)) {
        buf_addc(&guarded, '_');
        buf_add(&guarded, stem);
        stem = buf_span(&guarded);
    }
    put_name(stem, "", extension, out);
    buf_free(&guarded);
    buf_free(&safe);
}

bool artifact_path_part(struct span part, char out[LIMIT_FILENAME + 1])
{
    struct buf safe, guarded;
    buf_init(&safe, 4 * part.n + 1);
    add_safe(part, &safe);
    struct span stem = trim(buf_span(&safe)), extension = {NULL, 0};
    buf_init(&guarded, stem.n + 1);
    if (is_device(stem)) {
        buf_addc(&guarded, '_');
        buf_add(&guarded, stem);
        stem = buf_span(&guarded);
    }
    if (stem.n > LIMIT_FILENAME) {
        extension = extension_of(stem);
        if (extension.n)
            stem = without(stem, extension);
    }
    put_name(stem, "", extension, out);
    buf_free(&guarded);
    buf_free(&safe);
    return out[0] != '\0';
}

void artifact_name_unique(char name[LIMIT_FILENAME + 1], bool (*taken)(void *arg, const char *name),
                          void *arg)
{
    char asked[LIMIT_FILENAME + 1], suffix[16];
    if (!taken(arg, name))
        return;
    memcpy(asked, name, sizeof asked);
    struct span stem = span_str(asked), extension = extension_of(stem);
    if (extension.n)
        stem.n -= extension.n + 1;
    for (unsigned i = 2; i < TRIES; i++) {
        snprintf(suffix, sizeof suffix, " (%u)", i);
        put_name(stem, suffix, extension, name);
        if (!taken(arg, name))
            return;
    }
}

bool artifact_name_same(const char *a, const char *b)
{
    struct buf x, y;
    buf_init(&x, FOLDED_MAX);
    buf_init(&y, FOLDED_MAX);
    name_fold(span_str(a), &x);
    name_fold(span_str(b), &y);
    bool same = x.n == y.n && memcmp(buf_span(&x).p, buf_span(&y).p, x.n) == 0;
    buf_free(&x);
    buf_free(&y);
    return same;
}

void artifact_disposition(const char *filename, struct buf *out)
{
    static const char attr_char[] = "!#$&+-.^_`|~"; /* RFC 8187, section 3.2.1; letters and digits besides */
    const char *end = filename + strlen(filename);
    size_t n;
    buf_adds(out, "attachment; filename=\"");
    for (const char *p = filename; p < end; p += n) {
        uint32_t c = utf8_next(p, end, &n);
        bool plain = c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '%';
        buf_addc(out, plain ? (char)c : '_');
    }
    buf_adds(out, "\"; filename*=UTF-8''");
    for (const char *p = filename; p < end; p++) {
        if (is_letter_or_digit(*p) || strchr(attr_char, *p))
            buf_addc(out, *p);
        else
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)*p);
    }
}
