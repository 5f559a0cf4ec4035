#ifndef TRANSCRIPT_SHOW_H
#define TRANSCRIPT_SHOW_H
/*
 * Drawing Markdown. A document is a row of parts with an empty line between two; a folded block is a part
 * that has parts in it. What is drawn of a record is marked, so that it is drawn once.
 */
#include "transcript/names.h"
#include "transcript/thread.h"

enum { SHOW_FOLDS = 2 }; /* folded levels; what lies deeper is a line */

/* The links of a block, one an address. */
struct links {
    json_t **list;
    size_t n, room;
    struct names urls;
};

struct drawing {
    const struct transcript *t;
    const json_t *entry; /* the turn's; NULL in the appendix */
    struct buf *out;
    size_t base;                      /* where the document or block begins in it */
    unsigned turn;                    /* whose file it is; 0: the appendix */
    bool inside;                      /* in a folded block: texts must not close it */
    bool own;                         /* drawing what the turn's own entry has, not a record */
    unsigned depth;                   /* of items */
    struct span locked;               /* of what is drawn */
    struct links *links;              /* NULL: links are drawn at once */
    struct span open[SHOW_FOLDS + 2]; /* ids of payloads that are being drawn */
    unsigned nopen;
    unsigned char *drawn;      /* by the number among the records that the turn owns */
    unsigned char *subs_drawn; /* by sub, from the turn's first */
};

void links_init(struct links *l);
void links_finish(struct links *l);
void links_add(struct links *l, json_t *sources);
void show_links(const struct links *l, struct drawing *d);

/* Begins a part. */
void show_part(struct drawing *d);
/* A text as it is, but for what would close a fold. */
void show_text(struct drawing *d, struct span text);
/* Ends a document: exactly one line end. -1: it did not fit. */
int show_finish(struct drawing *d) MUST_USE;
/* Opens and closes a payload's id. */
void show_open(struct drawing *d, struct span id);
void show_close(struct drawing *d);

/* item.c: the items of a step, as parts; `but` is left out. */
void show_items(struct drawing *d, const json_t *step, const json_t *but);

/* fold.c */
struct fold {
    const char *label;
    struct span headline, status, locked;
    size_t record;   /* that is drawn, or NO_RECORD */
    json_t *payload; /* and then this is */
};
void show_fold(struct drawing *d, const struct fold *f);
/* A record (or, for NO_RECORD, the payload) without a frame: what its steps did, as parts. */
void show_body(struct drawing *d, json_t *payload);
/* The links that are a record's own, beside those of its steps; they are the trees'. */
void show_take_sources(struct drawing *d, const struct record *r, const struct record_trees *trees);

/* step.c: whether a sub is this turn's to draw and not drawn yet; it is then marked as drawn. */
bool show_take_sub(struct drawing *d, size_t sub);
/* A sub's own payload, or NULL; the sub is the turn's. */
json_t *show_sub_payload(const struct drawing *d, const struct sub *sub);
/* item.c: what a turn's own copy of a payload holds that is this turn's to draw, when something else was
 * drawn in the copy's place. */
void show_rest(struct drawing *d, const json_t *copy);
/* A turn's step, as parts. */
void show_step(struct drawing *d, json_t *step, size_t number);
/* " · text", if there is one. */
void show_also(struct drawing *d, const char *text);
/* " — 2035-01-02 03:04 UTC", if it is known. */
void show_when(struct drawing *d, int64_t us);
/* Appends "2035-01-02 03:04:05", of a time's text, which may be anything. */
void show_second(struct span time, struct buf *out);
/* " — start → end" of a step or payload; false: not both, or the same. */
bool show_times(struct drawing *d, struct span start, struct span end);

/* "(subagent <headline>: recorded under …)" for a record; NO_RECORD: without a place. */
void show_reference(struct drawing *d, struct span headline, size_t record, unsigned turn);

#endif
