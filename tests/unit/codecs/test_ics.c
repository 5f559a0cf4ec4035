/* Calendars: what lines and JSON become. */
#include "office_reader.h"

extern const struct renderer_ops render_ics;

static struct made render(const char *source)
{
    struct made m;
    struct render_params params = {.format = "ics", .title = "", .made_at = 1790000000};
    render_into(&render_ics, span_str(source), &params, &m);
    return m;
}

static void expect(const char *source, const char *want)
{
    struct made m = render(source);
    if (m.status != RENDER_OK)
        print_message("%s: %s\n", source, m.sentence);
    assert_int_equal(m.status, RENDER_OK);
    assert_string_equal(buf_cstr(&m.bytes), want);
    made_free(&m);
}

static void refused(const char *source, const char *why)
{
    struct made m = render(source);
    if (m.status != RENDER_INVALID || !strstr(m.sentence, why))
        print_message("%s: %d %s\n", source, (int)m.status, m.sentence);
    assert_int_equal(m.status, RENDER_INVALID);
    assert_holds(m.sentence, why);
    made_free(&m);
}

#define HEAD  "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Penstock//Penstock//EN\r\n"
#define TAIL  "END:VCALENDAR\r\n"
#define STAMP "DTSTAMP:20260921T141320Z\r\n"

static void what_is_missing_is_added(void **state)
{
    (void)state;
    struct made m =
        render("BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Lunch\nDTSTART:20260701T120000Z\nEND:VEVENT\n"
               "END:VCALENDAR");
    const char *text = buf_cstr(&m.bytes);
    assert_holds(text, HEAD "BEGIN:VEVENT\r\nUID:");
    assert_holds(text,
                 "@penstock\r\n" STAMP "SUMMARY:Lunch\r\nDTSTART:20260701T120000Z\r\nEND:VEVENT\r\n" TAIL);
    struct made again = render(text); /* what is right already stays */
    assert_string_equal(buf_cstr(&again.bytes), text);
    made_free(&again);
    made_free(&m);
    expect(
        "begin:vcalendar\r\nversion:2.0\r\nPRODID:-//x//y\r\nMETHOD:PUBLISH\r\nBEGIN:VEVENT\r\nUID:a@b\r\n"
        "DTSTAMP:20260101T000000Z\r\nDTSTART;TZID=Europe/"
        "Berlin:20260701T100000\r\nBEGIN:VALARM\r\nTRIGGER:-PT5M\r\n"
        "ACTION:DISPLAY\r\nDESCRIPTION:x\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y\r\nMETHOD:PUBLISH\r\nBEGIN:VEVENT\r\nUID:a@b\r\n"
        "DTSTAMP:20260101T000000Z\r\nDTSTART;TZID=Europe/Berlin:20260701T100000\r\nBEGIN:VALARM\r\n"
        "TRIGGER:-PT5M\r\nACTION:DISPLAY\r\nDESCRIPTION:x\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n");
}

/* Without the calendar around it, indented, with times of another form, without its last ENDs. */
static void habits_are_mended(void **state)
{
    (void)state;
    expect("BEGIN:VEVENT\n  UID:1\n  DTSTAMP:2026-01-01T00:00:00Z\n  DTSTART:2026-07-01\n  DTEND:2026-07-03\n"
           "  EXDATE:2026-07-02,20260704\n  DESCRIPTION:First\n\nAgenda: talk, then\nlunch\n  SUMMARY:A\n",
           HEAD "BEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\nDTSTART;VALUE=DATE:20260701\r\n"
                "DTEND;VALUE=DATE:20260703\r\nEXDATE;VALUE=DATE:20260702,20260704\r\n"
                "DESCRIPTION:First\\nAgenda: talk, then\\nlunch\r\nSUMMARY:A\r\nEND:VEVENT\r\n" TAIL);
    expect(
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nDTSTAMP:20260101T000000Z\nDTSTART:2026-12-31T23:30:00-02:00\n"
        "DESCRIPTION:fol\n ded\nEND:VEVENT\nEND:VCALENDAR\n\nBEGIN:VCALENDAR\nBEGIN:VTODO\nUID:2\n"
        "DTSTAMP:20260101T000000Z\nEND:VTODO\nEND:VCALENDAR",
        HEAD "BEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:20270101T013000Z\r\n"
             "DESCRIPTION:folded\r\nEND:VEVENT\r\nBEGIN:VTODO\r\nUID:2\r\nDTSTAMP:20260101T000000Z\r\n"
             "END:VTODO\r\n" TAIL);
}

