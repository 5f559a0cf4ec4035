/* Whether text content is what its format says: XML by a small scanner of our own, YAML by libyaml's events.
 */
#include <yaml.h>

#include "artifacts/render.h"

enum { XML_DEPTH = 512, YAML_DEPTH = 512 };

/* ---- XML ---- */

struct xml {
    struct span text;
    size_t at;
    unsigned depth;
    bool had_root;
    struct span open[XML_DEPTH]; /* names of open elements */
};

static bool xml_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool xml_ends_name(char c)
{
    return xml_space(c) || c == '>' || c == '/' || c == '=' || c == '<' || c == '"' || c == '\'' || c == '\0';
}

static struct span xml_name(struct xml *x)
{
    size_t from = x->at;
    while (x->at < x->text.n && !xml_ends_name(x->text.p[x->at]))
        x->at++;
    return span_of(x->text.p + from, x->at - from);
}

static bool xml_skip_past(struct xml *x, const char *end)
{
    struct span rest = span_from(x->text, x->at);
    const char *found = rest.n ? memmem(rest.p, rest.n, end, strlen(end)) : NULL;
    if (!found)
        return false;
    x->at = (size_t)(found - x->text.p) + strlen(end);
    return true;
}

/* To the `>` of a declaration, past quotes and an internal subset. */
static bool xml_skip_doctype(struct xml *x)
{
    unsigned brackets = 0;
    char quote = 0;
    for (; x->at < x->text.n; x->at++) {
        char c = x->text.p[x->at];
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '[')
            brackets++;
        else if (c == ']' && brackets)
            brackets--;
        else if (c == '>' && !brackets) {
            x->at++;
            return true;
        }
    }
    return false;
}

static void xml_skip_space(struct xml *x)
{
    while (x->at < x->text.n && xml_space(x->text.p[x->at]))
        x->at++;
}

/* Attributes to the tag's end; *empty: it ends with `/>`. */
static const char *xml_attributes(struct xml *x, bool *empty)
{
    *empty = false;
    for (;;) {
        xml_skip_space(x);
        if (x->at == x->text.n)
            return "a tag does not end";
        char c = x->text.p[x->at];
        if (c == '>') {
            x->at++;
            return NULL;
        }
        if (c == '/') {
            *empty = x->at + 1 < x->text.n && x->text.p[x->at + 1] == '>';
            x->at += 2;
            return *empty ? NULL : "a tag is not written correctly";
        }
        if (!xml_name(x).n)
            return "an attribute is not written correctly";
        xml_skip_space(x);
        if (x->at == x->text.n || x->text.p[x->at++] != '=')
            return "an attribute has no value";
        xml_skip_space(x);
        char quote = x->at < x->text.n ? x->text.p[x->at++] : 0;
        if (quote != '"' && quote != '\'')
            return "an attribute's value has no quotes";
        const char end[2] = {quote, '\0'};
        if (!xml_skip_past(x, end))
            return "an attribute's value does not end";
    }
}

static const char *xml_open_tag(struct xml *x, const char *root)
{
    struct span name = xml_name(x);
    const char *colon = name.n ? memchr(name.p, ':', name.n) : NULL;
    struct span local = colon ? span_from(name, (size_t)(colon + 1 - name.p)) : name;
    bool empty;
    if (!name.n)
        return "a < begins no tag";
    if (x->depth == 0 && x->had_root)
        return "there is more than one root element";
    if (x->depth == 0 && root && !span_is(local, root))
        return "its root element is another one";
    x->had_root = true;
    const char *wrong = xml_attributes(x, &empty);
    if (wrong || empty)
        return wrong;
    if (x->depth == XML_DEPTH)
        return "its elements are nested too deeply";
    x->open[x->depth++] = name;
    return NULL;
}

static const char *xml_close_tag(struct xml *x)
{
    struct span name = xml_name(x);
    xml_skip_space(x);
    if (x->at == x->text.n || x->text.p[x->at++] != '>')
        return "a closing tag does not end";
    struct span open = x->depth ? x->open[--x->depth] : (struct span){NULL, 0};
    return open.n == name.n && name.n && memcmp(open.p, name.p, name.n) == 0
               ? NULL
               : "a closing tag closes no open element";
}

/* At a `<`. */
static const char *xml_markup(struct xml *x, const char *root)
{
    struct span rest = span_from(x->text, x->at);
    if (span_starts(rest, "<!--")) {
        x->at += 4;
        return xml_skip_past(x, "-->") ? NULL : "a comment does not end";
    }
    if (span_starts(rest, "<![CDATA[")) {
        x->at += 9;
        return !x->depth                 ? "text stands outside the root element"
               : xml_skip_past(x, "]]>") ? NULL
                                         : "a CDATA section does not end";
    }
    if (span_starts(rest, "<?"))
        return xml_skip_past(x, "?>") ? NULL : "a processing instruction does not end";
    if (span_starts(rest, "<!"))
        return !x->had_root && xml_skip_doctype(x) ? NULL : "a declaration is not written correctly";
    x->at += 1;
    if (span_starts(rest, "</")) {
        x->at += 1;
        return xml_close_tag(x);
    }
    return xml_open_tag(x, root);
}

const char *xml_check(struct span text, const char *root)
{
    struct xml x = {.text = text, .at = span_starts(text, "\xef\xbb\xbf") ? 3 : 0};
    const char *wrong = NULL;
    while (!wrong && x.at < text.n) {
        if (text.p[x.at] == '<')
            wrong = xml_markup(&x, root);
        else if (!x.depth && !xml_space(text.p[x.at]))
            wrong = "text stands outside the root element";
        else
            x.at++;
    }
    if (wrong)
        return wrong;
    return !x.had_root ? "it holds no element" : x.depth ? "an element is not closed" : NULL;
}

/* ---- YAML ---- */

const char *yaml_check(struct span text)
{
    yaml_parser_t parser;
    yaml_event_t event;
    const char *wrong = NULL;
    unsigned depth = 0;
    bool more = true;
    if (!yaml_parser_initialize(&parser))
        return "it could not be checked";
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.p, text.n);
    while (more && !wrong) {
        if (!yaml_parser_parse(&parser, &event)) {
            wrong = "it is not valid YAML";
            break;
        }
        if (event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT)
            depth++;
        else if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT)
            depth--;
        if (depth > YAML_DEPTH)
            wrong = "it is nested too deeply";
        more = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return wrong;
}
