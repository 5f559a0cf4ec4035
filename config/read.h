#ifndef CONFIG_READ_H
#define CONFIG_READ_H
/* From a tree to a record by the key tables, and the rules that span several keys. */
#include "config/config.h"
#include "config/keys.h"
#include "config/tree.h"

/* Where values come from, for messages, and what may be done with them. */
struct source {
    const char *name; /* the file; NULL: none */
    bool resolve;     /* see struct setting */
    struct config_error *error;
};

/* A key's full name, as a chain up to the root; key NULL: an item of a list. */
struct where {
    const struct where *up;
    const char *key;
    size_t index;
};

/* Fills the error: "file:line: key: message". line 0: not from a file. Always -1. */
int read_refuse(const struct source *s, const struct where *w, size_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The keys of a map, and the defaults of those that are absent. */
int read_map(const struct source *s, const struct where *w, const struct node *n,
             const struct key_table *table, void *record) MUST_USE;
/* One value (anything but a map). What was there before is freed. */
int read_value(const struct source *s, const struct where *w, const struct node *n, const struct key *k,
               void *record) MUST_USE;
/* What depends on several keys: derived values, names that must be unique or known. `root` (may be NULL) is
 * for line numbers. May be called again after a change. */
int read_finish(const struct source *s, const struct node *root, struct config *c) MUST_USE;
/* The same without the check that all addresses differ, for settings that come one by one. */
int read_settle(const struct source *s, const struct node *root, struct config *c) MUST_USE;

#endif
