/*
 * Feeds one API's events through the reply chain, one a read, for counting instructions:
 *   valgrind --tool=callgrind --toggle-collect=feed_event build/release/bench_events SAMPLE N [record|print]
 * with two values of N: the difference, divided by the difference of N, is what an event costs. What is said
 * is the same for every API. With `record` the reply is also kept for a thread; with `print` the stream is
 * printed and nothing else is done. Without arguments: the names of the samples. bench/recording.js does all
 * of it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "filters/recorder.h"
#include "filters/reply.h"
#include "providers/dialect.h"

/* What the pieces of an event are of. */
enum kind { TEXT, REASONING, ARGUMENTS };

struct sample {
    const char *name;
    enum api api;
    enum kind kind;
    const char *before, *after; /* around the piece of an event; %d in `after` stands for its number */
    const char *first;          /* what opens the stream */
};

#define CHAT                                                                                                 \
    "data: "                                                                                                 \
    "{\"id\":\"chatcmpl-2c06b0e20bb5ce01\",\"object\":\"chat.completion.chunk\",\"created\":1760000000,"     \
    "\"model\":\"m-1\",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_0123456789\",\"choices\":[{" \
    "\"index\":0,\"delta\":{"
#define CHAT_END "},\"logprobs\":null,\"finish_reason\":null}],\"obfuscation\":\"ab\"}\n\n"
#define GEMINI   "data: {\"candidates\": [{\"content\": {\"parts\": [{"
#define GEMINI_END                                                                                           \
    "}],\"role\": \"model\"},\"index\": 0}],\"usageMetadata\": {\"promptTokenCount\": "                      \
    "9,\"totalTokenCount\": "                                                                                \
    "12},\"modelVersion\": \"m-1\",\"responseId\": \"abc\"}\r\n\r\n"
#define OLLAMA                                                                                               \
    "{\"model\":\"m-1\",\"created_at\":\"2026-01-05T10:00:00.123456Z\",\"message\":{\"role\":\"assistant\"," \
    "\"content\":\""

static const struct sample samples[] = {
    {"openai-chat", API_OPENAI_CHAT, TEXT, CHAT "\"content\":\"", "\"" CHAT_END, ""},
    {"openai-chat-reasoning", API_OPENAI_CHAT, REASONING, CHAT "\"reasoning_content\":\"", "\"" CHAT_END, ""},
    {"openai-chat-arguments", API_OPENAI_CHAT, ARGUMENTS,
     CHAT "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"", "\"}}]" CHAT_END,
     CHAT "\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":"
          "\"get\",\"arguments\":\"\"}}]" CHAT_END},
    {"openai-responses", API_OPENAI_RESPONSES, TEXT,
     "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":"
     "\"msg_0123456789abcdef\",\"output_index\":0,\"content_index\":0,\"delta\":\"",
     "\",\"logprobs\":[],\"sequence_number\":%d,\"obfuscation\":\"ab\"}\n\n", ""},
    {"openai-responses-reasoning", API_OPENAI_RESPONSES, REASONING,
     "event: response.reasoning_summary_text.delta\ndata: "
     "{\"type\":\"response.reasoning_summary_text.delta\","
     "\"item_id\":\"rs_0123456789abcdef\",\"output_index\":0,\"summary_index\":0,\"delta\":\"",
     "\",\"sequence_number\":%d,\"obfuscation\":\"ab\"}\n\n", ""},
    {"openai-responses-arguments", API_OPENAI_RESPONSES, ARGUMENTS,
     "event: response.function_call_arguments.delta\ndata: "
     "{\"type\":\"response.function_call_arguments.delta\","
     "\"item_id\":\"fc_0123456789abcdef\",\"output_index\":0,\"delta\":\"",
     "\",\"sequence_number\":%d,\"obfuscation\":\"ab\"}\n\n",
     "event: response.output_item.added\ndata: "
     "{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{"
     "\"id\":\"fc_0123456789abcdef\",\"type\":\"function_call\",\"status\":\"in_progress\",\"arguments\":"
     "\"\","
     "\"call_id\":\"call_1\",\"name\":\"get\"},\"sequence_number\":0}\n\n"},
    {"anthropic-messages", API_ANTHROPIC_MESSAGES, TEXT,
     "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
     "\"text_delta\",\"text\":\"",
     "\"}}\n\n",
     "event: content_block_start\ndata: "
     "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
     "\"text\",\"text\":\"\"}}\n\n"},
    {"anthropic-messages-reasoning", API_ANTHROPIC_MESSAGES, REASONING,
     "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
     "\"thinking_delta\",\"thinking\":\"",
     "\"}}\n\n",
     "event: content_block_start\ndata: "
     "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
     "\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n"},
    {"anthropic-messages-arguments", API_ANTHROPIC_MESSAGES, ARGUMENTS,
     "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
     "\"input_json_delta\",\"partial_json\":\"",
     "\"}}\n\n",
     "event: content_block_start\ndata: "
     "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
     "\"tool_use\",\"id\":\"toolu_1\",\"name\":\"get\",\"input\":{}}}\n\n"},
    {"gemini", API_GEMINI, TEXT, GEMINI "\"text\": \"", "\"" GEMINI_END, ""},
    {"gemini-reasoning", API_GEMINI, REASONING, GEMINI "\"text\": \"", "\",\"thought\": true" GEMINI_END, ""},
    {"gemini-arguments", API_GEMINI, TEXT,
     GEMINI "\"functionCall\": {\"name\": \"get\",\"args\": {\"of\": \"", "\"}}" GEMINI_END, ""},
    {"ollama", API_OLLAMA, TEXT, OLLAMA, "\"},\"done\":false}\n", ""},
    {"ollama-reasoning", API_OLLAMA, REASONING, OLLAMA "\",\"thinking\":\"", "\"},\"done\":false}\n", ""},
    {"ollama-arguments", API_OLLAMA, TEXT,
     OLLAMA "\",\"tool_calls\":[{\"function\":{\"name\":\"get\",\"arguments\":{\"of\":\"",
     "\"}}}]},\"done\":false}\n", ""},
};

