#include "providers/place.h"

#include <stdio.h>

#include "base/xalloc.h"
#include "providers/placing.h"
#include "providers/request.h"

/* ---- writing ---- */

/* Bytes that are inserted: of the room, or borrowed. The room may move until everything is written. */
struct place_piece {
    size_t at, cut;
    size_t from, n;
    const char *borrowed; /* NULL: of the room */
};

static void add_piece(struct placing *p, struct place_piece piece)
{
    if (p->npieces == p->pieces_room) {
        p->pieces_room = p->pieces_room ? p->pieces_room * 2 : 16;
        p->pieces = xrealloc(p->pieces, p->pieces_room * sizeof *p->pieces);
    }
    p->pieces[p->npieces++] = piece;
    p->cut = 0; /* the first of a place takes it along */
}

static void flush(struct placing *p)
{
    if (p->room->n > p->from || p->cut)
        add_piece(p, (struct place_piece){p->at, p->cut, p->from, p->room->n - p->from, NULL});
    p->from = p->room->n;
}

void placing_begin(struct placing *p, const char *at, size_t cut)
{
    p->at = (size_t)(at - p->r->body.p);
    p->cut = cut;
    p->from = p->room->n;
}

bool placing_is_taken(const struct placing *p, const char *at)
{
    size_t offset = (size_t)(at - p->r->body.p);
    for (size_t i = 0; i < p->edits->n; i++)
        if (p->edits->list[i].at == offset && p->edits->list[i].insert.n)
            return true;
    for (size_t i = 0; i < p->npieces; i++)
        if (p->pieces[i].at == offset && p->pieces[i].n)
            return true;
    return false;
}

void placing_end(struct placing *p)
{
    flush(p);
}

void placing_write(struct placing *p, const char *json)
{
    buf_adds(p->room, json);
}

void placing_escaped(struct placing *p, struct span text)
{
    if (json_escape(text, p->room) < 0)
        p->room->over = true;
}

static void encode_base64(struct span bytes, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = (const unsigned char *)bytes.p;
    size_t n = bytes.n;
    for (; n >= 3; n -= 3, in += 3) {
        uint32_t v = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
        *out++ = digits[v >> 18];
        *out++ = digits[v >> 12 & 63];
        *out++ = digits[v >> 6 & 63];
        *out++ = digits[v & 63];
    }
    if (n) {
        uint32_t v = (uint32_t)in[0] << 16 | (n == 2 ? (uint32_t)in[1] << 8 : 0);
        *out++ = digits[v >> 18];
        *out++ = digits[v >> 12 & 63];
        *out++ = n == 2 ? digits[v >> 6 & 63] : '=';
        *out++ = '=';
    }
}

void placing_base64(struct placing *p, const struct place_item *item)
{
    if (item->base64.n) {
        flush(p);
        add_piece(p, (struct place_piece){p->at, p->cut, 0, item->base64.n, item->base64.p});
        return;
    }
    if (item->bytes.n > p->room->max) { /* so the sum below cannot overflow */
        p->room->over = true;
        return;
    }
    size_t n = (item->bytes.n / 3 + (item->bytes.n % 3 != 0)) * 4;
    char *out = buf_reserve(p->room, n);
    if (!out) {
        p->room->over = true;
        return;
    }
    encode_base64(item->bytes, out);
    buf_commit(p->room, n);
}

void placing_uploaded(struct placing *p, const struct place_item *item)
{
    buf_add(p->room, item->uploaded);
}

void placing_data_url(struct placing *p, const struct place_item *item)
{
    placing_write(p, "data:");
    placing_escaped(p, item->media_type);
    placing_write(p, ";base64,");
    placing_base64(p, item);
}

void placing_filename(struct placing *p, const struct place_item *item)
{
    const char *extension = place_extension(item->media_type);
    struct span name = item->name.n ? item->name : SPAN_LIT("attachment");
    placing_escaped(p, name);
    if (extension) {
        size_t n = strlen(extension);
        if (name.n <= n || !span_is_nocase(span_from(name, name.n - n), extension))
            placing_write(p, extension);
    } else if (!memchr(name.p, '.', name.n)) {
        placing_write(p, ".txt");
    }
}

