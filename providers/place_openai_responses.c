/* Attachments in OpenAI Responses and what speaks like it. */
#include "providers/placing.h"

static void write_part(struct placing *p, const struct place_item *item, enum place_shape shape)
{
    if (item->uploaded.n) {
        placing_write(p, shape == SHAPE_IMAGE ? "{\"type\":\"input_image\",\"file_id\":\""
                                              : "{\"type\":\"input_file\",\"file_id\":\"");
        placing_uploaded(p, item);
        placing_write(p, "\"}");
        return;
    }
    if (shape == SHAPE_IMAGE) {
        placing_write(p, "{\"type\":\"input_image\",\"image_url\":\"");
    } else {
        placing_write(p, "{\"type\":\"input_file\",\"filename\":\"");
        placing_filename(p, item);
        placing_write(p, "\",\"file_data\":\"");
    }
    placing_data_url(p, item);
    placing_write(p, "\"}");
}

static const struct place_style style = {.member = "content",
                                         .before_text = "{\"type\":\"input_text\",\"text\":",
                                         .strings = true,
                                         .part = write_part};

/* The input as a whole, where there is none: a string, or one message. */
static void write_input(struct placing *p)
{
    if (!p->all_text)
        placing_write(p, "[{\"role\":\"user\",\"content\":");
    placing_value(p, &style);
    if (!p->all_text)
        placing_write(p, "}]");
}

/* A string is what one user message says: with parts beside it, it has to become that message. */
static void add_to_string(struct placing *p, struct span input)
{
    if (p->all_text) {
        placing_begin(p, input.p + input.n - 1, 0);
        placing_joined(p, input.n > 2);
        placing_end(p);
        return;
    }
    if (input.n == 2) {
        placing_begin(p, input.p, input.n);
        write_input(p);
        placing_end(p);
        return;
    }
    placing_begin(p, input.p, 0);
    placing_write(p, "[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":");
    placing_end(p);
    placing_begin(p, input.p + input.n, 0);
    placing_write(p, "},");
    placing_parts(p, &style);
    placing_write(p, "]}]");
    placing_end(p);
}

void place_openai_responses(struct placing *p)
{
    struct span input;
    if (!json_member(p->r->facts->root, "input", &input)) {
        placing_begin_member(p, p->r->facts->root);
        placing_write(p, "\"input\":");
        write_input(p);
        placing_end(p);
        return;
    }
    switch (json_type(input)) {
    case JSON_STRING:
        add_to_string(p, input);
        break;
    case JSON_ARRAY:
        placing_to_list(p, &style, input);
        break;
    case JSON_NULL:
        placing_begin(p, input.p, input.n);
        write_input(p);
        placing_end(p);
        break;
    default:
        p->unplaced = true;
    }
}
