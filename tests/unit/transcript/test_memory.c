/*
 * A thread may be larger than the memory that its transcript takes: a journal that is never there as a whole
 * is read and drawn, and whenever it is read, and whenever something is written, the heap is looked at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#ifdef SANITIZED /* gcc has the function, but not its header */
size_t __sanitizer_get_current_allocated_bytes(void);
#else
#include <malloc.h>
#endif

#include "transcript/transcript.h"

enum {
    LINE = 16 * 1024,
    TURNS = 800,
    LINES = 4, /* of a turn: its own two, and its consult's */
    JOURNAL = TURNS * LINES * LINE,
    HEAP = 4 << 20, /* may be used for it */
};

static size_t heap(void)
{
#ifdef SANITIZED
    return __sanitizer_get_current_allocated_bytes();
#else
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
#endif
}

struct watch {
    size_t before, most;
};

static void look(struct watch *w)
{
    size_t now = heap();
    if (now > w->before && now - w->before > w->most)
        w->most = now - w->before;
}

/* The line of that number: its beginning, and a text that fills it. */
static void make_line(size_t number, char line[LINE])
{
    size_t turn = number / LINES;
    int n = 0;
    switch (number % LINES) {
    case 0:
        n = snprintf(line, LINE, "{\"ev\":\"begin\",\"id\":\"e%zu\",\"at_us\":%zu000000,\"query\":\"", turn,
                     2051319840 + turn);
        break;
    case 1:
        n = snprintf(line, LINE,
                     "{\"ev\":\"begin\",\"id\":\"s%zu\",\"role\":\"specialist\",\"consult_id\":\"c%zu\","
                     "\"query\":\"",
                     turn, turn);
        break;
    case 2:
        n = snprintf(line, LINE, "{\"ev\":\"end\",\"id\":\"s%zu\",\"end\":{\"cause\":\"finish\"},\"text\":\"",
                     turn);
        break;
    default:
        n = snprintf(line, LINE,
                     "{\"ev\":\"end\",\"id\":\"e%zu\",\"tool_calls\":[{\"id\":\"c%zu\",\"name\":\"ask\"}],"
                     "\"end\":{\"cause\":\"finish\"},\"text\":\"",
                     turn, turn);
        break;
    }
    memset(line + n, 'x', LINE - (size_t)n);
    memcpy(line + LINE - 3, "\"}\n", 3);
}

static int read_journal(void *arg, size_t at, size_t n, struct buf *out)
{
    char line[LINE];
    look(arg);
    while (n) {
        size_t from = at % LINE, part = LINE - from < n ? LINE - from : n;
        make_line(at / LINE, line);
        if (buf_addn(out, line + from, part) < 0)
            return -1;
        at += part;
        n -= part;
    }
    return 0;
}

struct counter {
    struct watch *watch;
    size_t n;
};

static int count(void *arg, struct span bytes)
{
    struct counter *c = arg;
    look(c->watch);
    c->n += bytes.n;
    return 0;
}

static size_t draw_parts(struct transcript *t, enum transcript_file file, struct watch *w)
{
    size_t n = 0;
    struct buf part;
    buf_init(&part, 1 << 20);
    for (size_t i = 0; i < transcript_parts(t, file); i++) {
        buf_reset(&part);
        assert_int_equal(transcript_part(t, file, i, &part), 0);
        look(w);
        n += part.n;
    }
    buf_free(&part);
    return n;
}

static size_t draw_turns(struct transcript *t, struct watch *w)
{
    size_t n = 0;
    struct buf turn;
    buf_init(&turn, 1 << 20);
    for (unsigned i = 1; i <= transcript_entry(t).turns; i++) {
        buf_reset(&turn);
        assert_int_equal(transcript_turn(t, i, &turn), 0);
        look(w);
        n += turn.n;
    }
    buf_free(&turn);
    return n;
}

static void test_long_thread(void **state)
{
    struct watch w = {.before = heap()};
    struct counter raw = {.watch = &w};
    const struct source source = {.n = JOURNAL, .read = read_journal, .arg = &w};
    const struct sink to = {.write = count, .arg = &raw};
    struct journal *j;
    struct transcript *t;
    struct error e;
    (void)state;
    assert_int_equal(journal_open(&source, SPAN_LIT("t"), NULL, &j, &e), 0);
    assert_int_equal(journal_print(j, TRANSCRIPT_DOCUMENT, &to, &e), 0);
    assert_int_equal(transcript_load_journal(j, &t, &e), 0);
    assert_int_equal(transcript_entry(t).turns, TURNS);
    size_t conversation = draw_parts(t, TRANSCRIPT_CONVERSATION, &w), turns = draw_turns(t, &w);
    print_message("%d bytes: document %zu, conversation %zu, turns %zu; heap at most %zu\n", JOURNAL, raw.n,
                  conversation, turns, w.most);
    /* Everything was there: all lines, those of the turns, and all again with each prompt. */
    assert_true(raw.n > JOURNAL && conversation > JOURNAL / 2 - JOURNAL / 16 &&
                turns > JOURNAL - JOURNAL / 16);
    assert_true(w.most > LINE && w.most < HEAP);
    transcript_destroy(t);
    journal_close(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_long_thread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
