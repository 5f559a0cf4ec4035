#ifndef CONFIG_TREE_H
#define CONFIG_TREE_H
/*
 * A YAML document as a tree of texts, maps and lists that knows the line of each. A small part of YAML on
 * purpose: one document, no anchors, aliases or tags, keys are texts; depth and number of nodes are capped. A
 * scalar's type is not guessed here: it is text, and whether it stood without quotes.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"

enum node_kind { NODE_TEXT, NODE_MAP, NODE_LIST };

struct node {
    enum node_kind kind;
    size_t line;      /* from 1; 0: not from a file */
    struct span text; /* NODE_TEXT: terminated, holds no NUL, owned */
    bool plain;       /* NODE_TEXT: without quotes */
    struct member *members;
    size_t n, room;
};

/* An entry of a map, or an item of a list (key is NULL). */
struct member {
    char *key;
    size_t line;
    struct node *value;
};

struct tree_error {
    size_t line;
    char message[256];
};

/* The document's top map or list; an empty text is an empty map. NULL with *e. */
struct node *tree_parse(struct span yaml, struct tree_error *e) MUST_USE;
/* For trees that come from elsewhere than a file. */
struct node *tree_create(enum node_kind kind, struct span text) MUST_USE;
/* Takes the value over; key NULL in lists. */
void tree_add(struct node *parent, const char *key, size_t line, struct node *value);
void tree_destroy(struct node *n);
/* NULL: n is NULL, no map, or has no such key. */
const struct member *tree_member(const struct node *n, const char *key);
/* NULL: n is NULL, no list, or shorter. */
const struct member *tree_item(const struct node *n, size_t index);
/* A value that says nothing: plain and empty, ~ or null. */
bool tree_null(const struct node *n);

#endif
