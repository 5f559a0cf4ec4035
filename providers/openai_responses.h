#ifndef PROVIDERS_OPENAI_RESPONSES_H
#define PROVIDERS_OPENAI_RESPONSES_H
/* OpenAI's Responses API: requests, streams, whole and stored replies. */
#include "providers/dialect.h"

extern const struct dialect openai_responses;

#endif
