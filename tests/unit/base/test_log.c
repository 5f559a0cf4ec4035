/* base/log: what a line looks like on standard error. */
#include "base/log.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/limits.h"

/* Standard error is a pipe while the tests run; what was written is read back here. */
static int reader = -1, terminal = -1;
static char text[4 * LIMIT_LOG_LINE];

static int redirect(void **state)
{
    (void)state;
    int ends[2];
    if (pipe2(ends, O_NONBLOCK) < 0)
        return -1;
    terminal = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    reader = ends[0];
    return 0;
}

static int restore(void **state)
{
    (void)state;
    dup2(terminal, STDERR_FILENO);
    close(terminal);
    /* What the test library had to say about failed tests. */
    for (ssize_t n; (n = read(reader, text, sizeof text)) > 0;)
        fwrite(text, 1, (size_t)n, stderr);
    close(reader);
    log_set_level(LOG_INFO);
    return 0;
}

static struct span written(void)
{
    ssize_t n = read(reader, text, sizeof text);
    return span_of(text, n < 0 ? 0 : (size_t)n);
}

/* The line's member as the text it stands for. */
static const char *member(struct span line, const char *name, struct buf *b)
{
    struct span object, value;
    buf_reset(b);
    assert_true(line.n > 0 && line.p[line.n - 1] == '\n');
    assert_ptr_equal(memchr(line.p, '\n', line.n), line.p + line.n - 1);
    assert_true(json_document(line, &object));
    if (!json_member(object, name, &value))
        return NULL;
    if (json_type(value) == JSON_STRING)
        assert_int_equal(json_unescape(json_inside(value), b), 0);
    else
        buf_add(b, value);
    return buf_cstr(b);
}

static void test_line(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, LIMIT_LOG_LINE);
    log_info("upstream.closed", log_str("why", "the end"), log_int("status", 200), log_int("low", INT64_MIN),
             log_bool("reused", true), log_bool("first", false), log_text("none", span_of(NULL, 0)));
    struct span line = written();
    assert_string_equal(member(line, "level", &b), "info");
    assert_string_equal(member(line, "event", &b), "upstream.closed");
    assert_string_equal(member(line, "why", &b), "the end");
    assert_string_equal(member(line, "status", &b), "200");
    assert_string_equal(member(line, "low", &b), "-9223372036854775808");
    assert_string_equal(member(line, "reused", &b), "true");
    assert_string_equal(member(line, "first", &b), "false");
    assert_string_equal(member(line, "none", &b), "");
    assert_null(member(line, "truncated", &b));
    const char *time = member(line, "time", &b), *form = "0000-00-00T00:00:00.000Z";
    assert_int_equal(strlen(time), strlen(form));
    for (size_t i = 0; form[i]; i++)
        assert_true(form[i] == '0' ? time[i] >= '0' && time[i] <= '9' : time[i] == form[i]);
    assert_true(span_starts(line, "{\"time\":\"2"));
    buf_free(&b);
}

static void test_no_fields(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, LIMIT_LOG_LINE);
    log_event(LOG_ERROR, "a.b", NULL, 0);
    assert_string_equal(member(written(), "event", &b), "a.b");
    buf_free(&b);
}

static void test_levels(void **state)
{
    (void)state;
    static const char *const names[] = {"debug", "info", "warning", "error"};
    for (int least = LOG_DEBUG; least <= LOG_ERROR; least++) {
        enum log_level parsed;
        assert_int_equal(log_level_parse(span_str(names[least]), &parsed), 0);
        assert_int_equal(parsed, least);
        log_set_level(parsed);
        for (int level = LOG_DEBUG; level <= LOG_ERROR; level++) {
            assert_int_equal(log_enabled((enum log_level)level), level >= least);
            log_event((enum log_level)level, "x", NULL, 0);
            assert_int_equal(written().n > 0, level >= least);
        }
    }
    log_set_level(LOG_WARNING);
    log_info("x", log_int("a", 1));
    assert_int_equal(written().n, 0);
    log_warning("x", log_int("a", 1));
    assert_true(written().n > 0);
    log_set_level(LOG_INFO);
    enum log_level level = LOG_ERROR;
    assert_int_equal(log_level_parse(SPAN_LIT("loud"), &level), -1);
    assert_int_equal(log_level_parse(SPAN_LIT(""), &level), -1);
    assert_int_equal(level, LOG_ERROR);
}

