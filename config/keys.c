#include "config/keys.h"

#include <stddef.h>

#include "config/config.h"
#include "config/record.h"
#include "config/special.h"
#include "config/value.h"

/* The defaults are those of docs/penstock.example.yaml, which a test compares. */

#define TABLE(rows)                                                                                          \
    {                                                                                                        \
        rows, sizeof rows / sizeof rows[0]                                                                   \
    }

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR };
enum { KIB = 1 << 10, MIB = 1 << 20, GIB = 1 << 30 };

static const char *const consults_words[] = {"all", "marked", "off", NULL};
static const char *const tenancy_words[] = {"header", "keys", NULL};
static const char *const stream_words[] = {"suppress", "buffer", NULL};
static const char *const disconnect_words[] = {"cancel", "drain", NULL};
static const char *const links_words[] = {"none", "markdown", NULL};
static const char *const context_words[] = {"fields", "attachments", NULL};
static const char *const sandbox_words[] = {"required", "off", NULL};
static const char *const level_words[] = {"debug", "info", "warning", "error", NULL};

static const char no_s3[] = "it belongs to the store s3, which is not available in this version; file is";
static const char no_postgres[] =
    "it belongs to the store postgres, which is not available in this version; sqlite is";

static const struct key tls_rows[] = {
    {.name = "certificate",
     .type = KEY_TEXT,
     .flags = KEY_REQUIRED | KEY_FILE,
     .at = offsetof(struct config_listener, certificate),
     .what = "the path of a PEM file with the certificate and its chain"},
    {.name = "key",
     .type = KEY_TEXT,
     .flags = KEY_REQUIRED | KEY_FILE,
     .at = offsetof(struct config_listener, key),
     .what = "the path of a PEM file with the private key"},
};
static const struct key_table tls_table = TABLE(tls_rows);

static const struct key listener_rows[] = {
    {.name = "address",
     .type = KEY_SPECIAL,
     .flags = KEY_REQUIRED,
     .at = offsetof(struct config_listener, address),
     .set = special_set_address,
     .print = special_print_address},
    {.name = "tls", .type = KEY_MAP, .inside = &tls_table},
    {.name = "proxy_protocol",
     .type = KEY_BOOL,
     .at = offsetof(struct config_listener, proxy_protocol),
     .initial = "false"},
};
static const struct key_table listener_table = TABLE(listener_rows);
static const struct key_list listeners = {.items = offsetof(struct config, listeners),
                                          .count = offsetof(struct config, nlisteners),
                                          .size = sizeof(struct config_listener),
                                          .least = 1,
                                          .most = 64,
                                          .destroy = record_destroy_listeners,
                                          .inside = &listener_table};

static const struct key admin_rows[] = {
    {.name = "address",
     .type = KEY_SPECIAL,
     .at = offsetof(struct config, admin),
     .initial = "127.0.0.1:9090",
     .set = special_set_address,
     .print = special_print_address},
};
static const struct key_table admin_table = TABLE(admin_rows);

static const struct key provider_rows[] = {
    {.name = "name",
     .type = KEY_SPECIAL,
     .flags = KEY_REQUIRED,
     .at = offsetof(struct config_provider, name),
     .set = special_set_provider_name,
     .print = special_print_text},
    {.name = "dialect",
     .type = KEY_SPECIAL,
     .flags = KEY_REQUIRED,
     .at = offsetof(struct config_provider, dialect),
     .set = special_set_dialect,
     .print = special_print_text},
    {.name = "base_url",
     .type = KEY_SPECIAL,
     .flags = KEY_REQUIRED,
     .set = special_set_base_url,
     .print = special_print_base_url},
    {.name = "prefix",
     .type = KEY_SPECIAL,
     .at = offsetof(struct config_provider, prefix),
     .set = special_set_prefix,
     .print = special_print_text},
    {.name = "consults",
     .type = KEY_ENUM,
     .at = offsetof(struct config_provider, consults),
     .initial = "all",
     .words = consults_words},
    {.name = "inline_size",
     .type = KEY_SIZE,
     .at = offsetof(struct config_provider, inline_size),
     .min = 0,
     .max = GIB,
     .initial = "0B"},
    {.name = "api_key",
     .type = KEY_SPECIAL,
     .flags = KEY_SECRET,
     .set = special_set_api_key,
     .print = special_print_api_key},
};
static const struct key_table provider_table = TABLE(provider_rows);
static const struct key_list providers = {.items = offsetof(struct config, providers),
                                          .count = offsetof(struct config, nproviders),
                                          .size = sizeof(struct config_provider),
                                          .least = 1,
                                          .most = 256,
                                          .destroy = record_destroy_providers,
                                          .inside = &provider_table};

