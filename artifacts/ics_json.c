/* Calendars from JSON. */
#include <stdio.h>

#include "artifacts/ics.h"
#include "base/json.h"

enum { TEXT = 64 * 1024 };

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

struct event {
    struct span object;
    struct span zone; /* what the calendar says of all */
    unsigned number;
    char *sentence;
};

static enum render_status refuse(const struct event *e, const char *why)
{
    snprintf(e->sentence, RENDER_SENTENCE, "event %u %s", e->number, why);
    return RENDER_INVALID;
}

static bool member(struct span object, const char *const *names, struct span *value)
{
    for (; *names; names++)
        if (json_member(object, *names, value) && json_type(*value) != JSON_NULL)
            return true;
    return false;
}

/* The value's text: of a string, or a number or word as it is written. Empties `out` first. False: none. */
static bool text_of(struct span object, const char *const *names, struct buf *out)
{
    struct span value;
    buf_reset(out);
    if (!member(object, names, &value) || json_type(value) == JSON_OBJECT || json_type(value) == JSON_ARRAY)
        return false;
    if (json_type(value) != JSON_STRING)
        return buf_add(out, value) == 0;
    return json_unescape(json_inside(value), out) == 0 && out->n > 0;
}

/* Section 3.3.11. */
static void put_escaped(struct buf *out, struct span text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '\\' || c == ';' || c == ',')
            buf_addc(out, '\\');
        if (c == '\n')
            buf_adds(out, "\\n");
        else if (c != '\r')
            buf_addc(out, c);
    }
}

static void put_line(struct buf *out, const char *name, struct span text, bool escaped)
{
    buf_adds(out, name);
    buf_addc(out, ':');
    for (size_t i = 0; !escaped && i < text.n; i++)
        if (text.p[i] != '\r' && text.p[i] != '\n')
            buf_addc(out, text.p[i]);
    if (escaped)
        put_escaped(out, text);
    buf_addc(out, '\n');
}

static bool is_zone(struct span zone)
{
    for (size_t i = 0; i < zone.n; i++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/", zone.p[i]) ||
            !zone.p[i])
            return false;
    return zone.n > 0 && zone.n < 64;
}

/* DTSTART or DTEND; `date` says whether it is one without a time. */
static enum render_status put_time(const struct event *e, const char *name, struct span text, struct buf *out,
                                   bool *date)
{
    char zone[64];
    struct buf time, own;
    enum render_status status = RENDER_OK;
    buf_init(&time, 32);
    buf_init(&own, TEXT);
    struct span said =
        text_of(e->object, NAMES("tz", "timezone", "time_zone", "timeZone"), &own) ? buf_span(&own) : e->zone;
    bool utc = span_is_nocase(said, "UTC") || span_is_nocase(said, "Z") || span_is_nocase(said, "GMT");
    if (ics_time(text, date, &time)) {
        status = refuse(e, "has a start or an end that is no date: write 2026-07-01 or 2026-07-01T10:00");
    } else if (said.n && !utc && !is_zone(said)) {
        status = refuse(e, "has a time zone that is no name such as Europe/Berlin");
    } else {
        struct span t = buf_span(&time);
        bool zoned = said.n && !*date && !span_ends(t, "Z");
        snprintf(zone, sizeof zone, "%.*s", (int)said.n, said.n ? said.p : "");
        buf_adds(out, name);
        if (*date)
            buf_adds(out, ";VALUE=DATE");
        else if (zoned && !utc)
            buf_printf(out, ";TZID=%s", zone);
        buf_addc(out, ':');
        buf_add(out, t);
        buf_adds(out, zoned && utc ? "Z\n" : "\n");
    }
    buf_free(&own);
    buf_free(&time);
    return status;
}

/* "PT1H30M", or a number of minutes. */
static void put_duration(struct buf *out, struct span text)
{
    bool minutes = text.n > 0 && text.n < 7;
    for (size_t i = 0; i < text.n; i++)
        minutes &= text.p[i] >= '0' && text.p[i] <= '9';
    buf_adds(out, minutes ? "DURATION:PT" : "DURATION:");
    for (size_t i = 0; i < text.n; i++)
        if (strchr("0123456789PTWDHMS+-", text.p[i]) && text.p[i])
            buf_addc(out, text.p[i]);
    buf_adds(out, minutes ? "M\n" : "\n");
}