struct span placing_item_text(const struct placing *p, size_t i)
{
    return p->items[i].text.n ? p->items[i].text : p->items[i].bytes;
}

void placing_joined(struct placing *p, bool more)
{
    for (size_t i = 0; i < p->n; i++) {
        if (p->shapes[i] != SHAPE_TEXT)
            continue;
        placing_write(p, more ? "\\n\\n" : "");
        placing_escaped(p, placing_item_text(p, i));
        more = true;
    }
}

/* ---- refusals ---- */

enum { NAME_SHOWN = 120, NAME_SHORT = 16, NAME_IN_MESSAGE = 60 };

/* At most so many bytes of a name, cut between characters. */
static size_t cut_name(struct span name, size_t most)
{
    if (name.n <= most)
        return name.n;
    while (most && ((unsigned char)name.p[most] & 0xc0) == 0x80)
        most--;
    return most;
}

static void add_name(struct span name, size_t most, struct buf *out)
{
    if (json_escape(span_of(name.p, cut_name(name, most)), out) < 0)
        out->over = true;
}

/* False: no room for names of that length. */
static bool add_details(const struct place_request *r, const struct place_item *item, size_t most,
                        struct error *e)
{
    struct buf out;
    buf_init(&out, sizeof e->details - 1);
    buf_adds(&out, "{\"provider\":\"");
    add_name(span_str(r->provider), most, &out);
    buf_adds(&out, "\",\"media_type\":\"");
    add_name(item->media_type, most, &out);
    buf_adds(&out, "\",\"name\":\"");
    add_name(item->name, most, &out);
    buf_adds(&out, "\"}");
    bool fits = !buf_full(&out);
    if (fits)
        snprintf(e->details, sizeof e->details, "%s", buf_cstr(&out));
    buf_free(&out);
    return fits;
}

/* `attachments[1] ("clip.mp4")`; without a name when it has only the one made from its place. */
static void write_place(const struct place_item *item, struct buf *out)
{
    char made[48];
    snprintf(made, sizeof made, "attachment-%zu", item->index + 1);
    if (item->index == SIZE_MAX)
        buf_adds(out, "A forwarded attachment");
    else
        buf_printf(out, "attachments[%zu]", item->index);
    if (item->name.n == 0 || span_is(item->name, made))
        return;
    size_t n = cut_name(item->name, NAME_IN_MESSAGE);
    buf_printf(out, " (\"%.*s\")", (int)n, item->name.p);
}

/* "openai cannot carry video/mp4." */
static int refuse(const struct place_request *r, const struct place_item *item, const char *verb,
                  const char *condition, struct error *e)
{
    struct buf which;
    int type = (int)(item->media_type.n < NAME_SHOWN ? item->media_type.n : NAME_SHOWN);
    buf_init(&which, 256);
    write_place(item, &which);
    error_set(e, ERROR_ATTACHMENT_UNSUPPORTED, "%s: %.64s %s %.*s%s. %s.", buf_cstr(&which), r->provider,
              verb, type, item->media_type.n ? item->media_type.p : "", condition,
              item->converts ? "Leave handling: native out, so that its text is sent, or use a provider that "
                               "takes this media type"
                             : "Attach its content as text, or use a provider that takes this media type");
    buf_free(&which);
    if (!add_details(r, item, NAME_SHOWN, e)) /* control characters take up six times their room */
        add_details(r, item, NAME_SHORT, e);
    return -1;
}

int place_check(const struct place_request *r, const struct place_item *item, struct error *e)
{
    if (item->text.n)
        return 0;
    if (!place_takes(r, item->media_type))
        return refuse(r, item, "cannot carry", "", e);
    return 0;
}

enum place_upload place_upload_of(const struct place_request *r, struct span media_type)
{
    enum place_shape shape = place_shape_of(r->api, r->dialect, media_type);
    if (shape == SHAPE_UPLOAD)
        return PLACE_BY_TEXT;
    return place_shape_has_id(r->api, r->dialect, shape) ? PLACE_BY_ID : PLACE_INLINE;
}