static const struct key hash_row = {.name = "",
                                    .type = KEY_SPECIAL,
                                    .flags = KEY_SECRET,
                                    .set = special_set_hash,
                                    .print = special_print_hash};
static const struct key_list hashes = {.items = offsetof(struct config_organisation, keys),
                                       .count = offsetof(struct config_organisation, nkeys),
                                       .size = 32,
                                       .least = 1,
                                       .most = 10000,
                                       .destroy = record_destroy_hashes,
                                       .item = &hash_row};

static const struct key organisation_rows[] = {
    {.name = "name",
     .type = KEY_SPECIAL,
     .flags = KEY_REQUIRED,
     .at = offsetof(struct config_organisation, name),
     .set = special_set_organisation,
     .print = special_print_text},
    {.name = "key_sha256", .type = KEY_LIST, .list = &hashes},
    {.name = "image_generation",
     .type = KEY_BOOL,
     .at = offsetof(struct config_organisation, image_generation),
     .initial = "true"},
};
static const struct key_table organisation_table = TABLE(organisation_rows);
static const struct key_list organisations = {.items = offsetof(struct config, organisations),
                                              .count = offsetof(struct config, norganisations),
                                              .size = sizeof(struct config_organisation),
                                              .least = 0,
                                              .most = 10000,
                                              .destroy = record_destroy_organisations,
                                              .inside = &organisation_table};

#define SIZE(key, from, to, value)                                                                           \
    {                                                                                                        \
        .name = #key, .type = KEY_SIZE, .at = offsetof(struct config, limits.key), .min = from, .max = to,   \
        .initial = value                                                                                     \
    }
#define COUNT(key, from, to, value)                                                                          \
    {                                                                                                        \
        .name = #key, .type = KEY_COUNT, .at = offsetof(struct config, limits.key), .min = from, .max = to,  \
        .initial = value                                                                                     \
    }
#define TIME(key, from, to, value)                                                                           \
    {                                                                                                        \
        .name = #key, .type = KEY_MILLISECONDS, .at = offsetof(struct config, timeouts.key), .min = from,    \
        .max = to, .initial = value                                                                          \
    }

static const struct key limit_rows[] = {
    SIZE(request_body, KIB, GIB, "64MiB"),    SIZE(reply_body, KIB, GIB, "32MiB"),
    SIZE(directive, KIB, GIB, "8MiB"),        COUNT(directives, 1, 1000, "16"),
    SIZE(directive_total, KIB, GIB, "32MiB"), SIZE(stream_buffer, 16 * KIB, 64 * MIB, "256KiB"),
    SIZE(drain_bytes, 0, GIB, "4MiB"),        COUNT(attachment_characters, 1, 100000000, "250000"),
    SIZE(attachment_file, KIB, GIB, "20MiB"), COUNT(connections, 1, 1000000, "10000"),
};
static const struct key_table limit_table = TABLE(limit_rows);

static const struct key timeout_rows[] = {
    TIME(header, 100, HOUR, "10s"),
    TIME(body, 100, HOUR, "60s"),
    TIME(connect, 100, HOUR, "5s"),
    TIME(first_byte, 100, DAY, "300s"),
    TIME(idle, 100, DAY, "120s"),
    TIME(keep_alive, 100, DAY, "60s"),
    TIME(comment, 100, HOUR, "15s"),
    TIME(render, 100, HOUR, "30s"),
    TIME(transcribe, 100, HOUR, "360s"),
    TIME(drain, 0, DAY, "30s"),
    TIME(drain_time, 0, HOUR, "60s"),
    TIME(forward_ttl, SECOND, 7 * DAY, "1h"),
    TIME(upload_ttl, SECOND, 29ll * DAY, "24h"),
};
static const struct key_table timeout_table = TABLE(timeout_rows);

static const struct key artifact_rows[] = {
    {.name = "store",
     .type = KEY_SPECIAL,
     .initial = "file",
     .set = special_set_artifact_store,
     .print = special_print_artifact_store},
    {.name = "retention",
     .type = KEY_SECONDS,
     .at = offsetof(struct config, artifacts.retention_s),
     .min = SECOND,
     .max = 3650ll * DAY,
     .initial = "7d"},
    {.name = "link_ttl",
     .type = KEY_SECONDS,
     .at = offsetof(struct config, artifacts.link_ttl_s),
     .min = SECOND,
     .max = 3650ll * DAY,
     .initial = "24h"},
    {.name = "endpoint", .absent = no_s3},
    {.name = "bucket", .absent = no_s3},
    {.name = "region", .absent = no_s3},
    {.name = "access_key", .absent = no_s3},
    {.name = "secret_key", .absent = no_s3},
    {.name = "prefix", .absent = no_s3},
};
static const struct key_table artifact_table = TABLE(artifact_rows);

