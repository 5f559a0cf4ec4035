#ifndef NET_DIAL_PARTS_H
#define NET_DIAL_PARTS_H
/* A dialer's parts, for tests that give it names, proxies and trust of their own. */
#include "net/dial.h"
#include "net/dial_dns.h"
#include "net/dial_proxy.h"
#include "net/dial_tls.h"

struct dialer {
    struct event_base *base;
    struct dial_dns *dns;
    struct dial_tls *tls;
    struct dial_proxy_settings proxies;
    struct dial *dials; /* those under way */
};

#endif