static const char *const words[] = {" the",    " model", " answers", " in",   " small",
                                    " pieces", ",",      " and",     " each", " one"};
static const char *const json[] = {"{\\\"", "place", "\\\":", " \\\"", "Br",
                                   "est",   "\\\",", " \\\"", "days",  "\\\": 3}"};

static void on_directive(void *arg, unsigned number, struct buf *text, enum flag refused)
{
    (void)arg;
    (void)number;
    (void)text;
    (void)refused;
}

static struct reply *open_reply(const struct sample *s, struct recorder *recorder)
{
    static const struct reply_callbacks callbacks = {.directive = on_directive};
    const struct dialect *d = dialect_find(s->api);
    struct reply_settings settings = {
        .dialect = {.event = d->event,
                    .keep_shape = d->keep_shape,
                    .text_event = d->text_event,
                    .report_event = d->report_event,
                    .citation = d->citation,
                    .offsets = d->offsets,
                    .parts = d->parts},
        .framing = s->api == API_OLLAMA ? REPLY_NDJSON : REPLY_SSE,
        .choices = 1,
        .directive_max = 1 << 20,
        .directive_total = 1 << 22,
        .directives = 16,
        .event_max = 1 << 20,
        .recorder = recorder,
    };
    return reply_create(&settings, &callbacks, NULL);
}

/* A function of its own, so that callgrind can count it alone. */
static __attribute__((noinline)) enum reply_state feed_event(struct reply *r, struct span event,
                                                             struct buf *out)
{
    return reply_feed(r, event, out);
}

/* The stream's event of that number. */
static void write_event(const struct sample *s, int number, struct buf *out)
{
    const char *place = strstr(s->after, "%d");
    size_t before = place ? (size_t)(place - s->after) : strlen(s->after);
    buf_adds(out, s->before);
    buf_adds(out, (s->kind == ARGUMENTS ? json : words)[number % 10]);
    buf_add(out, span_of(s->after, before));
    if (place) {
        buf_add_number(out, (uint64_t)number);
        buf_adds(out, place + 2);
    }
}

static int print(const struct sample *s, int n)
{
    struct buf event;
    buf_init(&event, 1 << 16);
    fputs(s->first, stdout);
    for (int i = 1; i <= n; i++) {
        buf_reset(&event);
        write_event(s, i, &event);
        fputs(buf_cstr(&event), stdout);
    }
    buf_free(&event);
    return 0;
}

static int run(const struct sample *s, int n, bool record)
{
    struct buf event, out;
    buf_init(&event, 1 << 16);
    buf_init(&out, 1 << 20);
    /* Before anything else, so that they lie at the same place whether or not somebody records. */
    if (!buf_reserve(&event, 1 << 14) || !buf_reserve(&out, 1 << 14))
        return 1;
    const struct dialect *d = dialect_find(s->api);
    struct recorder *recorder = record ? recorder_create(d->parts, d->calls) : NULL;
    struct reply *r = open_reply(s, recorder);
    size_t bytes = 0;
    enum reply_state state = reply_feed(r, span_str(s->first), &out);
    for (int i = 1; i <= n && state == REPLY_GOING; i++) {
        buf_reset(&event);
        write_event(s, i, &event);
        buf_reset(&out);
        state = feed_event(r, buf_span(&event), &out);
        bytes += out.n;
    }
    printf("%s: %d events, %zu bytes\n", s->name, n, bytes);
    reply_destroy(r);
    recorder_destroy(recorder);
    buf_free(&event);
    buf_free(&out);
    return state == REPLY_GOING ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *what = argc == 4 ? argv[3] : "";
    for (size_t i = 0; argc > 2 && i < sizeof samples / sizeof samples[0]; i++)
        if (strcmp(argv[1], samples[i].name) == 0) {
            int n = (int)strtol(argv[2], NULL, 10);
            return strcmp(what, "print") == 0 ? print(&samples[i], n)
                                              : run(&samples[i], n, strcmp(what, "record") == 0);
        }
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        puts(samples[i].name);
    return argc == 1 ? 0 : 2;
}
