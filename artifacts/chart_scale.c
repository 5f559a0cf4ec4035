/* Axes: round numbers, calendar dates, and the text beside a mark. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "artifacts/chart.h"

static const double DAY = 86400;

enum unit { SECONDS, MINUTES, HOURS, DAYS, MONTHS, YEARS };

/* The smallest of 1, 2, 2.5, 5 times a power of ten that is no smaller. */
static double round_step(double raw)
{
    static const double steps[] = {1, 2, 2.5, 5, 10};
    double power = pow(10, floor(log10(raw)));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i] * power >= raw * (1 - 1e-9))
            return steps[i] * power;
    return 10 * power;
}

void chart_scale_numbers(struct chart_scale *s, double low, double high, int wanted, bool loose)
{
    *s = (struct chart_scale){0};
    if (wanted < 2)
        wanted = 2;
    if (wanted > CHART_TICKS / 2)
        wanted = CHART_TICKS / 2;
    /* Values of one size, or so close together that no step lies between them. */
    double size = fmax(fabs(low), fabs(high));
    if (!(high - low > size * 1e-9) || size < 1e-200) {
        double room = size > 1e-200 ? size * 0.1 : 1;
        low -= room;
        high += room;
    }
    /* Halves: the difference of the two largest numbers is no number. */
    double raw = (high / 2 - low / 2) / wanted * 2;
    s->step = raw > DBL_MIN * 1e10 && raw < DBL_MAX / 1e3 ? round_step(raw) : raw;
    double first = ceil(low / s->step - 1e-9), last = floor(high / s->step + 1e-9);
    if (loose) {
        first = floor(low / s->step + 1e-9);
        last = ceil(high / s->step - 1e-9);
    }
    for (double k = first; k <= last && s->n < CHART_TICKS; k++)
        s->at[s->n++] = k == 0 ? 0 : k * s->step;
    s->low = loose && s->n ? s->at[0] : low;
    s->high = loose && s->n ? s->at[s->n - 1] : high;
}

/* Days from 1970-01-01 in the Gregorian calendar (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
 */
static int64_t days_of(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

struct date {
    int64_t year;
    int month, day, hour, minute, second;
};

static struct date date_of(double seconds)
{
    struct date d;
    int64_t all = (int64_t)floor(seconds + 0.5);
    int64_t days = all / 86400, rest = all % 86400;
    if (rest < 0) {
        rest += 86400;
        days--;
    }
    int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, of_era = z - era * 146097;
    int64_t of_year_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * of_year_era + of_year_era / 4 - of_year_era / 100);
    int64_t month = (5 * of_year + 2) / 153;
    d.day = (int)(of_year - (153 * month + 2) / 5 + 1);
    d.month = (int)(month < 10 ? month + 3 : month - 9);
    d.year = of_year_era + era * 400 + (d.month <= 2);
    d.hour = (int)(rest / 3600);
    d.minute = (int)(rest / 60 % 60);
    d.second = (int)(rest % 60);
    return d;
}

static void months_scale(struct chart_scale *s, double low, double high, int step)
{
    struct date d = date_of(low);
    int64_t month = d.year * 12 + d.month - 1;
    month -= month % step;
    for (; s->n < CHART_TICKS; month += step) {
        double at = (double)days_of(month / 12, (int)(month % 12) + 1, 1) * DAY;
        if (at > high + 1)
            break;
        if (at >= low - 1)
            s->at[s->n++] = at;
    }
}

