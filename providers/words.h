#ifndef PROVIDERS_WORDS_H
#define PROVIDERS_WORDS_H
/*
 * What the last turn of a request says, for whoever records conversations: the user's own words as they came,
 * before anything is added to them. Costs a pass over the body, so it is done off the event loop.
 */
#include "base/api.h"
#include "base/buf.h"

struct request_words {
    struct buf text; /* of the last user message that has any, its parts with a line break between them;
                        UTF-8. The caller inits it: text over its cap is cut. */
    bool cut;
    bool results; /* the last message holds nothing but results of tools */
};

/* `root`: the request's object (request_facts). A request of another shape says nothing. */
void request_words(enum api api, struct span root, struct request_words *words);

#endif
