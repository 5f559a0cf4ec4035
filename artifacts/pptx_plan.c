/*
 * From blocks to slides: a heading or a rule begins one; "Notes:" begins what the speaker sees. What is too
 * much for a slide is set in smaller letters, then goes on the next one under the same title.
 */
#include <math.h>
#include <stdio.h>

#include "artifacts/pptx.h"
#include "base/xalloc.h"

enum { SLIDE_LEVEL = 2, GAP = 6, CELL_PAD = 8, CELL_SIDES = 12, NARROW = 12, IMAGE_LEAST = 150 };

#define SCALE_LEAST 0.6
/* Of the size of the letters: a line's height and a character's width, of fonts that take much room, since
 * the reader's program chooses the font. */
#define LINE      1.36
#define CODE_LINE 1.22
#define CHARACTER 0.56

void pptx_refuse(struct pptx *p, enum render_status status, const char *why)
{
    if (p->status != RENDER_OK)
        return;
    p->status = status;
    p->why = why;
}

/* ---- measures ---- */

double pptx_letters(const struct pptx_item *item, double scale)
{
    unsigned columns = item->kind == ITEM_TABLE ? item->block->columns : 0;
    double size = columns > 10              ? 10
                  : columns > 7             ? 12
                  : columns > 5             ? 14
                  : columns                 ? 16
                  : item->kind == ITEM_CODE ? 13
                  : item->level == 0        ? 20
                  : item->level == 1        ? 18
                                            : 16;
    size = round(size * scale);
    return size < 6 ? 6 : size;
}

/* Lines that characters take which may be parted anywhere. */
static double lines_of(double characters, double width, double size)
{
    double room = floor(width / (size * CHARACTER));
    return room < 1 ? characters + 1 : characters <= room ? 1 : ceil(characters / room);
}

/* A line that is being filled with words. */
struct filled {
    double room, used, lines; /* characters, and lines behind this one */
};

static void fill(struct filled *f, struct span text)
{
    while (text.n) {
        const char *blank = memchr(text.p, ' ', text.n);
        struct span word = span_of(text.p, blank ? (size_t)(blank - text.p) : text.n);
        double width = (double)office_width(word);
        if (f->used > 0 && f->used + width > f->room) {
            f->lines++;
            f->used = 0;
        }
        if (width > f->room) { /* it is parted, too */
            double lines = floor(width / f->room);
            f->lines += lines;
            width -= lines * f->room;
        }
        f->used += width + (blank ? 1 : 0);
        text = span_from(text, word.n + (blank ? 1 : 0));
    }
}

/* Lines that a text takes. */
static double runs_lines(const struct markdown_run *runs, double width, double size)
{
    struct filled f = {.room = floor(width / (size * CHARACTER))};
    if (f.room < NARROW) /* a mean says little about so few letters */
        f.room--;
    if (f.room < 1)
        f.room = 1;
    for (; runs; runs = runs->next) {
        if (runs->type == RUN_BREAK) {
            f.lines++;
            f.used = 0;
        } else if (runs->type != RUN_IMAGE) {
            fill(&f, runs->text);
        }
    }
    return f.lines + 1;
}

static double row_height(const struct markdown_block *row, unsigned columns, double width, double size)
{
    double most = 1;
    for (const struct markdown_block *cell = row->first; cell; cell = cell->next) {
        double lines = runs_lines(cell->runs, width / (columns ? columns : 1) - CELL_SIDES, size);
        most = lines > most ? lines : most;
    }
    return most * size * LINE + CELL_PAD;
}

static double table_height(const struct pptx_item *item, double width, double size)
{
    const struct markdown_block *row = item->block->first;
    double height = row ? row_height(row, item->block->columns, width, size) : 0;
    unsigned i = 0;
    for (row = row ? row->next : NULL; row && i < item->to; row = row->next, i++)
        if (i >= item->from)
            height += row_height(row, item->block->columns, width, size);
    return height + GAP;
}

