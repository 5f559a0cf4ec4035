#include "artifacts/files_api.h"

#include <stdio.h>
#include <time.h>

#include "base/json.h"

/* ---- paths ---- */

/* Takes the first component, with the slash before it, off `path`. */
static struct span take_component(struct span *path)
{
    struct span one = {NULL, 0};
    if (!path->n || path->p[0] != '/')
        return one;
    const char *next = path->n > 1 ? memchr(path->p + 1, '/', path->n - 1) : NULL;
    size_t n = next ? (size_t)(next - path->p) : path->n;
    one = span_of(path->p + 1, n - 1);
    *path = span_from(*path, n);
    return one;
}

/* What follows the last "/v1/" that is followed by "files/" or "containers/". */
static bool find_start(struct span path, struct span *rest)
{
    for (size_t i = path.n; i-- > 0;) {
        struct span here = span_from(path, i);
        if (span_starts(here, "/v1/files/") || span_starts(here, "/v1/containers/")) {
            *rest = span_from(here, 3);
            return true;
        }
    }
    return false;
}

bool files_path_parse(struct span path, struct files_path *out)
{
    struct span rest;
    if (!find_start(path, &rest))
        return false;
    if (span_is(take_component(&rest), "containers")) {
        if (!take_component(&rest).n || !span_is(take_component(&rest), "files"))
            return false;
    }
    out->id = take_component(&rest);
    out->content = rest.n > 0;
    if (rest.n && !(span_is(take_component(&rest), "content") && !rest.n))
        return false;
    return out->id.n && span_starts(out->id, "file-hw-");
}

/* ---- bodies ---- */

static void add_text(struct buf *out, const char *before, struct span value)
{
    buf_adds(out, before);
    if (json_escape(value, out) == 0)
        buf_addc(out, '"');
}

static void add_rfc3339(int64_t seconds, struct buf *out)
{
    time_t t = (time_t)seconds;
    struct tm tm;
    char text[32];
    if (!gmtime_r(&t, &tm) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm))
        text[0] = '\0';
    buf_adds(out, text);
}

static struct span bare_media_type(const struct artifact *a)
{
    return span_of(a->media_type, strcspn(a->media_type, ";"));
}

void files_object(enum files_shape shape, const struct artifact *a, struct buf *out)
{
    if (shape == FILES_ANTHROPIC) {
        add_text(out, "{\"id\":\"", span_str(a->id));
        add_text(out, ",\"type\":\"file\",\"filename\":\"", span_str(a->filename));
        add_text(out, ",\"mime_type\":\"", bare_media_type(a));
        buf_printf(out, ",\"size_bytes\":%llu,\"created_at\":\"", (unsigned long long)a->bytes);
        add_rfc3339(a->created_at, out);
        buf_adds(out, "\",\"downloadable\":true}");
        return;
    }
    add_text(out, "{\"id\":\"", span_str(a->id));
    buf_printf(out, ",\"object\":\"file\",\"bytes\":%llu,\"created_at\":%lld,\"expires_at\":%lld",
               (unsigned long long)a->bytes, (long long)a->created_at, (long long)a->expires_at);
    add_text(out, ",\"filename\":\"", span_str(a->filename));
    buf_adds(out, ",\"purpose\":\"assistants_output\",\"status\":\"processed\"}");
}

/* "deleted" stands in Anthropic's shape too: clients of either look for it. */
void files_deleted(enum files_shape shape, struct span id, struct buf *out)
{
    add_text(out, "{\"id\":\"", id);
    buf_adds(out, shape == FILES_ANTHROPIC ? ",\"type\":\"file_deleted\",\"deleted\":true}"
                                           : ",\"object\":\"file\",\"deleted\":true}");
}

void files_list(enum files_shape shape, const struct artifact *list, size_t n, bool more, struct buf *out)
{
    buf_adds(out, shape == FILES_ANTHROPIC ? "{\"data\":[" : "{\"object\":\"list\",\"data\":[");
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_addc(out, ',');
        files_object(shape, &list[i], out);
    }
    buf_printf(out, "],\"has_more\":%s,\"first_id\":", more ? "true" : "false");
    if (n)
        buf_printf(out, "\"%s\",\"last_id\":\"%s\"}", list[0].id, list[n - 1].id);
    else
        buf_adds(out, "null,\"last_id\":null}");
}

/* ---- conditions ---- */

void files_etag(const struct artifact *a, struct buf *out)
{
    buf_printf(out, "\"%s\"", a->sha256);
}

void files_http_date(int64_t seconds, struct buf *out)
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t t = (time_t)seconds;
    struct tm tm;
    if (gmtime_r(&t, &tm))
        buf_printf(out, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[tm.tm_wday], tm.tm_mday,
                   months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

/* The fixed form of RFC 9110, section 5.6.7, alone; other forms count as no date. Independent of the locale.
 */
static bool parse_http_date(struct span text, int64_t *out)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char copy[32], month[4];
    struct tm tm = {0};
    int read = 0;
    if (text.n != 29)
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    if (sscanf(copy + 5, "%2d %3s %4d %2d:%2d:%2d GMT%n", &tm.tm_mday, month, &tm.tm_year, &tm.tm_hour,
               &tm.tm_min, &tm.tm_sec, &read) != 6 ||
        read != 24)
        return false;
    const char *found = strlen(month) == 3 ? strstr(months, month) : NULL;
    if (!found || (found - months) % 3 || tm.tm_year < 1900)
        return false;
    tm.tm_mon = (int)(found - months) / 3;
    tm.tm_year -= 1900;
    *out = (int64_t)timegm(&tm);
    return true;
}

