#include "transcript/text.h"

/* ---- characters ---- */

/* The character at the beginning, and its bytes; what is no UTF-8 is a character of one byte. */
static uint32_t next_character(struct span s, size_t *n)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)s.p[0];
    size_t bytes = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    uint32_t c = bytes == 1 ? first : first & (0x7fU >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        if (i >= s.n || ((unsigned char)s.p[i] & 0xc0) != 0x80) {
            *n = 1;
            return 0xfffd;
        }
        c = c << 6 | ((unsigned char)s.p[i] & 0x3f);
    }
    *n = bytes;
    return (bytes == 1 && first >= 0x80) || c < least[bytes] ? 0xfffd : c;
}

static bool is_blank(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
           c == 0x3000;
}

static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c <= 0x9f);
}

static struct span trim_start(struct span s)
{
    size_t n;
    while (s.n && is_blank(next_character(s, &n)))
        s = span_from(s, n);
    return s;
}

static struct span trim_end(struct span s)
{
    while (s.n) {
        size_t at = s.n - 1, n;
        while (at > 0 && s.n - at < 4 && ((unsigned char)s.p[at] & 0xc0) == 0x80)
            at--;
        if (!is_blank(next_character(span_from(s, at), &n)) || at + n != s.n)
            break;
        s.n = at;
    }
    return s;
}

bool text_is_blank(struct span s)
{
    return trim_start(s).n == 0;
}

struct span text_trim(struct span s)
{
    return trim_end(trim_start(s));
}

struct span text_first_line(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\n' || s.p[i] == '\r')
            return span_of(s.p, i);
    return s;
}

struct span text_cut(struct span s, size_t n)
{
    size_t at = 0, bytes;
    for (size_t i = 0; i < n && at < s.n; i++) {
        next_character(span_from(s, at), &bytes);
        at += bytes;
    }
    return span_of(s.p, at);
}

/* ---- Markdown ---- */

size_t text_fence_length(struct span s)
{
    size_t longest = 2, run = 0;
    for (size_t i = 0; i < s.n; i++) {
        run = s.p[i] == '`' ? run + 1 : 0;
        if (run > longest)
            longest = run;
    }
    return longest + 1;
}

static void add_backticks(size_t n, struct buf *out)
{
    for (size_t i = 0; i < n && !buf_full(out); i++)
        buf_addc(out, '`');
}

void text_fence(struct span s, struct buf *out)
{
    size_t n = text_fence_length(s);
    add_backticks(n, out);
    buf_addc(out, '\n');
    buf_add(out, trim_end(s));
    buf_addc(out, '\n');
    add_backticks(n, out);
}

void text_quote(struct span s, struct buf *out)
{
    for (;;) {
        const char *lf = s.n ? memchr(s.p, '\n', s.n) : NULL;
        size_t n = lf ? (size_t)(lf - s.p) : s.n;
        buf_adds(out, n ? "> " : ">");
        buf_addn(out, s.n ? s.p : "", n);
        if (!lf)
            return;
        buf_addc(out, '\n');
        s = span_from(s, n + 1);
    }
}

/* Runs of control characters become a blank, unless they are at an end of the text. */
static void add_line(struct span s, bool entities, struct buf *out)
{
    size_t begin = 0, n;
    bool blank = false;
    struct span before;
    do { /* both kinds may alternate */
        before = s = text_trim(s);
        while (s.n && (unsigned char)s.p[0] < 0x20)
            s = span_from(s, 1);
        while (s.n && (unsigned char)s.p[s.n - 1] < 0x20)
            s.n--;
    } while (s.n != before.n);
    for (size_t at = 0; at < s.n; at += n) {
        uint32_t c = next_character(span_from(s, at), &n);
        const char *entity = !entities  ? NULL
                             : c == '&' ? "&amp;"
                             : c == '<' ? "&lt;"
                             : c == '>' ? "&gt;"
                                        : NULL;
        if (!entity && !is_control(c)) {
            blank = false;
            continue;
        }
        buf_addn(out, s.p + begin, at - begin);
        begin = at + n;
        if (entity)
            buf_adds(out, entity);
        else if (!blank)
            buf_addc(out, ' ');
        blank = !entity;
    }
    buf_addn(out, s.n ? s.p + begin : "", s.n - begin);
}

void text_head(struct span s, struct buf *out)
{
    add_line(s, true, out);
}

void text_line(struct span s, struct buf *out)
{
    add_line(s, false, out);
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* Behind a "<". */
static bool is_fold(struct span s)
{
    static const char *const tags[] = {"details", "summary"};
    if (s.n && s.p[0] == '/')
        s = span_from(s, 1);
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(tags[i]);
        if (s.n >= n && span_is_nocase(span_of(s.p, n), tags[i]))
            return s.n == n || !is_word(s.p[n]);
    }
    return false;
}

