/* Events and errors of Penstock's own as OpenAI Chat Completions has them. */
#include "providers/openai.h"
#include "providers/openai_chat.h"
#include "providers/shape.h"

/*
 * A shape is the channel's number, a blank, and the members that every chunk of a reply repeats, as they are
 * spelt there: 0 "id":"chatcmpl-1","object":"chat.completion.chunk",
 */
void openai_chat_keep_shape(const struct reply_event *e, uint32_t channel, struct buf *out)
{
    struct walk w = walk_text(e->json);
    struct span key, value;
    shape_begin(channel, out);
    walk_enter(&w, '{');
    while (walk_member(&w, &key)) {
        bool padding = key.n == sizeof "obfuscation" - 1; /* of that length there is no other */
        bool kept = (openai_chat_is_frame(&w, key) && !padding) || walk_key_is(&w, key, "provider");
        if (!walk_skip(&w, &value))
            break;
        if (kept)
            shape_add(key, value, out);
    }
}

/* What every event of our own begins with. Answers the digits of the shape's channel. */
static struct span begin_event(struct span shape, struct buf *out)
{
    struct span index, members = shape_members(shape, &index);
    buf_adds(out, "data: {");
    buf_add(out, index.p == shape.p ? members : SPAN_LIT("\"object\":\"chat.completion.chunk\","));
    return index;
}

void openai_chat_text_event(struct span shape, uint32_t channel, int64_t number, struct span escaped,
                            struct span tokens, struct buf *out)
{
    (void)number;
    begin_event(shape, out);
    buf_printf(out, "\"choices\":[{\"index\":%u,\"delta\":{\"content\":\"", (unsigned)channel);
    buf_add(out, escaped);
    buf_adds(out, "\"}");
    if (tokens.p) {
        buf_adds(out, ",\"logprobs\":{\"content\":[");
        buf_add(out, tokens);
        buf_adds(out, "]}");
    }
    buf_adds(out, ",\"finish_reason\":null}]}\n\n");
}

void openai_chat_report_event(struct span shape, int64_t number, struct span report, bool cut,
                              struct buf *out)
{
    (void)number;
    struct span index = begin_event(shape, out);
    buf_adds(out, "\"choices\":[{\"index\":");
    buf_add(out, index);
    buf_adds(out, ",\"delta\":{},\"finish_reason\":");
    buf_adds(out, cut ? "\"error\"}]," : "\"stop\"}],");
    buf_add(out, report);
    buf_adds(out, "}\n\n");
}

void openai_chat_error_event(const struct error *e, bool named, struct buf *out)
{
    shape_error_event(e, openai_error_body, named ? "error" : NULL, "\n", out);
}
