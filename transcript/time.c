#include "transcript/time.h"

#include <time.h>

enum { SECOND = 1000000, MINUTE_S = 60, HOUR_S = 3600 };

/* n digits at `at`; -1 if they are none. */
static int digits(struct span text, size_t at, size_t n)
{
    int value = 0;
    if (at + n > text.n)
        return -1;
    for (size_t i = at; i < at + n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return -1;
        value = value * 10 + (text.p[i] - '0');
    }
    return value;
}

static bool is_at(struct span text, size_t at, char c)
{
    return at < text.n && text.p[at] == c;
}

static int days_in(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* Date and time of day, 19 bytes. */
static bool parse_fields(struct span text, struct tm *tm)
{
    bool form = is_at(text, 4, '-') && is_at(text, 7, '-') &&
                (is_at(text, 10, 'T') || is_at(text, 10, ' ')) && is_at(text, 13, ':') &&
                is_at(text, 16, ':');
    int year = digits(text, 0, 4), month = digits(text, 5, 2);
    *tm = (struct tm){.tm_year = year - 1900,
                      .tm_mon = month - 1,
                      .tm_mday = digits(text, 8, 2),
                      .tm_hour = digits(text, 11, 2),
                      .tm_min = digits(text, 14, 2),
                      .tm_sec = digits(text, 17, 2)};
    return form && year >= 1 && month >= 1 && month <= 12 && tm->tm_mday >= 1 &&
           tm->tm_mday <= days_in(year, month) && tm->tm_hour >= 0 && tm->tm_hour <= 23 && tm->tm_min >= 0 &&
           tm->tm_min <= 59 && tm->tm_sec >= 0 && tm->tm_sec <= 59;
}

/* What follows the fraction: nothing, Z, or ±HH:MM. */
static bool parse_zone(struct span zone, int64_t *seconds)
{
    *seconds = 0;
    if (zone.n == 0 || span_is(zone, "Z"))
        return true;
    int hours = digits(zone, 1, 2), minutes = digits(zone, 4, 2);
    if (zone.n != 6 || (zone.p[0] != '+' && zone.p[0] != '-') || zone.p[3] != ':' || hours < 0 ||
        hours > 23 || minutes < 0 || minutes > 59)
        return false;
    *seconds = (hours * HOUR_S + minutes * MINUTE_S) * (zone.p[0] == '-' ? -1 : 1);
    return true;
}

bool time_parse(struct span text, int64_t *us)
{
    struct tm tm;
    size_t at = 19;
    int64_t fraction = 0, unit = SECOND, zone;
    if (!parse_fields(text, &tm))
        return false;
    if (is_at(text, at, '.')) {
        if (digits(text, ++at, 1) < 0)
            return false;
        for (; digits(text, at, 1) >= 0; at++) {
            unit /= 10;
            fraction += digits(text, at, 1) * unit;
        }
    }
    if (!parse_zone(span_from(text, at), &zone))
        return false;
    *us = ((int64_t)timegm(&tm) - zone) * SECOND + fraction;
    return true;
}

/* False: a year that has not four digits. */
static bool split(int64_t us, struct tm *tm, int *fraction)
{
    int64_t rest = us % SECOND;
    if (rest < 0)
        rest += SECOND;
    *fraction = (int)rest;
    if (us < INT64_MIN + SECOND)
        return false;
    time_t seconds = (time_t)((us - rest) / SECOND);
    return gmtime_r(&seconds, tm) && tm->tm_year >= 1 - 1900 && tm->tm_year <= 9999 - 1900;
}

bool time_print(int64_t us, struct buf *out)
{
    struct tm tm;
    int fraction;
    if (!split(us, &tm, &fraction))
        return false;
    buf_printf(out, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
               tm.tm_hour, tm.tm_min, tm.tm_sec, fraction);
    return true;
}

void time_print_minute(int64_t us, struct buf *out)
{
    struct tm tm;
    int fraction;
    if (us != 0 && split(us, &tm, &fraction))
        buf_printf(out, "%04d-%02d-%02d %02d:%02d UTC", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
                   tm.tm_hour, tm.tm_min);
}

void time_print_second(int64_t us, struct buf *out)
{
    struct tm tm;
    int fraction;
    if (split(us, &tm, &fraction))
        buf_printf(out, "%04d-%02d-%02d %02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
                   tm.tm_hour, tm.tm_min, tm.tm_sec);
}
