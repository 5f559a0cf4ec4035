#include "transcript/scan.h"

#include "base/json.h"
#include "base/xalloc.h"

struct span scan_value(const char *p, const char *end)
{
    struct span value;
    return json_value(p, end, &value) < 0 ? (struct span){p, 0} : value;
}

int scan_unescape(struct span inside, struct buf *out)
{
    return json_unescape(inside, out);
}

bool scan_integer(struct span value, int64_t *number)
{
    return json_int(value, number);
}

static void read_list(struct scan_list *l, struct span array)
{
    size_t room = 0;
    struct json_iter it = json_iter(array);
    xfree(l->texts);
    *l = (struct scan_list){.n = 0};
    while (json_type(array) == JSON_ARRAY && json_next(&it) == 1) {
        if (l->n == room) {
            room = room ? 2 * room : 16;
            l->texts = xrealloc(l->texts, room * sizeof *l->texts);
        }
        l->texts[l->n++] = it.value;
    }
}

bool scan_lists(struct span text, const char *const *names, size_t n, struct scan_list *lists,
                struct buf *rest)
{
    struct span root;
    bool any = false;
    if (!json_document(text, &root) || json_type(root) != JSON_OBJECT)
        return false;
    struct json_iter it = json_iter(root);
    for (size_t i = 0; i < n; i++)
        lists[i] = (struct scan_list){.n = 0};
    while (json_next(&it) == 1) {
        size_t i = 0;
        while (i < n && !json_key_is(&it, names[i]))
            i++;
        if (i < n) {
            read_list(&lists[i], it.value);
            continue;
        }
        buf_addc(rest, any ? ',' : '{');
        buf_add(rest, it.whole);
        any = true;
    }
    buf_adds(rest, any ? "}" : "{}");
    return true;
}
