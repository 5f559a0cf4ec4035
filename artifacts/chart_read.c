/* The JSON forms of a chart's specification. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "artifacts/chart.h"
#include "artifacts/metadata.h"
#include "artifacts/utf8.h"
#include "base/xalloc.h"

enum { PATHS = 8, NUMBER_TEXT = 64 };

struct reader {
    struct chart *c;
    json_t *root;
    char *sentence;
};

static enum render_status refuse(const struct reader *r, enum render_status status, const char *why)
{
    snprintf(r->sentence, RENDER_SENTENCE, "%s", why);
    return status;
}

/* ---- values ---- */

static struct span text_of(const json_t *v)
{
    return json_is_string(v) ? span_of(json_string_value(v), json_string_length(v)) : SPAN_LIT("");
}

/* The value at a path like "options.plugins.title"; NULL: none. */
static json_t *value_at(json_t *from, const char *path)
{
    while (from && *path) {
        char key[32];
        size_t n = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)n, path);
        from = json_object_get(from, key);
        path += n + (path[n] == '.');
    }
    return from;
}

/* The first of these paths (NULL at the end) that has a value. */
static json_t *first_at(json_t *from, const char *const *paths)
{
    for (size_t i = 0; i < PATHS && paths[i]; i++) {
        json_t *v = value_at(from, paths[i]);
        if (v && !json_is_null(v))
            return v;
    }
    return NULL;
}

