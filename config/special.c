#include "config/special.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/limits.h"
#include "base/xalloc.h"
#include "config/address.h"
#include "config/config.h"
#include "config/value.h"

enum { WORKERS_MOST = 1024, PREFIX_LONGEST = 128 };

/* One name for each; llama.cpp is another spelling of llamacpp. */
static const char *const dialects[] = {"openai",   "azure",   "openrouter", "moonshot", "vllm",
                                       "llamacpp", "mistral", "anthropic",  "gemini",   "ollama"};

/* The last of them, which have APIs of their own for pictures and sound, or none. */
enum { DIALECTS = sizeof dialects / sizeof dialects[0], DIALECTS_OPENAI = DIALECTS - 3 };

const char *config_dialect(size_t n)
{
    return n < DIALECTS ? dialects[n] : NULL;
}

bool special_dialect_is_openai(const char *dialect)
{
    for (size_t i = 0; i < DIALECTS_OPENAI; i++)
        if (strcmp(dialect, dialects[i]) == 0)
            return true;
    return false;
}

void special_dialects_openai(char names[256])
{
    size_t n = 0;
    for (size_t i = 0; i < DIALECTS_OPENAI; i++)
        n += (size_t)snprintf(names + n, 256 - n, "%s%s", i ? ", " : "", dialects[i]);
}

static int expect(struct setting *s, const char *what)
{
    snprintf(s->expected, sizeof s->expected, "%s", what);
    return -1;
}

static int say(struct setting *s, const char *sentence)
{
    snprintf(s->sentence, sizeof s->sentence, "%s", sentence);
    return -1;
}

static int store_text(void *at, struct span text)
{
    char **to = at;
    xfree(*to);
    *to = xspandup(text);
    return 0;
}

void special_print_text(const void *at, struct buf *out)
{
    const char *text = *(char *const *)at;
    if (text)
        value_print_text(span_str(text), out);
}

static unsigned processors(void)
{
    cpu_set_t set;
    int n =
        sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > WORKERS_MOST ? WORKERS_MOST : (unsigned)n;
}

int special_set_workers(struct setting *s, void *at)
{
    int64_t n = processors();
    if (!span_is(s->text, "auto") && (value_count(s->text, &n) || n < 1 || n > WORKERS_MOST))
        return expect(s, "a whole number from 1 to 1024, or auto");
    *(unsigned *)at = (unsigned)n;
    return 0;
}

void special_print_workers(const void *at, struct buf *out)
{
    buf_printf(out, "%u", *(const unsigned *)at);
}

int special_set_address(struct setting *s, void *at)
{
    const char *expected = address_parse(s->text, at);
    return expected ? expect(s, expected) : 0;
}

void special_print_address(const void *at, struct buf *out)
{
    value_print_text(span_str(((const struct config_address *)at)->text), out);
}

/* What is before an @ may be a password, and then the URL must not be shown again. */
static int parse_url(struct setting *s, struct url *u)
{
    const char *expected = url_parse(s->text, u);
    if (!expected)
        return 0;
    if (!memchr(s->text.p, '@', s->text.n))
        return expect(s, expected);
    snprintf(s->sentence, sizeof s->sentence, "expected %s", expected);
    return -1;
}

int special_set_public_url(struct setting *s, void *at)
{
    struct url u;
    if (parse_url(s, &u))
        return -1;
    store_text(at, span_str(u.text));
    url_finish(&u);
    return 0;
}

int special_set_base_url(struct setting *s, void *at)
{
    struct config_provider *p = at;
    struct url u;
    if (parse_url(s, &u))
        return -1;
    xfree(p->base_url);
    xfree(p->host);
    xfree(p->host_header);
    xfree(p->base_path);
    p->base_url = u.text;
    p->tls = u.tls;
    p->host = u.host;
    p->port = u.port;
    p->host_header = u.host_header;
    p->base_path = u.path;
    return 0;
}

void special_print_base_url(const void *at, struct buf *out)
{
    value_print_text(span_str(((const struct config_provider *)at)->base_url), out);
}