static enum render_status put_times(const struct event *e, struct buf *out)
{
    struct buf start, end;
    enum render_status status;
    bool date = false, until = false;
    struct span all_day;
    buf_init(&start, TEXT);
    buf_init(&end, TEXT);
    bool whole =
        member(e->object, NAMES("all_day", "allDay", "allday"), &all_day) && json_type(all_day) == JSON_TRUE;
    if (!text_of(e->object, NAMES("start", "dtstart", "date", "begin", "start_time"), &start)) {
        status = refuse(e, "has no \"start\"");
        goto out;
    }
    bool ends = text_of(e->object, NAMES("end", "dtend", "end_time"), &end);
    if (whole && start.n > 10)
        buf_cut(&start, 10);
    if (whole && end.n > 10)
        buf_cut(&end, 10);
    status = put_time(e, "DTSTART", buf_span(&start), out, &date);
    bool same = end.n == start.n && memcmp(buf_span(&end).p, buf_span(&start).p, end.n) == 0;
    if (status == RENDER_OK && ends && !(date && same)) /* a day's end is the next one's beginning */
        status = put_time(e, "DTEND", buf_span(&end), out, &until);
    if (status == RENDER_OK && ends && !(date && same) && date != until)
        status = refuse(e, "has a day for its start or its end and a time for the other");
    if (status == RENDER_OK && !ends && text_of(e->object, NAMES("duration"), &end))
        put_duration(out, buf_span(&end));
out:
    buf_free(&start);
    buf_free(&end);
    return status;
}

static enum render_status put_event(const struct event *e, struct buf *out)
{
    static const struct {
        const char *name;
        const char *keys[5];
        bool escaped;
    } texts[] = {
        {"UID", {"uid", "id"}, false},
        {"SUMMARY", {"summary", "title", "name", "subject"}, true},
        {"LOCATION", {"location", "place"}, true},
        {"DESCRIPTION", {"description", "notes", "details"}, true},
        {"URL", {"url", "link"}, false},
        {"RRULE", {"rrule", "recurrence"}, false},
        {"STATUS", {"status"}, false},
        {"CATEGORIES", {"categories", "category"}, true},
    };
    if (json_type(e->object) != JSON_OBJECT)
        return refuse(e, "is no object");
    buf_adds(out, "BEGIN:VEVENT\n");
    enum render_status status = put_times(e, out);
    struct buf text;
    buf_init(&text, TEXT);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && status == RENDER_OK; i++) {
        if (text_of(e->object, texts[i].keys, &text)) {
            struct span s = buf_span(&text);
            if (strcmp(texts[i].name, "RRULE") == 0 && span_starts(s, "RRULE:"))
                s = span_from(s, 6);
            put_line(out, texts[i].name, s, texts[i].escaped);
        }
        if (buf_full(&text))
            status = refuse(e, "has a text that is larger than the limit");
    }
    buf_free(&text);
    buf_adds(out, "END:VEVENT\n");
    return status;
}

enum render_status ics_json(struct span document, struct buf *out, char sentence[RENDER_SENTENCE])
{
    struct event e = {.zone = {"", 0}, .sentence = sentence};
    struct span events = document, start;
    struct buf zone, name;
    enum render_status status = RENDER_OK;
    buf_init(&zone, TEXT);
    buf_init(&name, TEXT);
    bool object = json_type(document) == JSON_OBJECT;
    bool one = object && !member(document, NAMES("events", "event", "items"), &events) &&
               member(document, NAMES("start", "dtstart", "date"), &start);
    buf_adds(out, "BEGIN:VCALENDAR\n");
    if (object && !one && text_of(document, NAMES("tz", "timezone", "time_zone", "timeZone"), &zone))
        e.zone = buf_span(&zone);
    if (object && !one && text_of(document, NAMES("name", "title", "calendar"), &name))
        put_line(out, "X-WR-CALNAME", buf_span(&name), true);
    if (one || json_type(events) == JSON_OBJECT) {
        e.object = events;
        e.number = 1;
        status = one || events.p != document.p ? put_event(&e, out) : RENDER_INVALID;
        if (!one && events.p == document.p)
            snprintf(sentence, RENDER_SENTENCE, "it is JSON without a list \"events\"");
    } else {
        struct json_iter it = json_iter(events);
        while (status == RENDER_OK && json_next(&it) == 1) {
            e.object = it.value;
            e.number++;
            status = put_event(&e, out);
        }
    }
    buf_adds(out, "END:VCALENDAR\n");
    if (status == RENDER_OK && buf_full(out)) {
        snprintf(sentence, RENDER_SENTENCE, "it has too many events");
        status = RENDER_LIMIT;
    }
    buf_free(&zone);
    buf_free(&name);
    return status;
}
