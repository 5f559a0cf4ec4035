#include "providers/anthropic_messages.h"
#include "providers/dialect.h"
#include "providers/gemini.h"
#include "providers/ollama.h"
#include "providers/openai.h"
#include "providers/openai_chat.h"
#include "providers/openai_responses.h"

static const struct dialect *const dialects[] = {&openai_chat, &openai_responses, &anthropic_messages,
                                                 &gemini, &ollama};

const struct dialect *dialect_find(enum api api)
{
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++)
        if (dialects[i]->api == api)
            return dialects[i];
    return NULL;
}

void dialect_plain_error(const struct error *e, struct buf *out)
{
    openai_error_body(e, out);
}

/* Cuts the last segment off; it is what stands behind the last slash. */
static struct span cut_segment(struct span path, struct span *segment)
{
    const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
    if (!slash) {
        *segment = path;
        return span_of(path.p, 0);
    }
    size_t n = (size_t)(slash - path.p);
    *segment = span_from(path, n + 1);
    return span_of(path.p, n);
}

static enum api stored_api(struct span method, struct span path)
{
    struct span last, before = cut_segment(path, &last);
    if (last.n == 0)
        return API_NONE;
    if (span_is(method, "GET")) {
        if (span_ends(before, "/responses"))
            return API_OPENAI_RESPONSES;
        return span_ends(before, "/chat/completions") ? API_OPENAI_CHAT : API_NONE;
    }
    if (span_is(method, "POST") && span_is(last, "cancel")) {
        struct span id;
        before = cut_segment(before, &id);
        return id.n && span_ends(before, "/responses") ? API_OPENAI_RESPONSES : API_NONE;
    }
    return API_NONE;
}

enum api dialect_api(struct span method, struct span path, bool *stored)
{
    static const struct {
        const char *suffix;
        enum api api;
        bool whole; /* the path is this and no more */
    } table[] = {
        {"/chat/completions", API_OPENAI_CHAT, false}, {"/responses", API_OPENAI_RESPONSES, false},
        {"/messages", API_ANTHROPIC_MESSAGES, false},  {":generateContent", API_GEMINI, false},
        {":streamGenerateContent", API_GEMINI, false}, {"/api/chat", API_OLLAMA, true},
        {"/api/generate", API_OLLAMA, true},
    };
    *stored = false;
    if (span_is(method, "POST"))
        for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
            if (table[i].whole ? span_is(path, table[i].suffix) : span_ends(path, table[i].suffix))
                return table[i].api;
    enum api api = stored_api(method, path);
    *stored = api != API_NONE;
    return api;
}
