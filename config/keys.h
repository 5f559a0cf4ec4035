#ifndef CONFIG_KEYS_H
#define CONFIG_KEYS_H
/*
 * What keys there are, as data: name, type, range, default, and where in which record the value goes. The
 * reader (read.c), the printer (print.c), the environment (load.c) and the tests work on these tables alone;
 * a new key is a new row.
 */
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"

enum key_type {
    KEY_BOOL,         /* bool */
    KEY_TEXT,         /* char *, owned */
    KEY_ENUM,         /* an enum: the index in `words` */
    KEY_SIZE,         /* size_t, bytes */
    KEY_COUNT,        /* size_t */
    KEY_MILLISECONDS, /* int64_t */
    KEY_SECONDS,      /* int64_t; whole seconds only */
    KEY_SPECIAL,      /* by `set` and `print` */
    KEY_MAP,          /* further keys of the same record, in `inside` */
    KEY_LIST,         /* items as `list` says */
};

enum key_flag {
    KEY_REQUIRED = 1,
    KEY_SECRET = 2, /* what was found is not shown in messages */
    KEY_FILE = 4,   /* KEY_TEXT: a file that must be readable */
};

/* One value on its way into a record. */
struct setting {
    struct span text;
    bool resolve;       /* whether the environment and files may be looked into */
    char expected[256]; /* on a mistake: what was expected … */
    char sentence[256]; /* … or, when not empty, all that there is to say */
};

struct key;

struct key_table {
    const struct key *keys;
    size_t n; /* at most 64 */
};

struct key_list {
    size_t items, count; /* offsets of the pointer and of the size_t */
    size_t size;         /* of an item's record */
    size_t least, most;
    void (*destroy)(void *items, size_t n);
    const struct key_table *inside; /* items are maps … */
    const struct key *item;         /* … or single values */
};

struct key {
    const char *name;
    enum key_type type;
    unsigned flags;
    size_t at; /* offset in the record */
    int64_t min, max;
    const char *initial; /* as it would stand in a file; NULL: none */
    const char *const *words;
    const char *what;   /* KEY_TEXT: what it is, for "expected …" */
    const char *absent; /* known, but refused with this sentence */
    /* `at` is record + at; -1 with `expected` or `sentence` filled. */
    int (*set)(struct setting *s, void *at);
    /* Prints nothing when there is no value. */
    void (*print)(const void *at, struct buf *out);
    const struct key_table *inside;
    const struct key_list *list;
};

/* The keys of struct config. */
extern const struct key_table keys_root;

/* NULL: no such key. */
const struct key *keys_find(const struct key_table *table, struct span name);
/* The nearest of the table's names, when near enough to be meant; else NULL. */
const char *keys_nearest(const struct key_table *table, struct span name);

#endif
