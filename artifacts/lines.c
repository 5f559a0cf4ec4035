#include "artifacts/lines.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct span lines_trim(struct span s)
{
    while (s.n && is_blank(s.p[0]))
        s = span_from(s, 1);
    while (s.n && is_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}

struct span lines_take(struct span *text)
{
    size_t n = 0;
    while (n < text->n && text->p[n] != '\n' && text->p[n] != '\r')
        n++;
    struct span line = span_of(text->p, n);
    if (n < text->n)
        n += text->p[n] == '\r' && n + 1 < text->n && text->p[n + 1] == '\n' ? 2 : 1;
    *text = span_from(*text, n);
    return line;
}

bool lines_part(struct span line, struct span *name)
{
    line = lines_trim(line);
    if (line.n < 7 || !span_starts(line, "===") || !span_ends(line, "==="))
        return false;
    while (line.n && line.p[0] == '=')
        line = span_from(line, 1);
    while (line.n && line.p[line.n - 1] == '=')
        line.n--;
    *name = lines_trim(line);
    return name->n > 0;
}

bool lines_word_in(struct span word, const char *list)
{
    for (size_t n; *list; list += n + (list[n] == ' ')) {
        n = strcspn(list, " ");
        if (n == word.n && strncasecmp(list, word.p, n) == 0)
            return true;
    }
    return false;
}
