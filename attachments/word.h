#ifndef ATTACHMENTS_WORD_H
#define ATTACHMENTS_WORD_H
/*
 * What the readers of a Word document's pieces share (ISO/IEC 29500-1, 17); extract_docx.c is the outside.
 * The body comes one paragraph or table at a time (xml_units), so only that much of it is in memory.
 */
#include "attachments/markup.h"
#include "attachments/office_package.h"
#include "attachments/xml.h"

enum {
    WORD_LEVELS = 9,  /* of a list */
    WORD_FIELDS = 32, /* fields inside one another */
    WORD_NOTES = 20000,
    WORD_NONE = -1,
};

/* ---- styles ---- */

/* How runs look: MARKUP_ bits and the ones below. */
enum {
    WORD_DOUBLE = 256, /* struck twice; shows as MARKUP_STRIKE */
    WORD_HIDDEN = 512,
    WORD_RAISED = 1024, /* moved up from its line by some points; shows as MARKUP_SUPER */
    WORD_LOWERED = 2048,
    /* Those whose levels of styles do not replace each other but are added up (17.7.3). */
    WORD_TOGGLES = MARKUP_BOLD | MARKUP_ITALIC | MARKUP_STRIKE | WORD_HIDDEN,
};
struct word_look {
    unsigned on, says; /* bits that are on, and those that something is said about */
};

struct word_style {
    const char *id;
    const char *based_on; /* NULL: nothing */
    int heading;          /* 1 to 9; 0: none, WORD_NONE: not said */
    int number, level;    /* numId and its level; WORD_NONE: not said */
    long left;            /* indent, twentieths of a point; WORD_NONE: not said */
    struct word_look look;
    bool title, quote, code, resolved;
};

struct word_styles {
    struct word_style *list;             /* by id */
    const struct word_style *paragraph;  /* of paragraphs that name none; may say nothing, never NULL */
    const struct word_style *characters; /* of runs, likewise */
    size_t n;
    struct word_look defaults;
};

/* Whether an on/off property is on, off or (NULL) not there: 1, 0, WORD_NONE. */
int word_switch(const struct xml_node *property);
/* What run properties say, over what *look says already. */
void word_look_read(const struct xml_node *rPr, struct word_look *look);
/* Of a table's style and a paragraph's: what its place says already (a quote, the head of a table) it does
 * not say again. NULL says nothing. */
struct word_look word_look_in_place(const struct word_style *style, bool place_says_it);
/* How a run looks in the end, as bits: the document's defaults, the styles of its table and its paragraph,
 * its own style, and what the run itself says, which counts most. */
unsigned word_look_of(const struct word_styles *s, struct word_look table, struct word_look paragraph,
                      const struct xml_node *rPr);
/* A document without the part has no styles. */
int word_styles_read(struct archive *a, const char *part, struct arena *memory, struct word_styles *s);
/* With what it inherits; an unknown or NULL id has a style that says nothing. */
const struct word_style *word_style_find(const struct word_styles *s, const char *id);

/* ---- numbering ---- */

struct word_level {
    const char *format; /* "decimal", "bullet" … */
    const char *text;   /* "%1.%2" */
    const char *style;  /* the paragraph style that stands for this level; may be NULL */
    long start, left;   /* left: WORD_NONE when not said */
    bool restarts, legal;
};

struct word_list;
struct word_numbering {
    struct word_abstract *abstracts;
    size_t n_abstracts;
    struct word_list *lists; /* by numId */
    size_t n;
};

int word_numbering_read(struct archive *a, const char *part, struct arena *memory,
                        const struct word_styles *styles, struct word_numbering *n);
/* The level of a list; NULL: no such list. */
const struct word_level *word_level_find(const struct word_numbering *n, int number, int level);
/* The level that a style stands for in a list; `otherwise` when none does. */
int word_level_of_style(const struct word_numbering *n, int number, const char *style, int otherwise);
/* Counts one paragraph of a list and writes its label, "1.2" or "b)", without blanks at its ends. Answers
 * the level's own number. Each numId counts for itself. */
long word_number_next(struct word_numbering *n, int number, int level, struct buf *label);

/* ---- the text ---- */

/* What is open between two paragraphs of the same flow (body, cell, text box, note). */
struct word_flow {
    bool code, quote, joined; /* joined: the mark of the last paragraph is deleted, the next one goes on */
    unsigned items;           /* list items that are open */
    long lefts[WORD_LEVELS];  /* where their text begins */
    const struct word_style *table; /* that it is in; NULL: none */
    bool head;                      /* in the first row of it */
};

struct word_field {
    bool result, link; /* behind `separate`; a markup_link is open */
    struct buf instruction;
};

/* Something in a paragraph that is written after it: a text box, a chart, a diagram. */
struct word_later {
    const struct xml_node *node; /* txbxContent; NULL: */
    const char *chart, *diagram; /* a part */
    struct word_later *next;
};

struct word_note {
    bool end;
    long id;
    unsigned number; /* in the text */
    bool there;      /* its text was found */
};

struct word {
    struct archive *archive;
    struct extraction *x;
    struct markup *m;
    struct arena memory;
    struct office_relations relations; /* of the part that is read now */
    struct word_styles styles;
    struct word_numbering numbering;
    struct buf notes; /* struct word_note, in the order of their numbers */
    unsigned depth;   /* of documents inside one another; 0: the outermost */
    struct word_flow flow;
    struct word_field fields[WORD_FIELDS];
    unsigned n_fields, deep_fields;
    struct word_later *later, **later_end;
    const char *lead; /* text before the next paragraph: whose comment it is; NULL: none */
    unsigned look;    /* of a run, for what is in it */
};

/* Paragraphs and tables among the children of a node; opens what is open again afterwards. -1: refused. */
int word_blocks(struct word *w, const struct xml_node *node);
/* One paragraph, table, content control … of the flow. */
int word_block(struct word *w, const struct xml_node *node);
/* Ends lists, quotes and code of the flow. */
void word_flow_end(struct word *w);
/* A flow of its own, inside of what is open. */
int word_flow(struct word *w, const struct xml_node *node);
int word_table(struct word *w, const struct xml_node *node);
/* A file of another kind whose text stands here (altChunk): HTML, text, RTF, Word again; others are refused.
 */
int word_chunk(struct word *w, const struct xml_node *node);
/* A whole document (extract_docx.c). -1: refused; where x does not say why, it is damaged. */
int word_document(struct archive *a, struct markup *m, struct extraction *x, unsigned depth);
/* The runs and everything else in a paragraph. */
int word_runs(struct word *w, const struct xml_node *node, const struct word_style *paragraph);
/* A drawing or an old picture: names pictures, puts off text boxes and charts. */
void word_drawing(struct word *w, const struct xml_node *node, const char *alt);
/* 1: a checked check box, 0: an unchecked one, WORD_NONE: the content control is none. */
int word_check_box(const struct xml_node *sdt);
/* The branch of alternatives that is read. */
const struct xml_node *word_alternative(const struct xml_node *node);
/* Whether the element is there for the record alone: deleted, moved away, how it looked before. */
bool word_is_gone(const struct xml_node *node);
/* Notes that were referred to, and comments, at the end. */
int word_notes(struct word *w, const struct office_relations *document);
void word_note_reference(struct word *w, bool end, const char *id);
/* Ends fields down to `depth`. */
void word_fields_end(struct word *w, unsigned depth);

#endif
