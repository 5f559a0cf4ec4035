/* What an Expert's consult had attached, for the consult that it starts (product.md §6, "Forwarding to a
 * Specialist"). */
#include "artifacts/inbound.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "proxy/attach_job.h"

static bool wants(struct attach_job *j, const struct inbound_item *item)
{
    bool wanted = j->forward_all;
    for (size_t i = 0; i < j->nforward; i++)
        if ((item->type && strcmp(j->forward[i], item->type) == 0) ||
            (item->name && strcmp(j->forward[i], item->name) == 0))
            wanted = j->found[i] = true;
    return wanted;
}

static int take_forwarded(void *arg, const struct inbound_item *item, const char *key)
{
    struct attach_job *j = arg;
    const struct config_limits *l = &j->config->limits;
    if (!wants(j, item))
        return 0;
    struct attachment *a = attachments_add(&j->list);
    if (!a) {
        j->failed = true;
        return error_set(&j->error, ERROR_ATTACHMENT_INVALID,
                         "attachments and hw.forward: at most %d can be attached together.",
                         LIMIT_ATTACHMENTS);
    }
    a->index = ATTACHMENT_FORWARDED;
    a->source = item->type ? ATTACHMENT_CONTENT : ATTACHMENT_DATA;
    a->native = item->native;
    a->name = item->name ? xstrdup(item->name) : NULL;
    a->path = item->path ? xstrdup(item->path) : NULL;
    a->type = item->type ? xstrdup(item->type) : NULL;
    buf_init(&a->bytes, item->type ? l->request_body : l->attachment_file);
    if (inbound_read(j->store, key, &a->bytes) == 0)
        return 0;
    a->decision = ATTACHMENT_REFUSED;
    j->failed = true;
    return error_set(&j->error, ERROR_ATTACHMENT_NOT_FOUND,
                     "The forwarded attachment \"%.80s\" cannot be read any more. Attach it again.",
                     attachment_title(a));
}

void attach_take_parents(struct attach_job *j)
{
    enum inbound_found found =
        inbound_find(j->store, j->org, j->parent, clock_wall_ms() / 1000, take_forwarded, j);
    if (j->failed)
        return;
    if (found == INBOUND_EXPIRED) {
        j->failed = true;
        error_set(
            &j->error, ERROR_ATTACHMENT_NOT_FOUND,
            "hw.forward: the attachments of the parent are kept no longer (timeouts.forward_ttl). Attach "
            "them again.");
        return;
    }
    for (size_t i = 0; i < j->nforward; i++)
        if (!j->found[i])
            attach_not_passed(j, NOT_PASSED_NOT_IN_PARENT, "name", j->forward[i]);
    if (j->forward_all && found == INBOUND_NONE)
        attach_not_passed(j, NOT_PASSED_NOT_IN_PARENT, "name", "all");
}
