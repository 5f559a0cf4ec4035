/* How much may be attached (product.md §6, "Limits"). Nothing is ever shortened to fit. */
#include <stdio.h>

#include "attachments/attachment.h"
#include "base/json.h"

uint64_t limits_characters(struct span text)
{
    uint64_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += ((unsigned char)text.p[i] & 0xc0) != 0x80;
    return n;
}

void limits_number(uint64_t n, char out[32])
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    int to = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            out[to++] = ',';
        out[to++] = digits[i];
    }
    out[to] = '\0';
}

/* A type is a string of the caller's, so it is escaped; its length is bounded when it is read. */
static void escape(const char *text, char *out, size_t room)
{
    struct buf b;
    buf_init(&b, room - 1);
    if (json_escape(span_str(text), &b))
        buf_reset(&b);
    snprintf(out, room, "%s", buf_cstr(&b));
    buf_free(&b);
}

int limits_check(const struct attachments *a, size_t max, struct error *e)
{
    const struct attachment *largest = NULL;
    char total_text[32], max_text[32], escaped[6 * LIMIT_ATTACHMENT_TYPE + 1];
    uint64_t total = 0;
    for (size_t i = 0; i < a->n; i++) {
        total += a->list[i].characters;
        if (!largest || a->list[i].characters > largest->characters)
            largest = &a->list[i];
    }
    if (total <= max || !largest)
        return 0;
    const char *type = largest->type ? largest->type : largest->media.type;
    limits_number(total, total_text);
    limits_number(max, max_text);
    error_set(
        e, ERROR_ATTACHMENT_TOO_LARGE,
        "The attachments have %s characters of text; at most %s are accepted. The largest is of type %s. "
        "Attach a shorter excerpt of it, the part that matters.",
        total_text, max_text, type);
    escape(type, escaped, sizeof escaped);
    snprintf(e->details, sizeof e->details,
             "{\"total_characters\":%llu,\"limit_characters\":%zu,\"largest_attachment\":{\"type\":\"%s\","
             "\"characters\":%llu}}",
             (unsigned long long)total, max, escaped, (unsigned long long)largest->characters);
    return -1;
}

int limits_file(const struct attachment *a, uint64_t bytes, size_t max, struct error *e)
{
    char place[ATTACHMENT_PLACE];
    attachment_place(a, place);
    error_set(e, ERROR_ATTACHMENT_TOO_LARGE,
              "%s has %llu bytes; at most %zu are accepted for one file (limits.attachment_file). Attach a "
              "smaller file, or the part of it that matters.",
              place, (unsigned long long)bytes, max);
    if (!attachment_in_array(a))
        snprintf(e->details, sizeof e->details, "{\"bytes\":%llu,\"limit_bytes\":%zu}",
                 (unsigned long long)bytes, max);
    else
        snprintf(e->details, sizeof e->details, "{\"bytes\":%llu,\"limit_bytes\":%zu,\"index\":%zu}",
                 (unsigned long long)bytes, max, a->index);
    return -1;
}