/* The key in a file is its first line. */
static int read_key_file(struct setting *s, const char *path, char key[LIMIT_KEY + 2], size_t *n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t got = fd < 0 ? -1 : read(fd, key, LIMIT_KEY + 2);
    if (got < 0)
        snprintf(s->sentence, sizeof s->sentence, "the file cannot be read: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    if (got < 0)
        return -1;
    const char *line_end = memchr(key, '\n', (size_t)got);
    *n = line_end ? (size_t)(line_end - key) : (size_t)got;
    if (*n && key[*n - 1] == '\r')
        --*n;
    return 0;
}

/* Whether the text names a place for a key, and what is after the colon. */
static bool key_place(struct span text, bool *file, struct span *place)
{
    *file = span_starts(text, "file:");
    if (!*file && !span_starts(text, "env:"))
        return false;
    *place = span_from(text, *file ? strlen("file:") : strlen("env:"));
    return place->n > 0 && value_printable(*place);
}

static int check_key(struct setting *s, struct span key)
{
    if (key.n == 0 || key.n > LIMIT_KEY)
        return say(s, "what stands there is no API key: it is empty or longer than 4096 bytes");
    for (size_t i = 0; i < key.n; i++)
        if (key.p[i] <= ' ' || key.p[i] >= 0x7f)
            return say(s, "what stands there is no API key: it has blanks, control or non-ASCII characters");
    return 0;
}

static int resolve_key(struct setting *s, bool file, struct span place, char **out)
{
    char bytes[LIMIT_KEY + 2] = "";
    struct span key = span_of(bytes, 0);
    char *name = xspandup(place);
    int failed = 0;
    if (file) {
        failed = read_key_file(s, name, bytes, &key.n);
    } else {
        const char *value = getenv(name);
        key = span_str(value);
        if (!value)
            failed = say(s, "the environment variable that it names is not set");
    }
    xfree(name);
    if (failed || check_key(s, key))
        return -1;
    return store_text(out, key);
}

int special_set_api_key(struct setting *s, void *at)
{
    struct config_provider *p = at;
    struct span place;
    bool file;
    if (!key_place(s->text, &file, &place))
        return say(s, "expected env:NAME or file:PATH; the key itself does not belong in the configuration");
    if (s->resolve && resolve_key(s, file, place, &p->api_key))
        return -1;
    return store_text(&p->api_key_source, s->text);
}

void special_print_api_key(const void *at, struct buf *out)
{
    special_print_text(&((const struct config_provider *)at)->api_key_source, out);
}

int special_set_provider_name(struct setting *s, void *at)
{
    if (!value_word(s->text, true) || span_is(s->text, "none"))
        return expect(s, "1 to 64 lower-case letters, digits, - or _ (and not the word none)");
    return store_text(at, s->text);
}

int special_set_default_provider(struct setting *s, void *at)
{
    if (!value_word(s->text, true))
        return expect(s, "the name of a provider, or none");
    return store_text(at, s->text);
}

int special_set_service_provider(struct setting *s, void *at)
{
    if (!value_word(s->text, true))
        return expect(s, "the name of one of the providers");
    return store_text(at, s->text);
}

int special_set_brand_text(struct setting *s, void *at)
{
    bool good = s->text.n > 0 && s->text.n <= 200;
    for (size_t i = 0; i < s->text.n; i++)
        good = good && (unsigned char)s->text.p[i] >= ' ' && s->text.p[i] != 0x7f;
    if (!good)
        return expect(s, "a line of 1 to 200 bytes");
    return store_text(at, s->text);
}

int special_set_colour(struct setting *s, void *at)
{
    bool good = s->text.n == 7 && s->text.p[0] == '#';
    for (size_t i = 1; i < s->text.n && good; i++)
        good = strchr("0123456789abcdefABCDEF", s->text.p[i]) && s->text.p[i];
    if (!good)
        return expect(s, "a colour such as \"#1f4e79\"");
    return store_text(at, s->text);
}

int special_set_dialect(struct setting *s, void *at)
{
    struct span name = span_is(s->text, "llama.cpp") ? SPAN_LIT("llamacpp") : s->text;
    size_t n = 0;
    for (size_t i = 0; i < DIALECTS; i++)
        if (span_is(name, dialects[i]))
            return store_text(at, name);
    for (size_t i = 0; i < DIALECTS; i++)
        n += (size_t)snprintf(s->expected + n, sizeof s->expected - n, "%s%s", i ? ", " : "one of ",
                              dialects[i]);
    return -1;
}

/* "/" and segments joined by "/", none of them empty, "." or "..". */
static bool is_prefix(struct span t)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~-";
    size_t start = 1;
    if (t.n < 2 || t.n > PREFIX_LONGEST || t.p[0] != '/')
        return false;
    for (size_t i = 1; i <= t.n; i++) {
        if (i < t.n && t.p[i] != '/') {
            if (!memchr(allowed, t.p[i], sizeof allowed - 1))
                return false;
            continue;
        }
        struct span segment = span_of(t.p + start, i - start);
        if (segment.n == 0 || span_is(segment, ".") || span_is(segment, ".."))
            return false;
        start = i + 1;
    }
    return true;
}

int special_set_prefix(struct setting *s, void *at)
{
    if (!is_prefix(s->text))
        return expect(
            s, "a path such as /openai or /llm/openai, of letters, digits, - . _ ~ and no slash at its end");
    return store_text(at, s->text);
}

