/* Pictures of the same reply that the source of a document names. */
#include "artifacts/artifact.h"

enum { WORDS = 1024 /* between the beginning of a picture and its target */, NAMES = 64 };

/* "./sales.png", "attachment:sales.png", "<sales.png>" … to "sales.png"; empty: it is no file of the reply.
 */
static struct span file_name(struct span target)
{
    if (span_starts(target, "<"))
        target = span_from(target, 1);
    while (span_starts(target, "./"))
        target = span_from(target, 2);
    if (span_starts(target, "attachment:"))
        target = span_from(target, 11);
    size_t n = 0;
    while (n < target.n && n <= LIMIT_FILENAME && !strchr(") \t\r\n>\"'", target.p[n]))
        n++;
    target.n = n;
    const char *dot = n ? memrchr(target.p, '.', n) : NULL;
    const struct format *format =
        dot ? format_find_binary(span_from(target, (size_t)(dot - target.p) + 1)) : NULL;
    bool picture = format && span_starts(span_str(format->media_type), "image/") && n <= LIMIT_FILENAME;
    return picture && !memchr(target.p, '/', n) && !memchr(target.p, ':', n) ? target : span_of("", 0);
}

/* What stands behind `word`, within a picture's room and its line; empty: it is not there. */
static struct span behind(struct span s, const char *word)
{
    s.n = s.n < WORDS ? s.n : WORDS;
    const char *line = memchr(s.p, '\n', s.n), *at;
    s.n = line ? (size_t)(line - s.p) : s.n;
    at = s.n ? memmem(s.p, s.n, word, strlen(word)) : NULL;
    return at ? span_from(s, (size_t)(at - s.p) + strlen(word)) : span_of("", 0);
}

/* The picture that begins at the first byte: `![words](name)`, `<img src="name">`, or, for slides, a member
 * "image".
 */
static struct span picture_at(struct span s)
{
    struct span target = {"", 0};
    if (span_starts(s, "!["))
        target = behind(s, "](");
    else if (s.n > 4 && strncasecmp(s.p, "<img", 4) == 0)
        target = behind(s, "src=");
    else if (span_starts(s, "\"image\""))
        target = behind(s, ":");
    while (target.n && target.p[0] && strchr(" \"'", target.p[0]))
        target = span_from(target, 1);
    return file_name(target);
}

/* A line that opens or closes a fence of code. */
static bool is_fence(struct span line)
{
    while (line.n && line.p[0] == ' ')
        line = span_from(line, 1);
    return span_starts(line, "```") || span_starts(line, "~~~");
}

/* Whether an archive's own parts have a file of that name: its Markdown may name it, and nothing draws it in.
 */
static bool is_part(struct span source, struct span name)
{
    for (const char *at; (at = memmem(source.p, source.n, name.p, name.n));) {
        source = span_from(source, (size_t)(at - source.p) + name.n);
        if (span_starts(source, " ===") || span_starts(source, "\""))
            return true;
    }
    return false;
}

bool rendered_lacks(const struct format *format, struct span source,
                    bool (*made)(void *arg, struct span name), void *arg)
{
    bool archive = strcmp(format->name, "zip") == 0;
    bool document = strcmp(format->name, "docx") == 0 || strcmp(format->name, "pdf") == 0 ||
                    strcmp(format->name, "pptx") == 0;
    bool code = false;
    unsigned left = NAMES; /* each is looked for in the whole of an archive */
    for (size_t i = 0; (document || archive) && i < source.n; i++) {
        if (i == 0 || source.p[i - 1] == '\n')
            code ^= is_fence(span_from(source, i));
        if (code || (source.p[i] != '!' && source.p[i] != '<' && source.p[i] != '"'))
            continue;
        struct span name = picture_at(span_from(source, i));
        if (name.n && !made(arg, name) && (document || (left && left-- && !is_part(source, name))))
            return true;
    }
    return false;
}

bool rendered_mentions(struct span source, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i + n <= source.n; i++)
        if (strncasecmp(source.p + i, name, n) == 0)
            return true;
    return false;
}
