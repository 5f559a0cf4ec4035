#include "filters/report.h"

#include "base/json.h"
#include "base/xalloc.h"

struct report_entry {
    uint32_t channel;
    size_t at; /* where it stood in the channel's text */
    enum flag flag;
    bool settled;
    /* NULL: empty */
    char *entry, *filename, *url, *sentence;
};

void report_finish(struct report *p)
{
    for (unsigned i = 0; i < p->n; i++) {
        xfree(p->list[i].entry);
        xfree(p->list[i].filename);
        xfree(p->list[i].url);
        xfree(p->list[i].sentence);
    }
    xfree(p->list);
    *p = (struct report){0};
}

unsigned report_open(struct report *p, uint32_t channel, size_t at)
{
    if (p->n == p->room) {
        p->room = p->room ? p->room * 2 : 4;
        p->list = xrealloc(p->list, p->room * sizeof *p->list);
    }
    p->list[p->n] = (struct report_entry){.channel = channel, .at = at};
    p->pending++;
    return p->n++;
}

/* What comes in is to stand in a line of a stream: line ends become blanks. */
static char *one_line(struct span s)
{
    if (s.n == 0)
        return NULL;
    char *copy = xspandup(s);
    for (size_t i = 0; i < s.n; i++)
        if (copy[i] == '\n' || copy[i] == '\r')
            copy[i] = ' ';
    return copy;
}

/* Reasons are joined with "; ", so none may hold it. */
static char *one_reason(struct span s)
{
    char *copy = one_line(s);
    for (char *p = copy; p && (p = strstr(p, "; "));)
        *p = ',';
    return copy;
}

bool report_settle(struct report *p, unsigned number, const struct reply_artifact *a)
{
    if (number >= p->n || p->list[number].settled)
        return false;
    struct report_entry *e = &p->list[number];
    e->settled = true;
    e->flag = a->flag;
    e->entry = one_line(a->entry);
    e->filename = one_line(a->filename);
    e->url = one_line(a->url);
    e->sentence = one_reason(a->sentence);
    p->pending--;
    return true;
}

bool report_due(const struct report *p)
{
    return !p->sent && (p->n || p->strays || p->surplus);
}

/* For flags that came without a sentence of their own. */
static const char *flag_sentence(enum flag flag)
{
    static const char *const sentences[FLAGS] = {
        [FLAG_NONE] = "",
        [FLAG_INVALID_METADATA] = "its metadata is not a JSON object that can be read",
        [FLAG_UNSUPPORTED_FORMAT] = "its format is not supported",
        [FLAG_INVALID_CONTENT] = "its content does not fit its format",
        [FLAG_UNTERMINATED] = "the reply ended before the file was complete",
        [FLAG_STRAY_MARKER] = "a marker that belonged to no file was taken out of the text",
        [FLAG_RENDER_FAILED] = "the file could not be rendered",
        [FLAG_RENDER_TIMEOUT] = "rendering the file took too long",
        [FLAG_TOO_LARGE] = "the file is larger than is allowed",
        [FLAG_TOO_MANY] = "the reply has more files than are allowed",
        [FLAG_IMAGE_GENERATION_DISABLED] = "image generation is switched off",
        [FLAG_STORAGE_FAILED] = "the file could not be stored",
    };
    return sentences[flag];
}

/* The reasons listed so far; the same one is listed once. */
struct reasons {
    const char *sentences[LIMIT_FLAGS];
    enum flag flags[LIMIT_FLAGS];
    unsigned n;
};

static void add_reason(struct reasons *r, enum flag flag, const char *sentence, bool escaped, struct buf *out)
{
    if (!sentence)
        sentence = flag_sentence(flag);
    for (unsigned i = 0; i < r->n; i++)
        if (r->flags[i] == flag && strcmp(r->sentences[i], sentence) == 0)
            return;
    if (r->n == LIMIT_FLAGS)
        return;
    r->flags[r->n] = flag;
    r->sentences[r->n] = sentence;
    buf_printf(out, "%s%s: ", r->n ? "; " : "", flag_name(flag));
    r->n++;
    if (!escaped)
        buf_adds(out, sentence);
    else if (json_escape(span_str(sentence), out) < 0)
        return; /* the buffer remembers */
}

void report_reasons(const struct report *p, bool escaped, struct buf *out)
{
    struct reasons reasons = {.n = 0};
    for (unsigned i = 0; i < p->n; i++)
        if (p->list[i].flag != FLAG_NONE)
            add_reason(&reasons, p->list[i].flag, p->list[i].sentence, escaped, out);
    if (p->surplus)
        add_reason(&reasons, FLAG_TOO_MANY, NULL, escaped, out);
    if (p->strays)
        add_reason(&reasons, FLAG_STRAY_MARKER, NULL, escaped, out);
}

