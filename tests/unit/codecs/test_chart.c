/* Charts: what is read from a specification, the scales, and the pictures. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "artifacts/chart.h"
#include "tests/font_leaks.h"

#define SIMPLE "{\"type\":\"bar\",\"labels\":[\"a\",\"b\"],\"datasets\":[{\"label\":\"s\",\"data\":[1,2]}]}"

static void assert_close(double a, double b, double by)
{
    if (!(fabs(a - b) <= by))
        fail_msg("%.17g is not %.17g", a, b);
}

static enum render_status read_with(const char *source, const char *options, struct chart *c, char *sentence)
{
    struct render_params params = {.format = "png", .options = span_str(options), .title = ""};
    sentence[0] = '\0';
    return chart_read(span_str(source), &params, c, sentence);
}

static void scales_are_round(void **state)
{
    static const struct {
        double low, high;
        int wanted;
        double first, last;
        size_t n;
    } cases[] = {{0, 18.5, 8, 0, 20, 9},       {-3, 18.5, 5, -5, 20, 6},      {0, 1, 5, 0, 1, 6},
                 {97.1, 99.3, 5, 97, 99.5, 6}, {0, 1e9, 5, 0, 1e9, 6},        {-1, -0.2, 4, -1, -0.2, 5},
                 {0, 5000, 6, 0, 5000, 6},     {1e-9, 3e-9, 4, 1e-9, 3e-9, 5}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct chart_scale s;
        chart_scale_numbers(&s, cases[i].low, cases[i].high, cases[i].wanted, true);
        assert_true(s.n >= 3 && s.n <= 14);
        assert_true(s.low <= cases[i].low + 1e-12 && s.high >= cases[i].high - 1e-12);
        assert_close(s.at[0] / cases[i].high, cases[i].first / cases[i].high, 1e-6);
        assert_close(s.at[s.n - 1] / cases[i].high, cases[i].last / cases[i].high, 1e-6);
    }
}

static void scales_bear_any_number(void **state)
{
    static const double values[] = {0, 1, -1, 1e300, -1e300, 1e-300, 5e-324, 1e15, 0.1, 123456.789};
    size_t n = sizeof values / sizeof *values;
    (void)state;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            struct chart_scale s;
            char text[64];
            chart_scale_numbers(&s, fmin(values[a], values[b]), fmax(values[a], values[b]), 6, true);
            assert_true(s.n <= CHART_TICKS && isfinite(s.low) && isfinite(s.high));
            for (size_t i = 0; i < s.n; i++)
                chart_tick_text(&s, s.at[i], text, sizeof text);
            chart_value_text(values[a], text, sizeof text);
        }
}

static void ticks_are_readable(void **state)
{
    struct chart_scale s;
    char text[64];
    (void)state;
    chart_scale_numbers(&s, 0, 5000, 5, true);
    chart_tick_text(&s, 5000, text, sizeof text);
    assert_string_equal(text, "5,000");
    chart_scale_numbers(&s, 0, 12e6, 6, true);
    chart_tick_text(&s, 4e6, text, sizeof text);
    assert_string_equal(text, "4M");
    chart_tick_text(&s, 0, text, sizeof text);
    assert_string_equal(text, "0");
    chart_scale_numbers(&s, -1, 1, 8, true);
    chart_tick_text(&s, -0.5, text, sizeof text);
    assert_string_equal(text, "\xe2\x88\x92"
                              "0.50");
    chart_value_text(1234567.25, text, sizeof text);
    assert_string_equal(text, "1,234,567.2");
    chart_value_text(0.125, text, sizeof text);
    assert_string_equal(text, "0.125");
    chart_value_text(-12, text, sizeof text);
    assert_string_equal(text, "\xe2\x88\x92"
                              "12");
}

static void dates_are_read(void **state)
{
    static const struct {
        const char *text;
        double seconds;
    } good[] = {{"1970-01-01", 0},
                {"2026-07-01", 1782864000},
                {"2026-07", 1782864000},
                {"2024-02-29", 1709164800},
                {"2026/07/01", 1782864000},
                {"2026-07-01T10:20:30Z", 1782901230},
                {"2026-07-01 10:20", 1782901200},
                {"2026-07-01T10:20:30.123+02:00", 1782901230},
                {"1969-12-31", -86400}};
    static const char *const bad[] = {
        "",           "2026",        "2026-13-01", "2026-02-30", "01-02-2026", "2026-7-1", "2026-07-01T25:00",
        "2026-07/01", "2026-07-01x", "abcd-ef-gh", "0000-01-01"};
    double at;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(chart_date_read(span_str(good[i].text), &at));
        assert_close(at, good[i].seconds, 0.5);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(chart_date_read(span_str(bad[i]), &at));
}

static void date_scales_follow_the_calendar(void **state)
{
    struct chart_scale s;
    double low = 0, high = 0;
    char text[64];
    (void)state;
    assert_true(chart_date_read(SPAN_LIT("2026-01-15"), &low) &&
                chart_date_read(SPAN_LIT("2026-08-20"), &high));
    chart_scale_dates(&s, low, high, 8);
    assert_int_equal(s.n, 7);
    chart_tick_text(&s, s.at[0], text, sizeof text);
    assert_string_equal(text, "Feb 2026");
    chart_tick_text(&s, s.at[6], text, sizeof text);
    assert_string_equal(text, "Aug");
    chart_scale_dates(&s, low, low + 7200, 8);
    chart_tick_text(&s, s.at[1], text, sizeof text);
    assert_string_equal(text, "00:15");
    chart_scale_dates(&s, low, low, 8);
    assert_true(s.n > 0);
}

static void numbers_are_read(void **state)
{
    (void)state;
    assert_close(chart_number_read(SPAN_LIT("1,234.5")), 1234.5, 0);
    assert_close(chart_number_read(SPAN_LIT("1,234")), 1234, 0);
    assert_close(chart_number_read(SPAN_LIT("1,5")), 1.5, 0);
    assert_close(chart_number_read(SPAN_LIT("$ 12")), 12, 0);
    assert_close(chart_number_read(SPAN_LIT("12.5 %")), 12.5, 0);
    assert_close(chart_number_read(SPAN_LIT("-3e2")), -300, 0);
    assert_close(chart_number_read(SPAN_LIT("\xe2\x88\x92"
                                            "7")),
                 -7, 0);
    assert_true(isnan(chart_number_read(SPAN_LIT(""))));
    assert_true(isnan(chart_number_read(SPAN_LIT("n/a"))));
    assert_true(isnan(chart_number_read(SPAN_LIT("1-2"))));
    assert_true(isnan(chart_number_read(SPAN_LIT("1e999"))));
    assert_true(isnan(chart_number_read(SPAN_LIT("2026-07-01"))));
}

static void forms_of_a_specification(void **state)
{
    static const char *const forms[] = {
        "{\"type\":\"bar\",\"title\":\"T\",\"labels\":[\"a\",\"b\"],\"datasets\":[{\"label\":\"s\",\"data\":["
        "1,2]}],"
        "\"x_label\":\"x\",\"y_label\":\"y\"}",
        "{\"type\":\"bar\",\"data\":{\"labels\":[\"a\",\"b\"],\"datasets\":[{\"label\":\"s\",\"data\":[1,"
        "\"2\"]}]},"
        "\"options\":{\"plugins\":{\"title\":{\"display\":true,\"text\":\"T\"}},"
        "\"scales\":{\"x\":{\"title\":{\"text\":\"x\"}},\"y\":{\"title\":{\"text\":\"y\"}}}}}",
        "{type:'bar', title:'T', labels:['a','b'], datasets:[{label:'s', data:[1,2,],},], x_label:'x', "
        "y_label:'y',}",
        "{\"type\":\"bar\",\"title\":\"T\",\"xTitle\":\"x\",\"yTitle\":\"y\",\"series\":[{\"name\":\"s\","
        "\"data\":[{\"x\":\"a\",\"y\":1},{\"x\":\"b\",\"y\":2}]}]}",
        "{\"type\":\"bar\",\"title\":\"T\",\"xTitle\":\"x\",\"yTitle\":\"y\",\"datasets\":[{\"label\":\"s\","
        "\"data\":{\"a\":1,\"b\":2}}]}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct chart c;
        char sentence[RENDER_SENTENCE];
        assert_int_equal(read_with(forms[i], "", &c, sentence), RENDER_OK);
        assert_string_equal(c.title, "T");
        assert_string_equal(c.x_label, "x");
        assert_string_equal(c.y_label, "y");
        assert_int_equal(c.n_series, 1);
        assert_string_equal(c.series[0].label, "s");
        assert_int_equal(c.series[0].n, 2);
        assert_close(c.series[0].y[1], 2, 0);
        assert_int_equal(c.n_labels, 2);
        assert_string_equal(c.labels[1], "b");
        chart_free(&c);
    }
}

static void rows_of_values(void **state)
{
    static const char *const forms[] = {
        "Month,Plan,Actual\nJan,\"1,200\",1100\nFeb,1300,\n",
        "Month;Plan;Actual\r\nJan;1200;1100\r\nFeb;1300;\r\n",
        "Month\tPlan\tActual\nJan\t1200\t1100\nFeb\t1300\t\n",
        "| Month | Plan | Actual |\n| --- | --: | --- |\n| Jan | 1,200 | 1100 |\n| Feb | 1300 | |\n"};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct chart c;
        char sentence[RENDER_SENTENCE];
        assert_int_equal(read_with(forms[i], "{\"chart\":\"line\"}", &c, sentence), RENDER_OK);
        assert_int_equal(c.type, CHART_LINE);
        assert_int_equal(c.n_series, 2);
        assert_string_equal(c.series[1].label, "Actual");
        assert_string_equal(c.labels[0], "Jan");
        assert_close(c.series[0].y[0], 1200, 0);
        assert_true(isnan(c.series[1].y[1]));
        assert_int_equal(c.n_points, 2);
        chart_free(&c);
    }
}

#define VEGA_DATA                                                                                            \
    "\"data\":{\"values\":[{\"m\":\"Jan\",\"k\":\"A\",\"v\":1},{\"m\":\"Jan\",\"k\":\"B\",\"v\":2},"         \
    "{\"m\":\"Feb\",\"k\":\"B\",\"v\":\"4\"},{\"m\":\"Feb\",\"k\":\"B\",\"v\":1}]}"

static void vega_lite(void **state)
{
    struct chart c;
    char sentence[RENDER_SENTENCE];
    (void)state;
    assert_int_equal(
        read_with(
            "{\"mark\":\"bar\"," VEGA_DATA ",\"encoding\":{\"x\":{\"field\":\"m\",\"type\":\"nominal\"},"
            "\"y\":{\"field\":\"v\",\"type\":\"quantitative\",\"title\":\"Y\"},\"color\":{\"field\":\"k\"}}}",
            "", &c, sentence),
        RENDER_OK);
    assert_int_equal(c.type, CHART_BAR);
    assert_true(c.stacked && !c.horizontal);
    assert_int_equal(c.n_series, 2);
    assert_string_equal(c.series[1].label, "B");
    assert_close(c.series[1].y[0], 2, 0);
    assert_close(c.series[1].y[1], 5, 0);
    assert_true(isnan(c.series[0].y[1]));
    assert_string_equal(c.y_label, "Y");
    chart_free(&c);
    assert_int_equal(read_with("{\"mark\":{\"type\":\"arc\",\"innerRadius\":40}," VEGA_DATA
                               ",\"encoding\":{\"theta\":"
                               "{\"field\":\"v\",\"type\":\"quantitative\"},\"color\":{\"field\":\"k\"}}}",
                               "", &c, sentence),
                     RENDER_OK);
    assert_int_equal(c.type, CHART_DOUGHNUT);
    assert_close(c.series[0].y[1], 7, 0);
    chart_free(&c);
    assert_int_equal(
        read_with("{\"mark\":\"bar\",\"data\":{\"url\":\"http://x.example/a.csv\"},\"encoding\":{}}", "", &c,
                  sentence),
        RENDER_INVALID);
    chart_free(&c);
    assert_int_equal(read_with("{\"mark\":\"bar\",\"transform\":[]," VEGA_DATA "}", "", &c, sentence),
                     RENDER_INVALID);
    chart_free(&c);
}

static void settings_of_a_chart(void **state)
{
    struct chart c;
    char sentence[RENDER_SENTENCE];
    (void)state;
    assert_int_equal(
        read_with("{\"type\":\"bar\",\"data\":{\"labels\":[\"a\"],\"datasets\":[{\"data\":[1],"
                  "\"backgroundColor\":\"#102030\"},{\"type\":\"line\",\"data\":[2]}]},\"options\":"
                  "{\"indexAxis\":\"y\",\"scales\":{\"x\":{\"stacked\":true}}}}",
                  "{\"width\":500,\"height\":\"9999\"}", &c, sentence),
        RENDER_OK);
    assert_true(c.horizontal && c.stacked);
    assert_int_equal(c.series[0].colour, 0x102030);
    assert_int_equal(c.series[1].type, CHART_LINE);
    assert_close(c.width, 500, 0);
    assert_close(c.height, 2000, 0);
    chart_free(&c);
    assert_int_equal(read_with("", "{\"chart\":" SIMPLE "}", &c, sentence), RENDER_OK);
    chart_free(&c);
    assert_int_equal(
        read_with("a,b\nx,1\n",
                  "{\"chart\":\"bar\",\"title\":\"T\",\"x_label\":\"X\",\"y_label\":\"Y\",\"stacked\":true}",
                  &c, sentence),
        RENDER_OK);
    assert_string_equal(c.title, "T");
    assert_string_equal(c.x_label, "X");
    assert_string_equal(c.y_label, "Y");
    assert_true(c.stacked);
    chart_free(&c);
    assert_int_equal(read_with("{\"type\":\"line\",\"labels\":[\"2026-01\",\"2026-02\"],\"data\":[1,2]}", "",
                               &c, sentence),
                     RENDER_OK);
    assert_non_null(c.dates);
    chart_free(&c);
    assert_int_equal(
        read_with("{\"type\":\"scatter\",\"data\":[{\"x\":1,\"y\":2},{\"x\":3,\"y\":4}]}", "", &c, sentence),
        RENDER_OK);
    assert_close(c.series[0].x[1], 3, 0);
    chart_free(&c);
}

static void what_is_refused(void **state)
{
    static const struct {
        const char *source;
        enum render_status status;
        const char *word;
    } cases[] = {
        {"{\"type\":\"radar\",\"datasets\":[{\"data\":[1]}]}", RENDER_INVALID, "type"},
        {"{\"type\":\"bar\"}", RENDER_INVALID, "no data"},
        {"{\"type\":\"bar\",\"datasets\":[{\"label\":\"x\"}]}", RENDER_INVALID, "data"},
        {"{\"type\":\"bar\",\"datasets\":[{\"data\":[null,\"x\"]}]}", RENDER_INVALID, "no number"},
        {"{\"type\":\"pie\",\"datasets\":[{\"data\":[1,-1]}]}", RENDER_INVALID, "negative"},
        {"{\"type\":\"pie\",\"datasets\":[{\"data\":[0,0]}]}", RENDER_INVALID, "greater than 0"},
        {"{\"type\":\"bar\",\"datasets\":[{\"data\":[1e301]}]}", RENDER_INVALID, "too large"},
        {"{\"type\":\"bar\",\"datasets\":", RENDER_INVALID, "JSON"},
        {"{\"type\":\"bar\",\"options\":{\"onClick\":function(){alert(1)}},\"datasets\":[{\"data\":[1]}]}",
         RENDER_INVALID, "functions"},
        {"", RENDER_INVALID, "no data"},
        {"{\"layer\":[{\"mark\":\"bar\"}]," VEGA_DATA "}", RENDER_INVALID, "one mark"},
        {"{\"mark\":\"bar\"," VEGA_DATA
         ",\"encoding\":{\"x\":{\"field\":\"v\",\"bin\":true},\"y\":{\"aggregate\":"
         "\"count\"}}}",
         RENDER_INVALID, "bins"},
        {"{\"mark\":\"line\"," VEGA_DATA
         ",\"encoding\":{\"x\":{\"field\":\"m\",\"timeUnit\":\"month\"},\"y\":{"
         "\"field\":\"v\"}}}",
         RENDER_INVALID, "time units"},
        {"just words", RENDER_INVALID, "no data"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct chart c;
        char sentence[RENDER_SENTENCE];
        assert_int_equal(read_with(cases[i].source, "", &c, sentence), cases[i].status);
        if (!strstr(sentence, cases[i].word))
            fail_msg("%s: '%s' has no '%s'", cases[i].source, sentence, cases[i].word);
        chart_free(&c);
    }
}

static void caps_hold(void **state)
{
    struct chart c;
    char sentence[RENDER_SENTENCE];
    struct buf b;
    (void)state;
    buf_init(&b, 1 << 20);
    buf_adds(&b, "{\"type\":\"bar\",\"datasets\":[{\"data\":[1");
    for (int i = 0; i < CHART_POINTS; i++)
        buf_adds(&b, ",1");
    buf_adds(&b, "]}]}");
    assert_int_equal(read_with(buf_cstr(&b), "", &c, sentence), RENDER_LIMIT);
    chart_free(&c);
    buf_reset(&b);
    buf_adds(&b, "{\"type\":\"bar\",\"datasets\":[{\"data\":[1]}");
    for (int i = 0; i < CHART_SERIES; i++)
        buf_adds(&b, ",{\"data\":[1]}");
    buf_adds(&b, "]}");
    assert_int_equal(read_with(buf_cstr(&b), "", &c, sentence), RENDER_LIMIT);
    chart_free(&c);
    buf_reset(&b);
    buf_adds(&b, "{\"type\":\"pie\",\"data\":[1");
    for (int i = 0; i < CHART_SLICES; i++)
        buf_adds(&b, ",1");
    buf_adds(&b, "]}");
    assert_int_equal(read_with(buf_cstr(&b), "", &c, sentence), RENDER_LIMIT);
    chart_free(&c);
    buf_free(&b);
}

/* ---- pictures ---- */

