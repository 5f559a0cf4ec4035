#include "attachments/xml.h"

#include <expat.h>

struct scan {
    XML_Parser parser;
    const struct xml_handlers *handlers;
    void *user;
    struct extraction *x;
    const char *part;
    unsigned depth;
    bool stopped;
};

static void stop(struct scan *s)
{
    s->stopped = true;
    XML_StopParser(s->parser, XML_FALSE);
}

static void on_open(void *user, const XML_Char *name, const XML_Char **attributes)
{
    struct scan *s = user;
    if (s->stopped)
        return;
    if (++s->depth > XML_DEPTH) {
        extraction_fail(s->x, RENDER_INVALID, "nests elements too deeply in %s: more than %d.",
                        extraction_name(span_str(s->part)).text, XML_DEPTH);
        stop(s);
    } else if (++s->x->nodes > s->x->max_nodes) {
        extraction_fail(s->x, RENDER_LIMIT, "has more than %llu elements; split it.",
                        (unsigned long long)s->x->max_nodes);
        stop(s);
    } else if (s->handlers->open && s->handlers->open(s->user, name, (const char *const *)attributes))
        stop(s);
}

static void on_close(void *user, const XML_Char *name)
{
    struct scan *s = user;
    if (s->stopped)
        return;
    s->depth--;
    if (s->handlers->close && s->handlers->close(s->user, name))
        stop(s);
}

static void on_text(void *user, const XML_Char *text, int n)
{
    struct scan *s = user;
    if (!s->stopped && s->handlers->text && s->handlers->text(s->user, span_of(text, (size_t)n)))
        stop(s);
}

static void on_doctype(void *user, const XML_Char *name, const XML_Char *system, const XML_Char *public,
                       int internal)
{
    struct scan *s = user;
    (void)name, (void)system, (void)public, (void)internal;
    extraction_fail(s->x, RENDER_INVALID, "declares a document type (DTD) in %s, which is refused.",
                    extraction_name(span_str(s->part)).text);
    stop(s);
}

static int feed(struct scan *s, struct span bytes, bool last)
{
    if (XML_Parse(s->parser, bytes.p, (int)bytes.n, last) == XML_STATUS_OK)
        return 0;
    if (s->stopped) /* a handler that fell silent without a reason has got what it wanted */
        return -1;
    enum XML_Error error = XML_GetErrorCode(s->parser);
    if (error == XML_ERROR_NO_MEMORY)
        return extraction_fail(s->x, RENDER_FAILED, "could not be read: out of memory.");
    return extraction_fail(s->x, RENDER_INVALID, "is damaged: %s is not well-formed XML (line %lu: %s).",
                           extraction_name(span_str(s->part)).text,
                           (unsigned long)XML_GetCurrentLineNumber(s->parser), XML_ErrorString(error));
}

static int begin(struct scan *s)
{
    s->parser = XML_ParserCreate(NULL);
    if (!s->parser)
        return extraction_fail(s->x, RENDER_FAILED, "could not be read: out of memory.");
    XML_SetUserData(s->parser, s);
    XML_SetElementHandler(s->parser, on_open, on_close);
    XML_SetCharacterDataHandler(s->parser, on_text);
    XML_SetStartDoctypeDeclHandler(s->parser, on_doctype);
    XML_SetParamEntityParsing(s->parser, XML_PARAM_ENTITY_PARSING_NEVER);
    return 0;
}

int xml_scan(struct span bytes, const char *part, const struct xml_handlers *handlers, void *user,
             struct extraction *x)
{
    enum { PIECE = 1 << 20 }; /* expat counts in int */
    struct scan s = {.handlers = handlers, .user = user, .x = x, .part = part};
    if (x->status != RENDER_OK || begin(&s))
        return -1;
    int answer = 0;
    do {
        size_t n = bytes.n < PIECE ? bytes.n : PIECE;
        answer = feed(&s, span_of(bytes.p, n), n == bytes.n);
        bytes = span_from(bytes, n);
    } while (answer == 0 && bytes.n > 0);
    XML_ParserFree(s.parser);
    return answer;
}

static int piece(void *user, struct span bytes)
{
    return feed(user, bytes, false);
}

int xml_scan_part(struct archive *a, const char *part, const struct xml_handlers *handlers, void *user)
{
    struct scan s = {.handlers = handlers, .user = user, .x = archive_extraction(a), .part = part};
    if (s.x->status != RENDER_OK || begin(&s))
        return -1;
    int answer = archive_read(a, part, piece, &s);
    if (answer == 0)
        answer = feed(&s, SPAN_LIT(""), true);
    XML_ParserFree(s.parser);
    return answer;
}

const char *xml_local(const char *name)
{
    const char *colon = strchr(name, ':');
    return colon ? colon + 1 : name;
}

const char *xml_attribute(const char *const *attributes, const char *local)
{
    for (; attributes && attributes[0]; attributes += 2)
        if (!strcmp(xml_local(attributes[0]), local))
            return attributes[1];
    return NULL;
}
