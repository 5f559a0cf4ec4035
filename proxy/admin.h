#ifndef PROXY_ADMIN_H
#define PROXY_ADMIN_H
/* The admin listener's pages: /healthz, /readyz, /metrics, /consults (product.md §8). Answers at once or from
 * the audit thread. */
#include "proxy/conn.h"

void admin_request(struct conn *c, const struct http_head *head);

#endif
