/* The counters, and the page that is made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "proxy/metrics.h"

static const char configuration[] = "default_provider: one\nproviders:\n"
                                    "  - {name: one, dialect: openai, base_url: \"http://a.test\"}\n"
                                    "  - {name: two, dialect: gemini, base_url: \"http://b.test\"}\n";

struct page {
    struct config *config;
    struct metrics *metrics;
    struct buf text;
};

static int open_page(void **state)
{
    static struct page p;
    struct config_error e;
    p.config = config_parse(SPAN_LIT(configuration), "test", &e);
    p.metrics = p.config ? metrics_create(p.config) : NULL;
    buf_init(&p.text, 1 << 20);
    *state = &p;
    return p.metrics ? 0 : -1;
}

static int close_page(void **state)
{
    struct page *p = *state;
    buf_free(&p->text);
    munmap(p->metrics, sizeof *p->metrics);
    config_unref(p->config);
    return 0;
}

/* Whether the page has exactly this line. */
static bool has_line(struct page *p, const char *line)
{
    char text[512];
    buf_reset(&p->text);
    metrics_print(p->metrics, &p->text);
    snprintf(text, sizeof text, "\n%s\n", line);
    return strstr(buf_cstr(&p->text), text) != NULL;
}

static void assert_line(struct page *p, const char *line)
{
    if (!has_line(p, line))
        fail_msg("no line '%s' in\n%s", line, buf_cstr(&p->text));
}

/* Every line is a comment or `name{labels} number`; a metric's lines stand together, behind its TYPE. */
static void check_form(struct page *p)
{
    char name[128] = "";
    buf_reset(&p->text);
    metrics_print(p->metrics, &p->text);
    assert_false(buf_full(&p->text));
    struct span rest = buf_span(&p->text);
    assert_true(span_ends(rest, "\n"));
    while (rest.n) {
        const char *lf = memchr(rest.p, '\n', rest.n);
        char line[512];
        size_t n = (size_t)(lf - rest.p);
        assert_true(n > 0 && n < sizeof line);
        memcpy(line, rest.p, n);
        line[n] = '\0';
        rest = span_from(rest, n + 1);
        if (strncmp(line, "# TYPE ", 7) == 0) {
            assert_int_equal(sscanf(line, "# TYPE %127s", name), 1);
            continue;
        }
        if (line[0] == '#') {
            assert_int_equal(strncmp(line, "# HELP ", 7), 0);
            continue;
        }
        if (strncmp(line, name, strlen(name)) != 0)
            fail_msg("'%s' under %s", line, name);
        const char *space = strrchr(line, ' ');
        char *end;
        assert_non_null(space);
        strtod(space + 1, &end);
        assert_int_equal(*end, '\0');
        const char *brace = strchr(line, '{');
        assert_true(!brace || space[-1] == '}');
        assert_true(brace || (size_t)(space - line) == strlen(name));
    }
}

static void fresh(void **state)
{
    struct page *p = *state;
    check_form(p);
    assert_line(p, "penstock_consults_total{provider=\"two\",outcome=\"client_gone\"} 0");
    assert_line(p, "penstock_relayed_requests_total{provider=\"one\"} 0");
    assert_line(p, "penstock_open_streams 0");
    assert_line(p, "penstock_worker_restarts_total 0");
    assert_line(p, "penstock_build_info{version=\"" PENSTOCK_VERSION "\"} 1");
    assert_line(p, "penstock_overhead_seconds_bucket{le=\"+Inf\"} 0");
}

static void counters(void **state)
{
    struct page *p = *state;
    struct metrics *m = p->metrics;
    const struct config_provider *one = &p->config->providers[0], *two = &p->config->providers[1];
    metrics_provider(m, one)->requests += 3;
    metrics_provider(m, two)->consults[OUTCOME_INTERRUPTED]++;
    metrics_error(m, one, ERROR_UPSTREAM_TIMEOUT);
    metrics_error(m, one, ERROR_UPSTREAM_TIMEOUT);
    metrics_error(m, NULL, ERROR_BAD_REQUEST);
    m->artifacts = 2;
    m->artifact_bytes = UINT64_MAX;
    assert_line(p, "penstock_relayed_requests_total{provider=\"one\"} 3");
    assert_line(p, "penstock_consults_total{provider=\"two\",outcome=\"interrupted\"} 1");
    assert_line(p, "penstock_consults_total{provider=\"one\",outcome=\"interrupted\"} 0");
    assert_line(p, "penstock_errors_total{code=\"UPSTREAM_TIMEOUT\",level=\"error\",provider=\"one\"} 2");
    assert_line(p, "penstock_errors_total{code=\"BAD_REQUEST\",level=\"warning\",provider=\"\"} 1");
    assert_line(p, "penstock_artifacts_total 2");
    assert_line(p, "penstock_artifact_bytes_total 18446744073709551615");
    check_form(p);
}

