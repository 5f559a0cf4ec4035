/* The attachment protocol: what a model is told about files (product.md §§2.4, 3), and whether a prompt tells
 * it already. */
#include "providers/protocol.h"
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

/* What the content of formats that are drawn is written in: the forms that models write most reliably. */
static void add_sources(struct span formats, struct buf *out)
{
    if (is_offered(formats, "docx") || is_offered(formats, "pdf") || is_offered(formats, "pptx"))
        buf_adds(out, "- docx, pdf, pptx: write Markdown; each `## ` heading begins a slide of a pptx. "
                      "`![text](name.png)` shows the picture of another block.\n");
    if (is_offered(formats, "xlsx"))
        buf_adds(out, "- xlsx: write CSV, or for several sheets JSON "
                      "{\"sheets\":[{\"name\":\"2026\",\"columns\":[\"Day\",\"Sum\"],\"rows\":[[\"2026-01-"
                      "31\",12.5]]}]}. "
                      "Plain numbers, dates as YYYY-MM-DD.\n");
    if (is_offered(formats, "png"))
        buf_adds(
            out,
            "- png, svg: a chart as JSON, no code: {\"type\":\"bar\",\"title\":\"Sales\",\"labels\":[\"Q1\"],"
            "\"datasets\":[{\"label\":\"2026\",\"data\":[12]}]}; types bar, line, area, pie, doughnut, "
            "scatter.\n");
}

void protocol_text(struct span formats, bool image_generation, struct buf *out)
{
    const char *example = is_offered(formats, "docx") ? "docx" : "md";
    bool charts = is_offered(formats, "png");
    buf_printf(
        out,
        "# Attaching files\n\n"
        "You can attach files to your reply. When the user wants a file, write one block like this for each, "
        "with every marker on a line of its own:\n\n"
        "<<<HW_ATTACHMENT\n"
        "{\"filename\":\"q3-report.%s\",\"format\":\"%s\",\"title\":\"Q3 report\"}\n"
        "---\n"
        "# Q3 report\n"
        "Content, in the source syntax of that format\n"
        "HW_ATTACHMENT>>>\n\n"
        "- Formats: ",
        example, example);
    buf_add(out, formats);
    buf_adds(out, ".\n");
    add_sources(formats, out);
    buf_adds(
        out,
        "- The line after the opening marker is one JSON object; then a line `---`; then the content as it "
        "is, without a code fence.\n"
        "- One block makes one file. It is taken out of the text and the user gets the file, so do not "
        "repeat its content.\n"
        "- Write binary content only if it is needed, as base64 with \"encoding\":\"base64\" in the JSON "
        "object; everything else is plain text.\n"
        "- Never write or mention these markers for any other purpose.\n");
    if (image_generation)
        buf_adds(out, "- Format image makes a picture: its content is the prompt for it.\n");
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