int special_set_organisation(struct setting *s, void *at)
{
    if (!value_word(s->text, false))
        return expect(s, "1 to 64 letters, digits, - or _");
    return store_text(at, s->text);
}

int special_set_hash(struct setting *s, void *at)
{
    if (value_hash(s->text, at))
        return say(s, "expected the SHA-256 of an API key: 64 hexadecimal digits, in quotes");
    return 0;
}

void special_print_hash(const void *at, struct buf *out)
{
    char text[2 * 32 + 1];
    hex_write(at, 32, text);
    buf_printf(out, "\"%s\"", text);
}

int special_set_artifact_store(struct setting *s, void *at)
{
    (void)at;
    if (span_is(s->text, "s3"))
        return say(s, "the store s3 is not available in this version; file is");
    return span_is(s->text, "file") ? 0 : expect(s, "file");
}

void special_print_artifact_store(const void *at, struct buf *out)
{
    (void)at;
    buf_adds(out, "file");
}

int special_set_record_store(struct setting *s, void *at)
{
    (void)at;
    if (span_is(s->text, "postgres"))
        return say(s, "the store postgres is not available in this version; sqlite is");
    return span_is(s->text, "sqlite") ? 0 : expect(s, "sqlite");
}

void special_print_record_store(const void *at, struct buf *out)
{
    (void)at;
    buf_adds(out, "sqlite");
}

int special_set_log_content(struct setting *s, void *at)
{
    bool content;
    if (value_bool(s->text, &content))
        return expect(s, "true or false");
    if (content)
        return say(s, "content in the log is not available in this version; expected false");
    *(bool *)at = content;
    return 0;
}

void special_print_log_content(const void *at, struct buf *out)
{
    buf_adds(out, *(const bool *)at ? "true" : "false");
}

/* ---- sentry_dsn ---- */

/* https://KEY@HOST/PATH/PROJECT, of which the envelopes go to https://HOST/PATH/api/PROJECT/envelope/
 * (https://develop.sentry.dev/sdk/overview/#parsing-the-dsn). A secret behind the key, as of old, is left
 * out. */
static int parse_dsn(struct setting *s, struct span dsn, struct config *c)
{
    static const char bad[] = "expected a Sentry DSN such as https://key@host/1, or env:NAME or file:PATH";
    size_t scheme = span_starts(dsn, "https://") ? 8 : span_starts(dsn, "http://") ? 7 : 0;
    struct span rest = span_from(dsn, scheme);
    const char *at = rest.n ? memchr(rest.p, '@', rest.n) : NULL;
    struct span key = span_of(rest.p, at ? (size_t)(at - rest.p) : 0);
    const char *colon = key.n ? memchr(key.p, ':', key.n) : NULL;
    struct url u;
    char address[1024];
    if (colon)
        key.n = (size_t)(colon - key.p);
    if (!scheme || !key.n || key.n > 128 || !value_word(key, false))
        return say(s, bad);
    rest = span_from(rest, (size_t)(at + 1 - rest.p));
    if (rest.n > sizeof address - 16)
        return say(s, bad);
    snprintf(address, sizeof address, "%.*s%.*s", (int)scheme, dsn.p, (int)rest.n, rest.p);
    if (url_parse(span_str(address), &u))
        return say(s, bad);
    const char *project = strrchr(u.path, '/');
    bool good = project && project[1];
    if (good) {
        struct buf path;
        buf_init(&path, 2048);
        buf_printf(&path, "%.*s/api/%s/envelope/", (int)(project - u.path), u.path, project + 1);
        store_text(&c->sentry.host, span_str(u.host));
        store_text(&c->sentry.host_header, span_str(u.host_header));
        store_text(&c->sentry.path, buf_span(&path));
        store_text(&c->sentry.key, key);
        c->sentry.port = u.port;
        c->sentry.tls = u.tls;
        buf_free(&path);
    }
    url_finish(&u);
    return good ? 0 : say(s, bad);
}

int special_set_sentry_dsn(struct setting *s, void *at)
{
    struct config *c = at;
    struct span place;
    bool file;
    char *dsn = NULL;
    int failed = 0;
    if (!key_place(s->text, &file, &place))
        failed = parse_dsn(s, s->text, c);
    else if (s->resolve)
        failed = resolve_key(s, file, place, &dsn) || parse_dsn(s, span_str(dsn), c);
    xfree(dsn);
    return failed ? -1 : store_text(&c->sentry.source, s->text);
}

/* The key of a DSN lets one send events and nothing else; it is shown as it was written. */
void special_print_sentry_dsn(const void *at, struct buf *out)
{
    special_print_text(&((const struct config *)at)->sentry.source, out);
}
