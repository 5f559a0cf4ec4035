/*
 * Attachments in Ollama's own API. There are no parts: text joins the string that the turn says, and pictures
 * and sound stand beside it in a list, /api/generate has both in the request itself.
 */
#include "providers/placing.h"
#include "providers/request.h"

struct wanted {
    bool text, files;
};

static struct wanted what_is_wanted(const struct placing *p)
{
    struct wanted w = {false, false};
    for (size_t i = 0; i < p->n; i++) {
        w.text = w.text || p->shapes[i] == SHAPE_TEXT;
        w.files = w.files || p->shapes[i] != SHAPE_TEXT;
    }
    return w;
}

/* "…","…" */
static void write_files(struct placing *p)
{
    bool more = false;
    for (size_t i = 0; i < p->n; i++)
        if (p->shapes[i] != SHAPE_TEXT) {
            placing_write(p, more ? ",\"" : "\"");
            placing_base64(p, &p->items[i]);
            placing_write(p, "\"");
            more = true;
        }
}

static void write_text(struct placing *p)
{
    placing_write(p, "\"");
    placing_joined(p, false);
    placing_write(p, "\"");
}

static void begin_member(struct placing *p, struct span object, const char *name)
{
    placing_begin_member(p, object);
    placing_write(p, "\"");
    placing_write(p, name);
    placing_write(p, "\":");
}

static void add_text(struct placing *p, struct span object, const char *name)
{
    struct span value;
    if (!json_member(object, name, &value)) {
        begin_member(p, object, name);
        write_text(p);
        placing_end(p);
        return;
    }
    switch (json_type(value)) {
    case JSON_STRING:
        placing_begin(p, value.p + value.n - 1, 0);
        placing_joined(p, value.n > 2);
        break;
    case JSON_NULL:
        placing_begin(p, value.p, value.n);
        write_text(p);
        break;
    default:
        p->unplaced = true;
        return;
    }
    placing_end(p);
}

static void add_files(struct placing *p, struct span object)
{
    struct span value;
    if (!json_member(object, "images", &value)) {
        begin_member(p, object, "images");
        placing_write(p, "[");
        write_files(p);
        placing_write(p, "]");
        placing_end(p);
        return;
    }
    switch (json_type(value)) {
    case JSON_ARRAY:
        placing_begin_item(p, value);
        write_files(p);
        break;
    case JSON_NULL:
        placing_begin(p, value.p, value.n);
        placing_write(p, "[");
        write_files(p);
        placing_write(p, "]");
        break;
    default:
        p->unplaced = true;
        return;
    }
    placing_end(p);
}

static void add_message(struct placing *p, struct span messages, struct wanted w)
{
    placing_begin_item(p, messages);
    placing_write(p, "{\"role\":\"user\",\"content\":");
    write_text(p);
    if (w.files) {
        placing_write(p, ",\"images\":[");
        write_files(p);
        placing_write(p, "]");
    }
    placing_write(p, "}");
    placing_end(p);
}

void place_ollama(struct placing *p)
{
    struct wanted w = what_is_wanted(p);
    struct span root = p->r->facts->root, messages, turn = root;
    bool chat = json_member(root, "messages", &messages);
    if (chat && !placing_find_last(messages, placing_is_user, &turn)) {
        add_message(p, messages, w);
        return;
    }
    if (w.text)
        add_text(p, turn, chat ? "content" : "prompt");
    if (w.files)
        add_files(p, turn);
}
