#include "proxy/demo_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "artifacts/utf8.h"

enum { WIDTH = 100, WIDTH_LEAST = 50, WIDTH_MOST = 160, SEARCH = 64 };

static const char opening[] = "<<<HW_ATTACHMENT", closing[] = "HW_ATTACHMENT>>>";

static bool has_colours(void)
{
    const char *off = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(off && *off) && terminal && strcmp(terminal, "dumb") != 0;
}

static int terminal_width(void)
{
    struct winsize size = {0};
    const char *given = getenv("COLUMNS");
    long width = WIDTH;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
        width = size.ws_col;
    else if (given && *given)
        width = strtol(given, NULL, 10);
    return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : (int)width;
}

static void repeat(char c, int n)
{
    while (n-- > 0)
        putchar(c);
}

/* Columns that a character takes; -1: it is not shown. */
static int columns_of(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } wide[] = {{0x1100, 0x115f},   {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},  {0xf900, 0xfaff},
                {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},  {0x1f300, 0x1f64f},
                {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd}};
    if (c != '\t' && utf8_invisible(c))
        return -1;
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        if (c >= wide[i].first && c <= wide[i].last)
            return 2;
    return 1;
}

/* One line or a part of it. */
static void put_clean(struct span text)
{
    for (const char *p = text.p, *end = text.p + text.n; p < end;) {
        size_t n;
        uint32_t c = utf8_next(p, end, &n);
        if (c == '\t')
            putchar(' ');
        else if (c == UTF8_INVALID && n == 1)
            putchar('?');
        else if (columns_of(c) > 0)
            fwrite(p, 1, n, stdout);
        p += n;
    }
}

void demo_view_text(struct span text)
{
    while (text.n) {
        const char *eol = memchr(text.p, '\n', text.n);
        size_t n = eol ? (size_t)(eol - text.p) : text.n;
        put_clean(span_of(text.p, n));
        if (eol)
            putchar('\n');
        text = span_from(text, n + (eol ? 1 : 0));
    }
    fflush(stdout);
}

void demo_view_styled(enum demo_style style, struct span text)
{
    static const char *const codes[DEMO_STYLES] = {"", "1", "2", "1;35", "32", "1;31"};
    bool coloured = style != DEMO_PLAIN && has_colours();
    if (coloured)
        printf("\033[%sm", codes[style]);
    put_clean(text);
    if (coloured)
        fputs("\033[0m", stdout);
}

void demo_view_title(const char *title)
{
    putchar('\n');
    demo_view_styled(DEMO_BOLD, span_str(title));
    putchar('\n');
    repeat('-', terminal_width());
    putchar('\n');
    fflush(stdout);
}

void demo_view_check(bool good, const char *sentence)
{
    demo_view_styled(good ? DEMO_GOOD : DEMO_BAD, span_str(good ? "  ok      " : "  FAILED  "));
    demo_view_text(span_str(sentence));
    putchar('\n');
}

/* ---- two columns ---- */

/* Takes from `rest` what fits into a row: up to a blank if there is one. Answers its columns. */
static int take_row(struct span *rest, int width, struct span *row)
{
    const char *p = rest->p, *end = rest->p + rest->n, *blank = NULL;
    int columns = 0, at_blank = 0;
    while (p < end) {
        size_t n;
        int more = columns_of(utf8_next(p, end, &n));
        if (more > 0 && columns + more > width)
            break;
        if (*p == ' ' && columns) {
            blank = p;
            at_blank = columns;
        }
        columns += more > 0 ? more : 0;
        p += n;
    }
    if (p < end && blank && *p != ' ') {
        *row = span_of(rest->p, (size_t)(blank - rest->p));
        *rest = span_of(blank + 1, (size_t)(end - blank - 1));
        return at_blank;
    }
    *row = span_of(rest->p, (size_t)(p - rest->p));
    if (p < end && *p == ' ')
        p++;
    *rest = span_of(p, (size_t)(end - p));
    return columns;
}

