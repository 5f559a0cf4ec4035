/* What an export does, and which end belongs to which notice. */
#include "transcript/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/xalloc.h"
#include "transcript/match.h"

static const struct {
    const char *id, *last;
} threads[] = {
    {"a", "2035-01-05T00:00:00.100000Z"}, {"b", "2035-01-09T00:00:00.18033Z"}, {"c", "2035-01-08T00:00:00Z"},
    {"d", "2035-01-07T00:00:00Z"},        {"e", "2035-01-04T00:00:00Z"},       {"f", "2035-01-03T00:00:00Z"},
};
enum { THREADS = sizeof threads / sizeof threads[0] };

#define STATE(f)                                                                                             \
    "{\"a\":{\"status\":\"ok\",\"lastUpdated\":\"2035-01-05T00:00:00.1Z\"},"                                 \
    "\"b\":{\"status\":\"ok\",\"lastUpdated\":\"2035-01-09T00:00:00.180330Z\"},"                             \
    "\"c\":{\"status\":\"error\",\"lastUpdated\":\"2035-01-08T00:00:00Z\"},\"e\":{\"status\":\"expired\"},"  \
    "\"f\":{\"status\":\"ok\",\"lastUpdated\":\"" f "\"}}"

static void assert_planned(const char *state_text, bool full, bool force, const char *wanted)
{
    struct plan_state *state = plan_state_parse(span_str(state_text));
    struct plan_thread list[THREADS];
    char got[256] = "";
    assert_non_null(state);
    for (size_t i = 0; i < THREADS; i++)
        list[i] = (struct plan_thread){.id = span_str(threads[i].id),
                                       .last_updated = span_str(threads[i].last),
                                       .bytes = 7,
                                       .number = i};
    size_t n = plan_threads(list, THREADS, state, full, force);
    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(got);
        assert_string_equal(threads[list[i].number].id, list[i].id.p);
        snprintf(got + used, sizeof got - used, "%s%s:%s", i ? " " : "", list[i].id.p,
                 plan_action_name(list[i].action));
    }
    assert_string_equal(got, wanted);
    plan_state_destroy(state);
}

static void test_plan(void **state)
{
    static const char all[] = "b:done c:updated d:new a:done e:expired f:updated";
    (void)state;
    assert_planned(STATE("2035-01-03T00:00:00.000Z"), false, false, all);
    assert_planned(STATE("2035-01-03T00:00:00.000Z"), true, false, all);
    assert_planned(STATE("2035-01-03T00:00:00.000Z"), false, true,
                   "b:updated c:updated d:new a:updated e:expired f:updated");
    assert_planned(STATE("2035-01-03T00:00:00Z"), false, false, "b:done c:updated d:new");
    assert_planned(STATE("2035-01-03T00:00:00Z"), true, false,
                   "b:done c:updated d:new a:done e:expired f:done");
    assert_planned("{}", false, false, "b:new c:new d:new a:new e:new f:new");
    assert_planned("{\"a\":{\"status\":\"deleted\"},\"b\":7}", false, true,
                   "b:updated c:new d:new a:deleted e:new f:new");
    /* What was as long as now when it was exported is done; a state without lengths goes by times alone. */
    assert_planned("{\"a\":{\"status\":\"ok\",\"lastUpdated\":\"2035-01-05T00:00:00.1Z\",\"bytes\":8},"
                   "\"b\":{\"status\":\"ok\",\"lastUpdated\":\"2035-01-09T00:00:00.18033Z\",\"bytes\":7}}",
                   true, false, "b:done c:new d:new a:updated e:new f:new");
}

static void test_same_time(void **state)
{
    (void)state;
    assert_true(plan_same_time(SPAN_LIT(" 2035-01-03T00:00:00.100Z"), SPAN_LIT("2035-01-03T00:00:00.1Z\n")));
    assert_true(plan_same_time(SPAN_LIT("x.000"), SPAN_LIT("x.0")));
    assert_false(plan_same_time(SPAN_LIT("x.0Z"), SPAN_LIT("xZ")));
    assert_false(plan_same_time(SPAN_LIT("x.01Z"), SPAN_LIT("x.1Z")));
    assert_false(plan_same_time(SPAN_LIT("x.1Z"), SPAN_LIT("x.1")));
    assert_true(plan_same_time(SPAN_LIT(""), SPAN_LIT(" ")));
}