static void test_values(void **state)
{
    (void)state;
    static const struct {
        struct span value;
        const char *shown;
    } cases[] = {
        {SPAN_LIT("plain"), "plain"},
        {SPAN_LIT("a\"b\\c\nd\te"), "a\"b\\c\nd\te"},
        {SPAN_LIT("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"),
         "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"},
        {SPAN_LIT("\xff"), "\xef\xbf\xbd"},
        {SPAN_LIT("a\xc3"), "a\xef\xbf\xbd"},
        {SPAN_LIT("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd"},
        {SPAN_LIT("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {SPAN_LIT("\xe0\x80\x80z"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz"},
        {SPAN_LIT("\xf4\x90\x80\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {SPAN_LIT("\xe2\x82z"), "\xef\xbf\xbd\xef\xbf\xbdz"},
        {SPAN_LIT("sk-proj-abcdefgh12345678"), "sk-***"},
        {SPAN_LIT("key sk-ant-api03-abcdefgh and more"), "key sk-*** and more"},
        {SPAN_LIT("\"sk-abcdefgh\",\"SK-abcdefgh\""), "\"sk-***\",\"SK-***\""},
        {SPAN_LIT("sk-short"), "sk-short"},
        {SPAN_LIT("disk-is-full-again"), "disk-is-full-again"},
        {SPAN_LIT("Authorization: Bearer abc.def/ghi=="), "Authorization: Bearer ***"},
        {SPAN_LIT("bearer   x, then"), "bearer ***, then"},
        {SPAN_LIT("Basic dXNlcjpwYXNz"), "Basic ***"},
        {SPAN_LIT("/v1beta/models?key=abcdefgh1234&alt=sse"), "/v1beta/models?key=***&alt=sse"},
        {SPAN_LIT("api_key=abcdefgh1234"), "api_key=***"},
        {SPAN_LIT("X-KEY=abcdefgh1234 token=abcdefgh1"), "X-KEY=*** token=***"},
        {SPAN_LIT("key=abc"), "key=abc"},
        {SPAN_LIT("AIzaSyA-1234567890"), "AIza***"},
        {SPAN_LIT("Bearer "), "Bearer "},
        {SPAN_LIT("sk-"), "sk-"},
    };
    struct buf b;
    buf_init(&b, LIMIT_LOG_LINE);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        log_info("x", log_text("v", cases[i].value));
        assert_string_equal(member(written(), "v", &b), cases[i].shown);
    }
    buf_free(&b);
}

static void test_mask_alone(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 200);
    log_mask(SPAN_LIT("bad key sk-proj-abcdefgh12345678, \xff\n disk-is-full-again"), &b);
    assert_string_equal(buf_cstr(&b), "bad key sk-***, \xff\n disk-is-full-again");
    buf_reset(&b);
    log_mask(SPAN_LIT(""), &b);
    assert_int_equal(b.n, 0);
    buf_free(&b);
}

/* No control character reaches the terminal, whatever the value. */
static void test_no_control_characters(void **state)
{
    (void)state;
    char value[64 + 64] = "";
    size_t n = 0;
    for (int c = 0; c < 0x20; c++)
        value[n++] = (char)c;
    value[n++] = 0x7f;
    for (int c = 0x80; c < 0xa0; c++) {
        if (n + 2 > sizeof value)
            break;
        value[n++] = (char)0xc2;
        value[n++] = (char)c;
    }
    log_info("x", log_text("v", span_of(value, n)));
    struct span line = written();
    for (size_t i = 0; i + 1 < line.n; i++) {
        unsigned char c = (unsigned char)line.p[i];
        assert_true(c >= 0x20 && c < 0x7f);
    }
    struct buf b;
    buf_init(&b, LIMIT_LOG_LINE);
    assert_non_null(member(line, "v", &b));
    assert_int_equal(b.n, n);
    assert_memory_equal(b.data, value, n);
    buf_free(&b);
}

static void test_long_values_and_lines(void **state)
{
    (void)state;
    static char value[20000];
    struct buf b;
    buf_init(&b, 2 * LIMIT_LOG_LINE);
    memset(value, 'a', sizeof value);
    log_info("x", log_text("v", span_of(value, sizeof value)), log_int("n", 1));
    struct span line = written();
    const char *shown = member(line, "v", &b);
    assert_in_range(strlen(shown), 1000, 1100);
    assert_true(span_ends(span_str(shown), "a\xe2\x80\xa6"));
    assert_string_equal(member(line, "n", &b), "1");

    /* A character that lies over the place of the cut is shown whole or not at all. */
    for (size_t shift = 0; shift < 4; shift++) {
        for (size_t i = 0; i < sizeof value; i++)
            value[i] = i < shift ? 'b' : "\xf0\x9f\x98\x80"[(i - shift) % 4];
        log_info("x", log_text("v", span_of(value, sizeof value)));
        assert_null(strstr(member(written(), "v", &b), "\xef\xbf\xbd"));
    }

    /* Escapes make it longer than a line: the field goes, the line stays JSON and says so. */
    memset(value, 1, sizeof value);
    struct span wide = span_of(value, 1000);
    log_info("x", log_text("a", wide), log_text("b", wide), log_int("n", 2));
    line = written();
    assert_true(line.n <= LIMIT_LOG_LINE);
    assert_non_null(member(line, "a", &b));
    assert_null(member(line, "b", &b));
    assert_string_equal(member(line, "n", &b), "2");
    assert_string_equal(member(line, "truncated", &b), "true");

    /* Whatever the sizes. */
    for (size_t n = 0; n < 40; n++) {
        log_info("x", log_text("a", wide), log_text("b", span_of(value, 300 + n)),
                 log_text("c", span_of("abcdefghijklmnopqrstuvwxyzabcdefghijklmn", n)));
        line = written();
        assert_true(line.n > 0 && line.n <= LIMIT_LOG_LINE);
        assert_non_null(member(line, "a", &b));
    }
    buf_free(&b);
}

/* A secret that begins before the cut of a long value and ends behind it does not come through in part. */
static void test_secret_over_the_cut(void **state)
{
    (void)state;
    static char value[3000];
    struct buf b;
    buf_init(&b, LIMIT_LOG_LINE);
    for (size_t at = 990; at < 1030; at++) {
        memset(value, ' ', sizeof value);
        memcpy(value + at, "sk-", 3);
        memset(value + at + 3, 'Q', 1500);
        log_info("x", log_text("v", span_of(value, sizeof value)));
        assert_null(strchr(member(written(), "v", &b), 'Q'));
    }
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_no_fields),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_mask_alone),
        cmocka_unit_test(test_no_control_characters),
        cmocka_unit_test(test_long_values_and_lines),
        cmocka_unit_test(test_secret_over_the_cut),
    };
    return cmocka_run_group_tests(tests, redirect, restore);
}
