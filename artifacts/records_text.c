/* The text of a consult's record. */
#include "artifacts/records.h"
#include "base/json.h"

/* Of the members that are texts, in their order: the key, with the quote that ends the one before it. */
static const struct span keys[] = {
    SPAN_LIT("{\"id\":\""),      SPAN_LIT("\",\"org\":\""),    SPAN_LIT("\",\"thread\":\""),
    SPAN_LIT("\",\"turn\":\""),  SPAN_LIT("\",\"parent\":\""), SPAN_LIT("\",\"provider\":\""),
    SPAN_LIT("\",\"api\":\""),   SPAN_LIT("\",\"model\":\""),  SPAN_LIT("\",\"outcome\":\""),
    SPAN_LIT("\",\"error\":\""), SPAN_LIT("\",\"reason\":\""),
};
enum { TEXTS = sizeof keys / sizeof keys[0] };

static void add_number(struct span key, int64_t n, struct buf *out)
{
    buf_add(out, key);
    buf_add_number(out, n > 0 ? (uint64_t)n : 0);
}

/* Objects that make no array together are left out. */
static void add_array(struct span key, struct span objects, struct buf *out)
{
    struct span value;
    buf_add(out, key);
    size_t at = out->n;
    buf_addc(out, '[');
    buf_add(out, objects);
    buf_addc(out, ']');
    if (objects.n && !buf_full(out) && !json_document(span_from(buf_span(out), at), &value)) {
        buf_cut(out, at);
        buf_adds(out, "[]");
    }
}

int record_write(const struct consult_record *c, struct buf *out)
{
    const struct span texts[TEXTS] = {
        span_str(c->id),      span_str(c->org),      span_str(c->thread), span_str(c->turn),
        span_str(c->parent),  span_str(c->provider), span_str(c->api),    span_str(c->model),
        span_str(c->outcome), span_str(c->error),    c->reason,
    };
    size_t before = out->n;
    for (int i = 0; i < TEXTS; i++) {
        buf_add(out, keys[i]);
        if (texts[i].n && json_escape(texts[i], out) < 0)
            break;
    }
    add_number(SPAN_LIT("\",\"started_ms\":"), c->started_ms, out);
    add_number(SPAN_LIT(",\"duration_ms\":"), c->duration_ms, out);
    if (c->first_byte_ms >= 0)
        add_number(SPAN_LIT(",\"first_byte_ms\":"), c->first_byte_ms, out);
    else
        buf_adds(out, ",\"first_byte_ms\":null");
    add_number(SPAN_LIT(",\"status\":"), c->status, out);
    buf_adds(out, c->streamed ? ",\"streamed\":true" : ",\"streamed\":false");
    add_number(SPAN_LIT(",\"bytes_in\":"), (int64_t)c->bytes_in, out);
    add_number(SPAN_LIT(",\"bytes_out\":"), (int64_t)c->bytes_out, out);
    add_number(SPAN_LIT(",\"directives\":"), c->directives, out);
    add_array(SPAN_LIT(",\"artifacts\":"), c->artifacts, out);
    add_array(SPAN_LIT(",\"attachments\":"), c->attachments, out);
    add_array(SPAN_LIT(",\"attachments_not_passed\":"), c->attachments_not_passed, out);
    buf_addc(out, '}');
    if (!buf_full(out))
        return 0;
    buf_cut(out, before);
    return -1;
}