static const struct key record_rows[] = {
    {.name = "store",
     .type = KEY_SPECIAL,
     .initial = "sqlite",
     .set = special_set_record_store,
     .print = special_print_record_store},
    {.name = "dsn", .absent = no_postgres},
};
static const struct key_table record_table = TABLE(record_rows);

static const struct key thread_rows[] = {
    {.name = "record", .type = KEY_BOOL, .at = offsetof(struct config, threads.record), .initial = "true"},
    {.name = "retention",
     .type = KEY_SECONDS,
     .at = offsetof(struct config, threads.retention_s),
     .min = SECOND,
     .max = 3650ll * DAY,
     .initial = "7d"},
};
static const struct key_table thread_table = TABLE(thread_rows);

static const struct key image_rows[] = {
    {.name = "provider",
     .type = KEY_SPECIAL,
     .flags = KEY_REQUIRED,
     .at = offsetof(struct config, image_generation.provider_name),
     .set = special_set_service_provider,
     .print = special_print_text},
    {.name = "model",
     .type = KEY_TEXT,
     .flags = KEY_REQUIRED,
     .at = offsetof(struct config, image_generation.model),
     .what = "the name of a model, such as gpt-image-1"},
};
static const struct key_table image_table = TABLE(image_rows);

static const struct key transcription_rows[] = {
    {.name = "provider",
     .type = KEY_SPECIAL,
     .flags = KEY_REQUIRED,
     .at = offsetof(struct config, transcription.provider_name),
     .set = special_set_service_provider,
     .print = special_print_text},
    {.name = "model",
     .type = KEY_TEXT,
     .flags = KEY_REQUIRED,
     .at = offsetof(struct config, transcription.model),
     .what = "the name of a model, such as whisper-1"},
};
static const struct key_table transcription_table = TABLE(transcription_rows);

static const struct key brand_rows[] = {
    {.name = "font",
     .type = KEY_SPECIAL,
     .at = offsetof(struct config, brand.font),
     .set = special_set_brand_text,
     .print = special_print_text},
    {.name = "heading_font",
     .type = KEY_SPECIAL,
     .at = offsetof(struct config, brand.heading_font),
     .set = special_set_brand_text,
     .print = special_print_text},
    {.name = "colour",
     .type = KEY_SPECIAL,
     .at = offsetof(struct config, brand.colour),
     .set = special_set_colour,
     .print = special_print_text},
    {.name = "header",
     .type = KEY_SPECIAL,
     .at = offsetof(struct config, brand.header),
     .set = special_set_brand_text,
     .print = special_print_text},
    {.name = "footer",
     .type = KEY_SPECIAL,
     .at = offsetof(struct config, brand.footer),
     .set = special_set_brand_text,
     .print = special_print_text},
    {.name = "logo",
     .type = KEY_TEXT,
     .flags = KEY_FILE,
     .at = offsetof(struct config, brand.logo),
     .what = "the path of a PNG or JPEG file"},
};
static const struct key_table brand_table = TABLE(brand_rows);

static const struct key log_rows[] = {
    {.name = "level",
     .type = KEY_ENUM,
     .at = offsetof(struct config, log.level),
     .initial = "info",
     .words = level_words},
    {.name = "content",
     .type = KEY_SPECIAL,
     .at = offsetof(struct config, log.content),
     .initial = "false",
     .set = special_set_log_content,
     .print = special_print_log_content},
};
static const struct key_table log_table = TABLE(log_rows);

static const char default_providers[] =
    "- {name: openai, dialect: openai, base_url: 'https://api.openai.com'}\n"
    "- {name: anthropic, dialect: anthropic, base_url: 'https://api.anthropic.com'}\n"
    "- {name: gemini, dialect: gemini, base_url: 'https://generativelanguage.googleapis.com'}\n"
    "- {name: ollama, dialect: ollama, base_url: 'http://127.0.0.1:11434'}\n";

