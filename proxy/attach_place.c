/* Attachments into the request, and copies of them into the consult's workspace. */
#include "artifacts/inbound.h"
#include "attachments/context.h"
#include "attachments/parts.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "providers/place.h"
#include "proxy/attach_job.h"

static struct buf *new_text(struct attach_job *j)
{
    struct buf *out = &j->texts[j->ntexts++];
    buf_init(out, SIZE_MAX / 2); /* made of text that was counted */
    return out;
}

static struct span add_text(struct attach_job *j, const struct attachment *a)
{
    struct buf *out = new_text(j);
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
        else if (a->conversion || a->by_provider)
            a->characters = limits_characters(buf_span(&a->text));
    }
    return attachments_check_text(&j->list, j->config->limits.attachment_characters, &j->error);
}

static struct place_item item_of(struct attach_job *j, const struct attachment *a)
{
    struct place_item item = {.index = a->index};
    if (a->native && a->by_provider) { /* as the provider wrote it */
        item.text = attachment_text(a);
        return item;
    }
    if (attachment_is_text(a)) {
        item.text = add_text(j, a);
        return item;
    }
    item.media_type = span_str(a->media.type);
    item.bytes = buf_span(&a->bytes);
    item.base64 = a->base64;
    item.name = span_str(a->name);
    item.uploaded = span_str(a->uploaded);
    return item;
}

/* A film: frames, each after the line that says when it is, and texts between tags as those of documents. */
static size_t add_parts(struct attach_job *j, const struct attachment *a, struct place_item *items)
{
    struct part parts[PARTS_MOST];
    int n = parts_read(buf_span(&a->parts), parts);
    for (int i = 0; i < n; i++) {
        items[i] = (struct place_item){.index = a->index};
        if (parts[i].picture) {
            items[i].media_type = span_str(parts[i].media_type);
            items[i].bytes = parts[i].bytes;
        } else if (i + 1 < n && parts[i + 1].picture) {
            items[i].text = parts[i].bytes;
        } else {
            struct buf *out = new_text(j);
            context_document_part(a, parts[i].bytes, out);
            items[i].text = buf_span(out);
        }
    }
    return n > 0 ? (size_t)n : 0;
}

static size_t add_items(struct attach_job *j, const struct attachment *a, struct place_item *items)
{
    if (a->source == ATTACHMENT_CONTENT)
        return 0;
    if (a->parts.n)
        return add_parts(j, a, items);
    items[0] = item_of(j, a);
    return 1;
}

/* Files in the array's order, then what is said about the run. */
static int place_all(struct attach_job *j)
{
    size_t most = 1, n = 0, inserted = 4 * LIMIT_READ;
    int bad = 0;
    for (size_t i = 0; i < j->list.n; i++)
        most += j->list.list[i].parts.n ? PARTS_MOST : 1;
    struct place_item *items = xcalloc(most, sizeof *items);
    j->texts = xcalloc(most, sizeof *j->texts);
    for (size_t i = 0; i < j->list.n && bad == 0; i++) {
        struct attachment *a = &j->list.list[i];
        size_t next = n + add_items(j, a, items + n);
        for (; n < next && bad == 0; n++)
            bad = place_check(&j->place, &items[n], &j->error);
        if (bad)
            a->decision = ATTACHMENT_REFUSED;
        inserted += 2 * a->bytes.n + 6 * (a->parts.n + a->text.n);
    }
    struct span context = bad ? span_of("", 0) : add_text(j, NULL);
    if (context.n)
        items[n++] = (struct place_item){.text = context, .index = ATTACHMENT_FORWARDED};
    for (size_t i = 0; i < j->ntexts; i++)
        inserted += 6 * j->texts[i].n;
    buf_init(&j->room, inserted);
    if (bad == 0)
        bad = place_attachments(&j->place, items, n, &j->room, &j->edits, &j->error);
    xfree(items);
    return bad;
}

int attach_place(struct attach_job *j)
{
    return count_text(j) < 0 || place_all(j) < 0 ? -1 : 0;
}

/* What was forwarded stays with the parent alone. */
static bool is_own(const struct attachment *a)
{
    return a->index != ATTACHMENT_FORWARDED;
}

void attach_promise_originals(struct attach_job *j)
{
    for (size_t i = 0; i < j->list.n; i++)
        if (is_own(&j->list.list[i])) {
            j->keeping = inbound_begin(j->store, j->org, j->consult);
            return;
        }
}

void attach_keep_originals(struct attach_job *j)
{
    struct inbound_item items[LIMIT_ATTACHMENTS];
    size_t n = 0;
    for (size_t i = 0; i < j->list.n; i++) {
        const struct attachment *a = &j->list.list[i];
        if (!is_own(a))
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
    if (n && inbound_keep(j->store, j->keeping, j->org, j->consult, items, n, until_s) < 0)
        log_debug("attachments.not_kept", log_str("consult", j->consult));
    j->keeping = -1;
}