/* A provider of a newer configuration is counted as none. */
static void unknown_provider(void **state)
{
    struct page *p = *state;
    char name[] = "three";
    struct config_provider three = {.name = name};
    metrics_error(p->metrics, &three, ERROR_OVERLOADED);
    assert_ptr_equal(metrics_provider(p->metrics, &three), metrics_provider(p->metrics, NULL));
    assert_line(p, "penstock_errors_total{code=\"OVERLOADED\",level=\"error\",provider=\"\"} 1");
}

static void histograms(void **state)
{
    struct page *p = *state;
    struct histogram *h = &metrics_provider(p->metrics, &p->config->providers[0])->duration;
    static const int64_t us[] = {-5, 0, 100, 101, 5000000, 300000000, 300000001, INT64_MAX / 4};
    for (size_t i = 0; i < 7; i++)
        metrics_observe(h, us[i]);
#define DURATION(part, labels)                                                                               \
    "gen_ai_server_request_duration_seconds" part                                                            \
    "{gen_ai_operation_name=\"chat\",gen_ai_provider_name=\"one\"" labels "} "
    assert_line(p, DURATION("_bucket", ",le=\"0.0001\"") "3");
    assert_line(p, DURATION("_bucket", ",le=\"0.00025\"") "4");
    assert_line(p, DURATION("_bucket", ",le=\"2.5\"") "4");
    assert_line(p, DURATION("_bucket", ",le=\"5\"") "5");
    assert_line(p, DURATION("_bucket", ",le=\"300\"") "6");
    assert_line(p, DURATION("_bucket", ",le=\"+Inf\"") "7");
    assert_line(p, DURATION("_count", "") "7");
    assert_line(p, DURATION("_sum", "") "605.000202");
    metrics_observe(&p->metrics->overhead, 2000);
    assert_line(p, "penstock_overhead_seconds_bucket{le=\"0.0025\"} 1");
    check_form(p);
}

/* Gauges are sums over workers; those of a dead one go. */
static void gauges(void **state)
{
    struct page *p = *state;
    struct metrics *m = p->metrics;
    metrics_gauge_add(m, 0, GAUGE_CONNECTIONS, 5);
    metrics_gauge_add(m, 1, GAUGE_CONNECTIONS, 2);
    metrics_gauge_add(m, 1, GAUGE_CONNECTIONS, -1);
    metrics_gauge_set(m, METRICS_WORKERS + 1, GAUGE_HELD_BYTES, 77);
    metrics_gauge_set(m, 0, GAUGE_JOBS, 4);
    metrics_gauge_set(m, 0, GAUGE_JOBS, 3);
    assert_line(p, "penstock_connections 6");
    assert_line(p, "penstock_held_bytes 77");
    assert_line(p, "penstock_jobs 3");
    metrics_clear_worker(m, 1);
    assert_line(p, "penstock_connections 5");
    assert_line(p, "penstock_held_bytes 0");
    metrics_clear_worker(m, 0);
}

/* What another process counts is seen here. */
static void shared(void **state)
{
    struct page *p = *state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        metrics_gauge_add(p->metrics, 3, GAUGE_OPEN_STREAMS, 2);
        p->metrics->worker_restarts++;
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_line(p, "penstock_open_streams 2");
    assert_line(p, "penstock_worker_restarts_total 1");
}

static void outcomes(void **state)
{
    (void)state;
    for (int o = 0; o < OUTCOMES; o++)
        assert_true(outcome_name((enum outcome)o)[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fresh),      cmocka_unit_test(counters), cmocka_unit_test(unknown_provider),
        cmocka_unit_test(histograms), cmocka_unit_test(gauges),   cmocka_unit_test(shared),
        cmocka_unit_test(outcomes),
    };
    return cmocka_run_group_tests(tests, open_page, close_page);
}