static const struct key root_rows[] = {
    {.name = "enabled", .type = KEY_BOOL, .at = offsetof(struct config, enabled), .initial = "true"},
    {.name = "state_dir",
     .type = KEY_TEXT,
     .at = offsetof(struct config, state_dir),
     .initial = "./penstock-data",
     .what = "the path of a directory"},
    {.name = "workers",
     .type = KEY_SPECIAL,
     .at = offsetof(struct config, workers),
     .initial = "1",
     .set = special_set_workers,
     .print = special_print_workers},
    {.name = "listen", .type = KEY_LIST, .initial = "- {address: '127.0.0.1:8080'}", .list = &listeners},
    {.name = "admin", .type = KEY_MAP, .inside = &admin_table},
    {.name = "public_url",
     .type = KEY_SPECIAL,
     .at = offsetof(struct config, public_url),
     .set = special_set_public_url,
     .print = special_print_text},
    {.name = "default_provider",
     .type = KEY_SPECIAL,
     .at = offsetof(struct config, default_provider_name),
     .set = special_set_default_provider,
     .print = special_print_text},
    {.name = "providers", .type = KEY_LIST, .initial = default_providers, .list = &providers},
    {.name = "tenancy",
     .type = KEY_ENUM,
     .at = offsetof(struct config, tenancy),
     .initial = "header",
     .words = tenancy_words},
    {.name = "organisations", .type = KEY_LIST, .list = &organisations},
    {.name = "stream",
     .type = KEY_ENUM,
     .at = offsetof(struct config, stream),
     .initial = "suppress",
     .words = stream_words},
    {.name = "disconnect",
     .type = KEY_ENUM,
     .at = offsetof(struct config, disconnect),
     .initial = "cancel",
     .words = disconnect_words},
    {.name = "links",
     .type = KEY_ENUM,
     .at = offsetof(struct config, links),
     .initial = "none",
     .words = links_words},
    {.name = "context",
     .type = KEY_ENUM,
     .at = offsetof(struct config, context),
     .initial = "fields",
     .words = context_words},
    {.name = "workspace_root",
     .type = KEY_TEXT,
     .at = offsetof(struct config, workspace_root),
     .what = "the path of a directory"},
    {.name = "limits", .type = KEY_MAP, .inside = &limit_table},
    {.name = "timeouts", .type = KEY_MAP, .inside = &timeout_table},
    {.name = "artifacts", .type = KEY_MAP, .inside = &artifact_table},
    {.name = "records", .type = KEY_MAP, .inside = &record_table},
    {.name = "threads", .type = KEY_MAP, .inside = &thread_table},
    {.name = "sandbox",
     .type = KEY_ENUM,
     .at = offsetof(struct config, sandbox),
     .initial = "required",
     .words = sandbox_words},
    {.name = "brand", .type = KEY_MAP, .inside = &brand_table},
    {.name = "image_generation", .type = KEY_MAP, .inside = &image_table},
    {.name = "transcription", .type = KEY_MAP, .inside = &transcription_table},
    {.name = "sentry_dsn",
     .type = KEY_SPECIAL,
     .flags = KEY_SECRET,
     .set = special_set_sentry_dsn,
     .print = special_print_sentry_dsn},
    {.name = "log", .type = KEY_MAP, .inside = &log_table},
};
const struct key_table keys_root = TABLE(root_rows);

const struct key *keys_find(const struct key_table *table, struct span name)
{
    for (size_t i = 0; i < table->n; i++)
        if (span_is(name, table->keys[i].name))
            return &table->keys[i];
    return NULL;
}

const char *keys_nearest(const struct key_table *table, struct span name)
{
    const char *nearest = NULL;
    unsigned best = name.n < 4 ? 2 : name.n < 8 ? 3 : 4; /* one, two or three letters off */
    for (size_t i = 0; i < table->n; i++) {
        unsigned distance = value_distance(name, span_str(table->keys[i].name));
        if (distance < best) {
            best = distance;
            nearest = table->keys[i].name;
        }
    }
    return nearest;
}

static void each_key(const struct key_table *table, const char *path, void (*each)(const char *, void *),
                     void *arg)
{
    for (size_t i = 0; i < table->n; i++) {
        const struct key *k = &table->keys[i];
        const struct key_table *inside = k->list ? k->list->inside : k->inside;
        struct buf name;
        buf_init(&name, 256);
        buf_printf(&name, "%s%s%s", path, *path ? "." : "", k->name);
        each(buf_cstr(&name), arg);
        buf_adds(&name, k->list ? "[]" : "");
        if (inside)
            each_key(inside, buf_cstr(&name), each, arg);
        buf_free(&name);
    }
}

void config_keys(void (*each)(const char *name, void *arg), void *arg)
{
    each_key(&keys_root, "", each, arg);
}
