/* Whose turn it is among documents that wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "jobs/task_queue.h"

enum { ITEMS = 64 };

/* Owners are letters; small ones are slow. How many of each are at work stands in `running`. */
struct run {
    struct task_queue queue;
    struct queued items[ITEMS];
    unsigned running[128];
};

static unsigned running_of(const void *user, uint64_t owner)
{
    const struct run *r = user;
    return r->running[owner];
}

static void add(struct run *r, const char *owners)
{
    struct queued *ousted;
    for (size_t i = 0; owners[i]; i++) {
        struct queued *item = r->items;
        while (item->owner)
            item++;
        *item = (struct queued){.owner = (uint64_t)owners[i] & ~0x20u, .slow = owners[i] >= 'a'};
        assert_int_equal(task_queue_add(&r->queue, item, ITEMS, &ousted), 0);
        assert_null(ousted);
    }
}

/* All of them in the order in which they come, when each one ends before the next is taken (or none does). */
static void expect(struct run *r, const char *order, bool they_end, bool slow_too)
{
    char got[ITEMS + 1] = "";
    struct queued *t;
    for (size_t n = 0; n < ITEMS && (t = task_queue_take(&r->queue, running_of, r, slow_too)); n++) {
        got[n] = (char)(t->owner | (t->slow ? 0x20 : 0));
        r->running[t->owner] += !they_end;
    }
    assert_string_equal(got, order);
}

static void owners_take_turns(void **state)
{
    (void)state;
    static const struct {
        const char *queue, *order;
    } cases[] = {
        {"", ""},
        {"AAA", "AAA"},
        {"AAAAB", "ABAAA"},
        {"AABBCC", "ABCABC"},
        {"AAAABBC", "ABCABAA"},
        {"BAAAAAAAAAAAAAAAAAAAAB", "BABAAAAAAAAAAAAAAAAAAA"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run r = {.queue.n = 0};
        add(&r, cases[i].queue);
        expect(&r, cases[i].order, true, true);
        assert_int_equal(r.queue.n, 0);
    }
}

static void who_has_fewest_at_work_is_next(void **state)
{
    (void)state;
    struct run r = {.running = {['A'] = 3, ['B'] = 1}};
    add(&r, "AAABBC");
    expect(&r, "CBBAAA", false,
           true); /* B then has as many as A, and A came first: but B's turn was not yet */
}

static void slow_ones_wait_for_their_place(void **state)
{
    (void)state;
    struct run r = {.queue.n = 0};
    add(&r, "aaBa");
    expect(&r, "B", true, false);
    assert_int_equal(r.queue.n, 3);
    expect(&r, "aaa", true, true);
}

/* What has to go when it is full, as the order of what is left; "" when the newcomer is refused. */
static void full(const char *queue, char newcomer, const char *order)
{
    struct run r = {.queue.n = 0};
    struct queued item = {.owner = (uint64_t)newcomer}, *ousted;
    add(&r, queue);
    int refused = task_queue_add(&r.queue, &item, strlen(queue), &ousted);
    assert_int_equal(refused, *order ? 0 : -1);
    assert_true((ousted != NULL) == (*order != 0));
    assert_int_equal(r.queue.n, strlen(queue));
    if (*order)
        expect(&r, order, true, true);
}

static void a_full_queue_makes_room_for_who_has_few(void **state)
{
    (void)state;
    full("AAAA", 'A', "");
    full("AAAA", 'B', "ABAA");
    full("AB", 'A', "");
    full("AB", 'C', ""); /* one each is fair */
    full("AAB", 'B', "");
    full("AAAB", 'B', "ABAB");
    full("BAAACCCC", 'D', "BACDACAC");
}

static void the_newest_of_many_goes(void **state)
{
    (void)state;
    struct run r = {.queue.n = 0};
    struct queued item = {.owner = 'B'}, *ousted;
    add(&r, "AAA");
    assert_int_equal(task_queue_add(&r.queue, &item, 3, &ousted), 0);
    assert_ptr_equal(ousted, &r.items[2]);
    task_queue_remove(&r.queue, &r.items[0]);
    assert_ptr_equal(task_queue_take(&r.queue, running_of, &r, true), &r.items[1]);
    assert_ptr_equal(task_queue_take(&r.queue, running_of, &r, true), &item);
    assert_null(task_queue_take(&r.queue, running_of, &r, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owners_take_turns),
        cmocka_unit_test(who_has_fewest_at_work_is_next),
        cmocka_unit_test(slow_ones_wait_for_their_place),
        cmocka_unit_test(a_full_queue_makes_room_for_who_has_few),
        cmocka_unit_test(the_newest_of_many_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