void chart_scale_dates(struct chart_scale *s, double low, double high, int wanted)
{
    static const struct {
        double seconds;
        int unit, step;
    } steps[] = {{1, SECONDS, 1},
                 {10, SECONDS, 10},
                 {60, MINUTES, 1},
                 {300, MINUTES, 5},
                 {900, MINUTES, 15},
                 {3600, HOURS, 1},
                 {3 * 3600, HOURS, 3},
                 {6 * 3600, HOURS, 6},
                 {12 * 3600, HOURS, 12},
                 {86400, DAYS, 1},
                 {2 * 86400, DAYS, 2},
                 {7 * 86400, DAYS, 7},
                 {14 * 86400, DAYS, 14},
                 {30 * 86400, MONTHS, 1},
                 {61 * 86400, MONTHS, 2},
                 {91 * 86400, MONTHS, 3},
                 {182 * 86400, MONTHS, 6},
                 {365 * 86400, YEARS, 1},
                 {730 * 86400, YEARS, 2},
                 {1826.0 * 86400, YEARS, 5},
                 {3652.0 * 86400, YEARS, 10},
                 {9131.0 * 86400, YEARS, 25},
                 {18262.0 * 86400, YEARS, 50},
                 {36524.0 * 86400, YEARS, 100},
                 {365243.0 * 86400, YEARS, 1000}};
    size_t last = sizeof steps / sizeof *steps - 1, i = 0;
    *s = (struct chart_scale){.dates = true};
    if (wanted < 2)
        wanted = 2;
    if (!(high > low)) {
        low -= DAY;
        high += DAY;
    }
    while (i < last && (high - low) / steps[i].seconds > wanted)
        i++;
    s->low = low;
    s->high = high;
    s->unit = steps[i].unit;
    s->step = steps[i].seconds;
    if (s->unit >= MONTHS) {
        months_scale(s, low, high, steps[i].step * (s->unit == YEARS ? 12 : 1));
        return;
    }
    /* Weeks begin on a Monday: 1970-01-05. */
    double from = s->unit == DAYS && steps[i].step >= 7 ? 4 * DAY : 0;
    for (double k = ceil((low - from) / s->step - 1e-9); s->n < CHART_TICKS; k++) {
        double at = from + k * s->step;
        if (at > high + 1e-6)
            break;
        s->at[s->n++] = at;
    }
}

void chart_scale_on(struct chart_scale *s, const double *dates, size_t n)
{
    bool months = true, days = true;
    s->n = 0;
    for (size_t i = 0; i < n && i < CHART_TICKS; i++) {
        struct date d = date_of(dates[i]);
        days &= !d.hour && !d.minute && !d.second;
        months &= days && d.day == 1;
        s->at[s->n++] = dates[i];
    }
    s->unit = months ? MONTHS : days ? DAYS : MINUTES;
}

