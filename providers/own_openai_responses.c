/* Events and errors of Penstock's own as OpenAI Responses has them. */
#include "providers/openai.h"
#include "providers/openai_responses.h"
#include "providers/shape.h"

enum { FRAME = 'r' }; /* first byte of the shape of an event that begins a reply */

/*
 * The members that say where in the reply a text is; or, behind an r, those that
 * say which reply it is.
 */
void openai_responses_keep_shape(const struct reply_event *e, uint32_t channel, struct buf *out)
{
    static const char *const of_text[] = {"item_id", "output_index", "content_index"};
    static const char *const of_reply[] = {"id", "object", "created_at", "model"};
    struct span response;
    (void)channel;
    if (json_member(e->json, "response", &response)) {
        buf_addc(out, FRAME);
        shape_keep(response, of_reply, sizeof of_reply / sizeof of_reply[0], false, out);
    } else {
        shape_keep(e->json, of_text, sizeof of_text / sizeof of_text[0], false, out);
    }
}

static void begin_event(const char *type, int64_t number, struct buf *out)
{
    buf_printf(out, "event: %s\ndata: {\"type\":\"%s\",", type, type);
    if (number >= 0)
        buf_printf(out, "\"sequence_number\":%lld,", (long long)number);
}

void openai_responses_text_event(struct span shape, uint32_t channel, int64_t number, struct span escaped,
                                 struct span tokens, struct buf *out)
{
    begin_event("response.output_text.delta", number, out);
    if (shape.n && shape.p[0] != FRAME)
        buf_add(out, shape);
    else
        buf_printf(out, "\"output_index\":%u,\"content_index\":%u,", (unsigned)channel >> 8,
                   (unsigned)channel & 0xff);
    buf_adds(out, "\"delta\":\"");
    buf_add(out, escaped);
    buf_adds(out, "\",\"logprobs\":[");
    if (tokens.n)
        buf_add(out, tokens);
    buf_adds(out, "]}\n\n");
}

void openai_responses_report_event(struct span shape, int64_t number, struct span report, bool cut,
                                   struct buf *out)
{
    begin_event(cut ? "response.failed" : "response.completed", number, out);
    buf_adds(out, "\"response\":{");
    if (shape.n && shape.p[0] == FRAME)
        buf_add(out, span_from(shape, 1));
    else
        buf_adds(out, "\"object\":\"response\",");
    buf_adds(
        out,
        cut ? "\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"The provider broke "
              "the reply off.\"},"
            : "\"status\":\"completed\",\"error\":null,");
    buf_adds(out, "\"incomplete_details\":null,\"output\":[],");
    buf_add(out, report);
    buf_adds(out, "}}\n\n");
}

/* What an artifact is in the lists of annotations. Its container is no container, but files are fetched
 * through any. */
void openai_responses_citation(struct span entry, size_t at, struct buf *out)
{
    static const char prefix[] = "\"file-hw-";
    struct span id, filename;
    if (!json_member(entry, "id", &id) || json_type(id) != JSON_STRING)
        id = SPAN_LIT("\"\"");
    if (!json_member(entry, "filename", &filename) || json_type(filename) != JSON_STRING)
        filename = SPAN_LIT("\"\"");
    buf_adds(out, "{\"type\":\"container_file_citation\",\"container_id\":\"cntr-hw-");
    if (span_starts(id, prefix))
        buf_add(out, span_of(id.p + sizeof prefix - 1, id.n - sizeof prefix));
    buf_adds(out, "\",\"file_id\":");
    buf_add(out, id);
    buf_adds(out, ",\"filename\":");
    buf_add(out, filename);
    buf_printf(out, ",\"start_index\":%zu,\"end_index\":%zu}", at, at);
}

/* ---- errors ---- */

/* In both shapes that clients know: with the error as an object, and flat. The number is filled in by whoever
 * puts it into a stream. */
void openai_responses_error_event(const struct error *e, bool named, struct buf *out)
{
    struct buf body;
    (void)named; /* here it is always */
    buf_init(&body, out->max);
    openai_error_body(e, &body);
    begin_event("error", 0, out);
    buf_printf(out, "\"code\":\"%s\",\"message\":\"", error_name(e->code));
    if (json_escape(span_str(e->message), out) == 0) {
        buf_adds(out, "\",\"param\":null,");
        buf_add(out, span_from(buf_span(&body), 1));
        buf_adds(out, "\n\n");
    }
    buf_free(&body);
}
