#include "filters/items.h"

/* The inside of a string from p on; answers what stands behind its end, or end. */
static const char *skip_string(struct items_scan *scan, const char *p, const char *end)
{
    const char *quote = NULL; /* none stands between p and this one */
    while (p < end) {
        if (scan->escaped) {
            scan->escaped = false;
            p++;
            continue;
        }
        if (!quote || quote < p)
            quote = memchr(p, '"', (size_t)(end - p));
        if (!quote)
            quote = end;
        const char *escape = memchr(p, '\\', (size_t)(quote - p));
        if (!escape) {
            scan->string = quote == end;
            return scan->string ? end : quote + 1;
        }
        scan->escaped = true;
        p = escape + 1;
    }
    return end;
}

size_t items_block(struct items_scan *scan, struct span bytes)
{
    const char *p = bytes.p + scan->seen, *end = bytes.p + bytes.n;
    while (p < end) {
        if (scan->string)
            p = skip_string(scan, p, end);
        if (p == end)
            break;
        char c = *p++;
        if (c == '"') {
            scan->string = true;
        } else if (c == '{') {
            scan->depth++;
        } else if (c == '}' && scan->depth && --scan->depth == 0) {
            *scan = (struct items_scan){0};
            return (size_t)(p - bytes.p);
        }
    }
    scan->seen = bytes.n;
    return 0;
}

struct items_parts items_parse(struct span block)
{
    struct items_parts parts = {.lead = block, .object = span_of(block.p + block.n, 0)};
    struct items_scan scan = {0};
    const char *p = block.p, *end = p + block.n;
    while (p < end) {
        if (scan.string) {
            p = skip_string(&scan, p, end);
            continue;
        }
        switch (*p) {
        case '{':
            parts.lead = span_of(block.p, (size_t)(p - block.p));
            parts.object = span_of(p, (size_t)(end - p));
            return parts;
        case '"':
            scan.string = true;
            break;
        case '[':
            parts.opens = true;
            break;
        case ']':
            parts.closes = true;
            break;
        case ',':
            parts.comma = true;
            break;
        default:
            break;
        }
        p++;
    }
    return parts;
}
