/* Connections to upstreams that wait for their next request. */
#include <errno.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "net/http_client_parts.h"

/*
 * How long a connection may wait in the pool. Servers close idle connections without a word, and a request
 * that meets such a close cannot be repeated; so the limits stay under what servers use by themselves (5 s in
 * Node and uvicorn, a minute and more behind https), and a Keep-Alive field from the server lowers or raises
 * them.
 */
enum { IDLE_PLAIN_MS = 4000, IDLE_TLS_MS = 50000, IDLE_MOST_MS = 300000 };

int64_t http_pool_idle_max(bool tls)
{
    return tls ? IDLE_TLS_MS : IDLE_PLAIN_MS;
}

void http_pool_remove(struct link *link)
{
    struct http_client *c = link->client;
    if (link->prev)
        link->prev->next = link->next;
    else
        c->idle = link->next;
    if (link->next)
        link->next->prev = link->prev;
    link->prev = link->next = NULL;
    c->idle_n--;
}

void http_pool_add(struct link *link)
{
    struct http_client *c = link->client;
    link->call = NULL;
    link->idle_since = clock_mono_ms();
    link->prev = NULL;
    link->next = c->idle;
    if (c->idle)
        c->idle->prev = link;
    c->idle = link;
    c->idle_n++;
    if (c->idle_n > c->idle_max) {
        struct link *last = c->idle;
        while (last->next)
            last = last->next;
        http_pool_remove(last);
        http_link_close(last);
    }
}

/*
 * Whether nothing came since the last loop turn: neither the end, which some servers let follow their reply
 * without a word, nor bytes, which would be taken for the next request's reply. Before that the read event
 * has told.
 */
static bool still_open(const struct link *link)
{
    char byte;
    return recv(link->stream.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           (errno == EAGAIN || errno == EWOULDBLOCK);
}

struct link *http_pool_take(struct http_client *c, const struct dial_target *t)
{
    int64_t now = clock_mono_ms();
    for (struct link *link = c->idle, *next; link; link = next) {
        next = link->next;
        if (link->port != t->port || (link->stream.ssl != NULL) != t->tls || strcmp(link->host, t->host) != 0)
            continue;
        http_pool_remove(link);
        if (now - link->idle_since < link->idle_max && still_open(link))
            return link;
        http_link_close(link);
    }
    return NULL;
}

void http_client_sweep(struct http_client *c, int64_t now_ms)
{
    for (struct link *link = c->idle, *next; link; link = next) {
        next = link->next;
        if (now_ms - link->idle_since >= link->idle_max) {
            http_pool_remove(link);
            http_link_close(link);
        }
    }
}

size_t http_client_idle(const struct http_client *c)
{
    return c->idle_n;
}

void http_pool_note_keep_alive(struct link *link, const struct http_head *head)
{
    const struct http_field *f = http_head_find(head, "keep-alive");
    const char *at = f ? memmem(f->value.p, f->value.n, "timeout=", 8) : NULL;
    if (!at)
        return;
    int64_t seconds = 0;
    for (at += 8; at < f->value.p + f->value.n && *at >= '0' && *at <= '9' && seconds < 1000; at++)
        seconds = seconds * 10 + (*at - '0');
    link->idle_max = seconds > 1 ? (seconds - 1) * 1000 : 0;
    if (link->idle_max > IDLE_MOST_MS)
        link->idle_max = IDLE_MOST_MS;
}