static double code_height(const struct pptx_item *item, double width, double size)
{
    double lines = 0;
    for (struct span left = item->code; left.n;) {
        const char *end = memchr(left.p, '\n', left.n);
        size_t n = end ? (size_t)(end - left.p) : left.n;
        lines += lines_of((double)office_width(span_of(left.p, n)) * 1.25, width - 2 * CELL_PAD, size);
        left = span_from(left, end ? n + 1 : n);
    }
    return lines * size * CODE_LINE + 2 * CELL_PAD + GAP;
}

double pptx_item_height(const struct pptx *p, const struct pptx_item *item, double width, double scale)
{
    double size = pptx_letters(item, scale);
    switch (item->kind) {
    case ITEM_TABLE:
        return table_height(item, width, size);
    case ITEM_CODE:
        return code_height(item, width, size);
    case ITEM_IMAGE: {
        const struct pptx_picture *image = &p->images[item->image];
        double height = image->height * 0.75, wide = image->width * 0.75;
        height = wide > width ? height * width / wide : height;
        height *= scale;
        return (height > PPTX_BODY_HEIGHT * scale ? PPTX_BODY_HEIGHT * scale : height) + GAP;
    }
    default:
        return runs_lines(item->runs, width - 22.0 * (item->level + 1), size) * size * LINE + GAP;
    }
}

/* ---- items ---- */

static struct pptx_item *add_item(struct pptx *p, enum pptx_kind kind, const struct markdown_block *block)
{
    if (p->items_n == PPTX_ITEMS) {
        pptx_refuse(p, RENDER_LIMIT, "its slides hold too much");
        return NULL;
    }
    struct pptx_item *item = &p->items[p->items_n++];
    *item = (struct pptx_item){.kind = kind, .block = block, .runs = block->runs};
    return item;
}

/* The picture's place; PPTX_IMAGES: there is none. */
static unsigned keep_image(struct pptx *p, struct office_image *image)
{
    unsigned i = 0;
    while (i < p->images_n && p->images[i].bytes.p != image->bytes.p)
        i++;
    if (i < p->images_n || i == PPTX_IMAGES)
        return i;
    struct pptx_picture *picture = &p->images[p->images_n++];
    *picture = (struct pptx_picture){.bytes = image->bytes, .width = image->width, .height = image->height};
    snprintf(picture->target, sizeof picture->target, "media/image%u.%s", i + 1, image->extension);
    buf_init(&picture->own, image->own.max);
    buf_move(&picture->own, &image->own);
    p->image_bytes += image->bytes.n;
    return i;
}

static bool add_image(struct pptx *p, const struct markdown_block *block, const struct markdown_run *run)
{
    struct office_image image;
    bool chart = !run;
    if (p->image_bytes > PPTX_IMAGE_BYTES || p->images_n == PPTX_IMAGES ||
        !(chart ? office_image_chart(p->params, block, &image)
                : office_image_find(p->params, run->source, &image))) {
        p->lost_images += !chart;
        return false;
    }
    unsigned place = keep_image(p, &image);
    office_image_free(&image);
    struct pptx_item *item = add_item(p, ITEM_IMAGE, block);
    if (!item)
        return false;
    item->image = place;
    item->words = chart ? SPAN_LIT("Chart") : run->text;
    return true;
}

struct place {
    unsigned level;
    enum pptx_bullet bullet;
    unsigned number;
    bool quote;
    bool notes;
};

static bool has_words(const struct markdown_run *runs)
{
    for (; runs; runs = runs->next)
        if (runs->type != RUN_IMAGE && runs->type != RUN_BREAK)
            for (size_t i = 0; i < runs->text.n || runs->type == RUN_NOTE; i++)
                if (runs->type == RUN_NOTE || runs->text.p[i] != ' ')
                    return true;
    return false;
}

