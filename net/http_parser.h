#ifndef NET_HTTP_PARSER_H
#define NET_HTTP_PARSER_H
/*
 * One direction of an HTTP/1 connection: llhttp finds where heads and bodies are, http_head checks what it
 * lets through, and reads what follows the last chunk by itself: llhttp takes bare line ends and folds there.
 * The owner finds the head's length (http_head_length), gives the whole head at once, and then body bytes as
 * they come.
 */
#include <llhttp.h>

#include "base/buf.h"
#include "net/http_head.h"

enum http_progress { HTTP_MORE, HTTP_DONE, HTTP_INVALID };

struct http_body_sink {
    void (*data)(void *arg, struct span bytes); /* de-chunked body bytes */
    /* A field of the trailer section (chunked only), after the last data. Those about framing, routing and
     * the connection are left out (RFC 9110 §6.5.1). May be NULL. */
    void (*trailer)(void *arg, struct span name, struct span value);
};

struct http_parser {
    llhttp_t llhttp;
    bool in_body;
    bool in_trailers; /* the last chunk is over */
    bool done;
    /* Valid during one call. */
    const struct http_body_sink *sink;
    void *arg;
    struct buf *trailers; /* an incomplete trailer section; NULL while there is none */
    size_t trailers_scanned;
};

void http_parser_init(struct http_parser *p, bool request);
void http_parser_finish(struct http_parser *p);
/*
 * Reads a complete head. `no_body`: this is the reply to a HEAD request. HTTP_DONE: the message has no body;
 * HTTP_MORE: body bytes follow; HTTP_INVALID with *e.
 */
enum http_progress http_parser_head(struct http_parser *p, struct span head, bool no_body,
                                    struct http_head *out, struct error *e) MUST_USE;
/* Body bytes; *used says how many belonged to this message. The sink is called from inside. */
enum http_progress http_parser_body(struct http_parser *p, struct span bytes,
                                    const struct http_body_sink *sink, void *arg, size_t *used) MUST_USE;
/* The peer closed: HTTP_DONE when that ends the body as it should (a reply without length), else
 * HTTP_INVALID. */
enum http_progress http_parser_eof(struct http_parser *p) MUST_USE;

#endif