static void long_lines_are_folded_between_characters(void **state)
{
    (void)state;
    struct buf source;
    buf_init(&source, 1 << 16);
    buf_adds(&source, "BEGIN:VEVENT\nDTSTART:20260701\nSUMMARY:");
    for (int i = 0; i < 200; i++)
        buf_adds(&source, i % 3 ? "\xe6\xbc\xa2" : "\xf0\x9f\x8d\xae");
    buf_adds(&source, "\x01\nEND:VEVENT");
    struct made m = render(buf_cstr(&source));
    size_t at = 0, joined = 0;
    const char *text = buf_cstr(&m.bytes);
    while (text[at]) {
        size_t n = strcspn(text + at, "\r");
        assert_true(n <= 75);
        assert_memory_equal(text + at + n, "\r\n", 2);
        assert_int_not_equal(text[at] & 0xc0, 0x80);
        if (text[at] == ' ') {
            joined++;
            assert_int_not_equal(text[at + 1] & 0xc0, 0x80);
        }
        at += n + 2;
    }
    assert_true(joined > 7);
    assert_null(strchr(text, 1));
    made_free(&m);
    buf_free(&source);
}

static void json_becomes_events(void **state)
{
    (void)state;
    expect(
        "{\"tz\":\"Europe/Berlin\",\"name\":\"Team; a\",\"events\":["
        "{\"uid\":\"1\",\"summary\":\"A, b; c\\\\d\",\"start\":\"2026-07-01T10:00\",\"end\":\"2026-07-01 "
        "11:30:00\","
        "\"location\":\"Hall\",\"description\":\"x\\ny\"},"
        "{\"uid\":2,\"title\":\"Day\",\"start\":\"2026-07-02\",\"end\":\"2026-07-02\",\"rrule\":\"RRULE:FREQ="
        "DAILY\"},"
        "{\"uid\":\"3\",\"start\":\"2026-07-03T10:00:00Z\",\"duration\":90,\"tz\":\"UTC\",},"
        "{\"uid\":\"4\",\"start\":\"2026-07-03T10:00\",\"all_day\":true,\"url\":\"https://h.test/a,b\"}]}",
        HEAD
        "X-WR-CALNAME:Team\\; a\r\n"
        "BEGIN:VEVENT\r\n" STAMP "DTSTART;TZID=Europe/Berlin:20260701T100000\r\n"
        "DTEND;TZID=Europe/Berlin:20260701T113000\r\nUID:1\r\nSUMMARY:A\\, b\\; c\\\\d\r\nLOCATION:Hall\r\n"
        "DESCRIPTION:x\\ny\r\nEND:VEVENT\r\n"
        "BEGIN:VEVENT\r\n" STAMP "DTSTART;VALUE=DATE:20260702\r\nUID:2\r\nSUMMARY:Day\r\n"
        "RRULE:FREQ=DAILY\r\nEND:VEVENT\r\n"
        "BEGIN:VEVENT\r\n" STAMP "DTSTART:20260703T100000Z\r\nDURATION:PT90M\r\nUID:3\r\nEND:VEVENT\r\n"
        "BEGIN:VEVENT\r\n" STAMP "DTSTART;VALUE=DATE:20260703\r\nUID:4\r\nURL:https://h.test/a,b\r\n"
        "END:VEVENT\r\n" TAIL);
    static const char *const forms[] = {"[{\"start\":\"2026-07-01\",\"summary\":\"x\"}]",
                                        "{\"start\":\"2026-07-01\",\"summary\":\"x\"}",
                                        "{\"events\":{\"start\":\"2026-07-01\",\"summary\":\"x\"}}"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct made m = render(forms[i]);
        assert_int_equal(m.status, RENDER_OK);
        assert_holds(buf_cstr(&m.bytes), "\r\nDTSTART;VALUE=DATE:20260701\r\nSUMMARY:x\r\n");
        made_free(&m);
    }
}

