/* Attachments into the request, and copies of them into the consult's workspace. */
#include "artifacts/inbound.h"
#include "attachments/context.h"
#include "base/clock.h"
#include "providers/place.h"
#include "proxy/attach_job.h"

static struct span add_text(struct attach_job *j, const struct attachment *a)
{
    struct buf *out = &j->texts[j->ntexts++];
    buf_init(out, SIZE_MAX / 2); /* made of text that was counted */
    if (a)
        context_document(a, out);
    else
        context_write(&j->list, j->fields, out);
    return buf_span(out);
}

/* Native text for which the provider's own shape is text. */
static bool ends_as_text(const struct attach_job *j, const struct attachment *a)
{
    if (a->media.kind != MEDIA_TEXT || !a->native)
        return false;
    enum place_shape shape = place_shape_of(j->place.api, j->place.dialect, span_str(a->media.type));
    return shape == SHAPE_TEXT || shape == SHAPE_PLAIN;
}

/* Text is counted as such whatever way it goes, and what was converted as what it became. */
static int count_text(struct attach_job *j)
{
    for (size_t i = 0; i < j->list.n; i++) {
        struct attachment *a = &j->list.list[i];
        if (ends_as_text(j, a))
            a->characters = limits_characters(buf_span(&a->bytes));
        else if (a->conversion)
            a->characters = limits_characters(buf_span(&a->text));
    }
    return attachments_check_text(&j->list, j->config->limits.attachment_characters, &j->error);
}

static struct place_item item_of(struct attach_job *j, const struct attachment *a)
{
    struct place_item item = {.index = a->index};
    if (attachment_is_text(a)) {
        item.text = add_text(j, a);
        return item;
    }
    item.media_type = span_str(a->media.type);
    item.bytes = buf_span(&a->bytes);
    item.base64 = a->base64;
    item.name = span_str(a->name);
    return item;
}

/* Files in the array's order, then what is said about the run. */
static int place_all(struct attach_job *j)
{
    struct place_item items[LIMIT_ATTACHMENTS + 1];
    size_t n = 0, inserted = 4 * LIMIT_READ;
    for (size_t i = 0; i < j->list.n; i++) {
        struct attachment *a = &j->list.list[i];
        if (a->source == ATTACHMENT_CONTENT)
            continue;
        items[n] = item_of(j, a);
        if (place_check(&j->place, &items[n++], &j->error) < 0) {
            a->decision = ATTACHMENT_REFUSED;
            return -1;
        }
        inserted += 2 * a->bytes.n;
    }
    struct span context = add_text(j, NULL);
    if (context.n)
        items[n++] = (struct place_item){.text = context, .index = ATTACHMENT_FORWARDED};
    for (size_t i = 0; i < j->ntexts; i++)
        inserted += 6 * j->texts[i].n;
    buf_init(&j->room, inserted);
    return place_attachments(&j->place, items, n, &j->room, &j->edits, &j->error);
}

int attach_place(struct attach_job *j)
{
    return count_text(j) < 0 || place_all(j) < 0 ? -1 : 0;
}

/* For consults that this one may start. What was forwarded stays with the parent alone. */
void attach_keep_originals(struct attach_job *j)
{
    struct inbound_item items[LIMIT_ATTACHMENTS];
    size_t n = 0;
    for (size_t i = 0; i < j->list.n; i++) {
        const struct attachment *a = &j->list.list[i];
        if (a->index == ATTACHMENT_FORWARDED)
            continue;
        items[n++] = (struct inbound_item){
            .name = a->name,
            .path = a->path,
            .type = a->type,
            .media_type = a->media.type,
            .sha256 = a->sha256,
            .native = a->native,
            .bytes = a->source == ATTACHMENT_CONTENT ? a->value : buf_span(&a->bytes),
        };
    }
    int64_t until_s = (clock_wall_ms() + j->config->timeouts.forward_ttl) / 1000;
    /* The consult itself does not depend on it, and a log line says so. */
    if (n && inbound_keep(j->store, j->org, j->consult, items, n, until_s) < 0)
        return;
}
