#ifndef FILTERS_MARKER_H
#define FILTERS_MARKER_H
/*
 * The automata of the directive grammar (product.md §3). Each takes one character (filters/character.h) a
 * step and knows nothing of bytes, pieces or output: filters/directive.c decides what becomes of the text.
 *
 * All start from zeroed memory. "Live" is how many of the last characters may still become what is looked
 * for.
 */
#include <stdbool.h>
#include <stdint.h>

enum {
    MARKER_NAME = 13,   /* characters of HW_ATTACHMENT */
    MARKER_SUFFIX = 8,  /* further letters, digits or _ */
    MARKER_BLANKS = 4,  /* after <<<, before >>> */
    MARKER_INFO = 20,   /* further characters of a fence line */
    MARKER_WITHIN = 64, /* a directive's { is among so many characters behind its marker */
};

/* What may follow the name in a closing marker: a suffix, blanks, >>>. */
struct marker_tail {
    uint8_t state, n;
    uint8_t suffix; /* characters of it */
    uint8_t length; /* of the marker up to now, from the name's first character; 0: there is none */
};

/*
 * Markers in running text: `<<<HW_ATTACHMENT` and `HW_ATTACHMENT>>>`. Several candidates may overlap (a run
 * of `<`, a suffix that begins another name, the H in the middle of the name); all of them are followed at
 * once.
 */
struct marker {
    uint8_t less;   /* of <<<, and the */
    uint8_t blanks; /* after it */
    uint8_t name;   /* characters of the name */
    bool opening;   /* the name stands behind <<< and its blanks */
    struct marker_tail tail;
};

enum marker_event { MARKER_NONE, MARKER_OPENS, MARKER_CLOSES };

static inline bool marker_idle(const struct marker *m)
{
    return (m->less | m->name | m->tail.length) == 0;
}

enum marker_event marker_step_busy(struct marker *m, uint32_t c);

/* After MARKER_OPENS and MARKER_CLOSES marker_live is the marker's length; the caller then starts afresh. */
static inline enum marker_event marker_step(struct marker *m, uint32_t c)
{
    return marker_idle(m) && c != '<' && (c | 0x20) != 'h' ? MARKER_NONE : marker_step_busy(m, c);
}

unsigned marker_live(const struct marker *m);

/* A fence line that may stand before a directive. Its information string holds no backtick (four backticks
 * are another fence) and, so that no marker hides in it, no `<` or `>`. */
enum marker_fence_state { FENCE_NONE, FENCE_TICKS, FENCE_INFO, FENCE_CR, FENCE_WHOLE };

struct marker_fence {
    uint8_t state;
    uint8_t units; /* characters of the line up to now, a byte of UTF-8 counting as one */
    uint8_t info;  /* characters of its information string */
    bool high;
};

/* At the first backtick, at a line's start. */
void marker_fence_start(struct marker_fence *f);
/* False: it is no fence line; the state is then FENCE_NONE. */
bool marker_fence_step(struct marker_fence *f, uint32_t c);

/* What stands behind an opening marker's name: whether a directive starts. */
struct marker_lookahead {
    uint8_t phase, greater;
    uint8_t belongs; /* characters that are the marker's: its suffix, and >>> directly behind it */
    uint8_t count;   /* characters behind the marker */
    bool escape, escaped, fenced;
    struct marker_fence fence;
};

enum marker_start { START_OPEN, START_DIRECTIVE, START_NONE };

enum marker_start marker_lookahead_step(struct marker_lookahead *l, uint32_t c);

/* The inside of an open directive: looks for its end. */
enum marker_escaping { ESCAPING_UNKNOWN, ESCAPING_BRACE, ESCAPING_NO, ESCAPING_YES };

struct marker_inside {
    uint8_t prefix, blanks, form, name;
    struct marker_tail tail;
    uint8_t
        escaping; /* whether a backslash and an n are a line break: the directive stands in a JSON string */
    bool line;    /* at a line's start */
    bool backslash;
};

enum marker_end {
    END_OPEN,
    END_MARKER,  /* HW_ATTACHMENT>>> */
    END_SLASH,   /* </HW_ATTACHMENT> */
    END_GREATER, /* >>>HW_ATTACHMENT */
    END_SECOND,  /* another directive began; the character itself has not been looked at */
};

enum marker_end marker_inside_step(struct marker_inside *in, uint32_t c);
/* After END_MARKER, END_SLASH, END_GREATER: the marker's characters. After END_SECOND: those of the opening
 * marker and what followed it, of which the last `behind` are the second directive's text. */
unsigned marker_inside_length(const struct marker_inside *in, unsigned *behind);
/* Whether the second directive's marker is complete but for what follows it. */
bool marker_inside_second(const struct marker_inside *in);
/* Whether only a stop of character_plain, or nothing at all, changes it. */
static inline bool marker_inside_idle(const struct marker_inside *in)
{
    return (in->prefix | in->name | in->tail.length) == 0 && !in->line && !in->backslash &&
           in->escaping >= ESCAPING_NO;
}

/* What goes with a directive behind its closing marker. */
struct marker_after {
    uint8_t phase, n;
    struct marker_tail tail;
    bool line;   /* the directive began at a line's start */
    bool fenced; /* behind a fence line that was removed */
};

enum marker_taken {
    AFTER_OPEN,
    AFTER_TAKEN, /* all since the last answer goes with the directive; go on, or it is over
                    (marker_after_over) */
    AFTER_NOT,   /* all since the last answer is text, or is to be given to the automaton again (not
                    marker_after_over) */
};

void marker_after_start(struct marker_after *a, enum marker_end how, bool line, bool fenced);
bool marker_after_over(const struct marker_after *a);
enum marker_taken marker_after_step(struct marker_after *a, uint32_t c);
/* The text ends here. */
enum marker_taken marker_after_end(struct marker_after *a);

#endif
