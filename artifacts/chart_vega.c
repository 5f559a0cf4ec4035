/* Vega-Lite specifications whose values stand in them. What would have to be computed or fetched is refused.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "artifacts/chart.h"
#include "base/xalloc.h"

enum { ROWS = 20000, FIELD = 128 };

struct vega {
    struct chart *c;
    const char *label, *value, *group; /* fields; NULL: none */
    bool count;                        /* rows are counted, not added */
};

static enum render_status refuse(char sentence[RENDER_SENTENCE], const char *why)
{
    snprintf(sentence, RENDER_SENTENCE, "%s", why);
    return RENDER_INVALID;
}

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static bool is_measure(const json_t *channel)
{
    return strcmp(text(channel, "type"), "quantitative") == 0 || json_object_get(channel, "aggregate");
}

static const char *field(const json_t *channel)
{
    const char *name = text(channel, "field");
    return *name && strlen(name) < FIELD ? name : NULL;
}

static bool read_mark(json_t *root, struct chart *c)
{
    json_t *mark = json_object_get(root, "mark");
    const char *word = json_is_string(mark) ? json_string_value(mark) : text(mark, "type");
    static const struct {
        const char *word;
        enum chart_type type;
    } marks[] = {{"bar", CHART_BAR},        {"line", CHART_LINE},     {"trail", CHART_LINE},
                 {"area", CHART_AREA},      {"arc", CHART_PIE},       {"point", CHART_SCATTER},
                 {"circle", CHART_SCATTER}, {"square", CHART_SCATTER}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strcmp(word, marks[i].word) == 0) {
            c->type = marks[i].type;
            if (c->type == CHART_PIE && chart_json_number(json_object_get(mark, "innerRadius")) > 0)
                c->type = CHART_DOUGHNUT;
            return true;
        }
    return false;
}

static struct chart_series *series_of(struct vega *v, const json_t *row)
{
    json_t *value = v->group ? json_object_get(row, v->group) : NULL;
    char number[32];
    const char *name = json_string_value(value) ? json_string_value(value) : "";
    if (json_is_number(value)) {
        snprintf(number, sizeof number, "%.15g", json_number_value(value));
        name = number;
    }
    char *clean = chart_text(span_str(name));
    struct chart_series *found = NULL;
    for (size_t k = 0; k < v->c->n_series && !found; k++)
        if (strcmp(v->c->series[k].label, clean) == 0)
            found = &v->c->series[k];
    if (!found && (found = chart_add_series(v->c, span_str(name), CHART_POINTS))) {
        found->n = 0;
        if (v->c->type == CHART_SCATTER)
            found->x = xcalloc(CHART_POINTS + 1, sizeof *found->x);
    }
    xfree(clean);
    return found;
}

/* The number of a label; CHART_POINTS: there are too many. */
static size_t label_of(struct vega *v, const json_t *row, size_t at)
{
    json_t *value = json_object_get(row, v->label);
    char number[32];
    const char *name = json_string_value(value) ? json_string_value(value) : "";
    if (json_is_number(value)) {
        snprintf(number, sizeof number, "%.15g", json_number_value(value));
        name = number;
    }
    char *clean = chart_text(span_str(name));
    size_t i = 0;
    /* Rows mostly come in the order of their labels. */
    if (at < v->c->n_labels && strcmp(v->c->labels[at], clean) == 0)
        i = at;
    while (i < v->c->n_labels && strcmp(v->c->labels[i], clean) != 0)
        i++;
    xfree(clean);
    if (i == v->c->n_labels)
        chart_set_label(v->c, i, span_str(name));
    return i;
}

static bool take_row(struct vega *v, const json_t *row, size_t *at)
{
    struct chart_series *s = series_of(v, row);
    double value = v->count ? 1 : chart_json_number(json_object_get(row, v->value));
    if (!s)
        return false;
    if (v->c->type == CHART_SCATTER) {
        double x = chart_json_number(json_object_get(row, v->label));
        const char *date = text(row, v->label);
        if (s->n == CHART_POINTS)
            return false;
        if (isnan(x) && chart_date_read(span_str(date), &x))
            v->c->x_dates = true;
        s->x[s->n] = x;
        s->y[s->n++] = isnan(x) ? NAN : value;
    } else {
        size_t i = label_of(v, row, *at);
        if (i >= CHART_POINTS)
            return false;
        *at = i + 1;
        s->y[i] = isnan(s->y[i]) ? value : isnan(value) ? s->y[i] : s->y[i] + value;
        if (s->n <= i)
            s->n = i + 1;
    }
    return true;
}

