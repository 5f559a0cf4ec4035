#include "net/query.h"

bool query_next(struct span *query, struct span *name, struct span *value)
{
    struct span one = {.n = 0};
    while (query->n && one.n == 0) {
        const char *amp = memchr(query->p, '&', query->n);
        one = span_of(query->p, amp ? (size_t)(amp - query->p) : query->n);
        *query = span_from(*query, amp ? one.n + 1 : one.n);
    }
    const char *equals = one.n ? memchr(one.p, '=', one.n) : NULL;
    *name = equals ? span_of(one.p, (size_t)(equals - one.p)) : one;
    *value = equals ? span_from(one, name->n + 1) : span_of("", 0);
    return one.n > 0;
}
