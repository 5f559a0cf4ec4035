/*
 * Attachments in Gemini's generateContent. A content without a role is the user's. The answers of functions
 * come in contents of the user, too; what has nothing but those is no place for anything else, since they
 * have to match the calls before them.
 */
#include "providers/placing.h"
#include "providers/request.h"

static void write_part(struct placing *p, const struct place_item *item, enum place_shape shape)
{
    (void)shape;
    if (item->uploaded.n) {
        placing_write(p, "{\"fileData\":{\"mimeType\":\"");
        placing_escaped(p, place_gemini_type(item->media_type));
        placing_write(p, "\",\"fileUri\":\"");
        placing_uploaded(p, item);
        placing_write(p, "\"}}");
        return;
    }
    placing_write(p, "{\"inlineData\":{\"mimeType\":\"");
    placing_escaped(p, place_gemini_type(item->media_type));
    placing_write(p, "\",\"data\":\"");
    placing_base64(p, item);
    placing_write(p, "\"}}");
}

static const struct place_style style = {.member = "parts", .before_text = "{\"text\":", .part = write_part};

static bool is_function_response(struct span part)
{
    struct span value;
    return json_type(part) == JSON_OBJECT &&
           (json_member(part, "functionResponse", &value) || json_member(part, "function_response", &value));
}

static bool has_text(struct span part)
{
    struct span value;
    return json_type(part) == JSON_OBJECT && json_member(part, "text", &value);
}

/* Whether these parts are answers of functions without a word of the user's. */
static bool is_all_function(struct span parts)
{
    bool function = is_function_response(parts), text = has_text(parts);
    struct json_iter it = json_iter(parts);
    if (json_type(parts) == JSON_ARRAY)
        while (json_next(&it) == 1) {
            function = function || is_function_response(it.value);
            text = text || has_text(it.value);
        }
    return function && !text;
}

static bool is_users(struct span content)
{
    struct span role, parts;
    if (json_type(content) != JSON_OBJECT)
        return false;
    if (json_member(content, "role", &role) && json_type(role) != JSON_NULL &&
        !request_value_is(role, "user") && !request_value_is(role, ""))
        return false;
    return !json_member(content, "parts", &parts) || !is_all_function(parts);
}

static void write_content(struct placing *p)
{
    placing_write(p, "{\"role\":\"user\",\"parts\":");
    placing_value(p, &style);
    placing_write(p, "}");
}

/* One content may stand without its array. Its closing brace is written anew, since behind it the protocol
 * may already have its place. */
static void add_to_single(struct placing *p, struct span content)
{
    if (is_users(content)) {
        placing_to_message(p, &style, content);
        return;
    }
    placing_begin(p, content.p, 0);
    placing_write(p, "[");
    placing_end(p);
    placing_begin(p, content.p + content.n - 1, 1);
    placing_write(p, "},");
    write_content(p);
    placing_write(p, "]");
    placing_end(p);
}

void place_gemini(struct placing *p)
{
    struct span contents, content;
    if (!json_member(p->r->facts->root, "contents", &contents)) {
        p->unplaced = true;
    } else if (json_type(contents) == JSON_OBJECT) {
        add_to_single(p, contents);
    } else if (placing_find_last(contents, is_users, &content)) {
        placing_to_message(p, &style, content);
    } else {
        placing_begin_item(p, contents);
        write_content(p);
        placing_end(p);
    }
}
