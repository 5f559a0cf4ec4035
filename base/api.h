#ifndef BASE_API_H
#define BASE_API_H
/* The wire protocols of product.md §1 that a request may speak. */
enum api { API_NONE, API_OPENAI_CHAT, API_OPENAI_RESPONSES, API_ANTHROPIC_MESSAGES, API_GEMINI, API_OLLAMA };

/* "openai-chat" …; "none". */
const char *api_name(enum api api);

#endif
