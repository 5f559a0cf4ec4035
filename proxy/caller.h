#ifndef PROXY_CALLER_H
#define PROXY_CALLER_H
/*
 * What a caller says about a consult, in X-HW- headers or in the body's `hw` object (product.md §2.3). A
 * header wins over the body; configuration gives the defaults. Pure but for the memory of the names.
 */
#include "base/error.h"
#include "base/json.h"
#include "config/config.h"
#include "net/http_head.h"

enum mark { MARK_NONE, MARK_ON, MARK_OFF };

/* CALLER_PARENT: the consult that started this one, or the call of a tool that asked for it; who names one is
 * a Specialist. CALLER_TRIGGER, CALLER_HEADLINE: for the thread's transcript. */
enum caller_name {
    CALLER_ORG,
    CALLER_THREAD,
    CALLER_TURN,
    CALLER_PARENT,
    CALLER_TRIGGER,
    CALLER_HEADLINE,
    CALLER_NAMES
};

struct caller {
    enum mark consult;
    char *names[CALLER_NAMES]; /* NULL: not said */
    bool image_generation_off;
    bool stream_buffer, links_markdown, errors_event, inject_off, context_attachments;
    bool forward_all;
    char **forward; /* types or names of the parent's attachments that are wanted */
    size_t nforward;
    unsigned from_header; /* bit set of what the headers decided */
    unsigned from_body;   /* … and of the keys that hw had */
};

void caller_init(struct caller *c, const struct config *config);
void caller_finish(struct caller *c);
/* -1 with *e (BAD_REQUEST) naming the first header that is wrong; what the others say counts all the same. */
int caller_read_head(struct caller *c, const struct http_head *head, struct error *e) MUST_USE;
/* `hw` is the value of the body's key. -1 with *e naming the first key that is wrong, as above. */
int caller_read_body(struct caller *c, struct span hw, struct error *e) MUST_USE;
/* The API key of a request, whatever header or query parameter it comes in; empty: none. */
struct span caller_api_key(const struct http_head *head, struct span query);
/* "default" when nothing was said. */
const char *caller_org(const struct caller *c);

#endif
