#include "proxy/route.h"

#include "providers/dialect.h"

/* http://host/path?query as some clients of a forward proxy write it: the authority is the proxy's own. */
static struct span origin_form(struct span target)
{
    size_t scheme = span_starts(target, "http://") ? 7 : span_starts(target, "https://") ? 8 : 0;
    if (!scheme)
        return target;
    struct span rest = span_from(target, scheme);
    const char *slash = memchr(rest.p, '/', rest.n);
    return slash ? span_from(rest, (size_t)(slash - rest.p)) : SPAN_LIT("/");
}

static bool under(struct span path, const char *prefix)
{
    size_t n = strlen(prefix);
    return n > 1 && path.n >= n && memcmp(path.p, prefix, n) == 0 && (path.n == n || path.p[n] == '/');
}

int route_find(const struct config *c, struct span method, struct span target, struct route *out)
{
    *out = (struct route){0};
    target = origin_form(target);
    if (target.n == 0 || target.p[0] != '/')
        return -1;
    const char *mark = memchr(target.p, '?', target.n);
    struct span path = span_of(target.p, mark ? (size_t)(mark - target.p) : target.n);
    size_t longest = 0;
    out->provider = c->default_provider;
    for (size_t i = 0; i < c->nproviders; i++) {
        size_t n = strlen(c->providers[i].prefix);
        if (n > longest && under(path, c->providers[i].prefix)) {
            longest = n;
            out->provider = &c->providers[i];
        }
    }
    out->rest = span_from(target, longest);
    out->path = span_from(path, longest);
    out->query = mark ? span_of(mark + 1, (size_t)(target.p + target.n - mark - 1)) : (struct span){0};
    if (out->provider)
        out->api = dialect_api(method, out->path, &out->stored);
    return 0;
}
