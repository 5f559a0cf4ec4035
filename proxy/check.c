#include "proxy/check.h"

#include "providers/upload.h"
#include "proxy/listen.h"

enum { PRINTED_MOST = 8 << 20 };

static void print_listeners(const struct config *c, FILE *out)
{
    for (size_t i = 0; i < c->nlisteners; i++)
        fprintf(out, "  listen    %s%s%s\n", c->listeners[i].address.text,
                c->listeners[i].certificate ? ", TLS" : "",
                c->listeners[i].proxy_protocol ? ", PROXY protocol" : "");
    fprintf(out, "  admin     %s\n", c->admin.text);
}

static void print_providers(const struct config *c, FILE *out)
{
    static const char *const consults[] = {"", ", consults: marked", ", consults: off"};
    for (size_t i = 0; i < c->nproviders; i++) {
        const struct config_provider *p = &c->providers[i];
        fprintf(out, "  provider  %s: %s%s → %s (%s%s%s)\n", p->name, p->prefix,
                p == c->default_provider ? " and all other paths" : "", p->base_url, p->dialect,
                consults[p->consults], p->api_key_source ? ", own API key" : "");
    }
    if (!c->default_provider)
        fputs("  no default provider: a path that starts with no prefix is answered with 404\n", out);
}

/* Whose key a provider gets, where it is not the one that the file suggests. */
static void print_keys(const struct config *c, FILE *out)
{
    bool keys = c->tenancy == TENANCY_KEYS;
    const char *separator = "";
    for (size_t i = 0; i < c->nproviders; i++) {
        const struct config_provider *p = &c->providers[i];
        if (keys == (p->api_key_source != NULL))
            continue;
        if (!*separator)
            fputs(keys ? "  note      without an api_key of its own, a provider gets the callers' keys ("
                       : "  note      with tenancy: header callers' keys go through, and api_key is sent for "
                         "pictures only (",
                  out);
        fprintf(out, "%s%s", separator, p->name);
        separator = ", ";
    }
    if (*separator)
        fputs(")\n", out);
}

/* Sizes that do nothing, since the provider has no files API. */
static void print_sizes(const struct config *c, FILE *out)
{
    for (size_t i = 0; i < c->nproviders; i++) {
        const struct config_provider *p = &c->providers[i];
        if (p->inline_size && upload_inline_most(p->dialect) == 0)
            fprintf(
                out,
                "  note      inline_size of %s does nothing: the dialect %s has no files API, so attached "
                "files are always sent inside of the request\n",
                p->name, p->dialect);
    }
}

/* Limits of which another one is reached first. */
static void print_limits(const struct config *c, FILE *out)
{
    if (c->limits.directive > c->limits.directive_total)
        fputs("  note      limits.directive is above limits.directive_total, which ends a directive first\n",
              out);
}

int check_run(const struct check_options *options, FILE *out, FILE *err)
{
    struct config_error e;
    struct error why;
    struct config *c = config_load(options->path, &e);
    if (!c) {
        fprintf(err, "%s\n", e.message);
        return 1;
    }
    SSL_CTX **tls = listen_open_tls(c, &why);
    if (!tls) {
        fprintf(err, "%s\n", why.message);
        config_unref(c);
        return 1;
    }
    /* A comment, so that what is printed is a configuration again. */
    fprintf(out, "%s%s: ok\n", options->print ? "# " : "", options->path);
    if (options->print) {
        struct buf printed;
        buf_init(&printed, PRINTED_MOST);
        config_print(c, &printed);
        fwrite(buf_span(&printed).p, 1, printed.n, out);
        buf_free(&printed);
    } else {
        if (!c->enabled)
            fputs("  consults are switched off: every request is relayed as it is\n", out);
        print_listeners(c, out);
        print_providers(c, out);
        print_keys(c, out);
        print_sizes(c, out);
        print_limits(c, out);
    }
    listen_close_tls(tls, c->nlisteners);
    config_unref(c);
    return 0;
}
