/*
 * Calendars: lines as RFC 5545 wants them (CRLF, folded at 75 octets), what every reader needs added where it
 * is missing (VERSION, PRODID, UID, DTSTAMP), times in its form. The same source gives the same bytes at the
 * same time.
 */
#include <stdio.h>
#include <time.h>

#include "artifacts/ics.h"
#include "artifacts/lines.h"
#include "artifacts/metadata.h"
#include "artifacts/utf8.h"
#include "base/json.h"

enum { SOURCE = 8 << 20, OUT = 32 << 20, FOLD = 75, DEPTH = 8, NAME = 32 };

struct calendar {
    const struct render_params *params;
    struct buf line;        /* of the source, unfolded */
    struct buf head;        /* the calendar's own properties */
    struct buf body;        /* its components */
    struct buf component;   /* the one that is open */
    char open[DEPTH][NAME]; /* names of open components, upper case */
    unsigned depth;
    unsigned calendars, events, components;
    bool prodid, method;
    bool uid, stamp, start; /* what the open component has */
    uint64_t hash[2];
    enum render_status status;
    char *sentence;
};

static void refuse(struct calendar *c, enum render_status status, const char *why)
{
    if (c->status != RENDER_OK)
        return;
    c->status = status;
    snprintf(c->sentence, RENDER_SENTENCE, "%s", why);
}

/* ---- times ---- */

static bool take_digits(struct span *s, unsigned n, int *value)
{
    *value = 0;
    if (s->n < n)
        return false;
    for (unsigned i = 0; i < n; i++) {
        if (s->p[i] < '0' || s->p[i] > '9')
            return false;
        *value = *value * 10 + (s->p[i] - '0');
    }
    *s = span_from(*s, n);
    return true;
}

static bool take(struct span *s, char c)
{
    bool is = s->n && s->p[0] == c;
    if (is)
        *s = span_from(*s, 1);
    return is;
}

