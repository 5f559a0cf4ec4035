#include "artifacts/office_xml.h"

#include "artifacts/markdown.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "artifacts/utf8.h"
#include "base/json.h"

static const char *entity_of(char c)
{
    return c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : NULL;
}

void office_xml_text(struct buf *out, struct span text)
{
    if (!text.n)
        return;
    const char *p = text.p, *end = p + text.n;
    while (p < end) {
        const char *from = p;
        while (p < end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x7f && !entity_of(*p))
            p++;
        buf_addn(out, from, (size_t)(p - from));
        if (p == end)
            break;
        size_t n;
        uint32_t c = utf8_next(p, end, &n);
        if (c < 0x80 && entity_of(*p))
            buf_adds(out, entity_of(*p));
        else if (c == UTF8_INVALID && n == 1)
            buf_adds(out, "\xef\xbf\xbd");
        else if ((c >= 0x20 && c != 0x7f && (c < 0x80 || c > 0x9f) && c != 0xfffe && c != 0xffff) ||
                 c == '\t' || c == '\n')
            buf_addn(out, p, n);
        p += n;
    }
}

void office_xml_short(struct buf *out, struct span text, size_t max)
{
    office_xml_text(out, span_of(text.p, utf8_cut(text, max)));
}

static bool in_ranges(uint32_t c, const uint32_t (*list)[2], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (c >= list[i][0] && c <= list[i][1])
            return true;
    return false;
}

#define IN(c, list) in_ranges(c, list, sizeof(list) / sizeof((list)[0]))

