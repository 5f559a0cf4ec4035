#ifndef ARTIFACTS_MARKDOWN_H
#define ARTIFACTS_MARKDOWN_H
/*
 * GitHub-flavoured Markdown as a tree of blocks, each leaf with a flat list of runs; the one reading that
 * every document renderer draws from, so that docx, pdf and pptx agree. Used in the worker alone. Pure.
 *
 * All text is valid UTF-8 with entities and escapes undone and control characters (but tab and, in code, line
 * feed) left out. No word of the source is lost: what is not understood stays as text. HTML tags that only
 * carry layout are dropped, their content stays. Nesting deeper than MARKDOWN_DEPTH is flattened, so walking
 * the tree by recursion is safe.
 */
#include "base/arena.h"
#include "base/buf.h"

enum {
    MARKDOWN_SOURCE = 8 * 1024 * 1024, /* bytes of a source */
    MARKDOWN_NODES = 500000,           /* blocks and runs of a document */
    MARKDOWN_DEPTH = 24,               /* blocks inside of one another */
    MARKDOWN_COLUMNS = 64,             /* of a table; what stands in further ones is joined to the last */
    MARKDOWN_NOTES = 5000,             /* footnotes */
};

enum markdown_type {
    MARKDOWN_DOCUMENT,
    MARKDOWN_QUOTE,
    MARKDOWN_LIST,
    MARKDOWN_ITEM,
    MARKDOWN_TABLE,
    MARKDOWN_ROW,
    MARKDOWN_NOTE, /* a footnote's definition; only in `notes` */
    /* leaves */
    MARKDOWN_HEADING,
    MARKDOWN_PARAGRAPH,
    MARKDOWN_CELL,
    MARKDOWN_CODE, /* text in `code` */
    MARKDOWN_RULE,
    MARKDOWN_PAGE_BREAK, /* <!-- pagebreak --> */
};

enum markdown_align { ALIGN_DEFAULT, ALIGN_LEFT, ALIGN_CENTER, ALIGN_RIGHT };
enum markdown_task { TASK_NONE, TASK_OPEN, TASK_DONE };

enum {
    STYLE_STRONG = 1,
    STYLE_EMPHASIS = 2,
    STYLE_STRIKE = 4,
    STYLE_CODE = 8,
    STYLE_UNDERLINE = 16,
    STYLE_SUPERSCRIPT = 32,
    STYLE_SUBSCRIPT = 64,
    STYLE_MARK = 128,
};

enum markdown_run_type { RUN_TEXT, RUN_BREAK, RUN_IMAGE, RUN_NOTE };

struct markdown_run {
    struct markdown_run *next;
    enum markdown_run_type type;
    unsigned style;
    struct span text;   /* TEXT; IMAGE: what it shows, in words */
    struct span href;   /* the link's target, as written; empty: none */
    struct span source; /* IMAGE: name or address */
    unsigned note;      /* NOTE: number of the footnote, from 1, in order of first mention */
};

struct markdown_block {
    struct markdown_block *parent, *first, *last, *next;
    enum markdown_type type;
    unsigned level;            /* HEADING 1 to 6; NOTE: its number */
    bool ordered;              /* LIST */
    bool tight;                /* LIST */
    unsigned start;            /* LIST, ordered: its first number */
    enum markdown_task task;   /* ITEM */
    bool head;                 /* ROW, CELL: of the table's head */
    enum markdown_align align; /* CELL */
    unsigned columns;          /* TABLE */
    struct span language;      /* CODE: first word of its info string */
    struct span code;          /* CODE: ends with a line feed unless empty */
    struct markdown_run *runs; /* leaves */
};

struct markdown {
    struct markdown_block *document;
    struct markdown_block **notes; /* by number - 1 */
    unsigned notes_n;
    /* From YAML front matter; empty: not said. The title is the first heading of level 1 otherwise. */
    struct span title, author, date;
    struct arena arena;
};

/* NULL: over one of the limits, with a reason in *wrong that may be shown. Given back with markdown_free. */
struct markdown *markdown_parse(struct span source, const char **wrong) MUST_USE;
void markdown_free(struct markdown *m);
/* The runs' text without styles; a break is a blank. -1: over the buffer's cap. */
int markdown_plain(const struct markdown_run *runs, struct buf *out);
/* Whether a target may be followed from a document: http, https, mailto. */
bool markdown_link_allowed(struct span href);
/* Whether the first character with a direction is written from right to left. */
bool markdown_is_rtl(const struct markdown_run *runs);
/* "&amp;" … by name or number; 0: not known. `entity` with ampersand and semicolon. */
unsigned markdown_entity(struct span entity);

#endif