extern const struct renderer_ops render_chart;

static enum render_status render(const char *source, const char *format, const char *options, struct buf *out)
{
    struct render_params params = {.format = format, .title = "", .options = span_str(options)};
    char sentence[RENDER_SENTENCE] = "";
    buf_init(out, 64 << 20);
    return render_chart.render(span_str(source), &params, out, sentence);
}

static cairo_status_t take(void *arg, unsigned char *to, unsigned int n)
{
    struct span *left = arg;
    if (left->n < n)
        return CAIRO_STATUS_READ_ERROR;
    memcpy(to, left->p, n);
    *left = span_from(*left, n);
    return CAIRO_STATUS_SUCCESS;
}

/* How many pixels have the colour. */
static size_t count(const struct buf *png, colour_t colour, int *width, int *height)
{
    struct span left = buf_span(png);
    cairo_surface_t *s = cairo_image_surface_create_from_png_stream(take, &left);
    assert_int_equal(cairo_surface_status(s), CAIRO_STATUS_SUCCESS);
    size_t n = 0;
    *width = cairo_image_surface_get_width(s);
    *height = cairo_image_surface_get_height(s);
    for (int y = 0; y < *height; y++) {
        const uint32_t *row = (const uint32_t *)(void *)(cairo_image_surface_get_data(s) +
                                                         y * cairo_image_surface_get_stride(s));
        for (int x = 0; x < *width; x++)
            n += (row[x] & 0xffffff) == colour;
    }
    cairo_surface_destroy(s);
    return n;
}

