/*
 * Any JSON as `attachments`: reading, resolving and writing never crash, refuse with a code and a place, and
 * what is written keeps its promises: no content ends its own block, and nothing is shortened unseen.
 */
#include <stdint.h>
#include <stdlib.h>

#include "attachments/context.h"
#include "base/json.h"

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_block(const struct attachments *a, bool fields)
{
    struct buf out;
    buf_init(&out, 1 << 24);
    context_write(a, fields, &out);
    require(!buf_full(&out));
    for (size_t i = 0; i < a->n; i++) {
        const struct attachment *at = &a->list[i];
        struct span text = buf_span(&at->text);
        if (at->source != ATTACHMENT_CONTENT)
            continue;
        require(!buf_full(&at->text) && limits_characters(text) == at->characters);
        if (at->decision == ATTACHMENT_PASSED)
            require(text.n && out.n > text.n && memmem(buf_span(&out).p, out.n, text.p, text.n));
    }
    if (out.n) {
        struct span s = buf_span(&out);
        require(s.p[0] == '<' && s.p[s.n - 1] == '>');
    }
    buf_free(&out);
}

static void check_record(const struct attachments *a, const struct error *e)
{
    struct buf out;
    struct span value;
    buf_init(&out, 1 << 20);
    attachments_record(a, e ? error_name(e->code) : NULL, &out);
    require(!buf_full(&out));
    require(json_document(buf_span(&out), &value) && json_type(value) == JSON_ARRAY);
    buf_free(&out);
}

static void check(const struct error *e)
{
    struct span value;
    require(e->code != ERROR_NONE && e->status >= 400 && e->message[0]);
    require(!e->details[0] || json_document(span_str(e->details), &value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct attachments a = {0};
    struct error e = {0};
    struct span value;
    const struct attachment_settings s = {.workspace_root = "/nowhere",
                                          .org = "o",
                                          .file_max = 64,
                                          .total_max = 1 << 12,
                                          .characters_max = 1 << 16};
    if (!json_document(span_of((const char *)data, size), &value))
        return 0;
    int bad = attachments_declare(value, &a, &e);
    if (!bad)
        bad = attachments_resolve(&a, &s, &e);
    check_record(&a, bad ? &e : NULL);
    if (bad) {
        check(&e);
    } else {
        context_decide(&a, true);
        check_block(&a, true);
        for (size_t i = 0; i < a.n; i++)
            a.list[i].decision = ATTACHMENT_PASSED;
        context_decide(&a, false);
        check_block(&a, false);
    }
    attachments_free(&a);
    return 0;
}