static int days_of(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

/* Minutes east of UTC behind a time: "Z", "+02:00", "-0530"; *there: it says so. */
static bool take_offset(struct span *s, bool *there, int *minutes)
{
    int hour, minute = 0;
    *there = take(s, 'Z') || take(s, 'z');
    *minutes = 0;
    if (*there || !s->n)
        return true;
    bool west = s->p[0] == '-';
    if (!take(s, '+') && !take(s, '-'))
        return false;
    if (!take_digits(s, 2, &hour) || hour > 14)
        return false;
    take(s, ':');
    if (s->n && (!take_digits(s, 2, &minute) || minute > 59))
        return false;
    *there = true;
    *minutes = (west ? -1 : 1) * (hour * 60 + minute);
    return true;
}

int ics_time(struct span text, bool *date, struct buf *out)
{
    int year, month, day, hour, minute, second = 0, east, fraction;
    bool zoned;
    struct span s = lines_trim(text);
    if (!take_digits(&s, 4, &year))
        return -1;
    bool dashes = take(&s, '-');
    if (!take_digits(&s, 2, &month) || (dashes && !take(&s, '-')) || !take_digits(&s, 2, &day) || month < 1 ||
        month > 12 || day < 1 || day > days_of(year, month) || year < 1)
        return -1;
    *date = !s.n;
    if (*date)
        return buf_printf(out, "%04d%02d%02d", year, month, day);
    if (!take(&s, 'T') && !take(&s, 't') && !take(&s, ' '))
        return -1;
    if (!take_digits(&s, 2, &hour))
        return -1;
    bool colons = take(&s, ':');
    if (!take_digits(&s, 2, &minute) || hour > 23 || minute > 59)
        return -1;
    if (colons ? take(&s, ':') : s.n && s.p[0] >= '0' && s.p[0] <= '9') {
        if (!take_digits(&s, 2, &second) || second > 60)
            return -1;
        if (take(&s, '.'))
            while (take_digits(&s, 1, &fraction))
                ;
    }
    if (!take_offset(&s, &zoned, &east) || s.n)
        return -1;
    struct tm t = {.tm_year = year - 1900,
                   .tm_mon = month - 1,
                   .tm_mday = day,
                   .tm_hour = hour,
                   .tm_min = minute - east,
                   .tm_sec = second};
    if (timegm(&t) == -1 && year != 1969)
        return -1;
    return buf_printf(out, "%04d%02d%02dT%02d%02d%02d%s", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday,
                      t.tm_hour, t.tm_min, t.tm_sec, zoned ? "Z" : "");
}

/* ---- lines ---- */

/* One content line, folded. What is not allowed in it is left out (section 3.1). */
static void put_line(struct buf *out, struct span line)
{
    size_t used = 0;
    for (size_t i = 0, n; i < line.n; i += n) {
        uint32_t ch = utf8_next(line.p + i, line.p + line.n, &n);
        if ((ch < ' ' && ch != '\t') || ch == 0x7f)
            continue;
        if (used + n > FOLD) {
            buf_adds(out, "\r\n ");
            used = 1;
        }
        buf_addn(out, line.p + i, n);
        used += n;
    }
    buf_adds(out, "\r\n");
}

static void put_text(struct buf *out, const char *line)
{
    put_line(out, span_str(line));
}

/* The name before the first `:` or `;`; empty: the line is no property. */
static struct span name_of(struct span line)
{
    size_t n = 0;
    while (n < line.n && n < 64 &&
           (((line.p[n] | 0x20) >= 'a' && (line.p[n] | 0x20) <= 'z') || line.p[n] == '-' ||
            (line.p[n] >= '0' && line.p[n] <= '9')))
        n++;
    return n && n < line.n && (line.p[n] == ':' || line.p[n] == ';') ? span_of(line.p, n) : span_of("", 0);
}

/* Sections 3.7 and 3.8, RFC 7986, RFC 9073. */
static bool is_known(struct span name)
{
    return lines_word_in(
               name,
               "BEGIN END CALSCALE METHOD PRODID VERSION ATTACH CATEGORIES CLASS COMMENT DESCRIPTION GEO "
               "LOCATION PERCENT-COMPLETE PRIORITY RESOURCES STATUS SUMMARY COMPLETED DTEND DUE DTSTART "
               "DURATION FREEBUSY TRANSP TZID TZNAME TZOFFSETFROM TZOFFSETTO TZURL ATTENDEE CONTACT "
               "ORGANIZER RECURRENCE-ID RELATED-TO URL UID EXDATE RDATE RRULE ACTION REPEAT TRIGGER CREATED "
               "DTSTAMP LAST-MODIFIED SEQUENCE REQUEST-STATUS NAME REFRESH-INTERVAL SOURCE COLOR IMAGE "
               "CONFERENCE EXRULE") ||
           (name.n > 2 && strncasecmp(name.p, "X-", 2) == 0);
}

static bool is_text(struct span name)
{
    return lines_word_in(name, "DESCRIPTION SUMMARY LOCATION COMMENT CONTACT");
}

/* ---- components ---- */

static void hash_add(struct calendar *c, struct span s)
{
    for (size_t i = 0; i < s.n; i++) /* FNV-1a from two beginnings */
        for (unsigned k = 0; k < 2; k++)
            c->hash[k] = (c->hash[k] ^ (unsigned char)s.p[i]) * 0x100000001b3u;
}

static void begin(struct calendar *c, struct span name)
{
    if (c->depth == DEPTH || !name.n || name.n >= NAME) {
        refuse(c, RENDER_INVALID, "its components are nested too deeply, or one has no name");
        return;
    }
    char *own = c->open[c->depth++];
    for (size_t i = 0; i < name.n; i++)
        own[i] = name.p[i] >= 'a' && name.p[i] <= 'z' ? (char)(name.p[i] - 0x20) : name.p[i];
    own[name.n] = '\0';
    if (strcmp(own, "VCALENDAR") == 0 && c->depth == 1) {
        c->calendars++;
        return;
    }
    if (c->depth == 1) { /* models leave the calendar around it out */
        memcpy(c->open[1], c->open[0], NAME);
        memcpy(c->open[0], "VCALENDAR", sizeof "VCALENDAR");
        c->depth = 2;
        c->calendars++;
    }
    if (c->depth > 2) {
        char line[NAME + 8];
        snprintf(line, sizeof line, "BEGIN:%s", c->open[c->depth - 1]);
        put_text(&c->component, line);
        return;
    }
    c->uid = c->stamp = c->start = false;
    c->hash[0] = 0xcbf29ce484222325u;
    c->hash[1] = 0x84222325cbf29ce4u + ++c->components;
    buf_reset(&c->component);
}

static void end_component(struct calendar *c)
{
    char line[NAME + 64];
    const char *name = c->open[1];
    bool dated = lines_word_in(span_str(name), "VEVENT VTODO VJOURNAL VFREEBUSY");
    if (strcmp(name, "VEVENT") == 0) {
        c->events++;
        if (!c->start && !c->method)
            refuse(c, RENDER_INVALID, "one of its events has no DTSTART");
    }
    snprintf(line, sizeof line, "BEGIN:%s", name);
    put_text(&c->body, line);
    if (dated && !c->uid) {
        snprintf(line, sizeof line, "UID:%016llx%016llx@penstock", (unsigned long long)c->hash[0],
                 (unsigned long long)c->hash[1]);
        put_text(&c->body, line);
    }
    if (dated && !c->stamp) {
        time_t at = (time_t)c->params->made_at;
        struct tm t;
        gmtime_r(&at, &t);
        strftime(line, sizeof line, "DTSTAMP:%Y%m%dT%H%M%SZ", &t);
        put_text(&c->body, line);
    }
    buf_add(&c->body, buf_span(&c->component));
    snprintf(line, sizeof line, "END:%s", name);
    put_text(&c->body, line);
}

static void end(struct calendar *c, struct span name)
{
    char line[NAME + 8];
    if (!c->depth || !span_is_nocase(name, c->open[c->depth - 1])) {
        refuse(c, RENDER_INVALID, "an END closes no open BEGIN");
        return;
    }
    if (c->depth > 2) {
        snprintf(line, sizeof line, "END:%s", c->open[c->depth - 1]);
        put_text(&c->component, line);
    } else if (c->depth == 2) {
        end_component(c);
    }
    c->depth--;
}

/* Whether the parameters between the name and the value say VALUE=DATE, PERIOD or the like. */
static bool says_value(struct span parameters)
{
    for (size_t i = 0; i + 7 <= parameters.n; i++)
        if (strncasecmp(parameters.p + i, ";VALUE=", 7) == 0)
            return true;
    return false;
}

/* A property whose value is a time, or several parted by commas, in iCalendar's form. False: it is none. */
static bool put_times(struct calendar *c, struct span name, struct span parameters, struct span value)
{
    struct buf line;
    bool ok = true, date = false;
    buf_init(&line, value.n * 2 + parameters.n + 256);
    struct buf times;
    buf_init(&times, value.n * 2 + 64);
    while (ok) {
        const char *comma = memchr(value.p, ',', value.n);
        size_t n = comma ? (size_t)(comma - value.p) : value.n;
        ok = ics_time(span_of(value.p, n), &date, &times) == 0;
        if (!comma)
            break;
        buf_addc(&times, ',');
        value = span_from(value, n + 1);
    }
    buf_add(&line, name);
    buf_add(&line, parameters);
    if (date && !says_value(parameters))
        buf_adds(&line, ";VALUE=DATE");
    buf_addc(&line, ':');
    buf_add(&line, buf_span(&times));
    ok = ok && !buf_full(&times);
    if (ok)
        put_line(&c->component, buf_span(&line));
    buf_free(&times);
    buf_free(&line);
    return ok;
}

/* The place of the colon that ends the parameters, of which some may be in quotes. */
static size_t colon_of(struct span line)
{
    bool quoted = false;
    for (size_t i = 0; i < line.n; i++) {
        quoted ^= line.p[i] == '"';
        if (line.p[i] == ':' && !quoted)
            return i;
    }
    return line.n;
}

static void property(struct calendar *c, struct span line)
{
    struct span name = name_of(line);
    size_t colon = colon_of(line);
    if (colon == line.n) {
        refuse(c, RENDER_INVALID, "a property has no value");
        return;
    }
    struct span parameters = span_of(line.p + name.n, colon - name.n), value = span_from(line, colon + 1);
    if (lines_word_in(name, "BEGIN END")) {
        value = lines_trim(value);
        if (span_is_nocase(name, "BEGIN"))
            begin(c, value);
        else
            end(c, value);
        return;
    }
    if (!c->depth) {
        refuse(c, RENDER_INVALID,
               c->calendars ? "something stands behind END:VCALENDAR"
                            : "it does not begin with BEGIN:VCALENDAR");
        return;
    }
    if (c->depth == 1) {
        if (c->calendars > 1 || span_is_nocase(name, "VERSION"))
            return; /* several calendars become one; there is but one version */
        c->prodid |= span_is_nocase(name, "PRODID");
        c->method |= span_is_nocase(name, "METHOD");
        put_line(&c->head, line);
        return;
    }
    if (c->depth == 2) {
        hash_add(c, line);
        c->uid |= span_is_nocase(name, "UID");
        c->stamp |= span_is_nocase(name, "DTSTAMP");
        c->start |= span_is_nocase(name, "DTSTART");
    }
    if (lines_word_in(name,
                      "DTSTART DTEND DTSTAMP DUE CREATED LAST-MODIFIED RECURRENCE-ID COMPLETED EXDATE") &&
        put_times(c, name, parameters, value))
        return;
    if (lines_word_in(name, "DTSTART DTEND") && strcmp(c->open[c->depth - 1], "VEVENT") == 0) {
        refuse(c, RENDER_INVALID,
               "the DTSTART or DTEND of an event is no date: write 20260701 or 20260701T100000");
        return;
    }
    put_line(&c->component, line);
}

/* ---- the whole ---- */

static void take_unfolded(struct calendar *c)
{
    struct span line = buf_span(&c->line);
    if (line.n && c->status == RENDER_OK)
        property(c, line);
    buf_reset(&c->line);
}

/*
 * A line goes on with the one before it when it begins with a blank (a fold), or when it is none by itself
 * and that one is a text, whose line breaks models write as they are. Indented properties are properties.
 */
static void take_lines(struct calendar *c, struct span source)
{
    while (source.n && c->status == RENDER_OK) {
        struct span line = lines_take(&source), inside = lines_trim(line), name = name_of(inside);
        bool known = is_known(name), blank = line.n && (line.p[0] == ' ' || line.p[0] == '\t');
        if (!inside.n)
            continue;
        if (blank && c->line.n && !known) {
            buf_add(&c->line, span_from(line, 1));
            continue;
        }
        if (!known && c->line.n && (!name.n || is_text(name_of(buf_span(&c->line))))) {
            if (!is_text(name_of(buf_span(&c->line)))) {
                refuse(c, RENDER_INVALID, "a line is neither a property nor a part of a text");
                return;
            }
            buf_adds(&c->line, "\\n");
            buf_add(&c->line, inside);
            continue;
        }
        take_unfolded(c);
        if (!name.n)
            refuse(c, RENDER_INVALID,
                   c->calendars ? "a line is neither a property nor a part of a text"
                                : "it does not begin with BEGIN:VCALENDAR");
        buf_add(&c->line, blank ? inside : line);
    }
    take_unfolded(c);
    while (c->depth && c->status == RENDER_OK) /* ENDs that models forget */
        end(c, span_str(c->open[c->depth - 1]));
}

static void write_calendar(struct calendar *c, struct buf *out)
{
    if (!c->events)
        refuse(c, RENDER_INVALID, "it has no event");
    put_text(out, "BEGIN:VCALENDAR");
    put_text(out, "VERSION:2.0");
    if (!c->prodid)
        put_text(out, "PRODID:-//Penstock//Penstock//EN");
    buf_add(out, buf_span(&c->head));
    buf_add(out, buf_span(&c->body));
    put_text(out, "END:VCALENDAR");
    if (buf_full(out) || buf_full(&c->head) || buf_full(&c->body) || buf_full(&c->component) ||
        buf_full(&c->line))
        refuse(c, RENDER_LIMIT, "the calendar would be larger than the limit");
}

/* JSON becomes lines first. */
static struct span read_json(struct calendar *c, struct span source, struct buf *lines)
{
    struct span document;
    struct buf repaired;
    buf_init(&repaired, source.n * 2 + 1024);
    if (!json_document(source, &document) &&
        (metadata_repair_document(source, &repaired) || !json_document(buf_span(&repaired), &document)))
        refuse(c, RENDER_INVALID, "it begins like JSON but is not valid JSON");
    else
        c->status = ics_json(document, lines, c->sentence);
    buf_free(&repaired);
    return buf_span(lines);
}

static enum render_status render(struct span source, const struct render_params *params, struct buf *out,
                                 char sentence[RENDER_SENTENCE])
{
    struct calendar c = {.params = params, .sentence = sentence};
    struct buf lines;
    if (span_starts(source, "\xef\xbb\xbf"))
        source = span_from(source, 3);
    struct span text = lines_trim(source);
    buf_init(&lines, OUT);
    buf_init(&c.line, SOURCE * 2);
    buf_init(&c.head, SOURCE * 2);
    buf_init(&c.body, OUT);
    buf_init(&c.component, OUT);
    if (text.n && (text.p[0] == '{' || text.p[0] == '['))
        source = read_json(&c, text, &lines);
    take_lines(&c, source);
    write_calendar(&c, out);
    buf_free(&lines);
    buf_free(&c.line);
    buf_free(&c.head);
    buf_free(&c.body);
    buf_free(&c.component);
    return c.status;
}

static const char *const formats[] = {"ics", NULL};

const struct renderer_ops render_ics = {
    .name = "ics",
    .version = "1",
    .formats = formats,
    .limits = {.source_bytes = SOURCE,
               .out_bytes = OUT + 4096,
               .memory_bytes = 512u * 1024 * 1024,
               .cpu_s = 10,
               .wall_ms = 15000},
    .render = render,
};
