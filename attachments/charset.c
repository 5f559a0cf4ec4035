#include "attachments/charset.h"

#include <errno.h>
#include <iconv.h>
#include <stdio.h>

enum { SAMPLE = 64 * 1024, LEAST_SCORE = 45 /* of 100 a byte that is not ASCII */ };

/* ---- names ---- */

/* iconv's name, then names of the web for it, NULL at the end. */
static const char *const names[][14] = {
    {"UTF-8", "unicode-1-1-utf-8", "utf8", NULL},
    {"UTF-16LE", "utf-16", "ucs-2", "unicode", "iso-10646-ucs-2", NULL},
    {"UTF-16BE", "unicodefffe", NULL},
    {"CP1252", "windows-1252", "iso-8859-1", "latin1", "l1", "ascii", "us-ascii", "iso8859-1", "iso_8859-1",
     "x-cp1252", "cp819", "ansi", NULL},
    {"CP1250", "windows-1250", "x-cp1250", NULL},
    {"CP1251", "windows-1251", "x-cp1251", NULL},
    {"CP1253", "windows-1253", "x-cp1253", NULL},
    {"CP1254", "windows-1254", "iso-8859-9", "latin5", "iso8859-9", "x-cp1254", NULL},
    {"CP1255", "windows-1255", "x-cp1255", NULL},
    {"CP1256", "windows-1256", "x-cp1256", NULL},
    {"CP1257", "windows-1257", "x-cp1257", NULL},
    {"CP1258", "windows-1258", "x-cp1258", NULL},
    {"ISO-8859-2", "latin2", "iso8859-2", "iso_8859-2", NULL},
    {"ISO-8859-5", "cyrillic", "iso8859-5", NULL},
    {"ISO-8859-7", "greek", "iso8859-7", NULL},
    {"ISO-8859-8", "hebrew", "iso8859-8", "iso-8859-8-i", "logical", NULL},
    {"ISO-8859-13", "iso8859-13", NULL},
    {"ISO-8859-15", "latin9", "iso8859-15", "l9", NULL},
    {"KOI8-R", "koi8", "koi8_r", NULL},
    {"KOI8-U", "koi8-ru", NULL},
    {"TIS-620", "windows-874", "cp874", "iso-8859-11", NULL},
    {"CP932", "shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j", "ms_kanji", "ms932", NULL},
    {"EUC-JP", "x-euc-jp", NULL},
    {"ISO-2022-JP", "csiso2022jp", NULL},
    {"GB18030", "gbk", "gb2312", "chinese", "gb_2312-80", "x-gbk", "cp936", "windows-936", NULL},
    {"BIG5-HKSCS", "big5", "cn-big5", "x-x-big5", "cp950", NULL},
    {"UHC", "euc-kr", "korean", "ks_c_5601-1987", "cp949", "windows-949", "ksc5601", NULL},
    {"CP437", "ibm437", NULL},
    {"CP850", "ibm850", NULL},
    {"CP852", "ibm852", NULL},
    {"CP866", "ibm866", NULL},
    {"MACINTOSH", "mac", "x-mac-roman", NULL},
};

enum { NAMES = sizeof names / sizeof names[0] };

static struct span trimmed(struct span s)
{
    while (s.n && strchr(" \t\r\n\f\"'", s.p[0]))
        s = span_from(s, 1);
    while (s.n && strchr(" \t\r\n\f\"'", s.p[s.n - 1]))
        s.n--;
    return s;
}

const char *charset_find(struct span label)
{
    label = trimmed(label);
    for (size_t i = 0; i < NAMES; i++)
        for (size_t k = 0; names[i][k]; k++)
            if (span_is_nocase(label, names[i][k]))
                return names[i][0];
    return NULL;
}

int charset_warm(void)
{
    /* A table stays loaded while a descriptor of it is open, and these are open until the program ends. */
    static iconv_t kept[NAMES];
    for (size_t i = 0; i < NAMES; i++)
        if (!kept[i]) {
            kept[i] = iconv_open("UTF-8", names[i][0]);
            if (kept[i] == (iconv_t)-1)
                kept[i] = NULL; /* minimal systems have few tables; one that is missing is refused by name */
        }
    return kept[0] ? 0 : -1;
}

/* ---- UTF-8 ---- */

void charset_put(uint32_t c, struct buf *out)
{
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        c = 0xfffd;
    if (c < 0x80) {
        buf_addc(out, (char)c);
        return;
    }
    char bytes[4];
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3f));
    bytes[0] = (char)((0xf00U >> n & 0xff) | c);
    buf_addn(out, bytes, n);
}

