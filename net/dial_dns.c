#include "net/dial_dns.h"

#include <arpa/inet.h>
#include <event2/dns.h>
#include <event2/util.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/xalloc.h"

struct entry {
    char *name; /* NULL: unused */
    int64_t until;
    struct dial_addresses addresses;
};

/* Somebody who waits for a query. */
struct dial_lookup {
    struct query *query;
    struct dial_lookup *next;
    dial_dns_cb done;
    void *arg;
};

/* Once evdns was asked, a query lives until evdns answers, even when nobody waits any more and `dns` is gone.
 */
struct query {
    struct dial_dns *dns; /* NULL: destroyed */
    struct query *next;
    char *name;
    struct dial_lookup *waiting;
    struct event *deliver; /* runs when the answer is there: evdns may answer from inside of the question */
    bool answered;
    int failure; /* EVUTIL_EAI_*, 0: found */
    struct dial_addresses found;
};

struct dial_dns {
    struct event_base *base;
    struct evdns_base *evdns;           /* NULL until the first name that needs it */
    struct timespec resolv_conf, hosts; /* when they were last changed, as evdns knows them */
    char *server;
    struct query *queries;
    unsigned running;
    struct entry entries[DIAL_DNS_ENTRIES];
};

bool dial_address_parse(struct span text, union dial_address *out)
{
    char copy[INET6_ADDRSTRLEN];
    bool brackets = text.n > 2 && text.p[0] == '[' && text.p[text.n - 1] == ']';
    if (brackets)
        text = span_of(text.p + 1, text.n - 2);
    if (text.n == 0 || text.n >= sizeof copy || memchr(text.p, '\0', text.n))
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    *out = (union dial_address){.v6 = {.sin6_family = AF_INET6}};
    if (inet_pton(AF_INET6, copy, &out->v6.sin6_addr) == 1)
        return true;
    *out = (union dial_address){.v4 = {.sin_family = AF_INET}};
    return !brackets && inet_pton(AF_INET, copy, &out->v4.sin_addr) == 1;
}

bool dial_address_same(const union dial_address *a, const union dial_address *b)
{
    if (a->any.sa_family != b->any.sa_family)
        return false;
    if (a->any.sa_family == AF_INET)
        return a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
    return memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, sizeof a->v6.sin6_addr) == 0;
}

struct dial_dns *dial_dns_create(struct event_base *base)
{
    struct dial_dns *dns = xcalloc(1, sizeof *dns);
    dns->base = base;
    return dns;
}

static void query_free(struct query *q)
{
    if (q->deliver)
        event_free(q->deliver);
    xfree(q->name);
    xfree(q);
}

void dial_dns_destroy(struct dial_dns *dns)
{
    if (!dns)
        return;
    for (struct query *q = dns->queries, *next; q; q = next) {
        next = q->next;
        for (struct dial_lookup *l; (l = q->waiting);) {
            q->waiting = l->next;
            xfree(l);
        }
        q->dns = NULL;
        if (q->answered)
            query_free(q);
    }
    if (dns->evdns)
        evdns_base_free(dns->evdns, 1);
    for (size_t i = 0; i < DIAL_DNS_ENTRIES; i++)
        xfree(dns->entries[i].name);
    xfree(dns->server);
    xfree(dns);
}

/* ---- what is remembered ---- */

static struct entry *entry_find(const struct dial_dns *dns, const char *host)
{
    for (size_t i = 0; i < DIAL_DNS_ENTRIES; i++) {
        const struct entry *e = &dns->entries[i];
        if (e->name && strcasecmp(e->name, host) == 0)
            return e->until > clock_mono_ms() ? (struct entry *)e : NULL;
    }
    return NULL;
}

/* The name's own place, a free one, or the one that ends first. */
static struct entry *entry_place(struct dial_dns *dns, const char *host)
{
    struct entry *place = &dns->entries[0];
    for (size_t i = 0; i < DIAL_DNS_ENTRIES; i++) {
        struct entry *e = &dns->entries[i];
        if (e->name && strcasecmp(e->name, host) == 0)
            return e;
        if (place->name && (!e->name || e->until < place->until))
            place = e;
    }
    return place;
}

