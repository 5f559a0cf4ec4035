/* Attachments in Anthropic Messages and what speaks like it. At the end of a message they stand behind all
 * results of tools, which have to come first. */
#include "providers/placing.h"

static void write_source(struct placing *p, const struct place_item *item, const char *type)
{
    placing_write(p, "{\"type\":\"");
    placing_write(p, type);
    if (item->uploaded.n) {
        placing_write(p, "\",\"source\":{\"type\":\"file\",\"file_id\":\"");
        placing_uploaded(p, item);
        placing_write(p, "\"}");
        return;
    }
    placing_write(p, "\",\"source\":{\"type\":\"base64\",\"media_type\":\"");
    placing_escaped(p, item->media_type);
    placing_write(p, "\",\"data\":\"");
    placing_base64(p, item);
    placing_write(p, "\"}");
}

static void write_title(struct placing *p, const struct place_item *item)
{
    if (item->name.n) {
        placing_write(p, ",\"title\":\"");
        placing_escaped(p, item->name);
        placing_write(p, "\"");
    }
    placing_write(p, "}");
}

static void write_part(struct placing *p, const struct place_item *item, enum place_shape shape)
{
    if (shape == SHAPE_IMAGE) {
        write_source(p, item, "image");
        placing_write(p, "}");
    } else if (shape == SHAPE_PLAIN) {
        placing_write(p, "{\"type\":\"document\",\"source\":{\"type\":\"text\",\"media_type\":\"text/plain\","
                         "\"data\":\"");
        placing_escaped(p, item->bytes);
        placing_write(p, "\"}");
        write_title(p, item);
    } else {
        write_source(p, item, "document");
        write_title(p, item);
    }
}

void place_anthropic_messages(struct placing *p)
{
    static const struct place_style style = {.member = "content",
                                             .before_text = "{\"type\":\"text\",\"text\":",
                                             .strings = true,
                                             .part = write_part};
    struct span messages;
    if (json_member(p->r->facts->root, "messages", &messages) && json_type(messages) == JSON_ARRAY)
        placing_to_list(p, &style, messages);
    else
        p->unplaced = true;
}
