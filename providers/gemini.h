#ifndef PROVIDERS_GEMINI_H
#define PROVIDERS_GEMINI_H
/* The dialect of Gemini's generateContent and streamGenerateContent (API_GEMINI), for registry.c. */
#include "providers/dialect.h"

extern const struct dialect gemini;

#endif