size_t office_width(struct span text)
{
    static const uint32_t wide[][2] = {
        {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},  {0xa960, 0xa97f}, {0xac00, 0xd7a3},
        {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},  {0xffe0, 0xffe6}, {0x1f300, 0x1f64f},
        {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
    static const uint32_t none[][2] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
                                       {0x64b, 0x65f},   {0x1ab0, 0x1aff}, {0x200b, 0x200f}, {0x202a, 0x202e},
                                       {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
    size_t width = 0, n;
    for (size_t i = 0; i < text.n; i += n) {
        uint32_t c = utf8_next(text.p + i, text.p + text.n, &n);
        width += c < 0x300 ? 1u : IN(c, none) ? 0u : IN(c, wide) ? 2u : 1u;
    }
    return width;
}

size_t office_units(struct span text)
{
    size_t units = 0, n;
    for (size_t i = 0; i < text.n; i += n)
        units += utf8_next(text.p + i, text.p + text.n, &n) > 0xffff ? 2 : 1;
    return units;
}

struct span office_cut_units(struct span text, size_t units)
{
    size_t n = 0, at = 0;
    while (at < text.n) {
        size_t cost = utf8_next(text.p + at, text.p + text.n, &n) > 0xffff ? 2 : 1;
        if (cost > units)
            break;
        units -= cost;
        at += n;
    }
    return span_of(text.p, at);
}

bool office_is_rtl(struct span text)
{
    static const uint32_t rtl[][2] = {
        {0x590, 0x8ff}, {0xfb1d, 0xfdff}, {0xfe70, 0xfeff}, {0x10800, 0x10fff}, {0x1e800, 0x1efff}};
    size_t n;
    for (size_t i = 0; i < text.n; i += n) {
        uint32_t c = utf8_next(text.p + i, text.p + text.n, &n);
        if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))
            return false;
        /* Digits and marks of Arabic have no strong direction of their own, but stand in no other script. */
        if (c >= 0x590)
            return IN(c, rtl) || c == 0x200f;
        if (c >= 0xc0 && c != 0xd7 && c != 0xf7)
            return false;
    }
    return false;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

bool office_uri(struct span href, char out[OFFICE_URI])
{
    static const char kept[] = "-._~:/?#@!$&'()*+,;=";
    size_t n = 0;
    unsigned hashes = 0;
    bool mail = href.n > 7 && strncasecmp(href.p, "mailto:", 7) == 0;
    const char *host = mail ? href.p + 7 : memchr(href.p, '/', href.n);
    if (!host || href.n > (OFFICE_URI - 8))
        return false;
    while (!mail && host < href.p + href.n && *host == '/')
        host++;
    if (host == href.p + href.n || *host == ':' || *host == '?' || *host == '#' || *host == '@')
        return false;
    for (size_t i = 0; i < href.n; i++) {
        char c = href.p[i];
        bool plain = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
                     (c && strchr(kept, c)) ||
                     (c == '%' && i + 2 < href.n && is_hex(href.p[i + 1]) && is_hex(href.p[i + 2]));
        if (c == '#' && hashes++)
            plain = false;
        if (n + 3 > (OFFICE_URI - 8))
            return false;
        if (plain)
            out[n++] = c;
        else
            n += (size_t)snprintf(out + n, 4, "%%%02X", (unsigned)(unsigned char)c);
    }
    out[n] = '\0';
    return true;
}

void office_option(const struct render_params *params, const char *name, char out[OFFICE_SHORT])
{
    struct span value;
    struct buf text;
    out[0] = '\0';
    if (!params->options.n || !json_member(params->options, name, &value) || json_type(value) != JSON_STRING)
        return;
    buf_init(&text, RENDER_OPTIONS);
    if (json_unescape(json_inside(value), &text) == 0) {
        size_t n = utf8_cut(buf_span(&text), OFFICE_SHORT - 1);
        if (n)
            memcpy(out, buf_span(&text).p, n);
        out[n] = '\0';
    }
    buf_free(&text);
}

void office_colour(const char *colour, const char *otherwise, char out[7])
{
    size_t n = colour && colour[0] == '#' ? strspn(colour + 1, "0123456789abcdefABCDEF") : 0;
    const char *from = n == 6 && !colour[7] ? colour + 1 : otherwise;
    for (int i = 0; i < 6; i++)
        out[i] = from[i] >= 'a' && from[i] <= 'f' ? (char)(from[i] - 'a' + 'A') : from[i];
    out[6] = '\0';
}

const char *office_ink(const char *ground)
{
    unsigned long rgb = strtoul(ground, NULL, 16);
    unsigned long light = (rgb >> 16 & 0xff) * 299 + (rgb >> 8 & 0xff) * 587 + (rgb & 0xff) * 114;
    return light < 140 * 1000ul ? "FFFFFF" : "1F1F1F";
}

static void put_time(struct buf *b, const char *name, int64_t at)
{
    struct tm tm;
    time_t t = (time_t)(at < 0 ? 0 : at > 253402300799 ? 253402300799 : at);
    if (!gmtime_r(&t, &tm))
        return;
    buf_printf(b, "<dcterms:%s xsi:type=\"dcterms:W3CDTF\">%04d-%02d-%02dT%02d:%02d:%02dZ</dcterms:%s>", name,
               tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, name);
}

void office_properties(struct office_zip *z, const struct render_params *params, struct span title,
                       struct span author)
{
    struct buf b;
    buf_init(&b, 16 * 1024);
    buf_adds(&b, OFFICE_XML
             "<cp:coreProperties xmlns:cp=\"http://schemas.openxmlformats.org/package/2006/metadata/"
             "core-properties\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" "
             "xmlns:dcterms=\"http://purl.org/dc/terms/\" "
             "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">");
    if (title.n) {
        buf_adds(&b, "<dc:title>");
        office_xml_short(&b, title, OFFICE_SHORT);
        buf_adds(&b, "</dc:title>");
    }
    if (author.n) {
        buf_adds(&b, "<dc:creator>");
        office_xml_short(&b, author, OFFICE_SHORT);
        buf_adds(&b, "</dc:creator>");
    }
    put_time(&b, "created", params->made_at);
    put_time(&b, "modified", params->made_at);
    buf_adds(&b, "</cp:coreProperties>");
    office_zip_part(z, "docProps/core.xml", buf_span(&b));
    office_zip_part(z, "docProps/app.xml",
                    SPAN_LIT(OFFICE_XML
                             "<Properties xmlns=\"http://schemas.openxmlformats.org/officeDocument/"
                             "2006/extended-properties\"><Application>Penstock</Application>"
                             "</Properties>"));
    buf_free(&b);
}

void office_root_relations(struct office_zip *z, const char *main_part)
{
    struct buf b;
    buf_init(&b, 16 * 1024);
    buf_printf(
        &b,
        OFFICE_RELS_HEAD
        "<Relationship Id=\"rId1\" Type=\"" OFFICE_RELATIONS "/officeDocument\" Target=\"%s\"/>"
        "<Relationship Id=\"rId2\" Type=\"http://schemas.openxmlformats.org/package/2006/relationships/"
        "metadata/core-properties\" Target=\"docProps/core.xml\"/>"
        "<Relationship Id=\"rId3\" Type=\"" OFFICE_RELATIONS
        "/extended-properties\" Target=\"docProps/app.xml\"/></Relationships>",
        main_part);
    office_zip_part(z, "_rels/.rels", buf_span(&b));
    buf_free(&b);
}

bool office_link(struct span href, char out[OFFICE_URI])
{
    return href.n && markdown_link_allowed(href) && office_uri(href, out);
}

unsigned office_relation(struct buf *rels, unsigned *n, const char *type, const char *target, bool external)
{
    buf_printf(rels, "<Relationship Id=\"rId%u\" Type=\"%s/%s\" Target=\"", ++*n, OFFICE_RELATIONS, type);
    office_xml_text(rels, span_str(target));
    buf_adds(rels, external ? "\" TargetMode=\"External\"/>" : "\"/>");
    return *n;
}