uint32_t charset_next(const char *p, const char *end, size_t *n)
{
    const unsigned char *u = (const unsigned char *)p;
    size_t left = (size_t)(end - p);
    *n = 1;
    if (u[0] < 0x80)
        return u[0];
    size_t len = u[0] < 0xc2 || u[0] > 0xf4 ? 0 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
    if (len == 0 || len > left)
        return 0xfffd;
    uint32_t c = u[0] & (0x7fU >> len);
    for (size_t i = 1; i < len; i++) {
        if ((u[i] & 0xc0) != 0x80)
            return 0xfffd;
        c = c << 6 | (u[i] & 0x3f);
    }
    if ((len == 3 && c < 0x800) || (len == 4 && (c < 0x10000 || c > 0x10ffff)) || (c >= 0xd800 && c < 0xe000))
        return 0xfffd;
    *n = len;
    return c;
}

/* How many sequences that are not ASCII are UTF-8, and how many bytes are not. */
static void count_utf8(struct span b, size_t *good, size_t *bad)
{
    *good = *bad = 0;
    for (size_t i = 0, n; i < b.n; i += n) {
        charset_next(b.p + i, b.p + b.n, &n);
        if ((unsigned char)b.p[i] >= 0x80)
            ++*(n > 1 ? good : bad);
    }
}

/* ---- what letters look like ---- */

/* A score of 0 to 100 for each byte that is not ASCII; -1: it cannot be that encoding. */

static bool is_letter(unsigned char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* A run of accented letters is short in languages of the west; signs stand by themselves. */
static int score_cp1252(const unsigned char *p, size_t n)
{
    size_t score = 0, high = 0;
    for (size_t i = 0; i < n;) {
        if (p[i] < 0x80) {
            i++;
            continue;
        }
        size_t run = 0;
        for (; i + run < n && p[i + run] >= 0x80; run++)
            if (memchr("\x81\x8d\x8f\x90\x9d", p[i + run], 5))
                return -1;
        bool beside = (i > 0 && is_letter(p[i - 1])) || (i + run < n && is_letter(p[i + run]));
        bool sign = p[i] < 0xc0;
        score += run * (run == 1 ? (beside ? 100 : sign ? 80 : 60) : run == 2 ? (beside ? 70 : 45) : 0);
        high += run;
        i += run;
    }
    return high ? (int)(score / high) : 100;
}

/* Trail bytes below 0xa1 are of characters that are rare. */
static int score_gb18030(const unsigned char *p, size_t n)
{
    size_t score = 0, high = 0;
    for (size_t i = 0; i < n;) {
        if (p[i] < 0x80) {
            i++;
            continue;
        }
        if (p[i] == 0x80 || p[i] == 0xff)
            return -1;
        if (n - i < 2)
            break; /* the sample was cut */
        if (p[i + 1] >= '0' && p[i + 1] <= '9') {
            if (n - i < 4)
                break;
            if (p[i + 2] < 0x81 || p[i + 2] == 0xff || p[i + 3] < '0' || p[i + 3] > '9')
                return -1;
            score += 4 * 50;
            high += 4;
            i += 4;
            continue;
        }
        if (p[i + 1] < 0x40 || p[i + 1] == 0x7f || p[i + 1] == 0xff)
            return -1;
        bool old = p[i + 1] >= 0xa1; /* GB 2312 */
        score += 2U * (old && p[i] >= 0xb0 && p[i] <= 0xd7   ? 100
                       : old && p[i] >= 0xa1 && p[i] <= 0xa3 ? 90
                       : old && p[i] >= 0xd8 && p[i] <= 0xf7 ? 60
                                                             : 20);
        high += 2;
        i += 2;
    }
    return high ? (int)(score / high) : 100;
}

static int score_cp932(const unsigned char *p, size_t n)
{
    size_t score = 0, high = 0;
    for (size_t i = 0; i < n;) {
        unsigned char c = p[i];
        if (c < 0x80) {
            i++;
            continue;
        }
        if (c >= 0xa1 && c <= 0xdf) { /* katakana of half width */
            score += 40;
            high++;
            i++;
            continue;
        }
        if (c == 0x80 || c == 0xa0 || c > 0xfc)
            return -1;
        if (n - i < 2)
            break;
        unsigned char d = p[i + 1];
        if (d < 0x40 || d == 0x7f || d > 0xfc)
            return -1;
        bool kana = (c == 0x82 && d >= 0x9f && d <= 0xf1) || (c == 0x83 && d <= 0x96);
        score += 2U * (kana                     ? 100
                       : c == 0x81              ? 80
                       : c == 0x82              ? 70
                       : c >= 0x88 && c <= 0x97 ? 90 /* the usual kanji */
                       : c >= 0x98 && c <= 0x9f ? 50
                                                : 25);
        high += 2;
        i += 2;
    }
    return high ? (int)(score / high) : 100;
}

const char *charset_guess(struct span bytes)
{
    static const struct {
        const char *name;
        int (*score)(const unsigned char *p, size_t n);
    } known[] = {{"CP1252", score_cp1252}, {"GB18030", score_gb18030}, {"CP932", score_cp932}};
    size_t good, bad, first = 0;
    count_utf8(bytes, &good, &bad);
    if (bad == 0 || good / 20 > bad)
        return "UTF-8";
    while (first < bytes.n && (unsigned char)bytes.p[first] < 0x80)
        first++;
    size_t from = first > 16 ? first - 16 : 0;
    struct span sample = span_from(bytes, from);
    sample.n = sample.n < SAMPLE ? sample.n : SAMPLE;
    const char *best = NULL;
    int most = LEAST_SCORE - 1;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        int score = known[i].score((const unsigned char *)sample.p, sample.n);
        if (score > most) {
            most = score;
            best = known[i].name;
        }
    }
    return best;
}

