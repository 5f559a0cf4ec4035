#ifndef PROVIDERS_PROTOCOL_H
#define PROVIDERS_PROTOCOL_H
/* For the dialects: whether a prompt explains the directive already. */
#include "base/span.h"

/* Whether `<<<HW_ATTACHMENT` stands in a string of this valid JSON, in whatever case and spelling. */
bool protocol_explained(struct span json);

#endif