static void name_axis(char **to, const json_t *channel)
{
    json_t *axis = json_object_get(channel, "axis");
    const char *title = *text(channel, "title") ? text(channel, "title") : text(axis, "title");
    if (**to || !*title)
        return;
    xfree(*to);
    *to = chart_text(span_str(title));
}

/* What would have to be computed from the values before they are drawn. */
static bool is_computed(const json_t *channel)
{
    json_t *bin = json_object_get(channel, "bin");
    return (bin && !json_is_null(bin) && !json_is_false(bin)) || json_object_get(channel, "timeUnit") ||
           json_object_get(channel, "condition");
}

/* Which field is which, by the channels of the encoding. */
static const char *read_encoding(struct vega *v, const json_t *encoding)
{
    json_t *x = json_object_get(encoding, "x"), *y = json_object_get(encoding, "y");
    json_t *colour = json_object_get(encoding, "color"), *theta = json_object_get(encoding, "theta");
    json_t *label = x, *value = y;
    struct chart *c = v->c;
    if (c->type == CHART_PIE || c->type == CHART_DOUGHNUT) {
        label = colour;
        value = theta;
        colour = NULL;
    } else if (c->type == CHART_BAR && is_measure(x) && !is_measure(y)) {
        c->horizontal = true;
        label = y;
        value = x;
    }
    if (is_computed(label) || is_computed(value) || is_computed(colour))
        return "Vega-Lite's bins, time units and conditions are not computed: write the values that are to "
               "be shown";
    const char *aggregate = text(value, "aggregate");
    v->count = strcmp(aggregate, "count") == 0;
    if (*aggregate && !v->count && strcmp(aggregate, "sum") != 0)
        return "of Vega-Lite's aggregates only sum and count are drawn";
    v->label = field(label);
    v->value = field(value);
    v->group = field(colour);
    if (!v->label || (!v->value && !v->count))
        return "the chart's encoding names no field for its labels or for its values";
    json_t *stack = json_object_get(value, "stack");
    c->stacked = (c->type == CHART_BAR || c->type == CHART_AREA) && v->group &&
                 !json_object_get(encoding, "xOffset") &&
                 !(stack && (json_is_null(stack) || json_is_false(stack)));
    if (c->type != CHART_PIE && c->type != CHART_DOUGHNUT) {
        name_axis(&c->x_label, x);
        name_axis(&c->y_label, y);
    }
    return NULL;
}

enum render_status chart_read_vega(struct json_t *root, struct chart *c, char sentence[RENDER_SENTENCE])
{
    struct vega v = {.c = c};
    json_t *values = json_object_get(json_object_get(root, "data"), "values"), *row;
    size_t i, at = 0;
    if (!read_mark(root, c))
        return refuse(sentence, "the chart's mark is none of bar, line, area, arc and point");
    if (json_object_get(root, "transform"))
        return refuse(sentence, "Vega-Lite's transforms are not run: write the values that are to be shown");
    if (!json_is_array(values))
        return refuse(sentence, "the chart's data must stand in \"data\":{\"values\":[...]}");
    if (json_array_size(values) > ROWS) {
        snprintf(sentence, RENDER_SENTENCE, "a chart may have at most %d rows of values", ROWS);
        return RENDER_LIMIT;
    }
    const char *wrong = read_encoding(&v, json_object_get(root, "encoding"));
    if (wrong)
        return refuse(sentence, wrong);
    json_array_foreach(values, i, row)
    {
        if (json_is_object(row) && !take_row(&v, row, &at)) {
            snprintf(sentence, RENDER_SENTENCE, "a chart may have at most 50 data sets of 2000 points each");
            return RENDER_LIMIT;
        }
    }
    c->n_points = 0;
    for (size_t k = 0; k < c->n_series; k++)
        c->n_points = c->series[k].n > c->n_points ? c->series[k].n : c->n_points;
    return RENDER_OK;
}