static struct span trim(struct span s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = span_from(s, 1);
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    return s;
}

/* Whether a tag ("…", W/"…" where weak tags count) is ours. */
static bool tag_is(struct span tag, const struct artifact *a, bool weak)
{
    if (weak && span_starts(tag, "W/"))
        tag = span_from(tag, 2);
    size_t n = strlen(a->sha256);
    return tag.n == n + 2 && tag.p[0] == '"' && tag.p[n + 1] == '"' && memcmp(tag.p + 1, a->sha256, n) == 0;
}

/* A list of tags, or `*`, which any existing file matches. */
static bool tags_match(struct span list, const struct artifact *a, bool weak)
{
    if (span_is(trim(list), "*"))
        return true;
    while (list.n) {
        const char *comma = memchr(list.p, ',', list.n); /* our own tag holds none */
        size_t n = comma ? (size_t)(comma - list.p) : list.n;
        if (tag_is(trim(span_of(list.p, n)), a, weak))
            return true;
        list = span_from(list, comma ? n + 1 : n);
    }
    return false;
}

/* 0: none of the conditions stands in the way. RFC 9110, section 13.2.2. */
static int check_conditions(const struct artifact *a, const struct files_conditions *c)
{
    int64_t when;
    if (c->if_match.n) {
        if (!tags_match(c->if_match, a, false))
            return FILES_PRECONDITION;
    } else if (c->if_unmodified_since.n && parse_http_date(trim(c->if_unmodified_since), &when) &&
               a->created_at > when) {
        return FILES_PRECONDITION;
    }
    if (c->if_none_match.n)
        return tags_match(c->if_none_match, a, true) ? FILES_NOT_MODIFIED : 0;
    bool same =
        c->if_modified_since.n && parse_http_date(trim(c->if_modified_since), &when) && a->created_at <= when;
    return same ? FILES_NOT_MODIFIED : 0;
}

/* ---- ranges ---- */

/* Digits; a number that does not fit is as large as can be. false: no digit, or something else. */
static bool parse_number(struct span s, uint64_t *out)
{
    uint64_t v = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        v = v > (UINT64_MAX - 9) / 10 ? UINT64_MAX / 2 : v * 10 + (uint64_t)(s.p[i] - '0');
    }
    *out = v;
    return s.n > 0;
}

/* A single byte range of a body of `size`; a field that is not valid or holds several is ignored. */
static struct files_answer read_range(struct span range, uint64_t size)
{
    struct files_answer whole = {FILES_OK, 0, size}, none = {FILES_RANGE, 0, 0};
    uint64_t first, last = UINT64_MAX;
    range = trim(range);
    if (range.n < 6 || strncasecmp(range.p, "bytes=", 6) != 0 || memchr(range.p, ',', range.n))
        return whole;
    range = trim(span_from(range, 6));
    const char *dash = range.n ? memchr(range.p, '-', range.n) : NULL;
    if (!dash)
        return whole;
    struct span from = span_of(range.p, (size_t)(dash - range.p)), to = span_from(range, from.n + 1);
    if (!from.n) {
        if (!parse_number(to, &last))
            return whole;
        if (!last || !size)
            return none;
        uint64_t n = last < size ? last : size;
        return (struct files_answer){FILES_PARTIAL, size - n, n};
    }
    if (!parse_number(from, &first) || (to.n && (!parse_number(to, &last) || last < first)))
        return whole;
    if (first >= size)
        return none;
    last = last < size ? last : size - 1;
    return (struct files_answer){FILES_PARTIAL, first, last - first + 1};
}

static bool range_applies(const struct artifact *a, struct span if_range)
{
    int64_t when;
    struct span value = trim(if_range);
    if (!value.n)
        return true;
    if (value.p[0] == '"' || span_starts(value, "W/"))
        return tag_is(value, a, false);
    return parse_http_date(value, &when) && when == a->created_at;
}

struct files_answer files_decide(const struct artifact *a, const struct files_conditions *c)
{
    int stop = check_conditions(a, c);
    if (stop)
        return (struct files_answer){(enum files_status)stop, 0, 0};
    if (c->range.n && range_applies(a, c->if_range))
        return read_range(c->range, a->bytes);
    return (struct files_answer){FILES_OK, 0, a->bytes};
}

void files_content_range(const struct artifact *a, const struct files_answer *answer, struct buf *out)
{
    unsigned long long size = a->bytes, from = answer->from;
    if (answer->status == FILES_RANGE)
        buf_printf(out, "bytes */%llu", size);
    else
        buf_printf(out, "bytes %llu-%llu/%llu", from, from + answer->n - (answer->n ? 1 : 0), size);
}
