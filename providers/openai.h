#ifndef PROVIDERS_OPENAI_H
#define PROVIDERS_OPENAI_H
/* What OpenAI's two APIs, Chat Completions and Responses, have in common. */
#include "base/buf.h"
#include "base/error.h"
#include "base/span.h"

/* Whether a `tool_choice` makes the model call a tool. holder: the member of it under which the mode of
 * `allowed_tools` stands; NULL: beside the type. */
bool openai_forced_tool(struct span choice, const char *holder) MUST_USE;
/* {"error":{"message","type","param":null,"code"}}, with "details" inside when there are any. */
void openai_error_body(const struct error *e, struct buf *out);

#endif