static const char *const MONTH_NAMES[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

static void date_text(const struct chart_scale *s, double value, char *out, size_t room)
{
    struct date d = date_of(value);
    bool first = !s->n || value <= s->at[0] + 1;
    const char *month = MONTH_NAMES[(d.month - 1) % 12];
    if (s->unit == YEARS)
        snprintf(out, room, "%lld", (long long)d.year);
    else if (s->unit == MONTHS)
        snprintf(out, room, first || d.month == 1 ? "%s %lld" : "%s", month, (long long)d.year);
    else if (s->unit == DAYS)
        snprintf(out, room, first ? "%d %s %lld" : "%d %s", d.day, month, (long long)d.year);
    else if (first || (!d.hour && !d.minute && !d.second))
        snprintf(out, room, "%d %s %02d:%02d", d.day, month, d.hour, d.minute);
    else if (s->unit == SECONDS)
        snprintf(out, room, "%02d:%02d:%02d", d.hour, d.minute, d.second);
    else
        snprintf(out, room, "%02d:%02d", d.hour, d.minute);
}

/* Parts the thousands of a number's text by commas, and writes a true minus sign. */
static void part_thousands(const char *plain, char *out, size_t room)
{
    size_t digits = strspn(plain + (*plain == '-'), "0123456789"), n = 0;
    const char *p = plain;
    if (*p == '-' && room > 4) {
        memcpy(out, "\xe2\x88\x92", 3);
        n = 3;
        p++;
    }
    for (size_t i = 0; p[i] && n + 2 < room; i++) {
        if (i && i < digits && (digits - i) % 3 == 0)
            out[n++] = ',';
        out[n++] = p[i];
    }
    out[n] = '\0';
}

/* The letter for the size of an axis's numbers, and what they are divided by. */
static double scale_letter(double size, const char **letter)
{
    static const struct {
        double over, by;
        const char *letter;
    } sizes[] = {{9.95e11, 1e12, "T"}, {9.95e8, 1e9, "B"}, {9.95e5, 1e6, "M"}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (size >= sizes[i].over) {
            *letter = sizes[i].letter;
            return sizes[i].by;
        }
    *letter = "";
    return 1;
}

static int decimals_of(double step)
{
    for (int n = 0; n < 9; n++) {
        double scaled = step * pow(10, n);
        if (fabs(scaled - floor(scaled + 0.5)) < 1e-6 * scaled)
            return n;
    }
    return 9;
}

void chart_tick_text(const struct chart_scale *s, double value, char *out, size_t room)
{
    char plain[64];
    const char *letter;
    if (s->dates) {
        date_text(s, value, out, room);
        return;
    }
    double size = fmax(fabs(s->low), fabs(s->high)), by = scale_letter(size, &letter);
    if (size >= 1e15 || (size < 1e-6 && size > 0)) {
        snprintf(out, room, "%.3g", value);
        return;
    }
    snprintf(plain, sizeof plain, "%.*f%s", decimals_of(s->step / by), value / by, value != 0 ? letter : "");
    part_thousands(plain, out, room);
}

void chart_value_text(double value, char *out, size_t room)
{
    char plain[64];
    double size = fabs(value);
    if (size >= 1e15 || (size < 1e-6 && size > 0)) {
        snprintf(out, room, "%.4g", value);
        return;
    }
    int decimals = size >= 1000 ? 1 : size >= 1 ? 2 : 4;
    snprintf(plain, sizeof plain, "%.*f", decimals, value);
    if (strchr(plain, '.')) {
        size_t n = strlen(plain);
        while (n && plain[n - 1] == '0')
            plain[--n] = '\0';
        if (n && plain[n - 1] == '.')
            plain[--n] = '\0';
    }
    part_thousands(strcmp(plain, "-0") == 0 ? "0" : plain, out, room);
}

/* n digits at *p. */
static bool digits(const char **p, const char *end, int n, int *out)
{
    int value = 0;
    for (int i = 0; i < n; i++) {
        if (*p == end || **p < '0' || **p > '9')
            return false;
        value = value * 10 + (*(*p)++ - '0');
    }
    *out = value;
    return true;
}

static bool take(const char **p, const char *end, const char *any)
{
    if (*p == end || !strchr(any, **p))
        return false;
    (*p)++;
    return true;
}

static int month_days(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* Hours, minutes, seconds with a fraction, a zone; at p behind the date. The zone is read over: the axis
 * shows the times as they were written. */
static bool read_time(const char *p, const char *end, double *seconds)
{
    int hour, minute, second = 0, skipped;
    if (!digits(&p, end, 2, &hour) || !take(&p, end, ":") || !digits(&p, end, 2, &minute))
        return false;
    if (take(&p, end, ":") && !digits(&p, end, 2, &second))
        return false;
    if (take(&p, end, "."))
        while (p < end && *p >= '0' && *p <= '9')
            p++;
    if (take(&p, end, "+-")) {
        if (!digits(&p, end, 2, &skipped))
            return false;
        take(&p, end, ":");
        if (p < end && !digits(&p, end, 2, &skipped))
            return false;
    } else {
        take(&p, end, "Zz");
    }
    *seconds = hour * 3600.0 + minute * 60.0 + second;
    return p == end && hour < 24 && minute < 60 && second < 61;
}

bool chart_date_read(struct span text, double *out)
{
    while (text.n && text.p[0] == ' ')
        text = span_from(text, 1);
    while (text.n && text.p[text.n - 1] == ' ')
        text.n--;
    if (text.n < 7)
        return false;
    const char *p = text.p, *end = text.p + text.n;
    int year, month, day = 1;
    double seconds = 0;
    if (!digits(&p, end, 4, &year) || p == end || !strchr("-/", *p))
        return false;
    char mark = *p++;
    if (!digits(&p, end, 2, &month) || month < 1 || month > 12 || year < 1)
        return false;
    if (p < end) {
        if (*p++ != mark || !digits(&p, end, 2, &day) || day < 1 || day > month_days(year, month))
            return false;
        if (p < end && (!take(&p, end, "Tt ") || !read_time(p, end, &seconds)))
            return false;
    }
    *out = (double)days_of(year, month, day) * DAY + seconds;
    return true;
}
