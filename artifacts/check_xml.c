/*
 * Whether text content is XML, by a small scanner of our own, and whether an SVG drawing only draws: no
 * scripts, no handlers, no foreign content, nothing fetched from elsewhere.
 */
#include "artifacts/lines.h"
#include "artifacts/render.h"

enum { XML_DEPTH = 512 };

struct xml {
    struct span text;
    size_t at;
    unsigned depth;
    bool had_root;
    bool drawing;                /* an SVG file: what it holds is looked at too (below) */
    struct span open[XML_DEPTH]; /* names of open elements */
};

static const char DECLARED[] = "a drawing may not name a style sheet or declare entities before it";
static const char *drawing_element(struct span name);
static const char *drawing_attribute(struct span name, struct span value);
static const char *drawing_style(struct span css);

static struct span local_name(struct span name)
{
    const char *colon = name.n ? memchr(name.p, ':', name.n) : NULL;
    return colon ? span_from(name, (size_t)(colon + 1 - name.p)) : name;
}

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
        struct span name = xml_name(x);
        if (!name.n)
            return "an attribute is not written correctly";
        xml_skip_space(x);
        if (x->at == x->text.n || x->text.p[x->at++] != '=')
            return "an attribute has no value";
        xml_skip_space(x);
        char quote = x->at < x->text.n ? x->text.p[x->at++] : 0;
        if (quote != '"' && quote != '\'')
            return "an attribute's value has no quotes";
        const char end[2] = {quote, '\0'};
        size_t from = x->at;
        if (!xml_skip_past(x, end))
            return "an attribute's value does not end";
        const char *wrong =
            x->drawing ? drawing_attribute(name, span_of(x->text.p + from, x->at - 1 - from)) : NULL;
        if (wrong)
            return wrong;
    }
}

static const char *xml_open_tag(struct xml *x, const char *root)
{
    struct span name = xml_name(x), local = local_name(name);
    bool empty;
    if (!name.n)
        return "a < begins no tag";
    if (x->depth == 0 && x->had_root)
        return "there is more than one root element";
    if (x->depth == 0 && root && !span_is(local, root))
        return "its root element is another one";
    x->had_root = true;
    const char *wrong = x->drawing ? drawing_element(name) : NULL;
    if (!wrong)
        wrong = xml_attributes(x, &empty);
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
    if (span_starts(rest, "<?")) {
        if (x->drawing && !span_starts(rest, "<?xml "))
            return DECLARED;
        return xml_skip_past(x, "?>") ? NULL : "a processing instruction does not end";
    }
    if (span_starts(rest, "<!")) {
        size_t from = x->at;
        if (x->had_root || !xml_skip_doctype(x))
            return "a declaration is not written correctly";
        return x->drawing && memchr(x->text.p + from, '[', x->at - from) ? DECLARED : NULL;
    }
    x->at += 1;
    if (span_starts(rest, "</")) {
        x->at += 1;
        return xml_close_tag(x);
    }
    return xml_open_tag(x, root);
}

/* What stands between the tags of an open <style>. */
static const char *check_styles(const struct xml *x, size_t from)
{
    bool style = x->drawing && x->depth && span_is_nocase(local_name(x->open[x->depth - 1]), "style");
    return style ? drawing_style(span_of(x->text.p + from, x->at - from)) : NULL;
}

static const char *check(struct span text, const char *root, bool drawing)
{
    struct xml x = {.text = text, .at = span_starts(text, "\xef\xbb\xbf") ? 3 : 0, .drawing = drawing};
    const char *wrong = NULL;
    while (!wrong && x.at < text.n) {
        size_t from = x.at;
        if (text.p[x.at] == '<') {
            bool section = span_starts(span_from(text, x.at), "<![CDATA[");
            wrong = xml_markup(&x, root);
            if (!wrong && section)
                wrong = check_styles(&x, from);
        } else if (!x.depth && !xml_space(text.p[x.at])) {
            wrong = "text stands outside the root element";
        } else {
            const char *next = memchr(text.p + x.at, '<', text.n - x.at);
            x.at = !x.depth ? x.at + 1 : next ? (size_t)(next - text.p) : text.n;
            wrong = check_styles(&x, from);
        }
    }
    if (wrong)
        return wrong;
    return !x.had_root ? "it holds no element" : x.depth ? "an element is not closed" : NULL;
}

const char *xml_check(struct span text, const char *root)
{
    return check(text, root, false);
}

const char *svg_check(struct span text)
{
    return check(text, "svg", true);
}

/* ---- what a drawing may hold ---- */

static const char SCRIPTED[] = "a drawing may not hold scripts or event handlers";
static const char FETCHES[] =
    "a drawing may refer to its own parts (\"#name\") and to data: pictures in png or jpeg alone";