static void pictures_show_the_data(void **state)
{
    struct buf one, two;
    int w, h;
    (void)state;
    assert_int_equal(render(SIMPLE, "png", "", &one), RENDER_OK);
    size_t small = count(&one, chart_palette(0), &w, &h);
    assert_int_equal(w, 1600);
    assert_int_equal(h, 960);
    assert_true(small > 50000);
    buf_free(&one);
    /* The same bars in a picture of half the size cover about a quarter. */
    assert_int_equal(render(SIMPLE, "png", "{\"width\":400,\"height\":240}", &one), RENDER_OK);
    size_t tiny = count(&one, chart_palette(0), &w, &h);
    assert_int_equal(w, 800);
    assert_true(tiny > small / 8 && tiny < small / 2);
    buf_free(&one);
    /* A pie of 75 % and 25 %. */
    assert_int_equal(render("{\"type\":\"pie\",\"data\":{\"a\":75,\"b\":25}}", "png", "", &one), RENDER_OK);
    double share =
        (double)count(&one, chart_palette(0), &w, &h) / (double)count(&one, chart_palette(1), &w, &h);
    assert_true(share > 2.8 && share < 3.2);
    buf_free(&one);
    /* The same source makes the same bytes. */
    assert_int_equal(render(SIMPLE, "png", "", &one), RENDER_OK);
    assert_int_equal(render(SIMPLE, "png", "", &two), RENDER_OK);
    assert_true(one.n == two.n && memcmp(one.data + one.start, two.data + two.start, one.n) == 0);
    buf_free(&one);
    assert_int_equal(render(SIMPLE, "svg", "", &one), RENDER_OK);
    assert_non_null(memmem(one.data + one.start, one.n, "<svg", 4));
    buf_free(&one);
    buf_free(&two);
}