/* ---- conversion ---- */

int charset_convert(const char *charset, struct span bytes, struct buf *out, size_t *faults)
{
    iconv_t table = iconv_open("UTF-8", charset);
    if (table == (iconv_t)-1)
        return -1;
    size_t unit = strncmp(charset, "UTF-16", 6) == 0 ? 2 : strncmp(charset, "UTF-32", 6) == 0 ? 4 : 1;
    char *from = (char *)(uintptr_t)bytes.p; /* iconv does not write there */
    size_t left = bytes.n;
    while (left && !buf_full(out)) {
        char room[4096], *to = room;
        size_t free_room = sizeof room;
        size_t done = iconv(table, &from, &left, &to, &free_room);
        buf_addn(out, room, sizeof room - free_room);
        if (done != (size_t)-1 || errno == E2BIG)
            continue;
        charset_put(0xfffd, out); /* EILSEQ; EINVAL: the end is cut */
        if (faults)
            ++*faults;
        size_t skip = errno == EINVAL || left < unit ? left : unit;
        from += skip;
        left -= skip;
    }
    iconv_close(table);
    return 0;
}

static enum render_status full(char sentence[RENDER_SENTENCE])
{
    snprintf(sentence, RENDER_SENTENCE, "is too large as text: over %d MiB.", CHARSET_TEXT >> 20);
    return RENDER_LIMIT;
}

static const char *mark_of(struct span b, size_t *n)
{
    static const struct {
        const char *mark;
        size_t n;
        const char *charset;
    } marks[] = {{"\xef\xbb\xbf", 3, "UTF-8"},
                 {"\xff\xfe\0", 4, "UTF-32LE"},
                 {"\xff\xfe", 2, "UTF-16LE"},
                 {"\xfe\xff", 2, "UTF-16BE"}};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (b.n >= marks[i].n && memcmp(b.p, marks[i].mark, marks[i].n) == 0) {
            *n = marks[i].n;
            return marks[i].charset;
        }
    return NULL;
}

/* 0: all of it was read so; 1: there were faults and nothing was appended. */
static int convert_whole(const char *charset, struct span bytes, struct buf *out)
{
    size_t faults = 0, before = out->n;
    if (charset_convert(charset, bytes, out, &faults) == 0 && faults == 0)
        return 0;
    if (!buf_full(out))
        buf_cut(out, before);
    return 1;
}

enum render_status charset_decode(struct span bytes, struct span declared, struct buf *out,
                                  char sentence[RENDER_SENTENCE])
{
    size_t mark = 0, good, bad = 0;
    const char *charset = mark_of(bytes, &mark), *said = charset_find(declared);
    bytes = span_from(bytes, mark);
    if (!charset || strcmp(charset, "UTF-8") == 0) {
        count_utf8(bytes, &good, &bad);
        if (bad == 0) {
            buf_add(out, bytes);
            return buf_full(out) ? full(sentence) : RENDER_OK;
        }
    }
    if (said && strncmp(said, "UTF-16", 6) == 0)
        said = NULL; /* what could be read as far as that word is not in it (WHATWG HTML, 13.2.3.2) */
    if (!charset && said && convert_whole(said, bytes, out) == 0)
        return buf_full(out) ? full(sentence) : RENDER_OK;
    if (!charset)
        charset = charset_guess(bytes);
    if (!charset)
        charset = said;
    if (charset && charset_convert(charset, bytes, out, NULL) == 0)
        return buf_full(out) ? full(sentence) : RENDER_OK;
    snprintf(sentence, RENDER_SENTENCE, "is text in an encoding that was not recognised; save it as UTF-8.");
    return RENDER_INVALID;
}
