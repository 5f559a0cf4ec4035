#ifndef NET_DIAL_DNS_H
#define NET_DIAL_DNS_H
/*
 * Names to addresses for net/dial.c. Literal addresses and localhost (RFC 6761, 6.3) need no name server;
 * other names are asked of libevent's evdns, which is set up at the first of them and again when
 * /etc/resolv.conf or /etc/hosts has changed. Answers are kept for 30 s (evdns does not tell their own
 * lifetimes), failures are not. Everybody who asks for one name while it is being looked up shares one query.
 */
#include <event2/event.h>
#include <netinet/in.h>
#include <stdint.h>

#include "base/span.h"

enum {
    DIAL_ADDRESSES = 8,     /* of one name; the rest is left out */
    DIAL_DNS_ENTRIES = 64,  /* names remembered; the oldest goes first */
    DIAL_DNS_QUERIES = 256, /* names being looked up at the same time */
    DIAL_DNS_TTL_MS = 30 * 1000,
    DIAL_NAME = 253, /* characters of a host name (RFC 1035, 3.1) */
};

/* An address; its port is set when it is connected to. */
union dial_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

struct dial_addresses {
    union dial_address list[DIAL_ADDRESSES];
    unsigned n;
};

/* A literal IPv4 or IPv6 address, the latter also in brackets. */
bool dial_address_parse(struct span text, union dial_address *out);
/* Without regard to the port. */
bool dial_address_same(const union dial_address *a, const union dial_address *b);

struct dial_dns;
struct dial_lookup;

struct dial_dns *dial_dns_create(struct event_base *base) MUST_USE;
/* Lookups that run get no answer. What evdns still holds is given back in the loop's next turn. */
void dial_dns_destroy(struct dial_dns *dns);

/* What is known without asking anybody: literal, localhost, remembered. */
bool dial_dns_known(const struct dial_dns *dns, const char *host, struct dial_addresses *out) MUST_USE;

/* Exactly one call, from the loop. `found` is NULL when there is no address; `why` is then the reason,
 * without the name. */
typedef void (*dial_dns_cb)(void *arg, const struct dial_addresses *found, const char *why);
/* NULL: not a possible name, or too many lookups. */
struct dial_lookup *dial_dns_ask(struct dial_dns *dns, const char *host, dial_dns_cb done,
                                 void *arg) MUST_USE;
/* No call comes after it. */
void dial_dns_cancel(struct dial_lookup *lookup);

/* Remembers addresses of a name, in the order in which they are to be tried. */
void dial_dns_remember(struct dial_dns *dns, const char *host, const struct dial_addresses *addresses,
                       int64_t ttl_ms);
/* The address that a connection came about with is tried first next time (RFC 8305, 4). */
void dial_dns_prefer(struct dial_dns *dns, const char *host, const union dial_address *address);
/* Asks this server ("127.0.0.1:5353") instead of those of resolv.conf; to be called before the first lookup.
 */
void dial_dns_use_server(struct dial_dns *dns, const char *server);

#endif