void dial_dns_remember(struct dial_dns *dns, const char *host, const struct dial_addresses *addresses,
                       int64_t ttl_ms)
{
    struct entry *e = entry_place(dns, host);
    xfree(e->name);
    *e = (struct entry){xstrdup(host), clock_mono_ms() + ttl_ms, *addresses};
}

void dial_dns_prefer(struct dial_dns *dns, const char *host, const union dial_address *address)
{
    struct entry *e = entry_find(dns, host);
    for (unsigned i = 1; e && i < e->addresses.n; i++)
        if (dial_address_same(&e->addresses.list[i], address)) {
            union dial_address winner = e->addresses.list[i];
            memmove(&e->addresses.list[1], &e->addresses.list[0], i * sizeof winner);
            e->addresses.list[0] = winner;
            return;
        }
}

static bool is_localhost(struct span host)
{
    static const char suffix[] = ".localhost";
    size_t n = sizeof suffix - 1;
    if (host.n && host.p[host.n - 1] == '.')
        host.n--;
    return span_is_nocase(host, "localhost") ||
           (host.n > n && strncasecmp(host.p + host.n - n, suffix, n) == 0);
}

bool dial_dns_known(const struct dial_dns *dns, const char *host, struct dial_addresses *out)
{
    *out = (struct dial_addresses){.n = 0};
    if (dial_address_parse(span_str(host), &out->list[0])) {
        out->n = 1;
        return true;
    }
    if (is_localhost(span_str(host))) {
        out->list[0].v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
        out->list[1].v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
        out->n = 2;
        return true;
    }
    const struct entry *e = entry_find(dns, host);
    if (e)
        *out = e->addresses;
    return e != NULL;
}

/* ---- what is asked ---- */

void dial_dns_use_server(struct dial_dns *dns, const char *server)
{
    xfree(dns->server);
    dns->server = xstrdup(server);
}