/* Pictures stand below the text that they are named in; where one is missing its words are text. */
static void add_text(struct pptx *p, const struct markdown_block *block, const struct place *place)
{
    bool missing = false;
    size_t at = p->items_n;
    if (has_words(block->runs)) {
        struct pptx_item *item = add_item(p, ITEM_TEXT, block);
        if (!item)
            return;
        item->level = place->level;
        item->bullet = place->bullet;
        item->number = place->number;
        item->quote = place->quote;
    }
    for (const struct markdown_run *run = block->runs; run; run = run->next)
        if (run->type == RUN_IMAGE)
            missing |= place->notes || !add_image(p, block, run);
    if (missing && at == p->items_n) {
        struct pptx_item *item = add_item(p, ITEM_TEXT, block);
        if (item)
            item->level = place->level;
    }
}

static void add_block(struct pptx *p, const struct markdown_block *block, struct place place);

static void add_list(struct pptx *p, const struct markdown_block *list, struct place place)
{
    unsigned number = list->start;
    for (const struct markdown_block *item = list->first; item && p->status == RENDER_OK; item = item->next) {
        struct place own = place;
        own.bullet = item->task == TASK_OPEN   ? BULLET_OPEN
                     : item->task == TASK_DONE ? BULLET_DONE
                     : list->ordered           ? BULLET_NUMBER
                                               : BULLET_MARK;
        own.number = number++;
        for (const struct markdown_block *block = item->first; block && p->status == RENDER_OK;
             block = block->next) {
            if (block->type == MARKDOWN_LIST)
                own.level = place.level + 1;
            else
                own.level = place.level;
            add_block(p, block, own);
            own.bullet = BULLET_NONE;
        }
    }
}

static void add_block(struct pptx *p, const struct markdown_block *block, struct place place)
{
    struct pptx_item *item;
    switch (block->type) {
    case MARKDOWN_HEADING:
        item = add_item(p, ITEM_HEADING, block);
        break;
    case MARKDOWN_PARAGRAPH:
        add_text(p, block, &place);
        break;
    case MARKDOWN_LIST:
        add_list(p, block, place);
        break;
    case MARKDOWN_CODE:
        if (!place.notes && office_is_chart(block) && add_image(p, block, NULL))
            break;
        item = add_item(p, ITEM_CODE, block);
        if (item)
            item->code = block->code;
        break;
    case MARKDOWN_TABLE:
        item = add_item(p, ITEM_TABLE, block);
        for (const struct markdown_block *row = block->first; item && row; row = row->next)
            item->to += !row->head;
        break;
    case MARKDOWN_RULE:
    case MARKDOWN_PAGE_BREAK:
        break;
    default:
        place.quote |= block->type == MARKDOWN_QUOTE;
        for (const struct markdown_block *inner = block->first; inner && p->status == RENDER_OK;
             inner = inner->next)
            add_block(p, inner, place);
        break;
    }
}

/* ---- slides ---- */

static struct pptx_slide *add_slide(struct pptx *p)
{
    if (p->slides_n == PPTX_SLIDES) {
        pptx_refuse(p, RENDER_LIMIT, "it has too many slides");
        return NULL;
    }
    struct pptx_slide *slide = &p->slides[p->slides_n++];
    *slide = (struct pptx_slide){.first = p->items_n, .scale = 1};
    return slide;
}

/* "Notes:" with what follows it. */
static bool begins_notes(const struct markdown_block *block)
{
    static const char *const words[] = {"notes:", "note:", "speaker notes:", "notes", "speaker notes"};
    struct span text = {"", 0};
    if (block->runs && block->runs->type == RUN_TEXT)
        text = block->runs->text;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(words[i]);
        bool colon = words[i][n - 1] == ':';
        if (block->type == MARKDOWN_PARAGRAPH && colon && text.n >= n &&
            strncasecmp(text.p, words[i], n) == 0)
            return true;
        if (block->type == MARKDOWN_HEADING && block->level > SLIDE_LEVEL && span_is_nocase(text, words[i]))
            return true;
        if (block->type == MARKDOWN_PARAGRAPH && !colon && span_is_nocase(text, words[i]) &&
            block->runs->next && span_starts(block->runs->next->text, ":"))
            return true;
    }
    return false;
}

