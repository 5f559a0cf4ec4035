#include "transcript/names.h"

#include <jansson.h>

void names_init(struct names *n)
{
    n->table = json_object();
}

void names_finish(struct names *n)
{
    json_decref(n->table);
    n->table = NULL;
}

size_t names_find(const struct names *n, struct span name)
{
    const json_t *number = json_object_getn(n->table, name.n ? name.p : "", name.n);
    return number ? (size_t)json_integer_value(number) : NAMES_NONE;
}

void names_set(struct names *n, struct span name, size_t number)
{
    json_object_setn_new_nocheck(n->table, name.n ? name.p : "", name.n, json_integer((json_int_t)number));
}

bool names_add(struct names *n, struct span name, size_t number)
{
    if (names_find(n, name) != NAMES_NONE)
        return false;
    names_set(n, name, number);
    return true;
}