/* A text of JSON cannot begin a property of its own. */
static void nothing_is_smuggled_into_json(void **state)
{
    (void)state;
    struct made m = render(
        "{\"events\":[{\"start\":\"2026-07-01\",\"uid\":\"a\\r\\nATTACH:x\",\"url\":\"b\\nEND:VEVENT\","
        "\"summary\":\"c\\nATTENDEE:d\"}]}");
    assert_int_equal(m.status, RENDER_OK);
    assert_holds(buf_cstr(&m.bytes), "UID:aATTACH:x\r\n");
    assert_holds(buf_cstr(&m.bytes), "URL:bEND:VEVENT\r\n");
    assert_holds(buf_cstr(&m.bytes), "SUMMARY:c\\nATTENDEE:d\r\n");
    made_free(&m);
}

static void what_is_no_calendar_is_refused(void **state)
{
    (void)state;
    refused("", "no event");
    refused("lunch at one", "BEGIN:VCALENDAR");
    refused("Here it is:\nBEGIN:VCALENDAR\nEND:VCALENDAR", "BEGIN:VCALENDAR");
    refused("BEGIN:VCALENDAR\nEND:VCALENDAR", "no event");
    refused("BEGIN:VCALENDAR\nBEGIN:VTODO\nUID:1\nEND:VTODO\nEND:VCALENDAR", "no event");
    refused("BEGIN:VEVENT\nSUMMARY:x\nEND:VEVENT", "no DTSTART");
    refused("BEGIN:VEVENT\nDTSTART:tomorrow\nEND:VEVENT", "is no date");
    refused("BEGIN:VEVENT\nDTSTART:20260230\nEND:VEVENT", "is no date");
    refused("BEGIN:VEVENT\nDTSTART:20260201\nEND:VALARM", "closes no open");
    refused("BEGIN:VEVENT\nDTSTART:20260201\nEND:VEVENT\nEND:VCALENDAR\nBye:x", "behind END:VCALENDAR");
    refused("{\"events\":[]}", "no event");
    refused("{\"events\":[7]}", "event 1 is no object");
    refused("{\"a\":1}", "without a list");
    refused("{\"events\":[{\"start\":\"2026-07-01\"},{\"summary\":\"x\"}]}", "event 2 has no \"start\"");
    refused("{\"events\":[{\"start\":\"July 1\"}]}", "event 1 has a start or an end that is no date");
    refused("{\"events\":[{\"start\":\"2026-07-01\",\"end\":\"2026-07-01T10:00\"}]}", "a day for its start");
    refused("{\"events\":[{\"start\":\"2026-07-01T10:00\",\"tz\":\"a:b\"}]}", "time zone");
    refused("{\"events\":[", "not valid JSON");
}

/* Every beginning of a source ends in an answer. */
static void any_cut_is_answered(void **state)
{
    (void)state;
    static const char lines[] =
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nDTSTART;TZID=\"a:b\":2026-07-01T10:00:00+02:00\n"
        "DESCRIPTION:a\n b\nc\nBEGIN:VALARM\nTRIGGER:-PT5M\nEND:VALARM\nEND:VEVENT\n"
        "END:VCALENDAR\n";
    static const char json[] =
        "{\"tz\":\"UTC\",\"events\":[{\"uid\":1,\"start\":\"2026-07-01T10:00\",\"duration\":5}]}";
    for (size_t i = 0; i < sizeof lines + sizeof json; i++) {
        bool second = i >= sizeof lines;
        struct render_params params = {.format = "ics", .title = "", .made_at = 1790000000};
        struct made m;
        render_into(&render_ics, second ? span_of(json, i - sizeof lines) : span_of(lines, i), &params, &m);
        assert_true(m.status == RENDER_OK || (m.status == RENDER_INVALID && m.sentence[0]));
        made_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_missing_is_added),
        cmocka_unit_test(habits_are_mended),
        cmocka_unit_test(long_lines_are_folded_between_characters),
        cmocka_unit_test(json_becomes_events),
        cmocka_unit_test(nothing_is_smuggled_into_json),
        cmocka_unit_test(what_is_no_calendar_is_refused),
        cmocka_unit_test(any_cut_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