static void test_state(void **state)
{
    struct plan_state *s = plan_state_parse(SPAN_LIT("{\"old\":{\"status\":\"expired\",\"note\":1}}"));
    struct buf out;
    (void)state;
    assert_null(plan_state_parse(SPAN_LIT("{\"a\":")));
    assert_null(plan_state_parse(SPAN_LIT("[]")));
    assert_non_null(s);
    plan_state_set(s, SPAN_LIT("new"), "error", SPAN_LIT("t"), 0);
    plan_state_set(s, SPAN_LIT("new"), "ok", SPAN_LIT("u"), 0);
    plan_state_set(s, SPAN_LIT("long"), "ok", SPAN_LIT("u"), 5000000000);
    buf_init(&out, 4096);
    assert_int_equal(plan_state_print(s, &out), 0);
    assert_string_equal(buf_cstr(&out), "{\n \"old\": {\n  \"status\": \"expired\",\n  \"note\": 1\n },\n"
                                        " \"new\": {\n  \"status\": \"ok\",\n  \"lastUpdated\": \"u\"\n },\n"
                                        " \"long\": {\n  \"status\": \"ok\",\n  \"lastUpdated\": \"u\",\n"
                                        "  \"bytes\": 5000000000\n }\n}\n");
    buf_free(&out);
    plan_state_destroy(s);
}

/* ---- matching ---- */

struct pair {
    uint64_t distance;
    size_t stub, end;
};

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    if (x->stub != y->stub)
        return x->stub < y->stub ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* By the definition: all pairs in ascending distance, each end once. */
static void match_by_definition(const int64_t *stubs, size_t n, const int64_t *ends, size_t m, size_t *taken)
{
    struct pair *pairs = xcalloc(n * m + 1, sizeof *pairs);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            if (match_distance(stubs[i], ends[j]) <= MATCH_WINDOW)
                pairs[count++] = (struct pair){match_distance(stubs[i], ends[j]), i, j};
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    for (size_t j = 0; j < m; j++)
        taken[j] = n;
    for (size_t k = 0; k < count; k++)
        if (taken[pairs[k].end] == n)
            taken[pairs[k].end] = pairs[k].stub;
    xfree(pairs);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static int compare_times(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Crowded and sparse, with many ties. */
static void test_match_is_the_definition(void **state)
{
    enum { ROUNDS = 2000, STUBS = 12, ENDS = 20 };
    uint64_t seed = 88172645463325252;
    (void)state;
    for (size_t round = 0; round < ROUNDS; round++) {
        int64_t stubs[STUBS], ends[ENDS], unit = round % 3 ? 1000000 : 1;
        size_t n = next_random(&seed) % (STUBS + 1), m = next_random(&seed) % (ENDS + 1), taken[ENDS];
        for (size_t i = 0; i < n; i++)
            stubs[i] = 1 + (int64_t)(next_random(&seed) % 60) * unit;
        for (size_t j = 0; j < m; j++)
            ends[j] = (int64_t)(next_random(&seed) % 80) * unit - 9 * unit;
        qsort(stubs, n, sizeof *stubs, compare_times);
        match_by_definition(stubs, n, ends, m, taken);
        for (size_t j = 0; j < m; j++)
            assert_int_equal(match_stub(stubs, n, ends[j]), taken[j]);
    }
}

static void test_match_bounds(void **state)
{
    static const int64_t stubs[] = {1, 20000001, 20000001, INT64_MAX};
    (void)state;
    assert_int_equal(match_stub(stubs, 4, 10000001), 0);
    assert_int_equal(match_stub(stubs, 4, 10000002), 1);
    assert_int_equal(match_stub(stubs, 4, 30000001), 1);
    assert_int_equal(match_stub(stubs, 4, 30000002), 4);
    assert_int_equal(match_stub(stubs, 4, INT64_MAX - 10000000), 3);
    assert_int_equal(match_stub(stubs, 4, INT64_MIN), 4);
    assert_int_equal(match_stub(stubs, 0, 5), 0);
    assert_true(match_distance(INT64_MIN, INT64_MAX) == UINT64_MAX);
}

/* 100,000 ends and 1,000 notices, all of them near each other: 100 million pairs that nobody makes. */
static void test_match_many(void **state)
{
    enum { STUBS = 1000, ENDS = 100000 };
    static int64_t stubs[STUBS];
    uint64_t seed = 4711;
    (void)state;
    for (size_t i = 0; i < STUBS; i++)
        stubs[i] = 1 + (int64_t)i * 5000;
    for (size_t j = 0; j < ENDS; j++) {
        int64_t end = (int64_t)(next_random(&seed) % 5000000);
        size_t nearest = end <= stubs[0] ? 0 : (size_t)(end - 1 + 2499) / 5000; /* ties to the earlier one */
        if (nearest >= STUBS)
            nearest = STUBS - 1;
        assert_int_equal(match_stub(stubs, STUBS, end), nearest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan),         cmocka_unit_test(test_same_time),
        cmocka_unit_test(test_state),        cmocka_unit_test(test_match_is_the_definition),
        cmocka_unit_test(test_match_bounds), cmocka_unit_test(test_match_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
