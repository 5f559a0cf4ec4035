/*
 * What kind of value a cell is. A column is looked at as a whole: codes with leading zeros keep their column
 * text; a column whose values are mostly numbers or dates has each of these typed, with what is no number
 * ("n/a", a formula kept as text) left as text beside them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "artifacts/xlsx.h"
#include "base/xalloc.h"

enum { NUMBER_BYTES = 64, EXACT_DIGITS = 15, PHONE_DIGITS = 6 };

/* What a text looks like. */
struct reading {
    enum xlsx_kind kind; /* TEXT: nothing else */
    double number;
    struct span digits; /* a plain number, as written */
    unsigned decimals;
    bool grouped, exponent;
    bool code;    /* digits that stand for no amount: "007", sixteen and more of them */
    bool neutral; /* says nothing about its column: "n/a", "=A1" */
    bool seconds, zone;
    bool plus; /* its sign is written */
    struct span symbol;
    bool symbol_after;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool starts(struct span s, size_t at, const char *word)
{
    return at <= s.n && span_starts(span_from(s, at), word);
}

/* ---- dates ---- */

static bool two(struct span s, size_t at, unsigned max, unsigned *out)
{
    if (at + 2 > s.n || !is_digit(s.p[at]) || !is_digit(s.p[at + 1]))
        return false;
    *out = (unsigned)(s.p[at] - '0') * 10 + (unsigned)(s.p[at + 1] - '0');
    return *out <= max;
}

/* Days since the last of 1899 as spreadsheets count them: with a 29 February 1900. 0: not a date of theirs.
 */
static unsigned serial_of(unsigned year, unsigned month, unsigned day)
{
    static const unsigned char length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (year < 1900 || year > 9999 || month < 1 || month > 12 || day < 1 ||
        day > length[month - 1] + (month == 2 && leap ? 1u : 0u))
        return 0;
    unsigned before = year - 1, days = 365 * (year - 1900) + (before / 4 - before / 100 + before / 400) - 460;
    for (unsigned m = 1; m < month; m++)
        days += length[m - 1] + (m == 2 && leap ? 1u : 0u);
    days += day;
    return days > 59 ? days + 1 : days;
}

/* "T09:30", " 09:30:15.5Z": a fraction of a day. */
static bool read_time(struct span s, size_t at, struct reading *r)
{
    unsigned hour, minute, second = 0;
    if (at >= s.n || (s.p[at] != 'T' && s.p[at] != 't' && s.p[at] != ' ') || !two(s, at + 1, 23, &hour) ||
        !starts(s, at + 3, ":") || !two(s, at + 4, 59, &minute))
        return false;
    at += 6;
    if (starts(s, at, ":")) {
        if (!two(s, at + 1, 59, &second))
            return false;
        at += 3;
        if (starts(s, at, "."))
            for (at++; at < s.n && is_digit(s.p[at]); at++)
                ;
    }
    r->seconds = second > 0;
    r->number += (hour * 3600 + minute * 60 + second) / 86400.0;
    if (at == s.n)
        return true;
    r->zone = true;
    if (s.p[at] == 'Z' || s.p[at] == 'z')
        return at + 1 == s.n;
    return (s.p[at] == '+' || s.p[at] == '-') && two(s, at + 1, 14, &hour) &&
           (at + 3 == s.n || two(s, at + 3 + (s.p[at + 3] == ':' ? 1u : 0u), 59, &minute)) && s.n <= at + 6;
}

static bool read_date(struct span s, struct reading *r)
{
    unsigned century, year, month, day;
    if (s.n < 10 || s.n > 40 || !two(s, 0, 99, &century) || !two(s, 2, 99, &year) || s.p[4] != '-' ||
        s.p[7] != '-' || !two(s, 5, 12, &month) || !two(s, 8, 31, &day))
        return false;
    unsigned serial = serial_of(century * 100 + year, month, day);
    r->number = serial;
    r->kind = s.n == 10 ? KIND_DATE : KIND_DATETIME;
    return serial && (s.n == 10 || read_time(s, 10, r));
}

/* ---- numbers ---- */

static const char *const symbols[] = {"US$",          "$",   "\xe2\x82\xac", "\xc2\xa3",     "\xc2\xa5",
                                      "\xe2\x82\xb9", "EUR", "USD",          "GBP",          "CHF",
                                      "JPY",          "INR", "CNY",          "CAD",          "AUD",
                                      "SEK",          "NOK", "DKK",          "PLN",          "CZK",
                                      "z\xc5\x82",    "kr",  "\xe2\x82\xa9", "\xe2\x82\xba", "\xe2\x82\xbd",
                                      "\xe2\x82\xaa"};

static size_t skip_space(struct span s, size_t at)
{
    for (;;) {
        if (starts(s, at, " "))
            at++;
        else if (starts(s, at, "\xc2\xa0"))
            at += 2;
        else if (starts(s, at, "\xe2\x80\xaf"))
            at += 3;
        else
            return at;
    }
}

static size_t take_symbol(struct span s, size_t at, struct span *symbol)
{
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        if (starts(s, at, symbols[i])) {
            *symbol = span_str(symbols[i]);
            return at + symbol->n;
        }
    return at;
}

/* Digits with at most one point; commas only between groups of three. Writes them without commas. */
static size_t take_digits(struct span s, size_t at, struct reading *r, char plain[NUMBER_BYTES], size_t *n)
{
    size_t whole = 0, group = 0, first = at;
    bool zero = starts(s, at, "0"), grouped_ok = true;
    for (; at < s.n && (is_digit(s.p[at]) || s.p[at] == ','); at++) {
        if (s.p[at] == ',') {
            grouped_ok &= r->grouped ? group == 3 : group >= 1 && group <= 3;
            r->grouped = true;
            group = 0;
            continue;
        }
        whole++;
        group++;
        plain[(*n)++] = s.p[at];
    }
    if (r->grouped && (group != 3 || !grouped_ok || zero))
        return first;
    r->code = (zero && whole > 1) || whole > EXACT_DIGITS;
    if (at + 1 < s.n && s.p[at] == '.' && is_digit(s.p[at + 1])) {
        plain[(*n)++] = '.';
        for (at++; at < s.n && is_digit(s.p[at]); at++, r->decimals++)
            plain[(*n)++] = s.p[at];
    }
    return whole || r->decimals ? at : first;
}

static bool read_number(struct span s, struct reading *r)
{
    char plain[NUMBER_BYTES];
    size_t n = 0, at = 0;
    if (!s.n || s.n >= NUMBER_BYTES - 8)
        return false;
    if (s.p[0] == '-') {
        plain[n++] = '-';
        at = 1;
    } else if (s.p[0] == '+') {
        r->plus = true;
        at = 1;
    } else if (starts(s, 0, "\xe2\x88\x92")) { /* the minus sign proper */
        plain[n++] = '-';
        at = 3;
    }
    at = take_symbol(s, at, &r->symbol);
    if (r->symbol.n) {
        at = skip_space(s, at);
        if (!n && starts(s, at, "-")) {
            plain[n++] = '-';
            at++;
        }
    }
    size_t first = at;
    at = take_digits(s, at, r, plain, &n);
    if (at == first)
        return false;
    if (at + 1 < s.n && (s.p[at] | 0x20) == 'e' && !r->symbol.n && !r->grouped) {
        size_t from = at++;
        at += s.p[at] == '-' || s.p[at] == '+';
        size_t digits = at;
        while (at < s.n && is_digit(s.p[at]))
            at++;
        if (at == digits)
            return false;
        memcpy(plain + n, s.p + from, at - from);
        n += at - from;
        r->exponent = true;
    }
    plain[n] = '\0';
    r->number = strtod(plain, NULL);
    if (!isfinite(r->number))
        return false;
    if (r->plus && !r->decimals && n > PHONE_DIGITS)
        r->code = true;
    size_t after = skip_space(s, at);
    if (at == s.n) {
        r->kind = r->symbol.n ? KIND_CURRENCY : KIND_NUMBER;
        if (!r->symbol.n && !r->grouped && s.p[0] != '.' && (s.p[0] == '-' || is_digit(s.p[0])))
            r->digits = s;
        return true;
    }
    if (r->symbol.n)
        return false;
    if (starts(s, after, "%") && after + 1 == s.n && !r->exponent) {
        r->kind = KIND_PERCENT;
        r->number /= 100;
        return true;
    }
    r->symbol_after = true;
    r->kind = KIND_CURRENCY;
    return take_symbol(s, after, &r->symbol) == s.n && r->symbol.n;
}

static bool is_bool(struct span s, bool *value)
{
    *value = span_is_nocase(s, "true");
    return *value || span_is_nocase(s, "false");
}

static bool is_neutral(struct span s)
{
    static const char *const words[] = {"n/a", "na",  "-",   "--",           "?",           "none", "null",
                                        "nan", "tbd", "tba", "\xe2\x80\x93", "\xe2\x80\x94"};
    if (s.p[0] == '=')
        return true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (span_is_nocase(s, words[i]))
            return true;
    return false;
}

static struct reading read_text(struct span s)
{
    struct reading r = {.kind = KIND_TEXT};
    bool truth;
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = span_from(s, 1);
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    if (!s.n)
        return r;
    if (is_bool(s, &truth)) {
        r.kind = KIND_BOOL;
        r.number = truth;
        return r;
    }
    if (read_date(s, &r))
        return r;
    r = (struct reading){.kind = KIND_TEXT};
    if (read_number(s, &r))
        return r;
    return (struct reading){.kind = KIND_TEXT, .neutral = is_neutral(s)};
}

/* ---- formats ---- */

static void put_decimals(char *format, size_t room, size_t at, unsigned decimals)
{
    if (decimals > XLSX_DECIMALS)
        decimals = XLSX_DECIMALS;
    if (decimals && at + decimals + 2 < room) {
        format[at++] = '.';
        memset(format + at, '0', decimals);
        at += decimals;
    }
    format[at] = '\0';
}

static void make_currency(struct xlsx_column *column, struct span symbol, bool after, unsigned decimals)
{
    char amount[32] = "#,##0";
    put_decimals(amount, sizeof amount, 5, decimals);
    bool word = symbol.n == 3 && symbol.p[0] >= 'A' && symbol.p[0] <= 'Z' && symbol.p[2] != '$';
    int n = (int)symbol.n;
    if (!symbol.n)
        snprintf(column->currency_format, XLSX_SHORT_FORMAT, "%s", amount);
    else if (after)
        snprintf(column->currency_format, XLSX_SHORT_FORMAT, "%s\" %.*s\"", amount, n, symbol.p);
    else
        snprintf(column->currency_format, XLSX_SHORT_FORMAT, "\"%.*s%s\"%s", n, symbol.p, word ? " " : "",
                 amount);
}

/* ---- columns ---- */

struct tally {
    unsigned typed, texts, codes, exponents;
    unsigned plain, grouped, percents, currencies;
    unsigned least, most; /* decimals of plain numbers */
    unsigned percent_decimals, currency_decimals;
    struct span symbol;
    bool symbol_after, symbols_differ, seconds, plus;
};

static void count_text(struct tally *t, const struct reading *r)
{
    t->typed += r->kind != KIND_TEXT;
    t->texts += r->kind == KIND_TEXT && !r->neutral;
    t->codes += r->code && r->kind == KIND_NUMBER;
    t->exponents += r->exponent;
    t->seconds |= r->seconds;
    t->plus |= r->plus;
    if (r->kind == KIND_NUMBER) {
        if (!t->plain || r->decimals < t->least)
            t->least = r->decimals;
        if (r->decimals > t->most)
            t->most = r->decimals;
        t->plain++;
        t->grouped += r->grouped;
    } else if (r->kind == KIND_PERCENT) {
        t->percents++;
        if (r->decimals > t->percent_decimals)
            t->percent_decimals = r->decimals;
    } else if (r->kind == KIND_CURRENCY) {
        t->symbols_differ |=
            t->currencies && (t->symbol.p != r->symbol.p || t->symbol_after != r->symbol_after);
        t->symbol = r->symbol;
        t->symbol_after = r->symbol_after;
        t->currencies++;
        if (r->decimals > t->currency_decimals)
            t->currency_decimals = r->decimals;
    }
}

/* "+0;-0;0" of "0": for columns of changes, whose signs are written. */
static void show_plus(char format[XLSX_SHORT_FORMAT])
{
    char one[XLSX_SHORT_FORMAT];
    if (strlen(format) > 12)
        return;
    memcpy(one, format, sizeof one);
    if (!one[0])
        memcpy(one, "General", 8);
    snprintf(format, XLSX_SHORT_FORMAT, "+%.12s;-%.12s;%.12s", one, one, one);
}

static void make_formats(struct xlsx_column *column, const struct tally *t)
{
    if (t->grouped) {
        memcpy(column->number_format, "#,##0", 6);
        put_decimals(column->number_format, XLSX_SHORT_FORMAT, 5, t->most);
    } else if (t->most && t->least == t->most) {
        column->number_format[0] = '0';
        put_decimals(column->number_format, XLSX_SHORT_FORMAT, 1, t->most);
    }
    column->percent_format[0] = '0';
    put_decimals(column->percent_format, XLSX_SHORT_FORMAT - 1, 1, t->percents ? t->percent_decimals : 1);
    size_t n = strlen(column->percent_format);
    column->percent_format[n] = '%';
    column->percent_format[n + 1] = '\0';
    if (t->plus) {
        show_plus(column->number_format);
        show_plus(column->percent_format);
    }
    make_currency(column, t->symbol, t->symbol_after, t->currencies ? t->currency_decimals : 2);
    column->seconds = t->seconds;
}

/* "USD" or "$" as a format. */
static bool format_is_symbol(struct span format)
{
    struct span symbol = {"", 0};
    return format.n && take_symbol(format, 0, &symbol) == format.n;
}

static void settle(struct xlsx_column *column, const struct tally *t)
{
    make_formats(column, t);
    if (format_is_symbol(column->format)) {
        make_currency(column, column->format, false, 2);
        column->format = span_of("", 0);
        if (column->kind == KIND_AUTO || column->kind == KIND_NUMBER)
            column->kind = KIND_CURRENCY;
    } else if (column->format.n && !xlsx_format_valid(column->format)) {
        enum xlsx_kind named = xlsx_kind_named(column->format);
        column->format = span_of("", 0);
        if (column->kind == KIND_AUTO || column->kind == KIND_NUMBER)
            column->kind = named;
    }
    column->declared = column->kind != KIND_AUTO;
    column->exponents = column->declared || t->texts == 0;
    column->codes = !column->declared && t->codes;
    if (column->kind == KIND_AUTO &&
        (t->codes || t->symbols_differ || (t->texts && t->typed - t->exponents <= t->texts)))
        column->kind = KIND_TEXT;
}

void xlsx_type_columns(struct xlsx_book *book, struct xlsx_sheet *sheet)
{
    sheet->columns = xrealloc(sheet->columns, (sheet->columns_n + 1) * sizeof *sheet->columns);
    for (size_t i = sheet->columns_declared; i < sheet->columns_n; i++)
        sheet->columns[i] = (struct xlsx_column){.kind = KIND_AUTO};
    struct tally *tallies = xcalloc(sheet->columns_n + 1, sizeof *tallies);
    for (size_t r = sheet->header ? 1 : 0; r < sheet->rows_n; r++) {
        const struct xlsx_row *row = &sheet->rows[r];
        for (uint32_t c = 0; c < row->n; c++) {
            const struct xlsx_cell *cell = &book->cells[row->first + c];
            if (cell->source == CELL_TEXT) {
                struct reading reading = read_text(cell->text);
                count_text(&tallies[c], &reading);
            } else if (cell->source == CELL_STRING) {
                tallies[c].texts++;
            }
        }
    }
    for (size_t i = 0; i < sheet->columns_n; i++)
        settle(&sheet->columns[i], &tallies[i]);
    xfree(tallies);
}

struct span xlsx_column_format(const struct xlsx_column *column)
{
    if (column->format.n)
        return column->format;
    switch (column->kind) {
    case KIND_PERCENT:
        return span_str(column->percent_format);
    case KIND_CURRENCY:
        return span_str(column->currency_format);
    case KIND_DATE:
        return SPAN_LIT("yyyy-mm-dd");
    case KIND_DATETIME:
        return column->seconds ? SPAN_LIT("yyyy-mm-dd hh:mm:ss") : SPAN_LIT("yyyy-mm-dd hh:mm");
    case KIND_INTEGER:
        return SPAN_LIT("0");
    default:
        return span_str(column->number_format);
    }
}

/* The format of a value of that kind in a column without one of its own. */
static struct span format_of(const struct xlsx_column *column, enum xlsx_kind kind)
{
    if (column->format.n)
        return column->format;
    if (column->kind != KIND_AUTO && (kind == KIND_NUMBER || column->kind == KIND_CURRENCY))
        return xlsx_column_format(column);
    struct xlsx_column own = {.kind = kind, .seconds = column->seconds};
    switch (kind) {
    case KIND_PERCENT:
        return span_str(column->percent_format);
    case KIND_CURRENCY:
        return span_str(column->currency_format);
    case KIND_DATE:
    case KIND_DATETIME:
        return xlsx_column_format(&own);
    default:
        return span_str(column->number_format);
    }
}

static struct xlsx_value text_value(void)
{
    return (struct xlsx_value){.kind = KIND_TEXT};
}

static bool bool_word(struct span s, bool *value)
{
    *value = span_is_nocase(s, "yes") || span_is(s, "1");
    return *value || span_is_nocase(s, "no") || span_is(s, "0");
}

static struct xlsx_value value_of_text(struct xlsx_book *book, const struct xlsx_column *column,
                                       struct span text)
{
    struct reading r = read_text(text);
    bool truth;
    enum xlsx_kind wanted = column->kind;
    if (wanted == KIND_BOOL && r.kind != KIND_BOOL && bool_word(text, &truth))
        return (struct xlsx_value){.kind = KIND_BOOL, .number = truth};
    if (wanted == KIND_TEXT || r.kind == KIND_TEXT || (r.code && r.kind == KIND_NUMBER) ||
        (r.exponent && !column->exponents))
        return text_value();
    bool date = r.kind == KIND_DATE || r.kind == KIND_DATETIME;
    bool wants_date = wanted == KIND_DATE || wanted == KIND_DATETIME;
    if (wanted != KIND_AUTO && (wants_date != date || (wanted == KIND_BOOL) != (r.kind == KIND_BOOL)))
        return text_value();
    if (r.kind == KIND_BOOL)
        return (struct xlsx_value){.kind = KIND_BOOL, .number = r.number};
    book->zone_dropped |= r.zone;
    /* A date with a time keeps it in a column of dates. */
    return (struct xlsx_value){
        .kind = KIND_NUMBER, .number = r.number, .digits = r.digits, .format = format_of(column, r.kind)};
}

static unsigned digits_of(struct span number)
{
    unsigned n = 0;
    for (size_t i = 0; i < number.n && number.p[i] != 'e' && number.p[i] != 'E'; i++)
        n += is_digit(number.p[i]);
    return n;
}

/* JSON's numbers. */
static struct xlsx_value value_of_number(const struct xlsx_column *column, struct span text)
{
    char digits[NUMBER_BYTES];
    bool whole = !memchr(text.p, '.', text.n) && !memchr(text.p, 'e', text.n) && !memchr(text.p, 'E', text.n);
    if (column->kind == KIND_TEXT && (column->declared || column->codes))
        return text_value();
    if (text.n >= sizeof digits || (whole && digits_of(text) > EXACT_DIGITS))
        return text_value();
    memcpy(digits, text.p, text.n);
    digits[text.n] = '\0';
    double number = strtod(digits, NULL);
    if (!isfinite(number))
        return text_value();
    if (column->kind == KIND_BOOL && (number == 0 || number == 1))
        return (struct xlsx_value){.kind = KIND_BOOL, .number = number};
    return (struct xlsx_value){
        .kind = KIND_NUMBER, .number = number, .digits = text, .format = format_of(column, KIND_NUMBER)};
}

struct xlsx_value xlsx_value_of(struct xlsx_book *book, const struct xlsx_column *column,
                                const struct xlsx_cell *cell)
{
    switch (cell->source) {
    case CELL_TEXT:
        return value_of_text(book, column, cell->text);
    case CELL_NUMBER:
        return value_of_number(column, cell->text);
    case CELL_BOOL:
        if (column->kind == KIND_TEXT && column->declared)
            return text_value();
        return (struct xlsx_value){.kind = KIND_BOOL, .number = cell->text.p[0] == 't'};
    case CELL_STRING:
        return text_value();
    case CELL_EMPTY:
    case CELL_FORMULA:
        break;
    }
    return (struct xlsx_value){.kind = KIND_AUTO};
}
