#ifndef NET_PROXY_PROTOCOL_H
#define NET_PROXY_PROTOCOL_H
/* The PROXY protocol, versions 1 and 2, as a listener behind a load balancer gets it (haproxy's
 * doc/proxy-protocol.txt). Pure. */
#include "base/span.h"

enum {
    PROXY_PROTOCOL_MAX = 16 * 1024
}; /* a longer header (version 2 with its extensions) is not valid for us */

/* Length of the header at the start of `bytes` (> 0), 0: more bytes needed, -1: not a valid header. `address`
 * gets the client's address as text, empty for LOCAL and UNKNOWN. */
int proxy_protocol_parse(struct span bytes, char address[64]) MUST_USE;

#endif
