#ifndef NET_DIAL_PROXY_H
#define NET_DIAL_PROXY_H
/*
 * The proxy that the environment names, and CONNECT through it (RFC 9110, 9.3.6). Pure, but for
 * dial_proxy_environment.
 *
 * https targets: HTTPS_PROXY or https_proxy. http targets: http_proxy only, since in a CGI-like surrounding
 * HTTP_PROXY may be a client's `Proxy:` header (CVE-2016-5385). Lower case goes first. Both kinds go through
 * CONNECT. NO_PROXY or no_proxy, a list with commas or blanks between, names what is dialled directly:
 *   *                everything
 *   example.com      the name and all below it; a leading dot or `*.` changes nothing
 *   10.0.0.0/8       literal addresses in the block, IPv6 likewise; names are not looked up for it
 *   host:port        any of them with a port: that port alone (IPv6 in brackets)
 * Nothing is exempt by itself: like curl, a loopback target goes to the proxy unless NO_PROXY says otherwise.
 */
#include <stdint.h>

#include "base/buf.h"

enum {
    DIAL_PROXY_SETTING = 64 * 1024, /* a variable that is longer is not used */
    DIAL_PROXY_REPLY = 8 * 1024,    /* head of the answer to CONNECT */
};

struct dial_proxy {
    struct span host; /* empty: dial directly; literal IPv6 without its brackets */
    uint16_t port;
    struct span userinfo; /* still percent-encoded; empty: none */
};

/* The variables as they are; NULL: not set. */
struct dial_proxy_settings {
    char *https, *http, *none;
    bool upper; /* https is HTTPS_PROXY's */
};

/* Copies them out of the process's environment. */
void dial_proxy_environment(struct dial_proxy_settings *out);
void dial_proxy_settings_free(struct dial_proxy_settings *s);

/* What a target is dialled through; the spans are of the settings. -1: the variable does not hold a proxy
 * that can be used; *why then says what is wrong with it, without its contents. */
int dial_proxy_choose(const struct dial_proxy_settings *s, const char *host, uint16_t port, bool tls,
                      struct dial_proxy *out, const char **why) MUST_USE;
/* The variable that names the proxy for such targets. */
const char *dial_proxy_variable(const struct dial_proxy_settings *s, bool tls);
/* Whether NO_PROXY's value covers the target. */
bool dial_proxy_exempt(struct span list, struct span host, uint16_t port);
/* -1: credentials that are no valid percent encoding, or the buffer is full. */
int dial_proxy_request(const struct dial_proxy *proxy, const char *host, uint16_t port,
                       struct buf *out) MUST_USE;
/* Status of the reply whose head is complete in `bytes` (*head is its length), 0: more bytes needed, -1: not
 * HTTP/1. */
int dial_proxy_reply(struct span bytes, size_t *head) MUST_USE;

#endif
