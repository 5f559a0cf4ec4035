#ifndef ATTACHMENTS_XML_H
#define ATTACHMENTS_XML_H
/*
 * XML out of untrusted documents, on expat: as events, as a tree, or as one small tree after the other. A
 * document type declaration is refused before anything of it is looked at, so there are no entities but the
 * five of XML itself and nothing is ever fetched. Depth and elements are capped (XML_DEPTH and the
 * extraction's max_nodes, counted over all parts of the document).
 *
 * Elements and attributes go by their local names, without prefix: strict and transitional Office documents
 * have the same ones, and so have files whose prefixes are unusual. Where that is ambiguous the qualified
 * name is there, too.
 */
#include "attachments/archive.h"
#include "attachments/extraction.h"
#include "base/arena.h"

enum {
    XML_DEPTH = 256,  /* elements inside one another */
    XML_NAMES = 8192, /* different names in one part, when a tree is made of it */
};

/* Events. A handler may be NULL; one that answers other than 0 ends the reading (and says why in x). */
struct xml_handlers {
    /* Names as they stand in the document, with their prefixes. `attributes`: name, value, …, NULL. */
    int (*open)(void *user, const char *qualified, const char *const *attributes);
    int (*close)(void *user, const char *qualified);
    /* In as many pieces as expat likes. */
    int (*text)(void *user, struct span text);
};

/* -1: refused, x says why. */
int xml_scan(struct span bytes, const char *part, const struct xml_handlers *handlers, void *user,
             struct extraction *x);
int xml_scan_part(struct archive *a, const char *part, const struct xml_handlers *handlers, void *user);
/* The name behind the prefix. */
const char *xml_local(const char *name);
/* The value of the first attribute of this local name; NULL: none. */
const char *xml_attribute(const char *const *attributes, const char *local);

/* Trees. A node is an element (name) or a run of text (name is NULL). */
struct xml_node {
    const char *name;      /* local name; the same pointer for the same name within a tree */
    const char *qualified; /* with its prefix */
    const char *const *attributes;
    struct span text;
    struct xml_node *parent, *first, *last, *next;
};

/* *root is the document's element; everything lives in `memory`. */
int xml_tree(struct span bytes, const char *part, struct arena *memory, struct xml_node **root,
             struct extraction *x);
int xml_tree_part(struct archive *a, const char *part, struct arena *memory, struct xml_node **root);
/*
 * Makes a tree of each child of the first element called `container` and hands it over, one at a time: a
 * long document costs the memory of its largest paragraph or table. The tree is gone when `unit` returns,
 * which may answer other than 0 to end the reading. Elements outside of `container` are not kept.
 */
int xml_units(struct archive *a, const char *part, const char *container,
              int (*unit)(void *user, const struct xml_node *node), void *user);

/* All of these take a NULL node and find nothing. */
const char *xml_get(const struct xml_node *node, const char *local); /* attribute; NULL: none */
/* The attribute of that name that has a prefix: r:id beside id. */
const char *xml_get_prefixed(const struct xml_node *node, const char *local);
/* The first child element of that name; `path` may go deeper: "pPr/rPr/del". */
const struct xml_node *xml_at(const struct xml_node *node, const char *path);
/* The first element of that name below the node, however deep. */
const struct xml_node *xml_find(const struct xml_node *node, const char *name);
bool xml_is(const struct xml_node *node, const char *name);
/* Appends all text below the node. */
void xml_text(const struct xml_node *node, struct buf *out);

#endif
