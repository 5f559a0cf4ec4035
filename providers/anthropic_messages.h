#ifndef PROVIDERS_ANTHROPIC_MESSAGES_H
#define PROVIDERS_ANTHROPIC_MESSAGES_H
/* The dialect of Anthropic's Messages; the only thing that registry.c needs to know of it. */
#include "providers/dialect.h"

extern const struct dialect anthropic_messages;

#endif
