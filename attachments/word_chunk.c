/* Text that is in a Word document as a file of another kind (17.17.2): what it says comes where it stands. */
#include "attachments/charset.h"
#include "attachments/html.h"
#include "attachments/rtf.h"
#include "attachments/sniff.h"
#include "attachments/word.h"

enum {
    CHUNK = 16 * 1024 * 1024, /* bytes of one */
    DEPTH = 3                 /* documents inside one another */
};

static int lines(struct span bytes, struct word *w)
{
    struct buf text;
    char sentence[RENDER_SENTENCE] = "";
    buf_init(&text, CHARSET_TEXT);
    enum render_status status = charset_decode(bytes, SPAN_LIT(""), &text, sentence);
    int answer = status == RENDER_OK ? 0 : extraction_fail(w->x, status, "%s", sentence);
    struct span rest = answer == 0 ? buf_span(&text) : SPAN_LIT("");
    while (rest.n && !markup_stopped(w->m)) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.p) : rest.n;
        markup_begin(w->m, MARKUP_PARAGRAPH, 0);
        markup_text(w->m, span_of(rest.p, n), 0);
        markup_end(w->m);
        rest = span_from(rest, end ? n + 1 : n);
    }
    buf_free(&text);
    return answer;
}

static int inner(struct span bytes, struct word *w)
{
    if (w->depth == DEPTH)
        return extraction_fail(w->x, RENDER_INVALID,
                               "holds documents inside one another, more than %d deep; save it anew.", DEPTH);
    struct archive *archive = archive_open(bytes, w->x);
    if (!archive)
        return -1;
    int answer = word_document(archive, w->m, w->x, w->depth + 1);
    archive_close(archive);
    return answer;
}

enum kind { UNKNOWN, DOCUMENT, PAGE, RICH, PLAIN };

/* Told from the bytes; a page may be a fragment of one. */
static enum kind kind_of(struct span bytes, const char *part)
{
    static const char docx[] = "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
                      docm[] = "application/vnd.ms-word.document.macroEnabled.12";
    struct media media = sniff_media(bytes, span_str(part));
    struct span first = bytes;
    while (first.n && (first.p[0] == ' ' || (first.p[0] >= '\t' && first.p[0] <= '\r')))
        first = span_from(first, 1);
    if (!strcmp(media.type, docx) || !strcmp(media.type, docm))
        return DOCUMENT;
    if (!strcmp(media.type, "text/html"))
        return PAGE;
    if (!strcmp(media.type, "application/rtf"))
        return RICH;
    if (strcmp(media.type, "text/plain") != 0 || span_starts(first, "MIME-Version:") ||
        span_starts(first, "<?xml")) /* a web archive, or a whole document as one XML file */
        return UNKNOWN;
    return span_starts(first, "<") ? PAGE : PLAIN;
}

static int read(struct word *w, struct span bytes, const char *part)
{
    int answer = -1;
    switch (kind_of(bytes, part)) {
    case DOCUMENT:
        answer = inner(bytes, w);
        break;
    case PAGE:
        answer = html_read(bytes, w->m, w->x);
        break;
    case RICH:
        answer = rtf_read(bytes, w->m, w->x);
        break;
    case PLAIN:
        answer = lines(bytes, w);
        break;
    case UNKNOWN:
        extraction_fail(w->x, RENDER_INVALID,
                        "holds text as an embedded document, which is not read; open it and save it anew.");
    }
    while (answer == 0 && markup_open(w->m)) /* a page may leave its blocks open */
        markup_end(w->m);
    return answer;
}

int word_chunk(struct word *w, const struct xml_node *node)
{
    const struct office_relation *r = office_relation_by_id(&w->relations, xml_get_prefixed(node, "id"));
    if (!r || r->external)
        return extraction_fail(w->x, RENDER_INVALID,
                               "names an embedded document that is not in it; open it and save it anew.");
    struct buf bytes;
    buf_init(&bytes, CHUNK);
    word_flow_end(w);
    int answer = archive_load(w->archive, r->target, &bytes);
    if (answer == 0)
        answer = read(w, buf_span(&bytes), r->target);
    buf_free(&bytes);
    return answer;
}
