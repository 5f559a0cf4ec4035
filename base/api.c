#include "base/api.h"

const char *api_name(enum api api)
{
    static const char *const names[] = {
        [API_NONE] = "none",
        [API_OPENAI_CHAT] = "openai-chat",
        [API_OPENAI_RESPONSES] = "openai-responses",
        [API_ANTHROPIC_MESSAGES] = "anthropic-messages",
        [API_GEMINI] = "gemini",
        [API_OLLAMA] = "ollama",
    };
    return names[api];
}