static void every_kind_is_drawn(void **state)
{
    static const char *const types[] = {"bar", "line", "area", "pie", "doughnut", "scatter"};
    static const char *const more[] = {"", ",\"stacked\":true", ",\"horizontal\":true"};
    static const char *const data[] = {
        "\"labels\":[\"a\",\"b\",\"c\"],\"datasets\":[{\"data\":[1,null,3]},{\"data\":[2,0,1]}]",
        "\"data\":[5]", "\"data\":[0,1e300,1e-300]",
        "\"labels\":[\"2026-01-01\",\"2026-01-01\"],\"data\":[1,1]",
        "\"title\":\"\xd7\xa9\xd7\x9c \xe6\x97\xa5\",\"labels\":[\"\"],\"data\":[1,2,3,4]"};
    (void)state;
    for (size_t t = 0; t < 6; t++)
        for (size_t m = 0; m < 3; m++)
            for (size_t d = 0; d < sizeof data / sizeof *data; d++) {
                char source[512];
                struct buf out;
                snprintf(source, sizeof source, "{\"type\":\"%s\"%s,%s}", types[t], more[m], data[d]);
                assert_int_equal(render(source, "svg", "{\"width\":160,\"height\":160}", &out), RENDER_OK);
                buf_free(&out);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_are_round),
        cmocka_unit_test(scales_bear_any_number),
        cmocka_unit_test(ticks_are_readable),
        cmocka_unit_test(dates_are_read),
        cmocka_unit_test(date_scales_follow_the_calendar),
        cmocka_unit_test(numbers_are_read),
        cmocka_unit_test(forms_of_a_specification),
        cmocka_unit_test(rows_of_values),
        cmocka_unit_test(settings_of_a_chart),
        cmocka_unit_test(vega_lite),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(caps_hold),
        cmocka_unit_test(pictures_show_the_data),
        cmocka_unit_test(every_kind_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