static unsigned slide_level(const struct pptx *p)
{
    unsigned least = 7;
    for (const struct markdown_block *b = p->markdown->document->first; b; b = b->next)
        if (b->type == MARKDOWN_HEADING && b->level < least)
            least = b->level;
    return least > SLIDE_LEVEL && least < 7 ? least : SLIDE_LEVEL;
}

static bool is_empty(const struct pptx *p, const struct pptx_slide *slide)
{
    return !slide->title && slide->first == p->items_n && !slide->notes_n;
}

static void collect(struct pptx *p)
{
    struct pptx_slide *slide = NULL;
    bool notes = false;
    unsigned level = slide_level(p);
    for (const struct markdown_block *b = p->markdown->document->first; b && p->status == RENDER_OK;
         b = b->next) {
        bool heading = b->type == MARKDOWN_HEADING && b->level <= level;
        bool breaks = heading || b->type == MARKDOWN_RULE || b->type == MARKDOWN_PAGE_BREAK;
        if (!slide || (breaks && !is_empty(p, slide))) {
            slide = add_slide(p);
            notes = false;
        }
        if (!slide)
            return;
        if (heading) {
            slide->title = b->runs;
            slide->opening = p->slides_n == 1 && b->level == 1;
            continue;
        }
        if (breaks)
            continue;
        if (!notes && begins_notes(b)) {
            notes = true;
            slide->notes = p->items_n;
        }
        add_block(p, b, (struct place){.notes = notes});
        if (notes)
            slide->notes_n = p->items_n - slide->notes;
        else
            slide->n = p->items_n - slide->first;
    }
    if (slide && p->slides_n > 1 && is_empty(p, slide))
        p->slides_n--;
}

/* ---- pages ---- */

static double total(const struct pptx *p, const struct pptx_slide *slide, double scale)
{
    double sum = 0;
    for (size_t i = 0; i < slide->n; i++)
        sum += pptx_item_height(p, &p->items[slide->first + i], PPTX_BODY_WIDTH, scale);
    return sum;
}

/* The first part of a table or of code that fits into the height; the rest becomes *rest. False: nothing of
 * it does, or it is of another kind. */
static bool split(struct pptx_item *item, double height, double scale, struct pptx_item *rest)
{
    struct pptx_item part = *item;
    *rest = *item;
    if (item->kind == ITEM_TABLE) {
        const struct markdown_block *row = item->block->first;
        double size = pptx_letters(item, scale),
               used = row ? row_height(row, item->block->columns, PPTX_BODY_WIDTH, size) : 0;
        unsigned i = 0;
        for (row = row ? row->next : NULL; row && i < item->to; row = row->next, i++) {
            if (i < item->from)
                continue;
            used += row_height(row, item->block->columns, PPTX_BODY_WIDTH, size);
            if (used + GAP > height)
                break;
        }
        part.to = rest->from = i;
        if (i <= item->from || i >= item->to)
            return false;
    } else if (item->kind == ITEM_CODE) {
        size_t at = 0;
        double used = 2 * CELL_PAD + GAP, size = pptx_letters(item, scale);
        while (at < item->code.n) {
            const char *end = memchr(item->code.p + at, '\n', item->code.n - at);
            size_t n = end ? (size_t)(end - item->code.p) - at : item->code.n - at;
            used += size * CODE_LINE *
                    lines_of((double)office_width(span_of(item->code.p + at, n)) * 1.25,
                             PPTX_BODY_WIDTH - 2 * CELL_PAD, size);
            if (used > height)
                break;
            at += end ? n + 1 : n;
        }
        if (!at || at == item->code.n)
            return false;
        part.code.n = at;
        rest->code = span_from(item->code, at);
    } else {
        return false;
    }
    *item = part;
    return true;
}

struct pages {
    struct pptx_slide *list;
    size_t n;
    struct pptx_item *items;
    size_t items_n;
};

