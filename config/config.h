#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H
/*
 * The configuration as an immutable snapshot: made whole by config_load, never changed afterwards, shared by
 * reference and released with config_unref; an exchange keeps the one it started with. The keys are those of
 * product.md §8; the defaults here are what `penstock serve` runs with when there is no file. Key tables, not
 * code, say what exists (keys.c).
 */
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/span.h"

enum consults_mode { CONSULTS_ALL, CONSULTS_MARKED, CONSULTS_OFF };
enum tenancy { TENANCY_HEADER, TENANCY_KEYS };
enum stream_mode { STREAM_SUPPRESS, STREAM_BUFFER };
enum disconnect_mode { DISCONNECT_CANCEL, DISCONNECT_DRAIN };
enum links_mode { LINKS_NONE, LINKS_MARKDOWN };
enum context_mode { CONTEXT_FIELDS, CONTEXT_ATTACHMENTS };
/* What happens where the kernel cannot cage a renderer. */
enum sandbox_mode { SANDBOX_REQUIRED, SANDBOX_OFF };

/* Where to connect or listen. */
struct config_address {
    char *text; /* as written */
    bool is_unix;
    char *host; /* or the socket's path; IPv6 without brackets; ":port" gives "::", to be bound for IPv4 as
                   well */
    uint16_t port;
};

struct config_listener {
    struct config_address address;
    char *certificate, *key;           /* TLS when both are set: PEM files */
    size_t certificate_line, key_line; /* where they stand in the file, for messages; 0: nowhere */
    bool proxy_protocol;
};

struct config_provider {
    char *name;
    char *dialect;  /* openai, azure, anthropic, gemini, ollama, openrouter, moonshot, vllm, llamacpp, mistral
                       … */
    char *base_url; /* as written, without a trailing slash */
    bool tls;       /* https */
    char *host;
    uint16_t port;
    char *host_header; /* host, with port when it is not the scheme's own */
    char *base_path;   /* path of base_url without trailing slash; may be empty */
    char *prefix; /* "/name"; may have several segments, and of two that fit a path the longer one counts */
    enum consults_mode consults;
    size_t inline_size;   /* bytes of a request above which attached files are uploaded; 0: as the dialect has
                             it */
    char *api_key;        /* resolved (env:, file:); NULL: the caller's own key goes through */
    char *api_key_source; /* "env:NAME" or "file:PATH" as written; NULL as above */
};

struct config_organisation {
    char *name;
    unsigned char (*keys)[32]; /* SHA-256 of each key */
    size_t nkeys;
    bool image_generation; /* default true */
};

struct config_limits {
    size_t request_body, reply_body, directive, directives, directive_total, stream_buffer, drain_bytes,
        attachment_characters, attachment_file, connections;
};

/* Milliseconds. */
struct config_timeouts {
    int64_t header, body, connect, first_byte, idle, keep_alive, comment, render, transcribe, drain,
        drain_time, forward_ttl, upload_ttl;
};

/* A provider that does something for Penstock itself. */
struct config_service {
    const struct config_provider *provider; /* NULL: nobody does */
    char *provider_name, *model;            /* NULL, both of them, then */
};

struct config {
    unsigned refs; /* config_ref and config_unref alone touch it; one thread */
    char *file;    /* that it was read from, as it was named; "the defaults" without one */
    bool enabled;  /* with HW_ATTACHMENT_ENABLED applied */
    char *state_dir;
    unsigned workers; /* auto: number of processors */
    struct config_listener *listeners;
    size_t nlisteners;
    struct config_address admin;
    char *public_url;      /* no trailing slash; when not configured, made from the first listener */
    bool public_url_given; /* false with port 0: the server alone knows what the links start with */
    struct config_provider *providers;
    size_t nproviders;
    const struct config_provider *default_provider; /* NULL: a path without a known prefix is 404 */
    char *default_provider_name;                    /* "none" with NULL */
    enum tenancy tenancy;
    struct config_organisation *organisations;
    size_t norganisations;
    enum stream_mode stream;
    enum disconnect_mode disconnect;
    enum links_mode links;
    enum context_mode context;
    char *workspace_root; /* when not configured, "workspace" under state_dir */
    bool workspace_root_given;
    struct config_limits limits;
    struct config_timeouts timeouts;
    struct {
        int64_t retention_s, link_ttl_s;
    } artifacts; /* store: file is the only one yet; s3 is refused by name */
    struct {
        enum log_level level;
        bool content;
    } log;
    enum sandbox_mode sandbox; /* read at the start alone */
    struct {
        char *font, *heading_font, *colour, *header, *footer;
        char *logo; /* path of a PNG or JPEG file */
    } brand;        /* how documents and charts look; any may be NULL */
    struct config_service image_generation, transcription;
    struct {
        char *source; /* as written: a DSN, or env:NAME or file:PATH; NULL: there is no error sink */
        char *host, *host_header, *path, *key; /* path: where envelopes go; host NULL: not resolved */
        uint16_t port;
        bool tls;
    } sentry;
    struct {
        bool record;
        int64_t retention_s;
    } threads;
};

/* A mistake in a file: "file:line: key: what was expected". */
struct config_error {
    char message[1024];
};

/*
 * path NULL: the defaults. The environment wins over the file: PENSTOCK_<KEY> for every single value outside
 * lists (PENSTOCK_STATE_DIR, PENSTOCK_LIMITS_DIRECTIVE …), PENSTOCK_LISTEN (addresses, separated by commas),
 * PENSTOCK_ADMIN, and HW_ATTACHMENT_ENABLED, which wins over PENSTOCK_ENABLED; an empty variable counts as
 * unset. API keys are resolved, and files that are named must be readable. NULL with *e.
 */
struct config *config_load(const char *path, struct config_error *e) MUST_USE;
/* The same from memory; `name` stands for the file in messages. For tests and the fuzzer: reads no
 * environment and no files, so that api_key stays NULL where api_key_source is set. */
struct config *config_parse(struct span yaml, const char *name, struct config_error *e) MUST_USE;
struct config *config_ref(struct config *c) MUST_USE;
void config_unref(struct config *c);
/* Applies one setting as if it stood in the file: for command line options, before the configuration is
 * shared. `key` is the path of a single value outside lists ("state_dir", "log.level"), "listen" (addresses,
 * separated by commas) or "admin". -1 with *e; what was set before the mistake stays set, so the
 * configuration is then only good for config_unref. */
int config_override(struct config *c, const char *key, const char *value, struct config_error *e) MUST_USE;
/* Writes what is in force as YAML, which config_parse reads again: `penstock check --print`. Of an API key
 * only its source is shown. */
void config_print(const struct config *c, struct buf *out);
const struct config_provider *config_provider_find(const struct config *c, struct span name);

/* "openai", "azure" …: the n-th dialect that a provider may have; NULL after the last. */
const char *config_dialect(size_t n);
/* Calls `each` with the full name of every key there is ("limits.directive", "providers[].name"), in the
 * order of the tables. */
void config_keys(void (*each)(const char *name, void *arg), void *arg);

#endif