void report_members(const struct report *p, struct buf *out)
{
    bool any = false, flagged = p->surplus || p->strays;
    buf_adds(out, "\"outbound_artifacts\":[");
    for (unsigned i = 0; i < p->n; i++) {
        flagged = flagged || p->list[i].flag != FLAG_NONE;
        if (!p->list[i].entry)
            continue;
        if (any)
            buf_addc(out, ',');
        buf_adds(out, p->list[i].entry);
        any = true;
    }
    buf_addc(out, ']');
    if (flagged) {
        buf_adds(out, ",\"flagForReview\":true,\"reason\":\"");
        report_reasons(p, true, out);
        buf_addc(out, '"');
    }
}

static void add_text(const char *s, struct buf *out)
{
    if (json_escape(span_str(s), out) < 0)
        return; /* the buffer remembers */
}

/* What went wrong with a file. A whole sentence, as makers of files give, stands alone; else it says the end
 * of one. */
static void add_failure(const struct report_entry *e, struct buf *out)
{
    struct span s = span_str(e->sentence ? e->sentence : flag_sentence(e->flag));
    while (s.n && (s.p[s.n - 1] == '.' || s.p[s.n - 1] == ' '))
        s.n--;
    if (!span_starts(s, "The file ") && !span_starts(s, "A file ")) {
        buf_adds(out, e->filename ? "The file " : "A file");
        add_text(e->filename ? e->filename : "", out);
        buf_adds(out, " could not be made: ");
    }
    if (json_escape(s, out) == 0)
        buf_addc(out, '.');
}

void report_sentence(const struct report *p, uint32_t channel, struct buf *out)
{
    unsigned made = 0, failed = 0;
    for (unsigned i = 0; i < p->n; i++) {
        const struct report_entry *e = &p->list[i];
        if (e->channel != channel || !e->entry)
            continue;
        buf_adds(out, made++ ? ", " : "Attached: ");
        add_text(e->filename ? e->filename : "a file", out);
    }
    if (made)
        buf_addc(out, '.');
    for (unsigned i = 0; i < p->n && failed < LIMIT_FLAGS; i++) {
        const struct report_entry *e = &p->list[i];
        if (e->channel != channel || e->entry || !e->settled)
            continue;
        if (made + failed++)
            buf_addc(out, ' ');
        add_failure(e, out);
    }
    if (made + failed == 0) {
        buf_adds(out, "A file could not be made: ");
        add_text(flag_sentence(FLAG_TOO_MANY), out);
        buf_addc(out, '.');
    }
}

/* Characters that would end a link's text or be read as markup in it, as character references. */
static void add_label(const char *name, struct buf *out)
{
    for (const char *p = name; *p; p++) {
        if (strchr("[]`*~!&<>\\", *p))
            buf_printf(out, "&#%d;", *p);
        else if (json_escape(span_of(p, 1), out) < 0)
            return;
    }
}

static void add_address(const char *url, struct buf *out)
{
    for (const char *p = url; *p; p++) {
        if (*p == '(' || *p == ')' || (unsigned char)*p <= ' ' || *p == '<' || *p == '>')
            buf_printf(out, "%%%02X", (unsigned char)*p);
        else if (json_escape(span_of(p, 1), out) < 0)
            return;
    }
}

void report_links(const struct report *p, uint32_t channel, struct buf *out)
{
    bool any = false;
    for (unsigned i = 0; i < p->n; i++) {
        const struct report_entry *e = &p->list[i];
        if (e->channel != channel || !e->entry || !e->url)
            continue;
        buf_adds(out, any ? "\\n[" : "\\n\\n[");
        add_label(e->filename ? e->filename : "file", out);
        buf_adds(out, "](");
        add_address(e->url, out);
        buf_addc(out, ')');
        any = true;
    }
}

bool report_has_files(const struct report *p, uint32_t channel)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->list[i].channel == channel && p->list[i].entry)
            return true;
    return false;
}

void report_citations(const struct report *p, uint32_t channel,
                      void (*citation)(struct span entry, size_t at, struct buf *out), struct buf *out)
{
    bool any = false;
    for (unsigned i = 0; i < p->n; i++) {
        const struct report_entry *e = &p->list[i];
        if (e->channel != channel || !e->entry)
            continue;
        if (any)
            buf_addc(out, ',');
        citation(span_str(e->entry), e->at, out);
        any = true;
    }
}