bool place_takes(const struct place_request *r, struct span media_type)
{
    return place_shape_of(r->api, r->dialect, media_type) != SHAPE_NONE;
}

bool place_goes_as_text(const struct place_request *r, struct span media_type)
{
    enum place_shape shape = place_shape_of(r->api, r->dialect, media_type);
    return shape == SHAPE_TEXT || shape == SHAPE_PLAIN;
}

/* RFC 3629: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
static bool is_utf8(struct span text)
{
    const unsigned char *p = (const unsigned char *)text.p, *end = p + text.n;
    while (p < end) {
        unsigned c = *p++, least = 0x80, most = 0xbf;
        if (c < 0x80)
            continue;
        int more = c >= 0xc2 && c < 0xe0 ? 1 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xf0 && c < 0xf5 ? 3 : 0;
        if (more == 0 || end - p < more)
            return false;
        if (c == 0xe0)
            least = 0xa0;
        else if (c == 0xed)
            most = 0x9f;
        else if (c == 0xf0)
            least = 0x90;
        else if (c == 0xf4)
            most = 0x8f;
        if (*p < least || *p > most)
            return false;
        for (p++; --more; p++)
            if ((*p & 0xc0) != 0x80)
                return false;
    }
    return true;
}

/* ---- */

/* Settles every item's shape. */
static int choose_shapes(struct placing *p, struct error *e)
{
    p->all_text = true;
    for (size_t i = 0; i < p->n; i++) {
        const struct place_item *item = &p->items[i];
        if (place_check(p->r, item, e) < 0)
            return -1;
        if (item->uploaded.n && !item->text.n && place_upload_of(p->r, item->media_type) != PLACE_BY_ID)
            return refuse(p->r, item, "cannot carry an upload of", "", e);
        p->shapes[i] = item->text.n ? SHAPE_TEXT : place_shape_of(p->r->api, p->r->dialect, item->media_type);
        if (p->shapes[i] == SHAPE_UPLOAD)
            return refuse(p->r, item, "takes", " only as an uploaded file", e);
        if (!item->text.n && (p->shapes[i] == SHAPE_TEXT || p->shapes[i] == SHAPE_PLAIN) &&
            !is_utf8(item->bytes))
            return refuse(p->r, item, "takes", " only as UTF-8 text, which this is not", e);
        p->all_text = p->all_text && p->shapes[i] == SHAPE_TEXT;
    }
    return 0;
}

static void emit(struct placing *p)
{
    struct span room = buf_span(p->room);
    for (size_t i = 0; i < p->npieces; i++) {
        const struct place_piece *piece = &p->pieces[i];
        struct span insert =
            piece->borrowed ? span_of(piece->borrowed, piece->n) : span_of(room.p + piece->from, piece->n);
        edits_add(p->edits, piece->at, piece->cut, insert);
    }
}

int place_attachments(const struct place_request *r, const struct place_item *items, size_t n,
                      struct buf *room, struct edits *edits, struct error *e)
{
    const struct dialect *dialect = dialect_find(r->api);
    struct placing p = {.r = r, .items = items, .n = n, .room = room, .edits = edits};
    int answer = -1;
    if (n == 0)
        return 0;
    p.shapes = xcalloc(n, sizeof *p.shapes);
    if (choose_shapes(&p, e) < 0)
        goto out;
    dialect->place(&p);
    if (p.unplaced) {
        error_set(e, ERROR_BAD_REQUEST,
                  "Attachments cannot be added to the last user message: what it says "
                  "is neither text nor a list of parts.");
        goto out;
    }
    if (buf_full(room)) {
        error_set(e, ERROR_REQUEST_TOO_LARGE,
                  "With its attachments the request would have more than %zu "
                  "bytes added to it. Attach less.",
                  room->max);
        goto out;
    }
    emit(&p);
    answer = 0;
out:
    xfree(p.shapes);
    xfree(p.pieces);
    return answer;
}
