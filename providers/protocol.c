/* The attachment protocol: what a model is told about files (product.md §§2.4, 3), and whether a prompt tells
 * it already. */
#include "providers/protocol.h"

#include <stdio.h>

#include "providers/dialect.h"

static bool is_offered(struct span formats, const char *name)
{
    while (formats.n) {
        const char *comma = memchr(formats.p, ',', formats.n);
        size_t n = comma ? (size_t)(comma - formats.p) : formats.n;
        struct span one = span_of(formats.p, n);
        while (one.n && one.p[0] == ' ')
            one = span_from(one, 1);
        if (span_is(one, name))
            return true;
        formats = span_from(formats, comma ? n + 1 : n);
    }
    return false;
}

/* One line a source syntax, in the words that models follow most reliably; of its formats those that are
 * offered. */
static const struct {
    const char *formats[4]; /* NULL at the end */
    const char *source;
} sources[] = {
    {{"docx", "pdf"},
     "Markdown. `![words](name.png)` shows the picture of another block. A ```chart code block is drawn as a "
     "chart."},
    {{"pptx"}, "Markdown. Each `## ` begins a slide; a paragraph `Notes: ...` is for the speaker."},
    {{"xlsx"},
     "CSV with a header row; for several sheets JSON: "
     "{\"sheets\":[{\"name\":\"2026\",\"columns\":[\"Day\",\"Sum\"],"
     "\"rows\":[[\"2026-01-31\",12.5]]}]}. Plain numbers, dates as YYYY-MM-DD."},
    {{"csv"}, "commas, a header row."},
    {{"png"},
     "a chart as JSON, not code: "
     "{\"type\":\"bar\",\"title\":\"Sales\",\"labels\":[\"Q1\",\"Q2\"],\"datasets\":["
     "{\"label\":\"2026\",\"data\":[12,15]}],\"y_label\":\"EUR\"}; types bar, line, area, pie, doughnut, "
     "scatter."},
    {{"svg"}, "that chart JSON, or an <svg> drawing."},
    {{"ics"}, "BEGIN:VCALENDAR with its events."},
    {{"zip"}, "a line `=== path ===`, then that file's content as for its format; for each file."},
};
enum { SOURCES = sizeof sources / sizeof sources[0] };

/* A source whose syntax is drawn; without its renderer the format is the file itself. */
static bool has_source(const char *format, bool charts)
{
    for (size_t i = 0; i < SOURCES; i++)
        for (size_t k = 0; sources[i].formats[k]; k++)
            if (strcmp(sources[i].formats[k], format) == 0)
                return charts || strcmp(format, "svg") != 0;
    return false;
}

static void add_sources(struct span formats, bool charts, struct buf *out)
{
    for (size_t i = 0; i < SOURCES; i++) {
        bool any = false;
        for (size_t k = 0; sources[i].formats[k]; k++) {
            const char *format = sources[i].formats[k];
            if (!is_offered(formats, format) || !has_source(format, charts))
                continue;
            buf_adds(out, any ? ", " : "- ");
            buf_adds(out, format);
            any = true;
        }
        if (any)
            buf_printf(out, ": %s\n", sources[i].source);
    }
}

/* Those whose content is the file itself, on one line. */
static void add_plain(struct span formats, bool charts, struct buf *out)
{
    const char *between = "- ";
    while (formats.n) {
        char name[32];
        const char *comma = memchr(formats.p, ',', formats.n);
        size_t n = comma ? (size_t)(comma - formats.p) : formats.n;
        struct span one = span_of(formats.p, n);
        while (one.n && one.p[0] == ' ')
            one = span_from(one, 1);
        formats = span_from(formats, comma ? n + 1 : n);
        snprintf(name, sizeof name, "%.*s", (int)one.n, one.p);
        if (has_source(name, charts))
            continue;
        buf_adds(out, between);
        buf_adds(out, name);
        between = ", ";
    }
    if (*between == ',')
        buf_adds(out, ", source code by its extension: the file itself.\n");
}

void protocol_text(struct span formats, bool image_generation, struct buf *out)
{
    const char *example = is_offered(formats, "docx") ? "docx" : "md";
    bool charts = is_offered(formats, "png");
    buf_printf(
        out,
        "# Attaching files\n\n"
        "When the user wants a file, write one block like this for each, every marker on a line of its "
        "own:\n\n"
        "<<<HW_ATTACHMENT\n"
        "{\"filename\":\"q3-report.%s\",\"format\":\"%s\",\"title\":\"Q3 report\"}\n"
        "---\n"
        "# Q3 report\n"
        "Sales grew by **12%%**.\n"
        "HW_ATTACHMENT>>>\n\n"
        "The block becomes the file and is taken out of your text: do not repeat its content, and never "
        "write the markers for anything else. First one JSON object, then a line `---`, then the content "
        "as it is, without a code fence around it. Formats, and what to write for them:\n",
        example, example);
    add_sources(formats, charts, out);
    add_plain(formats, charts, out);
    buf_adds(out, "- Other bytes: base64, with \"encoding\":\"base64\" in the JSON object.\n");
    if (image_generation)
        buf_adds(out, "- image: a prompt; the picture is made from it.\n");
    else
        buf_printf(out, "- Image generation is off: you must not emit format image. %s still work.\n",
                   charts ? "Charts and other files" : "All other files");
}

/* ---- */

static const char MARKER[] = "<<<hw_attachment";

enum { MARKER_LENGTH = sizeof MARKER - 1 };

/* The next character of JSON text with escapes undone; characters beyond ASCII come out as some byte above
 * it. */
static char next_unit(const char **p, const char *end)
{
    const char *at = *p;
    *p = at + 1;
    if (*at != '\\' || end - at < 2)
        return *at;
    *p = at + 2;
    if (at[1] != 'u')
        return at[1] == '/' ? '/' : '\0'; /* of the one-letter escapes none stands for a marker's character */
    if (end - at < 6)
        return '\0';
    *p = at + 6;
    unsigned value = 0;
    for (int i = 2; i < 6; i++) {
        char c = (char)(at[i] | 0x20);
        unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
        value = value * 16 + (digit & 15);
    }
    return value < 0x80 ? (char)value : '\x80';
}

/* One step of matching the marker: how many of its characters the text matches after c. */
static unsigned step(unsigned matched, char c)
{
    char lower = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    if (lower == MARKER[matched])
        return matched + 1;
    if (lower == '<')
        return matched >= 3 ? 3 : 1;
    return 0;
}

bool protocol_explained(struct span json)
{
    const char *p = json.p, *end = json.n ? p + json.n : p;
    const char *mark = NULL, *escape = NULL; /* no '<' and no backslash from p to before these */
    unsigned matched = 0;
    while (p < end) {
        if (matched == 0) {
            if (!mark || mark < p)
                mark = memchr(p, '<', (size_t)(end - p));
            if (!mark)
                mark = end;
            if (!escape || escape < p)
                escape = memchr(p, '\\', (size_t)(end - p));
            if (!escape)
                escape = end;
            p = mark < escape ? mark : escape;
            if (p == end)
                break;
        }
        matched = step(matched, next_unit(&p, end));
        if (matched == MARKER_LENGTH)
            return true;
    }
    return false;
}