static void put_rows(struct span left, enum demo_style style, struct span right, int width)
{
    do {
        struct span row;
        int columns = take_row(&left, width, &row);
        demo_view_styled(style, row);
        repeat(' ', width - columns);
        demo_view_styled(DEMO_DIM, SPAN_LIT(" |"));
        take_row(&right, width, &row);
        if (row.n)
            putchar(' ');
        demo_view_styled(DEMO_PLAIN, row);
        putchar('\n');
    } while (left.n || right.n);
}

/* The next line of `rest`, which loses it with its line break. False at the end. */
static bool next_line(struct span *rest, struct span *line)
{
    if (!rest->n)
        return false;
    const char *eol = memchr(rest->p, '\n', rest->n);
    *line = span_of(rest->p, eol ? (size_t)(eol - rest->p) : rest->n);
    *rest = span_from(*rest, line->n + (eol ? 1 : 0));
    return true;
}

static bool same(struct span a, struct span b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static bool holds(struct span text, const char *what)
{
    return text.n && memmem(text.p, text.n, what, strlen(what));
}

/* How many lines of the right side come before the one that equals `line`; -1: none does soon. */
static int lines_before(struct span right, struct span line)
{
    struct span other;
    for (int i = 0; i < SEARCH && next_line(&right, &other); i++)
        if (same(other, line))
            return i;
    return -1;
}

static void put_columns(struct span left, struct span right, int width)
{
    struct span line, other;
    bool inside = false;
    while (next_line(&left, &line)) {
        inside = inside || holds(line, opening);
        int before = inside ? -1 : lines_before(right, line);
        for (int i = 0; i < before && next_line(&right, &other); i++)
            put_rows(span_of("", 0), DEMO_PLAIN, other, width);
        if (before < 0 || !next_line(&right, &other))
            other = span_of("", 0);
        put_rows(line, inside ? DEMO_MARKED : DEMO_PLAIN, other, width);
        inside = inside && !holds(line, closing);
    }
    while (next_line(&right, &other))
        put_rows(span_of("", 0), DEMO_PLAIN, other, width);
}

static void put_cuts(const struct demo_stream *s)
{
    struct span text = buf_span(&s->text);
    const char *at = text.n ? memmem(text.p, text.n, opening, sizeof opening - 1) : NULL;
    size_t from = at ? (size_t)(at - text.p) : 0, to = from + sizeof opening - 1, piece = 0;
    if (!at)
        return;
    fputs("The opening marker came cut into", stdout);
    for (size_t i = 0; i < s->ncuts && piece < to; piece = s->cuts[i++]) {
        size_t first = piece > from ? piece : from, last = s->cuts[i] < to ? s->cuts[i] : to;
        if (last <= first)
            continue;
        putchar(' ');
        demo_view_styled(DEMO_MARKED, span_of(text.p + first, last - first));
    }
    fputs(" and was recognised all the same.\n", stdout);
}

void demo_view_sides(const struct demo_stream *provider, const struct demo_stream *client)
{
    static const char left[] = "What the provider sent", right[] = "What the client saw";
    int width = (terminal_width() - 3) / 2;
    putchar('\n');
    demo_view_styled(DEMO_BOLD, SPAN_LIT(left));
    repeat(' ', width - (int)sizeof left + 1);
    demo_view_styled(DEMO_DIM, SPAN_LIT(" | "));
    demo_view_styled(DEMO_BOLD, SPAN_LIT(right));
    putchar('\n');
    repeat('-', width);
    demo_view_styled(DEMO_DIM, SPAN_LIT("-+-"));
    repeat('-', width);
    putchar('\n');
    put_columns(buf_span(&provider->text), buf_span(&client->text), width);
    printf("\n%zu pieces of text from the provider, %zu to the client. ", provider->ncuts, client->ncuts);
    put_cuts(provider);
    fflush(stdout);
}

void demo_view_beginning(struct span bytes, unsigned lines)
{
    struct span line;
    while (lines-- && next_line(&bytes, &line)) {
        demo_view_styled(DEMO_DIM, SPAN_LIT("    | "));
        demo_view_styled(DEMO_PLAIN, line);
        putchar('\n');
    }
    if (bytes.n) {
        demo_view_styled(DEMO_DIM, SPAN_LIT("    | ..."));
        putchar('\n');
    }
}
