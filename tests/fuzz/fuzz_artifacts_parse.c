/*
 * Any text as a directive: parsing, naming and rendering never crash and keep their promises. A canonical
 * directive made from what was read is read the same again.
 */
#include <stdint.h>
#include <stdlib.h>

#include "artifacts/artifact.h"
#include "artifacts/render.h"
#include "artifacts/utf8.h"
#include "base/json.h"

enum { MAX = 1 << 20 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_name(const struct directive_parts *p, const struct format *format)
{
    char name[LIMIT_FILENAME + 1];
    artifact_name(span_str(p->filename), span_str(p->title), format, name);
    size_t n = strlen(name);
    require(n > 0 && n <= LIMIT_FILENAME && utf8_valid(span_str(name)) && !strpbrk(name, "/\\:*?\"<>|"));
    require(name[n - 1] != '.' && name[n - 1] != ' ' && name[0] != '.');
    require(artifact_name_same(name, name));
    struct buf header;
    buf_init(&header, 4096);
    artifact_disposition(name, &header);
    for (size_t i = 0; i < header.n; i++)
        require(buf_span(&header).p[i] >= ' ' && buf_span(&header).p[i] <= '~');
    buf_free(&header);
}

static void check_render(const struct directive_parts *p, const struct format *format)
{
    struct buf bytes, again;
    char sentence[LIMIT_ERROR_TEXT];
    buf_init(&bytes, 2 * MAX + 64);
    buf_init(&again, 4 * MAX + 64);
    bool tab = strcmp(format->name, "tsv") == 0;
    if (artifact_render(p, format, &bytes, sentence) == FLAG_NONE &&
        (tab || strcmp(format->name, "csv") == 0)) {
        require(csv_make_inert(buf_span(&bytes), tab, &again) == 0);
        require(again.n == bytes.n); /* what is inert stays as it is */
    }
    buf_free(&bytes);
    buf_free(&again);
}

/* Line ends at the edges and fences are the parser's to take away: content that has them is no canonical
 * content. */
static bool is_plain(struct span content)
{
    while (content.n && strchr(" \t\r\n", content.p[0]) && content.p[0])
        content = span_from(content, 1);
    return !content.n || (content.p[0] != '`' && content.p[0] != '~');
}

static void check_round_trip(const struct directive_parts *p)
{
    struct buf text;
    struct directive_parts again;
    char sentence[LIMIT_ERROR_TEXT];
    buf_init(&text, 4 * MAX);
    buf_adds(&text, "\n{\"filename\":\"");
    require(json_escape(span_str(p->filename), &text) == 0);
    buf_adds(&text, "\",\"format\":\"");
    require(json_escape(span_str(p->format), &text) == 0);
    buf_adds(&text, "\"}\n---\n");
    buf_add(&text, buf_span(&p->content));
    buf_adds(&text, "\n");
    require(directive_parse(buf_span(&text), MAX, &again, sentence) == FLAG_NONE);
    require(strcmp(again.filename, p->filename) == 0 && strcmp(again.format, p->format) == 0);
    /* "\r" before the line break that was added makes a CR LF of it. */
    struct span content = buf_span(&p->content), got = buf_span(&again.content);
    bool cr = content.n && content.p[content.n - 1] == '\r';
    require(got.n == content.n - cr && memcmp(got.p, content.p, got.n) == 0);
    directive_parts_free(&again);
    buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct directive_parts p;
    char sentence[LIMIT_ERROR_TEXT];
    if (size > MAX)
        return 0;
    enum flag flag = directive_parse(span_of((const char *)data, size), MAX, &p, sentence);
    const struct format *format = format_find_any(span_str(p.format));
    check_name(&p, flag == FLAG_NONE ? format : NULL);
    require((flag == FLAG_NONE) == (sentence[0] == '\0'));
    if (flag == FLAG_NONE && format)
        check_render(&p, format);
    if (flag == FLAG_NONE && is_plain(buf_span(&p.content)))
        check_round_trip(&p);
    directive_parts_free(&p);
    return 0;
}