void text_guard(struct span s, struct buf *out)
{
    size_t begin = 0;
    for (size_t at = 0; at < s.n; at++) {
        const char *open = memchr(s.p + at, '<', s.n - at);
        if (!open)
            break;
        at = (size_t)(open - s.p);
        if (!is_fold(span_from(s, at + 1)))
            continue;
        buf_addn(out, s.p + begin, at - begin);
        buf_adds(out, "&lt;");
        begin = at + 1;
    }
    buf_addn(out, s.n ? s.p + begin : "", s.n - begin);
}

static void add_link_name(struct span name, struct buf *out)
{
    bool blank = false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool end = c == '\n' || c == '\r';
        if (c == '[' || c == ']')
            buf_addc(out, '\\');
        if (!end)
            buf_addc(out, c);
        else if (!blank)
            buf_addc(out, ' ');
        blank = end;
    }
}

void text_target(struct span name, struct span url, struct buf *out)
{
    static const char digits[] = "0123456789ABCDEF";
    bool angle = false;
    for (size_t i = 0; i < url.n; i++)
        angle = angle || (unsigned char)url.p[i] <= ' ' || strchr("()<>\x7f", url.p[i]);
    buf_addc(out, '[');
    add_link_name(name.n ? name : url, out);
    buf_adds(out, angle ? "](<" : "](");
    for (size_t i = 0; i < url.n; i++) {
        char c = url.p[i];
        if ((unsigned char)c <= ' ' || c == '<' || c == '>' || c == 0x7f) {
            buf_addc(out, '%');
            buf_addc(out, digits[c >> 4 & 15]);
            buf_addc(out, digits[c & 15]);
        } else {
            buf_addc(out, c);
        }
    }
    buf_adds(out, angle ? ">)" : ")");
}

void text_link(struct span name, struct span url, struct buf *out)
{
    buf_adds(out, "- ");
    text_target(name, url, out);
}

void text_cell(struct span s, struct buf *out)
{
    for (size_t i = 0; i < s.n && !buf_full(out); i++)
        if (s.p[i] == '|')
            buf_adds(out, "｜");
        else if (s.p[i] == '\n' || s.p[i] == '\r')
            buf_addc(out, ' ');
        else
            buf_addc(out, s.p[i]);
}

void text_plural(size_t n, const char *word, struct buf *out)
{
    buf_add_number(out, n);
    buf_printf(out, " %s%s", word, n == 1 ? "" : "s");
}

/* ---- names of directories ---- */

static bool may_be_in_slug(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } others[] = {{0xd7, 0xd7},     {0xf7, 0xf7},     {0x2000, 0x206f}, {0x2190, 0x2bff},
                  {0x3000, 0x303f}, {0xfe00, 0xfe1f}, {0xfe30, 0xfe4f}, {0xff00, 0xff0f},
                  {0xff1a, 0xff20}, {0xff3b, 0xff40}, {0xff5b, 0xff65}, {0x1f000, 0x1faff}};
    if (c < 0xc0)
        return (c < 0x80 && is_word((char)c)) || c == '-';
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (c >= others[i].first && c <= others[i].last)
            return false;
    return c != 0xfffd;
}

void text_slug(struct span s, struct buf *out)
{
    char slug[4 * TEXT_SLUG];
    size_t used = 0, count = 0, begin = 0, n;
    bool dash = false;
    for (size_t at = 0; at < s.n && count < TEXT_SLUG; at += n) {
        bool good = may_be_in_slug(next_character(span_from(s, at), &n));
        if (good || !dash) {
            if (good)
                memcpy(slug + used, s.p + at, n);
            else
                slug[used] = '-';
            used += good ? n : 1;
            count++;
        }
        dash = !good;
    }
    while (begin < used && slug[begin] == '-')
        begin++;
    while (used > begin && slug[used - 1] == '-')
        used--;
    if (used == begin)
        buf_adds(out, "untitled");
    else
        buf_addn(out, slug + begin, used - begin);
}

void text_directory(struct span s, struct buf *out)
{
    size_t n, used = 0;
    s = text_trim(s);
    if (s.n == 0 || span_is(s, ".") || span_is(s, "..")) {
        buf_adds(out, "unknown");
        return;
    }
    for (size_t at = 0; at < s.n; at += n) {
        uint32_t c = next_character(span_from(s, at), &n);
        bool bad = is_control(c) || c == 0xfffd || (c < 0x80 && strchr("/\\:*?\"<>|", (int)c));
        size_t more = bad ? 1 : n;
        if (used + more > TEXT_NAME)
            break;
        buf_addn(out, bad ? "_" : s.p + at, more);
        used += more;
    }
}
