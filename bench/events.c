/*
 * Feeds one API's events through the reply chain, one a read, for counting instructions:
 *   valgrind --tool=callgrind build/release/bench_events SAMPLE N [record]
 * with two values of N: the difference, divided by the difference of N, is what an event costs. The text is
 * the same for every API. With `record` the reply is also kept for a thread.
 */
#include <stdio.h>
#include <stdlib.h>

#include "filters/recorder.h"
#include "filters/reply.h"
#include "providers/dialect.h"

struct sample {
    const char *name;
    enum api api;
    enum reply_framing framing;
    const char *before, *after; /* around the text of an event; %d in `after` stands for its number */
    const char *first;          /* what opens the stream */
};

static const struct sample samples[] = {
    {"openai-chat", API_OPENAI_CHAT, REPLY_SSE,
     "data: "
     "{\"id\":\"chatcmpl-2c06b0e20bb5ce01\",\"object\":\"chat.completion.chunk\",\"created\":1760000000,"
     "\"model\":\"m-1\","
     "\"service_tier\":\"default\",\"system_fingerprint\":\"fp_0123456789\",\"choices\":[{\"index\":0,"
     "\"delta\":{\"content\":\"",
     "\"},\"logprobs\":null,\"finish_reason\":null}],\"obfuscation\":\"ab\"}\n\n", ""},
    {"openai-responses", API_OPENAI_RESPONSES, REPLY_SSE,
     "event: response.output_text.delta\ndata: "
     "{\"type\":\"response.output_text.delta\",\"item_id\":\"msg_0123456789abcdef\","
     "\"output_index\":0,\"content_index\":0,\"delta\":\"",
     "\",\"logprobs\":[],\"sequence_number\":%d,\"obfuscation\":\"ab\"}\n\n", ""},
    {"anthropic-messages", API_ANTHROPIC_MESSAGES, REPLY_SSE,
     "event: content_block_delta\ndata: "
     "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"",
     "\"}}\n\n",
     "event: content_block_start\ndata: "
     "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\","
     "\"text\":\"\"}}\n\n"},
    {"gemini", API_GEMINI, REPLY_SSE, "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"",
     "\"}],\"role\": \"model\"},\"index\": 0}],\"usageMetadata\": {\"promptTokenCount\": "
     "9,\"totalTokenCount\": 12},"
     "\"modelVersion\": \"m-1\",\"responseId\": \"abc\"}\r\n\r\n",
     ""},
    {"openai-chat-reasoning", API_OPENAI_CHAT, REPLY_SSE,
     "data: "
     "{\"id\":\"chatcmpl-2c06b0e20bb5ce01\",\"object\":\"chat.completion.chunk\",\"created\":1760000000,"
     "\"model\":\"m-1\","
     "\"service_tier\":\"default\",\"system_fingerprint\":\"fp_0123456789\",\"choices\":[{\"index\":0,"
     "\"delta\":{\"reasoning_content\":\"",
     "\"},\"logprobs\":null,\"finish_reason\":null}],\"obfuscation\":\"ab\"}\n\n", ""},
    {"openai-chat-arguments", API_OPENAI_CHAT, REPLY_SSE,
     "data: "
     "{\"id\":\"chatcmpl-2c06b0e20bb5ce01\",\"object\":\"chat.completion.chunk\",\"created\":1760000000,"
     "\"model\":\"m-1\","
     "\"service_tier\":\"default\",\"system_fingerprint\":\"fp_0123456789\",\"choices\":[{\"index\":0,"
     "\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"",
     "\"}}]},\"logprobs\":null,\"finish_reason\":null}],\"obfuscation\":\"ab\"}\n\n", ""},
    {"anthropic-messages-thinking", API_ANTHROPIC_MESSAGES, REPLY_SSE,
     "event: content_block_delta\ndata: "
     "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"",
     "\"}}\n\n", ""},
    {"openai-responses-reasoning", API_OPENAI_RESPONSES, REPLY_SSE,
     "event: response.reasoning_summary_text.delta\ndata: "
     "{\"type\":\"response.reasoning_summary_text.delta\",\"item_id\":\"rs_0123456789abcdef\","
     "\"output_index\":0,\"summary_index\":0,\"delta\":\"",
     "\",\"sequence_number\":%d,\"obfuscation\":\"ab\"}\n\n", ""},
    {"ollama", API_OLLAMA, REPLY_NDJSON,
     "{\"model\":\"m-1\",\"created_at\":\"2026-01-05T10:00:00.123456Z\",\"message\":{\"role\":\"assistant\","
     "\"content\":\"",
     "\"},\"done\":false}\n", ""},
};

static const char *const words[] = {" the",    " model", " answers", " in",   " small",
                                    " pieces", ",",      " and",     " each", " one"};

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
        .framing = s->framing,
        .choices = 1,
        .directive_max = 1 << 20,
        .directive_total = 1 << 22,
        .directives = 16,
        .event_max = 1 << 20,
        .recorder = recorder,
    };
    return reply_create(&settings, &callbacks, NULL);
}

/* `text` with the number in the place of %d. */
static void append_number(const char *text, int number, char *room, size_t n)
{
    const char *place = strstr(text, "%d");
    size_t before = place ? (size_t)(place - text) : strlen(text);
    snprintf(room, n, "%.*s", (int)before, text);
    if (place)
        snprintf(room + before, n - before, "%d%s", number, place + 2);
}

static int run(const struct sample *s, int n, bool record)
{
    struct recorder *recorder = record ? recorder_create(dialect_find(s->api)->parts) : NULL;
    struct reply *r = open_reply(s, recorder);
    struct buf event, out;
    buf_init(&event, 1 << 16);
    buf_init(&out, 1 << 20);
    size_t bytes = 0;
    enum reply_state state = reply_feed(r, span_str(s->first), &out);
    for (int i = 0; i < n && state == REPLY_GOING; i++) {
        char after[400];
        append_number(s->after, i, after, sizeof after);
        buf_reset(&event);
        buf_adds(&event, s->before);
        buf_adds(&event, words[i % 10]);
        buf_adds(&event, after);
        buf_reset(&out);
        state = reply_feed(r, buf_span(&event), &out);
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
    bool record = argc == 4 && strcmp(argv[3], "record") == 0;
    for (size_t i = 0; (argc == 3 || record) && i < sizeof samples / sizeof samples[0]; i++)
        if (strcmp(argv[1], samples[i].name) == 0)
            return run(&samples[i], (int)strtol(argv[2], NULL, 10), record);
    fputs("usage: bench_events SAMPLE N [record], with one of the samples\n", stderr);
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        fprintf(stderr, "  %s\n", samples[i].name);
    return 2;
}