static struct timespec changed_at(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 ? s.st_mtim : (struct timespec){0};
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* evdns reads its files once; a machine that moves to another network, or a container whose resolv.conf is
 * mounted late, needs more. */
static struct evdns_base *evdns_ready(struct dial_dns *dns)
{
    struct timespec resolv_conf = changed_at("/etc/resolv.conf"), hosts = changed_at("/etc/hosts");
    bool stale = !same_time(resolv_conf, dns->resolv_conf) || !same_time(hosts, dns->hosts);
    if (dns->evdns && stale && dns->running == 0) {
        evdns_base_free(dns->evdns, 0);
        dns->evdns = NULL;
    }
    if (dns->evdns)
        return dns->evdns;
    dns->evdns = evdns_base_new(dns->base, EVDNS_BASE_DISABLE_WHEN_INACTIVE);
    if (!dns->evdns)
        return NULL;
    /* Without the file it takes 127.0.0.1, as the C library does. */
    if (dns->server)
        (void)evdns_base_nameserver_ip_add(dns->evdns, dns->server);
    else
        (void)evdns_base_resolv_conf_parse(dns->evdns, DNS_OPTIONS_ALL, "/etc/resolv.conf");
    /* Servers that lower the case of the question exist, and what they answer would be dropped. */
    (void)evdns_base_set_option(dns->evdns, "randomize-case:", "0");
    /* A dead first server must not use up the time of the whole dial; neither must a server that never
     * answers AAAA. */
    (void)evdns_base_set_option(dns->evdns, "timeout:", "2");
    (void)evdns_base_set_option(dns->evdns, "getaddrinfo-allow-skew:", "0.3");
    dns->resolv_conf = resolv_conf;
    dns->hosts = hosts;
    return dns->evdns;
}

/* Alternately IPv6 and IPv4, IPv6 first (RFC 8305, 4). */
static void addresses_take(struct dial_addresses *out, const struct evutil_addrinfo *list)
{
    const struct evutil_addrinfo *v6 = list, *v4 = list;
    for (bool want_v6 = true; out->n < DIAL_ADDRESSES; want_v6 = !want_v6) {
        while (v6 && v6->ai_family != AF_INET6)
            v6 = v6->ai_next;
        while (v4 && v4->ai_family != AF_INET)
            v4 = v4->ai_next;
        if (!v6 && !v4)
            return;
        union dial_address *to = &out->list[out->n++];
        if (v6 && (want_v6 || !v4)) {
            memcpy(&to->v6, v6->ai_addr, sizeof to->v6);
            v6 = v6->ai_next;
        } else {
            memcpy(&to->v4, v4->ai_addr, sizeof to->v4);
            v4 = v4->ai_next;
        }
    }
}

static void on_evdns(int failure, struct evutil_addrinfo *list, void *arg)
{
    struct query *q = arg;
    q->answered = true;
    q->failure = failure;
    if (!failure)
        addresses_take(&q->found, list);
    if (list)
        evutil_freeaddrinfo(list);
    if (!q->dns)
        query_free(q);
    else
        event_active(q->deliver, EV_TIMEOUT, 0);
}

static const char *failure_text(const struct query *q)
{
    switch (q->failure) {
    case 0:
    case EVUTIL_EAI_NONAME:
    case EVUTIL_EAI_NODATA:
        return "name not found";
    case EVUTIL_EAI_AGAIN:
        return "the name server does not answer";
    default:
        return "the name could not be looked up";
    }
}

static void on_deliver(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct query *q = arg;
    struct dial_dns *dns = q->dns;
    struct query **link = &dns->queries;
    while (*link != q)
        link = &(*link)->next;
    *link = q->next;
    dns->running--;
    bool found = q->failure == 0 && q->found.n > 0;
    if (found)
        dial_dns_remember(dns, q->name, &q->found, DIAL_DNS_TTL_MS);
    /* Whoever is called may cancel others that wait; `dns` must not be used after the first call. */
    q->dns = NULL;
    for (struct dial_lookup *l; (l = q->waiting);) {
        dial_dns_cb done = l->done;
        void *done_arg = l->arg;
        q->waiting = l->next;
        xfree(l);
        done(done_arg, found ? &q->found : NULL, found ? NULL : failure_text(q));
    }
    query_free(q);
}

static struct query *query_start(struct dial_dns *dns, const char *host)
{
    struct evdns_base *evdns = dns->running < DIAL_DNS_QUERIES ? evdns_ready(dns) : NULL;
    if (!evdns)
        return NULL;
    struct query *q = xcalloc(1, sizeof *q);
    q->deliver = event_new(dns->base, -1, 0, on_deliver, q);
    if (!q->deliver) {
        query_free(q);
        return NULL;
    }
    q->dns = dns;
    q->name = xstrdup(host);
    q->next = dns->queries;
    dns->queries = q;
    dns->running++;
    struct evutil_addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_protocol = IPPROTO_TCP};
    (void)evdns_getaddrinfo(evdns, q->name, NULL, &hints, on_evdns, q);
    return q;
}

struct dial_lookup *dial_dns_ask(struct dial_dns *dns, const char *host, dial_dns_cb done, void *arg)
{
    size_t n = strlen(host);
    if (n == 0 || n > DIAL_NAME)
        return NULL;
    struct query *q = dns->queries;
    while (q && strcasecmp(q->name, host) != 0)
        q = q->next;
    if (!q)
        q = query_start(dns, host);
    if (!q)
        return NULL;
    struct dial_lookup *l = xcalloc(1, sizeof *l);
    *l = (struct dial_lookup){q, q->waiting, done, arg};
    q->waiting = l;
    return l;
}

void dial_dns_cancel(struct dial_lookup *lookup)
{
    if (!lookup)
        return;
    struct dial_lookup **link = &lookup->query->waiting;
    while (*link != lookup)
        link = &(*link)->next;
    *link = lookup->next;
    xfree(lookup);
}