/* A comma parts thousands where three digits follow it, and is a decimal mark where another number does. */
double chart_number_read(struct span text)
{
    char plain[NUMBER_TEXT];
    size_t n = 0, comma = 0, comma_at = 0;
    bool digit = false, exponent = false;
    for (const char *p = text.p, *end = text.p + text.n; p < end;) {
        size_t step;
        uint32_t c = utf8_next(p, end, &step);
        bool number = (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+';
        if (c == 0x2212)
            c = '-';
        else if ((c == 'e' || c == 'E') && digit && !exponent)
            exponent = true;
        else if (c == '%' && p + step == end)
            break;
        else if (!number && c != ',' && !utf8_blank(c) && c != '$' && c != 0x20ac && c != 0xa3 && c != 0xa5 &&
                 c != '_' && c != '\'')
            return NAN;
        else if (!number) {
            if (c == ',') {
                comma++;
                comma_at = n;
            }
            p += step;
            continue;
        }
        digit |= c >= '0' && c <= '9';
        if (n + 1 >= sizeof plain)
            return NAN;
        plain[n++] = (char)c;
        p += step;
    }
    char *end;
    plain[n] = '\0';
    if (comma && n - comma_at != 3 && !memchr(plain, '.', n)) {
        if (comma > 1 || n + 1 >= sizeof plain)
            return NAN;
        memmove(plain + comma_at + 1, plain + comma_at, n - comma_at + 1);
        plain[comma_at] = '.';
    }
    double value = strtod(plain, &end);
    return digit && !*end && isfinite(value) ? value : NAN;
}

double chart_json_number(const struct json_t *v)
{
    if (json_is_string(v))
        return chart_number_read(text_of(v));
    double value = json_is_number(v) ? json_number_value(v) : NAN;
    return isfinite(value) ? value : NAN;
}

char *chart_text(struct span text)
{
    struct buf b;
    size_t n = 0, characters = 0, step;
    buf_init(&b, (size_t)CHART_TEXT * 8);
    while (n < text.n && characters < CHART_TEXT) {
        utf8_next(text.p + n, text.p + text.n, &step);
        n += step;
        characters++;
    }
    int failed = text_clean(span_of(text.p, n), false, &b);
    if (!failed && n < text.n)
        failed = buf_adds(&b, "\xe2\x80\xa6");
    char *copy = failed ? xstrdup("") : xspandup(buf_span(&b));
    buf_free(&b);
    return copy;
}

void chart_set_label(struct chart *c, size_t i, struct span text)
{
    if (i >= CHART_POINTS)
        return;
    if (!c->labels)
        c->labels = xcalloc(CHART_POINTS, sizeof *c->labels);
    while (c->n_labels <= i)
        c->labels[c->n_labels++] = xstrdup("");
    xfree(c->labels[i]);
    c->labels[i] = chart_text(text);
}

struct chart_series *chart_add_series(struct chart *c, struct span label, size_t n)
{
    if (c->n_series == CHART_SERIES || n > CHART_POINTS)
        return NULL;
    if (!c->series)
        c->series = xcalloc(CHART_SERIES, sizeof *c->series);
    struct chart_series *s = &c->series[c->n_series];
    s->type = c->type;
    s->label = chart_text(label);
    s->n = n;
    s->y = xcalloc(n + 1, sizeof *s->y);
    for (size_t i = 0; i <= n; i++)
        s->y[i] = NAN;
    s->colour = chart_palette(c->n_series++);
    if (n > c->n_points)
        c->n_points = n;
    return s;
}

static void set_text(char **to, json_t *v)
{
    /* Chart.js takes a list of lines for a title. */
    if (json_is_array(v))
        v = json_array_get(v, 0);
    if (!json_is_string(v))
        return;
    xfree(*to);
    *to = chart_text(text_of(v));
}

/* A label from a string or a number. */
static void label_from(struct chart *c, size_t i, const json_t *v)
{
    char number[NUMBER_TEXT];
    if (json_is_number(v)) {
        snprintf(number, sizeof number, "%.15g", json_number_value(v));
        chart_set_label(c, i, span_str(number));
    } else {
        chart_set_label(c, i, text_of(v));
    }
}

/* ---- what kind of chart ---- */

static bool type_read(struct span word, struct chart *c, enum chart_type *type)
{
    static const struct {
        const char *word;
        enum chart_type type;
        bool stacked, horizontal;
    } words[] = {{"bar", CHART_BAR, false, false},           {"bars", CHART_BAR, false, false},
                 {"column", CHART_BAR, false, false},        {"horizontalBar", CHART_BAR, false, true},
                 {"horizontal_bar", CHART_BAR, false, true}, {"grouped_bar", CHART_BAR, false, false},
                 {"stacked_bar", CHART_BAR, true, false},    {"stackedBar", CHART_BAR, true, false},
                 {"stacked", CHART_BAR, true, false},        {"line", CHART_LINE, false, false},
                 {"area", CHART_AREA, false, false},         {"stacked_area", CHART_AREA, true, false},
                 {"pie", CHART_PIE, false, false},           {"doughnut", CHART_DOUGHNUT, false, false},
                 {"donut", CHART_DOUGHNUT, false, false},    {"scatter", CHART_SCATTER, false, false},
                 {"point", CHART_SCATTER, false, false},     {"bubble", CHART_SCATTER, false, false}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (span_is_nocase(word, words[i].word)) {
            *type = words[i].type;
            c->stacked |= words[i].stacked;
            c->horizontal |= words[i].horizontal;
            return true;
        }
    return false;
}

static bool is_true(json_t *v)
{
    return json_is_true(v) || (json_is_string(v) && span_is_nocase(text_of(v), "true"));
}

static void read_settings(struct reader *r)
{
    static const char *const title[] = {
        "title", "title.text", "options.title", "options.title.text", "options.plugins.title.text", NULL};
    static const char *const subtitle[] = {"subtitle", "options.subtitle", "options.plugins.subtitle.text",
                                           NULL};
    static const char *const x[] = {"x_label",
                                    "xLabel",
                                    "x_title",
                                    "xTitle",
                                    "options.xTitle",
                                    "options.x_label",
                                    "options.scales.x.title.text",
                                    NULL};
    static const char *const y[] = {"y_label",
                                    "yLabel",
                                    "y_title",
                                    "yTitle",
                                    "options.yTitle",
                                    "options.y_label",
                                    "options.scales.y.title.text",
                                    NULL};
    static const char *const stacked[] = {"stacked", "options.stacked", "options.scales.x.stacked",
                                          "options.scales.y.stacked", NULL};
    struct chart *c = r->c;
    json_t *found = NULL;
    for (size_t i = 0; title[i] && !json_is_string(found) && !json_is_array(found); i++)
        found = value_at(r->root, title[i]);
    set_text(&c->title, found);
    set_text(&c->subtitle, first_at(r->root, subtitle));
    set_text(&c->x_label, first_at(r->root, x));
    set_text(&c->y_label, first_at(r->root, y));
    c->stacked |= is_true(first_at(r->root, stacked));
    c->horizontal |= is_true(value_at(r->root, "horizontal")) ||
                     is_true(value_at(r->root, "options.horizontal")) ||
                     span_is(text_of(value_at(r->root, "options.indexAxis")), "y");
    c->from_zero = is_true(value_at(r->root, "options.scales.y.beginAtZero"));
}

/* ---- the data ---- */

static json_t *point_x(json_t *point)
{
    static const char *const names[] = {"x", "label", "name", "category", "date", NULL};
    return json_is_array(point) ? json_array_get(point, 0) : first_at(point, names);
}

static json_t *point_y(json_t *point)
{
    static const char *const names[] = {"y", "value", "v", "count", "amount", NULL};
    if (json_is_array(point))
        return json_array_get(point, 1);
    return json_is_object(point) ? first_at(point, names) : point;
}

static void read_colours(struct chart_series *s, json_t *set)
{
    static const char *const names[] = {"color", "colour", "backgroundColor", "borderColor", NULL};
    static const char *const lines[] = {"borderColor", "color", "colour", "backgroundColor", NULL};
    bool line = s->type == CHART_LINE || s->type == CHART_AREA || s->type == CHART_SCATTER;
    json_t *v = first_at(set, line ? lines : names);
    colour_t colour;
    if (json_is_array(v) && json_array_size(v) > 1 && !line) {
        s->colours = xcalloc(s->n + 1, sizeof *s->colours);
        for (size_t i = 0; i < s->n; i++) {
            s->colours[i] = s->type == CHART_BAR ? s->colour : chart_palette(i);
            if (colour_read(text_of(json_array_get(v, i % json_array_size(v))), &colour))
                s->colours[i] = colour;
        }
        return;
    }
    if (json_is_array(v))
        v = json_array_get(v, 0);
    /* White or nearly so cannot be seen on white. */
    if (colour_read(text_of(v), &colour) && colour_on(colour) == COLOUR_PAPER)
        s->colour = colour;
    else if (colour_read(text_of(v), &colour) && colour != COLOUR_PAPER)
        s->colour = colour_blend(colour, -0.1);
}

/* The points of one data set, which is a list of values or points, or an object of values by label. */
static enum render_status read_points(struct reader *r, struct chart_series *s, json_t *data)
{
    bool first = s == r->c->series;
    if (json_is_object(data)) {
        const char *key;
        json_t *v;
        size_t i = 0;
        json_object_foreach(data, key, v)
        {
            if (first)
                chart_set_label(r->c, i, span_str(key));
            s->y[i++] = chart_json_number(v);
        }
        return RENDER_OK;
    }
    for (size_t i = 0; i < s->n; i++) {
        json_t *point = json_array_get(data, i), *x = NULL;
        s->y[i] = chart_json_number(point_y(point));
        if (!json_is_object(point) && !json_is_array(point))
            continue;
        x = point_x(point);
        if (s->type == CHART_SCATTER) {
            double at;
            if (!s->x) {
                s->x = xcalloc(s->n + 1, sizeof *s->x);
                for (size_t k = 0; k < s->n; k++)
                    s->x[k] = (double)k + 1;
            }
            s->x[i] = chart_json_number(x);
            if (isnan(s->x[i]) && chart_date_read(text_of(x), &at)) {
                s->x[i] = at;
                r->c->x_dates = true;
            }
        } else if (first && (r->c->n_labels <= i || !*r->c->labels[i])) {
            label_from(r->c, i, x);
        }
    }
    return RENDER_OK;
}

static enum render_status read_set(struct reader *r, json_t *set, bool plain)
{
    static const char *const names[] = {"label", "name", "title", NULL};
    static const char *const data_names[] = {"data", "values", "points", "y", NULL};
    struct chart *c = r->c;
    json_t *data = json_is_object(set) && !plain ? first_at(set, data_names) : set;
    if (!json_is_array(data) && !json_is_object(data))
        return refuse(r, RENDER_INVALID, "a data set of the chart has no list of values in \"data\"");
    size_t n = json_is_array(data) ? json_array_size(data) : json_object_size(data);
    if (n > CHART_POINTS)
        return refuse(r, RENDER_LIMIT, "a chart may have at most 2000 points in a data set");
    struct chart_series *s = chart_add_series(c, text_of(first_at(set, names)), n);
    if (!s)
        return refuse(r, RENDER_LIMIT, "a chart may have at most 50 data sets");
    bool pie = c->type == CHART_PIE || c->type == CHART_DOUGHNUT;
    enum chart_type own;
    json_t *fill = json_object_get(set, "fill");
    if (!pie && c->type != CHART_SCATTER && type_read(text_of(json_object_get(set, "type")), c, &own) &&
        (own == CHART_BAR || own == CHART_LINE || own == CHART_AREA))
        s->type = own;
    if (s->type == CHART_LINE && fill && !json_is_false(fill) && !json_is_null(fill))
        s->type = CHART_AREA;
    if (c->n_series == 1 && c->type == CHART_LINE && s->type == CHART_AREA)
        c->type = CHART_AREA;
    read_colours(s, set);
    return read_points(r, s, data);
}

static bool is_list_of_sets(json_t *v)
{
    return json_is_array(v) && json_is_object(json_array_get(v, 0)) &&
           (json_is_array(json_object_get(json_array_get(v, 0), "data")) ||
            json_is_object(json_object_get(json_array_get(v, 0), "data")) ||
            json_is_array(json_object_get(json_array_get(v, 0), "values")));
}

static enum render_status read_data(struct reader *r)
{
    static const char *const sets_names[] = {"data.datasets", "datasets", "data.series", "series", NULL};
    static const char *const data_names[] = {"data.values", "data", "values", "points", NULL};
    static const char *const label_names[] = {"data.labels", "labels", "categories", "x", NULL};
    json_t *labels = first_at(r->root, label_names), *sets = first_at(r->root, sets_names), *item;
    size_t i;
    if (json_array_size(labels) > CHART_POINTS)
        return refuse(r, RENDER_LIMIT, "a chart may have at most 2000 labels");
    json_array_foreach(labels, i, item)
        label_from(r->c, i, json_is_array(item) ? json_array_get(item, 0) : item);
    if (!sets)
        sets = first_at(r->root, data_names);
    if (is_list_of_sets(sets)) {
        json_array_foreach(sets, i, item)
        {
            enum render_status status = read_set(r, item, false);
            if (status != RENDER_OK)
                return status;
        }
        return RENDER_OK;
    }
    if (!sets)
        return refuse(r, RENDER_INVALID,
                      "the chart has no data: give it \"datasets\", each with its \"data\"");
    /* An object of values by label, or a data set that stands alone. */
    return read_set(r, sets,
                    json_is_object(sets) && json_is_number(json_object_iter_value(json_object_iter(sets))));
}

/* A chart whose type is not said: points are a scatter, all else are bars. */
static enum render_status read_type(struct reader *r, struct span said)
{
    json_t *v = json_object_get(r->root, "type");
    struct span word = json_is_string(v) ? text_of(v) : said;
    if (!json_is_string(v) && json_is_string(json_object_get(r->root, "chart")))
        word = text_of(json_object_get(r->root, "chart"));
    r->c->type = CHART_BAR;
    if (!word.n || span_is_nocase(word, "true") || type_read(word, r->c, &r->c->type))
        return RENDER_OK;
    return refuse(r, RENDER_INVALID,
                  "the chart's type is none of bar, line, area, pie, doughnut and scatter");
}

static json_t *load(struct span text)
{
    json_t *root = NULL;
    struct buf strict;
    buf_init(&strict, text.n * 2 + 4096);
    if (metadata_repair(text, &strict))
        root = json_loadb(strict.data + strict.start, strict.n, JSON_DECODE_INT_AS_REAL, NULL);
    buf_free(&strict);
    return root;
}

static enum render_status read_root(json_t *root, struct span said, struct chart *c,
                                    char sentence[RENDER_SENTENCE])
{
    struct reader r = {.c = c, .sentence = sentence, .root = root};
    enum render_status status;
    if (!json_is_object(root))
        return refuse(&r, RENDER_INVALID,
                      "the chart is not a JSON object that can be read (functions are not run)");
    if (json_object_get(root, "layer") || json_object_get(root, "facet") || json_object_get(root, "repeat") ||
        json_object_get(root, "hconcat") || json_object_get(root, "vconcat"))
        return refuse(&r, RENDER_INVALID, "of Vega-Lite one view with one mark is drawn");
    if (json_object_get(root, "mark")) {
        read_settings(&r);
        return chart_read_vega(root, c, sentence);
    }
    status = read_type(&r, said);
    read_settings(&r);
    return status == RENDER_OK ? read_data(&r) : status;
}

/* ---- the whole ---- */

static enum render_status check(struct chart *c, char sentence[RENDER_SENTENCE])
{
    struct reader r = {.c = c, .sentence = sentence};
    size_t values = 0;
    bool pie = c->type == CHART_PIE || c->type == CHART_DOUGHNUT;
    double sum = 0;
    for (size_t k = 0; k < c->n_series; k++)
        for (size_t i = 0; i < c->series[k].n; i++) {
            double y = c->series[k].y[i];
            values += isnan(y) ? 0 : 1;
            if (fabs(y) > 1e300)
                return refuse(&r, RENDER_INVALID, "a value of the chart is too large to be drawn");
            if (pie && y < 0)
                return refuse(&r, RENDER_INVALID, "a pie cannot show negative values; use a bar chart");
            sum += isnan(y) ? 0 : y;
        }
    if (!values)
        return refuse(&r, RENDER_INVALID, "the chart's data hold no number");
    if (pie && !(sum > 0))
        return refuse(&r, RENDER_INVALID, "a pie needs a value greater than 0");
    if (pie && c->n_points > CHART_SLICES)
        return refuse(&r, RENDER_LIMIT, "a pie may have at most 60 slices; use a bar chart");
    if (pie && c->n_series > 1)
        snprintf(sentence, RENDER_SENTENCE, "a pie shows one data set: only the first of %zu is drawn",
                 c->n_series);
    return RENDER_OK;
}

/* A pie of data sets with one value each is one of their values. */
static void join_single_slices(struct chart *c)
{
    if ((c->type != CHART_PIE && c->type != CHART_DOUGHNUT) || c->n_series < 2 || c->n_points > 1)
        return;
    size_t n = c->n_series;
    double *values = xcalloc(n + 1, sizeof *values);
    for (size_t k = 0; k < n; k++) {
        values[k] = c->series[k].n ? c->series[k].y[0] : NAN;
        chart_set_label(c, k, span_str(c->series[k].label));
    }
    xfree(c->series[0].y);
    c->series[0].y = values;
    xfree(c->series[0].colours);
    c->series[0].colours = NULL;
    c->series[0].n = c->n_points = n;
    for (size_t k = 1; k < n; k++) {
        xfree(c->series[k].y);
        xfree(c->series[k].x);
        xfree(c->series[k].label);
        xfree(c->series[k].colours);
    }
    c->n_series = 1;
}

static void find_dates(struct chart *c)
{
    if (c->n_labels < 2 || c->n_labels < c->n_points)
        return;
    double *dates = xcalloc(c->n_labels, sizeof *dates);
    for (size_t i = 0; i < c->n_labels; i++)
        if (!chart_date_read(span_str(c->labels[i]), &dates[i])) {
            xfree(dates);
            return;
        }
    c->dates = dates;
}

static double wanted_size(const json_t *options, json_t *root, const char *name)
{
    double value = chart_json_number(json_object_get(options, name));
    if (isnan(value))
        value = chart_json_number(json_object_get(root, name));
    return isnan(value) || value <= 0 ? 0 : fmin(fmax(value, 160), 2000);
}

enum render_status chart_read(struct span source, const struct render_params *params, struct chart *out,
                              char sentence[RENDER_SENTENCE])
{
    *out = (struct chart){
        .title = xstrdup(""), .subtitle = xstrdup(""), .x_label = xstrdup(""), .y_label = xstrdup("")};
    json_t *options = json_loadb(params->options.n ? params->options.p : "{}",
                                 params->options.n ? params->options.n : 2, JSON_DECODE_INT_AS_REAL, NULL);
    json_t *said = json_object_get(options, "chart");
    char family[256];
    enum render_status status;
    if (span_starts(source, "\xef\xbb\xbf"))
        source = span_from(source, 3);
    while (source.n && strchr(" \t\r\n", source.p[0]) && source.p[0])
        source = span_from(source, 1);
    if (source.n && source.p[0] == '{') {
        json_t *root = load(source);
        status = read_root(root, text_of(said), out, sentence);
        json_decref(root);
    } else if (json_is_object(said)) {
        status = read_root(said, SPAN_LIT(""), out, sentence);
    } else {
        struct reader r = {.c = out, .sentence = sentence, .root = options};
        struct span word = text_of(said);
        read_settings(&r); /* rows have no other place for them than the metadata */
        out->type = CHART_BAR;
        status = word.n && !type_read(word, out, &out->type)
                     ? refuse(&r, RENDER_INVALID,
                              "the chart's type is none of bar, line, area, pie, doughnut and scatter")
                     : chart_read_rows(source, out, sentence);
    }
    if (!*out->title && params->title && *params->title) {
        xfree(out->title);
        out->title = chart_text(span_str(params->title));
    }
    out->width = wanted_size(options, NULL, "width");
    out->height = wanted_size(options, NULL, "height");
    if (params->brand.font && *params->brand.font)
        out->family = xstrdup(text_families(params->brand.font, family, sizeof family));
    colour_t brand;
    if (params->brand.colour && out->n_series && out->series[0].colour == chart_palette(0) &&
        colour_read(span_str(params->brand.colour), &brand))
        out->series[0].colour = brand;
    json_decref(options);
    if (status != RENDER_OK)
        return status;
    join_single_slices(out);
    find_dates(out);
    return check(out, sentence);
}

void chart_free(struct chart *c)
{
    for (size_t k = 0; k < c->n_series; k++) {
        xfree(c->series[k].label);
        xfree(c->series[k].y);
        xfree(c->series[k].x);
        xfree(c->series[k].colours);
    }
    for (size_t i = 0; i < c->n_labels; i++)
        xfree(c->labels[i]);
    xfree(c->labels);
    xfree(c->series);
    xfree(c->dates);
    xfree(c->title);
    xfree(c->subtitle);
    xfree(c->x_label);
    xfree(c->y_label);
    xfree(c->family);
    *c = (struct chart){0};
}