static struct pptx_slide *add_page(struct pptx *p, struct pages *to, const struct pptx_slide *slide,
                                   double scale)
{
    if (to->n == PPTX_SLIDES) {
        pptx_refuse(p, RENDER_LIMIT, "it has too many slides");
        return NULL;
    }
    struct pptx_slide *page = &to->list[to->n++];
    *page = *slide;
    page->first = to->items_n;
    page->n = 0;
    page->scale = scale;
    return page;
}

static bool put_item(struct pptx *p, struct pages *to, struct pptx_slide *page, const struct pptx_item *item)
{
    if (to->items_n == PPTX_ITEMS * 2) {
        pptx_refuse(p, RENDER_LIMIT, "its slides hold too much");
        return false;
    }
    to->items[to->items_n++] = *item;
    page->n++;
    return true;
}

/* A page with one item that is too tall for it: smaller letters, as small as it takes. */
static void squeeze(const struct pptx *p, struct pptx_slide *page, const struct pptx_item *item)
{
    while (page->scale > 0.3 && pptx_item_height(p, item, PPTX_BODY_WIDTH, page->scale) > PPTX_BODY_HEIGHT)
        page->scale -= 0.05;
}

static void paginate(struct pptx *p, const struct pptx_slide *slide, struct pages *to)
{
    double scale = 1, used = 0;
    while (scale > SCALE_LEAST + 0.01 && total(p, slide, scale) > PPTX_BODY_HEIGHT)
        scale -= 0.1;
    bool several = total(p, slide, scale) > PPTX_BODY_HEIGHT;
    scale = several ? 0.8 : scale;
    size_t first_page = to->n;
    struct pptx_slide *page = add_page(p, to, slide, scale);
    for (size_t i = 0; page && i < slide->n; i++) {
        struct pptx_item item = p->items[slide->first + i], rest = item;
        for (bool more = true; more && page;) {
            double height = pptx_item_height(p, &item, PPTX_BODY_WIDTH, scale);
            more = false;
            if (several && used + height > PPTX_BODY_HEIGHT) {
                bool cut = split(&item, PPTX_BODY_HEIGHT - used, scale, &rest);
                if (!cut && used > 0) { /* on the next page it has more room */
                    page = add_page(p, to, slide, scale);
                    used = 0;
                    more = true;
                    continue;
                }
                if (!cut)
                    squeeze(p, page, &item);
                if (!put_item(p, to, page, &item))
                    return;
                used = PPTX_BODY_HEIGHT;
                if (cut) {
                    item = rest;
                    more = true;
                }
                continue;
            }
            if (!put_item(p, to, page, &item))
                return;
            used += height;
        }
    }
    for (size_t i = first_page; i < to->n; i++) {
        to->list[i].part = to->n - first_page > 1 ? (unsigned)(i - first_page) + 1 : 0;
        if (i > first_page)
            to->list[i].notes_n = 0;
    }
}

void pptx_plan(struct pptx *p)
{
    struct pages pages = {.n = 0};
    collect(p);
    pages.list = xcalloc(PPTX_SLIDES, sizeof *pages.list);
    pages.items = xcalloc(PPTX_ITEMS * 2, sizeof *pages.items);
    /* What the speaker sees stays whole: it goes first, at the same places. */
    for (size_t i = 0; i < p->slides_n && p->status == RENDER_OK; i++) {
        struct pptx_slide slide = p->slides[i];
        size_t notes = pages.items_n;
        for (size_t k = 0; k < slide.notes_n && pages.items_n < PPTX_ITEMS * 2; k++)
            pages.items[pages.items_n++] = p->items[slide.notes + k];
        slide.notes = notes;
        paginate(p, &slide, &pages);
    }
    memcpy(p->slides, pages.list, sizeof p->slides);
    p->slides_n = pages.n;
    xfree(p->items);
    p->items = pages.items;
    p->items_n = pages.items_n;
    xfree(pages.list);
}