/* SVG 2, appendix F, without what runs, embeds or links. */
static const char *drawing_element(struct span name)
{
    static const char known[] =
        "svg g defs symbol use switch title desc metadata style view path rect circle ellipse line polyline "
        "polygon "
        "text tspan tref textPath altGlyph image marker linearGradient radialGradient stop pattern hatch "
        "hatchpath "
        "mesh meshgradient meshpatch meshrow solidcolor clipPath mask filter feBlend feColorMatrix "
        "feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight "
        "feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feImage feMerge feMergeNode "
        "feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile feTurbulence animate "
        "animateColor animateMotion animateTransform mpath set discard a font font-face glyph missing-glyph "
        "hkern "
        "vkern font-face-src font-face-name color-profile cursor";
    struct span local = local_name(name);
    if (span_is_nocase(local, "script") || span_is_nocase(local, "handler") ||
        span_is_nocase(local, "listener"))
        return SCRIPTED;
    if (lines_word_in(local, known))
        return NULL;
    bool prefixed = local.n != name.n && !span_starts(name, "svg:"); /* an editor's own notes */
    bool embeds =
        lines_word_in(local, "foreignObject iframe object embed audio video html body img link canvas");
    return prefixed && !embeds ? NULL : "a drawing may hold SVG elements alone";
}

/* Lower case, with numeric references undone, so that no spelling hides a word. What is not ASCII is left
 * out. */
static void plain(struct span value, struct buf *out)
{
    for (size_t i = 0; i < value.n; i++) {
        unsigned long c = (unsigned char)value.p[i];
        if (c == '&' && i + 2 < value.n && value.p[i + 1] == '#') {
            bool hex = (value.p[i + 2] | 0x20) == 'x';
            size_t at = i + 2 + hex;
            for (c = 0; at < value.n && c < 0x110000 && value.p[at] != ';'; at++) {
                char d = (char)(value.p[at] | 0x20);
                unsigned digit = d >= '0' && d <= '9' ? (unsigned)(d - '0') : (unsigned)(d - 'a') + 10;
                c = c * (hex ? 16 : 10) + digit % 16;
            }
            i = at;
        }
        if (c < 0x80)
            buf_addc(out, (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c));
    }
}

static bool is_picture(struct span target)
{
    return span_starts(target, "data:image/png") || span_starts(target, "data:image/jpeg") ||
           span_starts(target, "data:image/jpg");
}

static struct span after_blanks(struct span s, const char *blanks)
{
    while (s.n && s.p[0] && strchr(blanks, s.p[0]))
        s = span_from(s, 1);
    return s;
}

/* Whether a style or an attribute, made plain, takes anything from elsewhere. */
static bool fetches(struct span css)
{
    if (memmem(css.p, css.n, "@import", 7) || memmem(css.p, css.n, "javascript:", 11) ||
        memmem(css.p, css.n, "expression(", 11))
        return true;
    for (const char *at; css.n && (at = memmem(css.p, css.n, "url(", 4));) {
        css = after_blanks(span_from(css, (size_t)(at - css.p) + 4), " \t\r\n\"'");
        if (!span_starts(css, "#") && !is_picture(css))
            return true;
    }
    return false;
}

static const char *drawing_style(struct span css)
{
    struct buf text;
    buf_init(&text, css.n + 1);
    plain(css, &text);
    bool bad = fetches(buf_span(&text)) || memchr(css.p, '\\', css.n); /* escapes could spell url() */
    buf_free(&text);
    return bad ? FETCHES : NULL;
}

static bool is_handler(struct span name)
{
    return name.n > 2 && (name.p[0] | 0x20) == 'o' && (name.p[1] | 0x20) == 'n';
}

static const char *drawing_attribute(struct span name, struct span value)
{
    struct span local = local_name(name), text;
    struct buf room;
    const char *wrong = NULL;
    if (is_handler(local))
        return SCRIPTED;
    buf_init(&room, value.n + 1);
    plain(value, &room);
    text = after_blanks(buf_span(&room), " \t\r\n");
    if (span_is(name, "xmlns") || span_starts(name, "xmlns:")) {
        if (memmem(text.p, text.n, "xhtml", 5))
            wrong = "a drawing may hold SVG elements alone";
    } else if (span_is_nocase(local, "href") || span_is_nocase(local, "src")) {
        if (text.n && text.p[0] != '#' && !is_picture(text))
            wrong = FETCHES;
    } else if (span_is_nocase(local, "attributeName")) {
        if (is_handler(text) || span_is(text, "href") || span_is(text, "xlink:href"))
            wrong = SCRIPTED;
    } else if (fetches(text) || (memchr(value.p, '\\', value.n) && memchr(value.p, '(', value.n))) {
        wrong = FETCHES;
    }
    buf_free(&room);
    return wrong;
}
