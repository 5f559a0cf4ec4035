#include "attachments/office_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The length of what is no format letter at p: a quoted text, an escaped character, a filler, a bracket. */
static size_t skipped(const char *p, const char *end)
{
    if (*p == '"') {
        const char *close = memchr(p + 1, '"', (size_t)(end - p - 1));
        return close ? (size_t)(close - p) + 1 : (size_t)(end - p);
    }
    if (*p == '\\' || *p == '_' || *p == '*')
        return end - p > 1 ? 2 : 1;
    if (*p == '[') {
        const char *close = memchr(p, ']', (size_t)(end - p));
        return close ? (size_t)(close - p) + 1 : (size_t)(end - p);
    }
    return 0;
}

static bool only(struct span s, char c)
{
    for (size_t i = 0; i < s.n; i++)
        if ((s.p[i] | 0x20) != c)
            return false;
    return s.n > 0;
}

enum office_number office_number_of_code(struct span code)
{
    bool date = false, time = false, month = false, percent = false;
    const char *p = code.p, *end = code.p + code.n;
    if (code.n >= 7 && span_is_nocase(span_of(code.p, 7), "general"))
        return OFFICE_PLAIN;
    while (p < end && *p != ';') {
        size_t skip = skipped(p, end);
        struct span inside = skip > 2 && *p == '[' ? span_of(p + 1, skip - 2) : SPAN_LIT("");
        if (only(inside, 'h') || only(inside, 'm') || only(inside, 's'))
            return OFFICE_DURATION;
        if (skip) {
            p += skip;
            continue;
        }
        struct span rest = span_of(p, (size_t)(end - p));
        if (rest.n >= 5 && span_is_nocase(span_of(p, 5), "am/pm")) {
            time = true;
            p += 5;
            continue;
        }
        char c = *p | 0x20;
        percent |= *p == '%';
        date |= c == 'y' || c == 'd' || (c == 'e' && rest.n > 1 && p[1] != '+' && p[1] != '-');
        time |= c == 'h' || c == 's';
        month |= c == 'm';
        p++;
    }
    if (percent)
        return OFFICE_PERCENT;
    if (date || (month && !time))
        return time ? OFFICE_DATE_TIME : OFFICE_DATE;
    return time ? OFFICE_TIME : OFFICE_PLAIN;
}

enum office_number office_number_of_id(unsigned id)
{
    if (id == 9 || id == 10)
        return OFFICE_PERCENT;
    if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || id == 36 || (id >= 50 && id <= 54) || id == 57 ||
        id == 58)
        return OFFICE_DATE;
    if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || id == 45 || id == 47 || id == 55 || id == 56)
        return OFFICE_TIME;
    return id == 22 ? OFFICE_DATE_TIME : id == 46 ? OFFICE_DURATION : OFFICE_PLAIN;
}

static void plain(struct buf *out, double value)
{
    char text[40];
    int n = snprintf(text, sizeof text, "%.15g", value == 0 ? 0.0 : value);
    buf_addn(out, text, (size_t)n);
}

/* A day's number as a date of the Gregorian calendar; `day` counts from 1970-01-01. */
static void civil(struct buf *out, int64_t day)
{
    int64_t z = day + 719468, era = (z >= 0 ? z : z - 146096) / 146097, doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    int64_t d = doy - (153 * mp + 2) / 5 + 1, month = mp < 10 ? mp + 3 : mp - 9;
    buf_printf(out, "%04d-%02d-%02d", (int)(yoe + era * 400 + (month <= 2)), (int)month, (int)d);
}

static void clock_time(struct buf *out, int64_t seconds)
{
    buf_printf(out, "%02lld:%02d:%02d", (long long)(seconds / 3600), (int)(seconds / 60 % 60),
               (int)(seconds % 60));
}

void office_number_write(struct buf *out, double value, enum office_number as, bool from_1904)
{
    enum { DAY = 86400, LAST = 2958466, FROM_1900 = 25569, FROM_1904 = 24107 };
    if (as == OFFICE_PERCENT && fabs(value) < 1e15) {
        plain(out, value * 100);
        buf_addc(out, '%');
        return;
    }
    if (as == OFFICE_PLAIN || as == OFFICE_PERCENT || !(value >= 0 && value < LAST)) {
        plain(out, value);
        return;
    }
    int64_t seconds = (int64_t)floor(value * DAY + 0.5), day = seconds / DAY, rest = seconds % DAY;
    if (as == OFFICE_DURATION || (day == 0 && !from_1904 && (as != OFFICE_DATE || rest))) {
        clock_time(out, seconds);
        return;
    }
    if (as == OFFICE_TIME && day == 0) {
        clock_time(out, rest);
        return;
    }
    /* The other system believes that 1900 was a leap year, and calls its day 0 January 0. */
    if (from_1904)
        civil(out, day - FROM_1904);
    else if (day == 60)
        buf_adds(out, "1900-02-29");
    else if (day == 0)
        buf_adds(out, "1900-01-00");
    else
        civil(out, day - FROM_1900 + (day < 60));
    if (as == OFFICE_DATE_TIME || rest) {
        buf_addc(out, ' ');
        clock_time(out, rest);
    }
}

void office_number_write_text(struct buf *out, struct span text, enum office_number as, bool from_1904)
{
    char copy[64], *end;
    if (text.n == 0 || text.n >= sizeof copy) {
        buf_add(out, text);
        return;
    }
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    double value = strtod(copy, &end);
    if (*end || !isfinite(value) || strpbrk(copy, "xXpP"))
        buf_add(out, text);
    else
        office_number_write(out, value, as, from_1904);
}
