#ifndef ATTACHMENTS_RTF_H
#define ATTACHMENTS_RTF_H
/*
 * Rich Text Format 1.9.1 as events for the Markdown writer. rtf.c reads groups, control words and characters;
 * rtf_words.c knows the words; rtf_write.c makes paragraphs, tables and lists of them. Groups cost no stack:
 * those more than RTF_GROUPS deep share the formatting of the last one that has its own, and lose no text.
 */
#include "attachments/markup.h"

enum { RTF_GROUPS = 512, RTF_FONTS = 512, RTF_STYLES = 512, RTF_CELLS = 256, RTF_PARAMETER = 9 /* digits */ };

/* Where the text of a group goes. */
enum rtf_destination {
    RTF_BODY,
    RTF_SKIP,
    RTF_FONTS_TABLE,
    RTF_STYLE_SHEET,
    RTF_INSTRUCTION, /* of a field */
    RTF_LIST_TEXT,   /* a paragraph's number or bullet, as it would be printed */
    RTF_FOOTNOTE,
    RTF_COMMENT,
    RTF_AUTHOR, /* of the next comment */
    RTF_PICTURE
};

/* What a control word does. */
enum rtf_action {
    RTF_DESTINATION, /* arg: which one */
    RTF_RESULT,      /* of a field: what is linked */
    RTF_TWICE,       /* the first group in it is for readers without Unicode */
    RTF_STYLE,       /* arg: bits of markup.h; a parameter of 0 takes them away */
    RTF_HIDE,        /* arg: a bit of rtf_group.hidden */
    RTF_PLAIN,
    RTF_NO_SCRIPT,
    RTF_CHARACTER, /* arg: its code point */
    RTF_PARAGRAPH,
    RTF_LINE,
    RTF_PARAGRAPH_DEFAULTS,
    RTF_STYLE_NUMBER,
    RTF_OUTLINE,
    RTF_LEVEL, /* of a list */
    RTF_IN_TABLE,
    RTF_ROW_DEFAULTS,
    RTF_CELL_DEFINED,
    RTF_CELL_FLAG, /* arg: a bit of rtf_cell */
    RTF_CELL,
    RTF_ROW,
    RTF_INNER_CELL,
    RTF_INNER_ROW,
    RTF_FONT,
    RTF_FONT_CHARSET,
    RTF_CODE_PAGE,
    RTF_CODE_PAGE_FIXED, /* arg: the page */
    RTF_UNICODE,
    RTF_UNICODE_SKIP,
    RTF_BINARY,
    RTF_PICTURE_KIND /* arg: an enum rtf_picture */
};

enum rtf_picture { RTF_WMF, RTF_EMF, RTF_PNG, RTF_JPEG };
enum rtf_cell { RTF_MERGE_FIRST = 1, RTF_MERGED = 2, RTF_MERGED_ABOVE = 4 };

struct rtf_word {
    const char *name;
    enum rtf_action action;
    unsigned arg;
};

/* NULL: not known; its group is skipped if `\*` stands before it, else it has no effect. */
const struct rtf_word *rtf_word_find(const char *name);

struct rtf_group {
    enum rtf_destination destination;
    unsigned style, hidden;
    uint16_t font, skip; /* characters that stand for a Unicode one */
    bool result;         /* a link ends with it */
    bool twice;          /* its next group is skipped */
};

/* A footnote or a comment, which is written at the end. */
struct rtf_note {
    enum rtf_destination kind;
    size_t author, text, end; /* in rtf.notes */
    unsigned number;          /* in the text; 0: it is not named there */
};

struct rtf {
    struct span in;
    size_t at;
    struct markup *m;
    struct extraction *x;
    struct rtf_group groups[RTF_GROUPS];
    uint64_t depth;      /* of groups that are open */
    uint64_t skipped_at; /* beyond RTF_GROUPS; 0: none */
    bool optional;       /* `\*` was read */
    unsigned to_skip;    /* characters of a fallback */
    uint32_t surrogate;  /* the first half, waiting for the second */
    struct buf bytes;    /* in the encoding of `font`, not decoded yet */
    struct buf text;     /* room for decoding */
    unsigned code_page;
    struct {
        uint16_t number, page; /* page 0: the document's */
    } fonts[RTF_FONTS];
    size_t n_fonts;
    uint8_t headings[RTF_STYLES]; /* by style number; 0: none */
    unsigned style_number;        /* of the entry of the style sheet that is read */
    uint8_t style_outline;
    struct buf caught; /* of a destination that is no body: name, instruction, number */
    struct buf url;
    /* of the paragraph */
    unsigned heading, list_level, lists;
    char marker[16]; /* empty: no list */
    char number[12]; /* of a heading: "1.2"; empty: none */
    bool in_table, open;
    /* of the table */
    bool table, row, cell, dropped; /* that are open; the cell's text is not wanted */
    uint8_t cells[RTF_CELLS], cell_flags;
    int32_t edges[RTF_CELLS]; /* where each of the cells ends, in twips */
    unsigned n_cells, cell_number;
    /* of the notes */
    struct buf notes, note_list; /* struct rtf_note */
    size_t author;
    unsigned pictures;
    enum rtf_picture picture;
};

/* ---- rtf.c ---- */

/* -1: refused, x says why. */
int rtf_read(struct span bytes, struct markup *m, struct extraction *x) MUST_USE;

/* ---- rtf_write.c ---- */

/* Text of the body, in UTF-8. */
void rtf_body(struct rtf *r, struct span text, unsigned style);
/* One of the actions from RTF_PARAGRAPH to RTF_INNER_ROW. */
void rtf_block(struct rtf *r, const struct rtf_word *w, long parameter);
void rtf_picture(struct rtf *r);
/* The link of a field whose instruction was caught. */
void rtf_begin_result(struct rtf *r);
bool rtf_is_note(enum rtf_destination destination);
void rtf_begin_note(struct rtf *r, enum rtf_destination kind);
void rtf_end_note(struct rtf *r);
/* Number or bullet of the paragraph, from what was caught. */
void rtf_take_marker(struct rtf *r);
/* Ends everything and writes the notes. */
void rtf_finish(struct rtf *r);

#endif
