#include "base/buf.h"
#include "config/config.h"
#include "config/keys.h"
#include "config/value.h"

static void print_map(const struct key_table *table, const void *record, int indent, struct buf *out);

static void print_single(const struct key *k, const void *at, struct buf *out)
{
    unsigned word;
    switch (k->type) {
    case KEY_BOOL:
        buf_adds(out, *(const bool *)at ? "true" : "false");
        break;
    case KEY_TEXT:
        if (*(char *const *)at)
            value_print_text(span_str(*(char *const *)at), out);
        break;
    case KEY_ENUM:
        memcpy(&word, at, sizeof word);
        buf_adds(out, k->words[word]);
        break;
    case KEY_SIZE:
        value_print_size((int64_t) * (const size_t *)at, out);
        break;
    case KEY_COUNT:
        buf_printf(out, "%zu", *(const size_t *)at);
        break;
    case KEY_MILLISECONDS:
        value_print_milliseconds(*(const int64_t *)at, out);
        break;
    case KEY_SECONDS:
        value_print_milliseconds(*(const int64_t *)at * 1000, out);
        break;
    default:
        k->print(at, out);
    }
}

static void print_list(const struct key_list *list, const void *record, int indent, struct buf *out)
{
    const void *items;
    size_t n = *(const size_t *)(const void *)((const char *)record + list->count);
    memcpy(&items, (const char *)record + list->items, sizeof items);
    for (size_t i = 0; i < n; i++) {
        const char *item = (const char *)items + i * list->size;
        size_t begin = out->n;
        if (list->inside) {
            /* The item's map, whose first line then gets the dash. */
            print_map(list->inside, item, indent + 2, out);
            if (out->n > begin)
                out->data[out->start + begin + (size_t)indent] = '-';
        } else {
            buf_printf(out, "%*s- ", indent, "");
            print_single(list->item, item, out);
            buf_addc(out, '\n');
        }
    }
}

static void print_key(const struct key *k, const void *record, int indent, struct buf *out)
{
    size_t begin = out->n, inside;
    if (k->absent)
        return;
    buf_printf(out, "%*s%s:", indent, "", k->name);
    if (k->type == KEY_MAP || k->type == KEY_LIST) {
        buf_addc(out, '\n');
        inside = out->n;
        if (k->type == KEY_MAP)
            print_map(k->inside, record, indent + 2, out);
        else
            print_list(k->list, record, indent + 2, out);
    } else {
        buf_addc(out, ' ');
        inside = out->n;
        print_single(k, (const char *)record + k->at, out);
        if (out->n > inside)
            buf_addc(out, '\n');
    }
    /* A key without a value is not printed at all. */
    if (out->n == inside)
        buf_cut(out, begin);
}

static void print_map(const struct key_table *table, const void *record, int indent, struct buf *out)
{
    for (size_t i = 0; i < table->n; i++)
        print_key(&table->keys[i], record, indent, out);
}

void config_print(const struct config *c, struct buf *out)
{
    print_map(&keys_root, c, 0, out);
}
