#ifndef PROVIDERS_OLLAMA_H
#define PROVIDERS_OLLAMA_H
/* The dialect of Ollama's own /api/chat and /api/generate (API_OLLAMA), for registry.c. */
#include "providers/dialect.h"

extern const struct dialect ollama;

#endif
