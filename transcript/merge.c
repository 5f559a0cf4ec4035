/* A dump that came as two files. */
#include "transcript/names.h"
#include "transcript/raw.h"

static bool is_missing(const json_t *entry, const char *key)
{
    const json_t *value = json_object_get(entry, key);
    return !value || json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0);
}

/* Whether a list has entries with blocks in them. */
static bool has_blocks(const json_t *root, const char *list)
{
    json_t *entries = raw_list(root, list), *entry;
    size_t i;
    json_array_foreach(entries, i, entry) if (json_array_size(raw_list(entry, "blocks"))) return true;
    return false;
}

static bool is_block_form(const json_t *root)
{
    return has_blocks(root, "entries") || has_blocks(root, "background_entries");
}

static void take(json_t *entry, json_t *from, const char *key)
{
    if (is_missing(entry, key) && !is_missing(from, key))
        json_object_set(entry, key, json_object_get(from, key));
}

static void merge_list(json_t *plain, json_t *blocks, const char *key)
{
    json_t *to = raw_list(plain, key), *from = raw_list(blocks, key), *entry;
    struct names places;
    size_t i;
    if (!to) {
        to = json_array();
        json_object_set_new(plain, key, to);
    }
    names_init(&places);
    json_array_foreach(to, i, entry) if (raw_str(entry, "uuid").n)
        names_add(&places, raw_str(entry, "uuid"), i);
    json_array_foreach(from, i, entry)
    {
        struct span uuid = raw_str(entry, "uuid");
        size_t at = uuid.n ? names_find(&places, uuid) : NAMES_NONE;
        json_t *same = at == NAMES_NONE ? NULL : json_array_get(to, at);
        if (!same) {
            json_array_append(to, entry);
            continue;
        }
        take(same, entry, "blocks");
        take(same, entry, "trigger");
        take(same, entry, "locked_reason");
    }
    names_finish(&places);
}

json_t *raw_merge(json_t *plain, json_t *blocks)
{
    if (is_block_form(plain) && !is_block_form(blocks)) {
        json_t *other = plain;
        plain = blocks;
        blocks = other;
    }
    merge_list(plain, blocks, "entries");
    merge_list(plain, blocks, "background_entries");
    json_object_update_missing(plain, blocks);
    json_decref(blocks);
    return plain;
}
