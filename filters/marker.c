#include "filters/marker.h"

#include <string.h>

#include "filters/character.h"

static const char name_letters[MARKER_NAME + 1] = "hw_attachment";

enum {
    SECOND_H = 9
}; /* characters up to and with the second H, the only one with which the name could begin again */

static uint32_t lower(uint32_t c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

static bool is_word(uint32_t c)
{
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_blank(uint32_t c)
{
    return c == ' ' || c == '\t';
}

static bool is_white(uint32_t c)
{
    return is_blank(c) || (c >= '\n' && c <= '\r');
}

/* Knuth, Morris and Pratt's step: how much of the name the text now ends with. */
static unsigned name_step(unsigned name, uint32_t c)
{
    c = lower(c);
    if (c == (unsigned char)name_letters[name])
        return name + 1;
    if (name == SECOND_H && c == 'w')
        return 2;
    return c == 'h' ? 1 : 0;
}

/* ---- the end of a closing marker ---- */

enum { TAIL_NONE, TAIL_SUFFIX, TAIL_BLANKS, TAIL_GREATER };

static void tail_start(struct marker_tail *t)
{
    *t = (struct marker_tail){.state = TAIL_SUFFIX, .length = MARKER_NAME};
}

/* 1: the marker is complete; 0: it may become one; -1: it is none. */
static int tail_step(struct marker_tail *t, uint32_t c)
{
    unsigned state = TAIL_NONE;
    if (c == '>')
        state = TAIL_GREATER;
    else if (is_word(c) && t->state == TAIL_SUFFIX && t->suffix < MARKER_SUFFIX)
        state = TAIL_SUFFIX;
    else if (is_blank(c) && (t->state == TAIL_SUFFIX || (t->state == TAIL_BLANKS && t->n < MARKER_BLANKS)))
        state = TAIL_BLANKS;
    if (state == TAIL_NONE) {
        *t = (struct marker_tail){0};
        return -1;
    }
    t->n = (uint8_t)(state == t->state ? t->n + 1 : 1);
    t->state = (uint8_t)state;
    t->suffix = (uint8_t)(t->suffix + (state == TAIL_SUFFIX));
    t->length++;
    return state == TAIL_GREATER && t->n == 3;
}

/* ---- markers in running text ---- */

/* `<<<` and the blanks behind it; c is none of the name that goes on. */
static void less_step(struct marker *m, uint32_t c, bool in_name)
{
    if (c == '<') {
        bool more = !in_name && m->blanks == 0;
        m->less = (uint8_t)(more ? m->less + (m->less < 3) : 1);
        m->blanks = 0;
    } else if (is_blank(c) && !in_name && m->less == 3 && m->blanks < MARKER_BLANKS) {
        m->blanks++;
    } else {
        m->less = m->blanks = 0;
    }
}

enum marker_event marker_step_busy(struct marker *m, uint32_t c)
{
    if (m->tail.length && tail_step(&m->tail, c) == 1)
        return MARKER_CLOSES;
    unsigned before = m->name;
    m->name = (uint8_t)name_step(before, c);
    if (m->name == before + 1u && before > 0) {
        if (m->name < MARKER_NAME)
            return MARKER_NONE;
        if (m->opening)
            return MARKER_OPENS;
        m->name = 0;
        tail_start(&m->tail);
        return MARKER_NONE;
    }
    m->opening = before == 0 && m->name == 1 && m->less == 3;
    if (!m->opening)
        less_step(m, c, before > 0);
    return MARKER_NONE;
}

unsigned marker_live(const struct marker *m)
{
    if (m->tail.length)
        return m->tail.length;
    if (m->name && !m->opening)
        return m->name;
    return (unsigned)m->less + m->blanks + m->name;
}

/* ---- fence lines ---- */

void marker_fence_start(struct marker_fence *f)
{
    *f = (struct marker_fence){.state = FENCE_TICKS, .units = 1};
}

static unsigned fence_next(struct marker_fence *f, uint32_t c)
{
    if (f->state == FENCE_TICKS && f->units < 3)
        return c == '`' ? FENCE_TICKS : FENCE_NONE;
    if (c == '\n')
        return FENCE_WHOLE;
    if (f->state == FENCE_CR || c == '`' || c == '<' || c == '>')
        return FENCE_NONE;
    if (c == '\r')
        return FENCE_CR;
    if (!character_continues(c, f->high))
        f->info++;
    f->high = character_is_high(c);
    /* No code point has more than four bytes; more is no UTF-8, and would be held without a limit. */
    return f->info <= MARKER_INFO && f->units < 3 + 4 * MARKER_INFO ? FENCE_INFO : FENCE_NONE;
}

bool marker_fence_step(struct marker_fence *f, uint32_t c)
{
    f->state = (uint8_t)fence_next(f, c);
    f->units++;
    return f->state != FENCE_NONE;
}

/* ---- where a directive starts ---- */

enum { LOOK_SUFFIX, LOOK_GREATER, LOOK_SPACE };

/* Behind the marker; c with its second escape undone. */
static enum marker_start space_step(struct marker_lookahead *l, uint32_t c)
{
    if (l->fence.state != FENCE_NONE && l->fence.state != FENCE_WHOLE)
        return marker_fence_step(&l->fence, c) ? START_OPEN : START_NONE;
    if (is_white(c))
        return START_OPEN;
    if (c != '`' || l->fence.state == FENCE_WHOLE)
        return START_NONE;
    marker_fence_start(&l->fence);
    return START_OPEN;
}

static enum marker_start behind_step(struct marker_lookahead *l, uint32_t c)
{
    bool in_fence = l->fence.state != FENCE_NONE && l->fence.state != FENCE_WHOLE;
    if (!in_fence || !character_continues(c, l->fence.high))
        l->count++;
    if (c == '{' && !in_fence && !l->escape)
        return START_DIRECTIVE;
    if (l->count >= MARKER_WITHIN)
        return START_NONE;
    if (!l->escape && c == '\\') {
        l->escape = true;
        return START_OPEN;
    }
    if (l->escape) {
        static const char letters[] = "nrt", meant[] = "\n\r\t";
        const char *at = c && c < 0x80 ? strchr(letters, (int)c) : NULL;
        if (!at)
            return START_NONE;
        c = (unsigned char)meant[at - letters];
        l->escape = false;
        l->escaped = true;
    }
    return space_step(l, c);
}

enum marker_start marker_lookahead_step(struct marker_lookahead *l, uint32_t c)
{
    if (l->phase == LOOK_SUFFIX) {
        if (is_word(c) && l->belongs < MARKER_SUFFIX) {
            l->belongs++;
            return START_OPEN;
        }
        l->phase = LOOK_GREATER;
    }
    if (l->phase == LOOK_GREATER) {
        if (c == '>') {
            if (++l->greater == 3) {
                l->belongs = (uint8_t)(l->belongs + 3);
                l->phase = LOOK_SPACE;
            }
            return START_OPEN;
        }
        if (l->greater)
            return START_NONE;
        l->phase = LOOK_SPACE;
    }
    return behind_step(l, c);
}

/* ---- inside a directive ---- */

enum {
    PREFIX_NONE,
    PREFIX_LESS1,
    PREFIX_LESS2,
    PREFIX_LESS3,
    PREFIX_SLASH,
    PREFIX_GREATER1,
    PREFIX_GREATER2,
    PREFIX_GREATER3
};

/* What stands between a line's start and the name. */
static void prefix_step(struct marker_inside *in, uint32_t c)
{
    static const struct {
        uint8_t from, to;
        char c;
    } steps[] = {
        {PREFIX_LESS1, PREFIX_LESS2, '<'},       {PREFIX_LESS2, PREFIX_LESS3, '<'},
        {PREFIX_LESS1, PREFIX_SLASH, '/'},       {PREFIX_GREATER1, PREFIX_GREATER2, '>'},
        {PREFIX_GREATER2, PREFIX_GREATER3, '>'},
    };
    if (in->line && (c == '<' || c == '>')) {
        in->prefix = c == '<' ? PREFIX_LESS1 : PREFIX_GREATER1;
        in->blanks = 0;
        return;
    }
    if (in->prefix == PREFIX_LESS3 && is_blank(c) && in->blanks < MARKER_BLANKS) {
        in->blanks++;
        return;
    }
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++)
        if (in->prefix == steps[i].from && c == (unsigned char)steps[i].c) {
            in->prefix = steps[i].to;
            return;
        }
    in->prefix = PREFIX_NONE;
}

static bool is_form(unsigned prefix)
{
    return prefix == PREFIX_LESS3 || prefix == PREFIX_SLASH || prefix == PREFIX_GREATER3;
}

/* Where the next character stands, and whether a line break may be spelt as a backslash and an n. */
static void line_step(struct marker_inside *in, uint32_t c)
{
    in->line = c == '\n' || (in->backslash && c == 'n' && in->escaping == ESCAPING_YES);
    in->backslash = c == '\\' && !in->backslash;
    if (in->escaping == ESCAPING_UNKNOWN && c == '{')
        in->escaping = ESCAPING_BRACE;
    else if (in->escaping == ESCAPING_BRACE && !is_white(c))
        in->escaping = c == '\\' ? ESCAPING_YES : ESCAPING_NO;
}

enum marker_end marker_inside_step(struct marker_inside *in, uint32_t c)
{
    if (in->tail.length) {
        if (in->form == PREFIX_SLASH && in->tail.length == MARKER_NAME && c == '>')
            return END_SLASH;
        struct marker_tail before = in->tail;
        int got = tail_step(&in->tail, c);
        if (got == 1)
            return END_MARKER;
        if (got < 0 && in->form == PREFIX_LESS3) {
            in->tail = before;
            return END_SECOND;
        }
        if (got < 0)
            in->form = PREFIX_NONE;
    }
    unsigned before = in->name;
    in->name = (uint8_t)name_step(before, c);
    if (in->name == 1 && before == 0 && is_form(in->prefix) && !in->tail.length) {
        in->form = in->prefix;
        in->prefix = PREFIX_NONE;
    } else {
        if (in->name != before + 1u && !in->tail.length)
            in->form = PREFIX_NONE;
        prefix_step(in, c);
    }
    line_step(in, c);
    if (in->name < MARKER_NAME)
        return END_OPEN;
    in->name = 0;
    tail_start(&in->tail);
    return in->form == PREFIX_GREATER3 ? END_GREATER : END_OPEN;
}

unsigned marker_inside_length(const struct marker_inside *in, unsigned *behind)
{
    *behind = 0;
    switch (in->form) {
    case PREFIX_SLASH:
        /* The character that completed it came last; a suffix makes it an ordinary marker. */
        return in->tail.length == MARKER_NAME ? 2 + MARKER_NAME + 1 : in->tail.length;
    case PREFIX_GREATER3:
        return in->tail.length == MARKER_NAME ? 3 + MARKER_NAME : in->tail.length;
    case PREFIX_LESS3:
        *behind = (unsigned)in->tail.length - MARKER_NAME - in->tail.suffix;
        return 3u + in->blanks + in->tail.length;
    default:
        return in->tail.length;
    }
}

bool marker_inside_second(const struct marker_inside *in)
{
    return in->tail.length && in->form == PREFIX_LESS3;
}

/* ---- behind a directive ---- */

enum {
    PHASE_OVER,
    PHASE_SLASH,
    PHASE_NAME,
    PHASE_BLANKS,
    PHASE_CR,
    PHASE_TICKS,
    PHASE_CLOSING,
    PHASE_CLOSING_CR
};

enum { HELD_BLANKS = 64 };

void marker_after_start(struct marker_after *a, enum marker_end how, bool line, bool fenced)
{
    *a = (struct marker_after){.line = line, .fenced = fenced};
    a->phase = how == END_SLASH     ? PHASE_SLASH
               : how == END_GREATER ? PHASE_NAME
               : line               ? PHASE_BLANKS
                                    : PHASE_OVER;
    tail_start(&a->tail);
}

bool marker_after_over(const struct marker_after *a)
{
    return a->phase == PHASE_OVER;
}

static enum marker_taken after_goto(struct marker_after *a, unsigned phase, enum marker_taken answer)
{
    a->phase = (uint8_t)phase;
    a->n = 0;
    return answer;
}

/* The line break: it and the blanks before it, and what may follow it. */
static enum marker_taken after_break(struct marker_after *a)
{
    return after_goto(a, a->fenced ? PHASE_TICKS : PHASE_OVER, AFTER_TAKEN);
}

static enum marker_taken after_closing(struct marker_after *a)
{
    a->fenced = false;
    return after_goto(a, PHASE_OVER, AFTER_TAKEN);
}

static enum marker_taken after_blank(struct marker_after *a, uint32_t c, unsigned most, unsigned cr)
{
    if ((!is_blank(c) && c != '\r') || a->n >= most)
        return after_goto(a, PHASE_OVER, AFTER_NOT);
    a->n++;
    if (c == '\r')
        a->phase = (uint8_t)cr;
    return AFTER_OPEN;
}

enum marker_taken marker_after_step(struct marker_after *a, uint32_t c)
{
    unsigned next = a->line ? PHASE_BLANKS : PHASE_OVER;
    int got;
    switch (a->phase) {
    case PHASE_SLASH:
        if (c != '>')
            return after_goto(a, next, AFTER_NOT);
        return ++a->n == 2 ? after_goto(a, next, AFTER_TAKEN) : AFTER_OPEN;
    case PHASE_NAME:
        got = tail_step(&a->tail, c);
        return got == 0 ? AFTER_OPEN : after_goto(a, next, got > 0 ? AFTER_TAKEN : AFTER_NOT);
    case PHASE_BLANKS:
        return c == '\n' ? after_break(a) : after_blank(a, c, HELD_BLANKS, PHASE_CR);
    case PHASE_CR:
        return c == '\n' ? after_break(a) : after_goto(a, PHASE_OVER, AFTER_NOT);
    case PHASE_TICKS:
        if (c != '`')
            return after_goto(a, PHASE_OVER, AFTER_NOT);
        return ++a->n == 3 ? after_goto(a, PHASE_CLOSING, AFTER_OPEN) : AFTER_OPEN;
    case PHASE_CLOSING:
        return c == '\n' ? after_closing(a) : after_blank(a, c, MARKER_INFO + (c == '\r'), PHASE_CLOSING_CR);
    default:
        return c == '\n' ? after_closing(a) : after_goto(a, PHASE_OVER, AFTER_NOT);
    }
}

enum marker_taken marker_after_end(struct marker_after *a)
{
    if (a->phase == PHASE_CLOSING)
        return after_closing(a);
    return after_goto(a, a->phase < PHASE_BLANKS && a->line ? PHASE_BLANKS : PHASE_OVER, AFTER_NOT);
}
