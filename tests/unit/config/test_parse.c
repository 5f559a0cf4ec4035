/* Configuration text to snapshot: the defaults, every kind of mistake with its line and key, printing and
 * reading again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/xalloc.h"
#include "config/config.h"

#define KEY_A    "8970eac94f9f556bcaab659d379cdd198fe49f6482b25d6d04f611e0d388b12e"
#define KEY_B    "18f5b96c9cc63c2face7155e2e06e4e68c9807e76ff7e8c796bbb4b90354d7b5"
#define PROVIDER "providers:\n- name: a\n  dialect: openai\n  base_url: "

static struct config *parse(const char *yaml)
{
    struct config_error e;
    struct config *c = config_parse(span_str(yaml), "f", &e);
    if (!c)
        print_error("%s\n", e.message);
    assert_non_null(c);
    return c;
}

/* Begins with, and holds. */
static const struct {
    const char *yaml, *begin, *holds;
} bad[] = {
    /* Keys. */
    {"stat_dir: x", "f:1: stat_dir: ", "did you mean state_dir?"},
    {"\n\nlimits:\n  directive: 1MiB\n  conections: 3\n",
     "f:5: limits.conections: ", "did you mean connections?"},
    {"link_ttl: 1h", "f:1: link_ttl: ", "belongs under artifacts"},
    {"log: {stream: buffer}", "f:1: log.stream: ", "belongs under the top level"},
    {"zzzzzzzz: 1", "f:1: zzzzzzzz: unknown key", ""},
    {"\"a\\tb\": 1", "f:1: a?b: unknown key", ""},
    {"enabled: true\nenabled: false", "f:2: enabled: ", "second time"},
    {"log: {level: info, level: info}", "f:1: log.level: ", "second time"},
    {"listen:\n- address: :1\n  address: :2", "f:3: listen[0].address: ", "second time"},
    {"? [a]\n: 1", "f:1: ", "key must be a word"},
    {"<<: {enabled: false}", "f:1: <<: unknown key", ""},
    /* YAML. */
    {"- a\n- b", "f:1: ", "expected a map"},
    {"hello", "f:1: ", "expected a map"},
    {"a: &x 1\nb: *x", "f:1: ", "anchors and aliases"},
    {"a: *x", "f:1: ", "anchors and aliases"},
    {"&k a: 1", "f:1: ", "anchors and aliases"},
    {"log: &x {level: info}", "f:1: ", "anchors and aliases"},
    {"enabled: true\nstate_dir: !!str x", "f:2: ", "tags"},
    {"log: !x {level: info}", "f:1: ", "tags"},
    {"enabled: true\n---\nenabled: false", "f:2: ", "second document"},
    {"enabled: true\n\tx: 1", "f:2: not valid YAML: ", ""},
    {"log: {level: info", "f:", "not valid YAML"},
    {"state_dir: \"a\\0b\"", "f:1: ", "NUL"},
    {"x: [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]", "f:1: ", "nested too deeply"},
    {"state_dir: \xff", "f:1: not valid YAML: ", ""},
    /* Types. */
    {"enabled: yes", "f:1: enabled: expected true or false", "yes, no, on and off"},
    {"enabled: \"true\"", "f:1: enabled: expected true or false without quotes", "found \"true\""},
    {"enabled: 1", "f:1: enabled: expected true or false, found \"1\"", ""},
    {"enabled: ", "f:1: enabled: expected true or false, found nothing", ""},
    {"enabled: [true]", "f:1: enabled: expected true or false, found a list", ""},
    {"state_dir: {a: b}", "f:1: state_dir: expected the path of a directory, found a map", ""},
    {"state_dir: ~", "f:1: state_dir: ", "found nothing"},
    {"state_dir: \"\"", "f:1: state_dir: ", "found nothing"},
    {"state_dir: \"a\\nb\"", "f:1: state_dir: ", "found \"a?b\""},
    {"workers: 0", "f:1: workers: expected a whole number from 1 to 1024, or auto, found \"0\"", ""},
    {"workers: 1.5", "f:1: workers: ", "or auto"},
    {"workers: ", "f:1: workers: ", "or auto, found nothing"},
    {"stream: bufer", "f:1: stream: expected one of suppress, buffer, found \"bufer\"", ""},
    {"stream: ", "f:1: stream: expected one of suppress, buffer, found nothing", ""},
    {"limits: 3", "f:1: limits: expected a map", ""},
    {"limits: []", "f:1: limits: expected a map", ", found a list"},
    {"limits:\n  directive: 8MB", "f:2: limits.directive: expected a size from 1KiB to 1GiB",
     "found \"8MB\""},
    {"limits: {directive: 2GiB}", "f:1: limits.directive: expected a size", ""},
    {"limits: {directive: 1023}", "f:1: limits.directive: expected a size", ""},
    {"limits: {directive: 99999999999999999999}", "f:1: limits.directive: expected a size", ""},
    {"limits: {directive: 9999999999999GiB}", "f:1: limits.directive: expected a size", ""},
    {"limits: {directive: -1}", "f:1: limits.directive: expected a size", ""},
    {"limits: {directives: 16KiB}", "f:1: limits.directives: expected a whole number from 1 to 1000", ""},
    {"timeouts: {idle: 10}", "f:1: timeouts.idle: expected a duration from 100ms to 1d", "found \"10\""},
    {"timeouts: {idle: 10 s}", "f:1: timeouts.idle: expected a duration", ""},
    {"timeouts: {idle: 1h30m}", "f:1: timeouts.idle: expected a duration", ""},
    {"timeouts: {idle: 0s}", "f:1: timeouts.idle: expected a duration", ""},
    {"timeouts: {idle: 9999999999999999d}", "f:1: timeouts.idle: expected a duration", ""},
    {"artifacts: {retention: 1500ms}", "f:1: artifacts.retention: expected a duration of whole seconds", ""},
    /* Listeners. */
    {"listen: 127.0.0.1:80", "f:1: listen: expected a list of maps", ""},
    {"listen: []", "f:1: listen: expected a list with 1 to 64 entries, found 0", ""},
    {"listen:\n- 127.0.0.1:80", "f:2: listen[0]: expected a map", ""},
    {"listen:\n- address: :1\n- proxy_protocol: true", "f:3: listen[1].address: this key is missing", ""},
    {"listen:\n- {address: 127.0.0.1}", "f:2: listen[0].address: expected an address with its port", ""},
    {"listen: [{address: \"::1:80\"}]", "f:1: listen[0].address: ", "in brackets"},
    {"listen: [{address: \"[::1\"}]", "f:1: listen[0].address: ", "closing ]"},
    {"listen: [{address: \"[::g]:1\"}]", "f:1: listen[0].address: ", "an IPv6 address"},
    {"listen: [{address: \"h:65536\"}]", "f:1: listen[0].address: expected a port", ""},
    {"listen: [{address: \"h:\"}]", "f:1: listen[0].address: expected a port", ""},
    {"listen: [{address: \"*:80\"}]", "f:1: listen[0].address: expected a host name", ":8080 stands for"},
    {"listen: [{address: \"unix:\"}]", "f:1: listen[0].address: expected unix: and a path", ""},
    {"listen:\n- address: :1\n- address: :1\n", "f:3: listen[1].address: another listener", ""},
    {"listen: [{address: ':1'}]\nadmin: {address: ':1'}", "f:2: admin.address: a listener has the same", ""},
    {"listen:\n- address: :1\n  tls:\n", "f:3: listen[0].tls: expected a map", "found nothing"},
    {"listen:\n- address: :1\n  tls: {certificate: c}", "f:3: listen[0].tls.key: this key is missing", ""},
    {"admin: off", "f:1: admin: expected a map", ""},
    {"admin: 127.0.0.1:9090", "f:1: admin: expected a map (address: …)", "found \"127.0.0.1:9090\""},
    {"listen: [127.0.0.1:8080]", "f:1: listen[0]: expected a map", "found \"127.0.0.1:8080\""},
    {"providers: [sk-abc]", "f:1: providers[0]: expected a map", "found something else"},
    {"organisations: [sk-abc]", "f:1: organisations[0]: expected a map", "found something else"},
    /* Providers. */
    {PROVIDER "ftp://h", "f:4: providers[0].base_url: ", "http:// or https://"},
    {PROVIDER "h", "f:4: providers[0].base_url: ", "http:// or https://"},
    {PROVIDER "http://", "f:4: providers[0].base_url: expected a host name", ""},
    {PROVIDER "http:///x", "f:4: providers[0].base_url: expected a host name", ""},
    {PROVIDER "http://h:0", "f:4: providers[0].base_url: expected a port from 1", ""},
    {PROVIDER "http://h:x", "f:4: providers[0].base_url: expected a port from 1", ""},
    {PROVIDER "http://h/?q", "f:4: providers[0].base_url: ", "without query"},
    {PROVIDER "\"http://h/#f\"", "f:4: providers[0].base_url: ", "without query"},
    {PROVIDER "\"http://h/a b\"", "f:4: providers[0].base_url: ", "path without blanks"},
    {PROVIDER "http://::1/", "f:4: providers[0].base_url: ", "brackets"},
    {PROVIDER "http://h\n  consults: on", "f:5: providers[0].consults: expected one of all, marked, off", ""},
    {PROVIDER "http://h\n  prefix: x", "f:5: providers[0].prefix: expected a path", ""},
    {PROVIDER "http://h\n  prefix: /", "f:5: providers[0].prefix: expected a path", ""},
    {PROVIDER "http://h\n  prefix: /a/", "f:5: providers[0].prefix: expected a path", ""},
    {PROVIDER "http://h\n  prefix: /a//b", "f:5: providers[0].prefix: expected a path", ""},
    {PROVIDER "http://h\n  prefix: /a/../b", "f:5: providers[0].prefix: expected a path", ""},
    {PROVIDER "http://h\n  prefix: /a?b", "f:5: providers[0].prefix: expected a path", ""},
    {PROVIDER "http://h\n- {name: a, dialect: openai, base_url: 'http://h'}",
     "f:5: providers[1].name: another", ""},
    {PROVIDER "http://h\n- {name: b, dialect: openai, base_url: 'http://h', prefix: /a}",
     "f:5: providers[1].prefix: another", ""},
    {PROVIDER "http://h\n- {name: none, dialect: openai, base_url: 'http://h'}",
     "f:5: providers[1].name: expected", ""},
    {PROVIDER "http://h\n- {name: Open AI, dialect: openai, base_url: 'http://h'}",
     "f:5: providers[1].name: expected", "lower-case"},
    {"providers:\n- name: a\n  dialect: opnai\n  base_url: http://h",
     "f:3: providers[0].dialect: expected one of openai", "ollama, found \"opnai\""},
    {"providers:\n- name: a\n  base_url: http://h", "f:2: providers[0].dialect: this key is missing", ""},
    {"providers: []", "f:1: providers: expected a list", ""},
    {"\ndefault_provider: opena", "f:2: default_provider: expected the name of one of the providers",
     "\"opena\""},
    /* Organisations. */
    {"\ntenancy: keys", "f:2: tenancy: ", "organisations must be listed"},
    {"tenancy: keys\norganisations: []", "f:1: tenancy: ", "organisations must be listed"},
    {"tenancy: keys\norganisations:\n- name: a", "f:3: organisations[0].key_sha256: this key is missing", ""},
    {"organisations:\n- {name: a b}", "f:2: organisations[0].name: expected 1 to 64", ""},
    {"organisations:\n- {name: a}\n- {name: b}\n- {name: a}", "f:4: organisations[2].name: another", ""},
    {"organisations:\n- {name: a, key_sha256: [" KEY_A "]}\n- {name: b, key_sha256: [" KEY_B ", " KEY_A "]}",
     "f:3: organisations[1].key_sha256: one of these keys", ""},
    {"organisations:\n- {name: a, key_sha256: []}", "f:2: organisations[0].key_sha256: expected a list", ""},
    {"organisations:\n- {name: a, key_sha256: " KEY_A "}",
     "f:2: organisations[0].key_sha256: expected a list", ""},
    /* Image generation. */
    {"image_generation: {provider: openai}", "f:1: image_generation.model: this key is missing", ""},
    {"image_generation: {model: m}", "f:1: image_generation.provider: this key is missing", ""},
    {"image_generation:", "f:1: image_generation: expected a map", "found nothing"},
    {"image_generation: {provider: openai, model: ''}",
     "f:1: image_generation.model: expected the name of a model", "found nothing"},
    {"image_generation: {provider: Open AI, model: m}",
     "f:1: image_generation.provider: expected the name of one of the providers", ""},
    {"image_generation:\n  model: m\n  provider: opena",
     "f:3: image_generation.provider: expected the name of one of the providers", "found \"opena\""},
    {"image_generation: {provider: gemini, model: m}",
     "f:1: image_generation.provider: expected a provider with OpenAI's API for it, found \"gemini\", whose "
     "dialect gemini has none",
     "has none; these have: openai, azure, openrouter, moonshot, vllm, llamacpp, mistral"},
    {"transcription:\n  provider: anthropic\n  model: m",
     "f:2: transcription.provider: expected a provider with", ""},
    {"image_generation: {provider: openai, model: m, size: s}", "f:1: image_generation.size: unknown key",
     ""},
    /* What is not there yet, by name. */
    {"artifacts: {store: s3}", "f:1: artifacts.store: the store s3 is not available", "file is"},
    {"artifacts: {store: file,\n  bucket: b}", "f:2: artifacts.bucket: ", "s3, which is not available"},
    {"artifacts: {store: disk}", "f:1: artifacts.store: expected file, found \"disk\"", ""},
    {"records: {store: postgres}", "f:1: records.store: the store postgres is not available", "sqlite is"},
    {"records: {dsn: x}", "f:1: records.dsn: ", "postgres, which is not available"},
    {"transcription: {provider: openai}", "f:1: transcription.model: this key is missing", ""},
    {"transcription:\n  model: m\n  provider: opena",
     "f:3: transcription.provider: expected the name of one of the providers", "found \"opena\""},
    {"sentry_dsn: https://host/1", "f:1: sentry_dsn: expected a Sentry DSN", ""},
    {"sentry_dsn: https://key@host", "f:1: sentry_dsn: expected a Sentry DSN", ""},
    {"sentry_dsn: ftp://key@host/1", "f:1: sentry_dsn: expected a Sentry DSN", ""},
    {"sentry_dsn: https://k%20y@host/1", "f:1: sentry_dsn: expected a Sentry DSN", ""},
    {"sentry_dsn: https://key@ho st/1", "f:1: sentry_dsn: expected a Sentry DSN", ""},
    {"log: {content: true}", "f:1: log.content: content in the log is not available", ""},
};

static void bad_snippets(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct config_error e;
        struct config *c = config_parse(span_str(bad[i].yaml), "f", &e);
        bool right = !c && strncmp(e.message, bad[i].begin, strlen(bad[i].begin)) == 0 &&
                     strstr(e.message, bad[i].holds);
        if (!right)
            print_error("for:\n%s\ngot: %s\nexpected: %s … %s\n", bad[i].yaml, c ? "accepted" : e.message,
                        bad[i].begin, bad[i].holds);
        config_unref(c);
        assert_true(right);
    }
}

/* What may be a secret is not said again. */
static void secrets_stay_out_of_messages(void **state)
{
    (void)state;
    static const char *const yaml[] = {
        PROVIDER "http://h\n  api_key: hunter2",
        PROVIDER "https://user:hunter2@h/",
        "organisations: [{name: a, key_sha256: [hunter2]}]",
        "public_url: http://user:hunter2@h/",
        "artifacts: {secret_key: hunter2}",
        "sentry_dsn: https://hunter2@host",
        "records: {store: sqlite, dsn: 'postgres://u:hunter2@h'}",
    };
    for (size_t i = 0; i < sizeof yaml / sizeof yaml[0]; i++) {
        struct config_error e;
        assert_null(config_parse(span_str(yaml[i]), "f", &e));
        assert_null(strstr(e.message, "hunter2"));
        assert_non_null(strstr(e.message, "f:"));
    }
}

static void defaults(void **state)
{
    (void)state;
    static const char *const empty[] = {"",   "# nothing\n", "---\n",
                                        "{}", "~",           "limits:\nlisten:\nproviders:\n# - x\n"};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        struct config *c = parse(empty[i]);
        assert_true(c->enabled);
        assert_string_equal(c->state_dir, "./penstock-data");
        assert_string_equal(c->workspace_root, "./penstock-data/workspace");
        assert_int_equal(c->workers, 1);
        assert_int_equal(c->nlisteners, 1);
        assert_string_equal(c->listeners[0].address.host, "127.0.0.1");
        assert_int_equal(c->listeners[0].address.port, 8080);
        assert_false(c->listeners[0].proxy_protocol);
        assert_int_equal(c->admin.port, 9090);
        assert_string_equal(c->public_url, "http://127.0.0.1:8080");
        assert_false(c->public_url_given);
        assert_int_equal(c->nproviders, 4);
        assert_string_equal(c->default_provider->name, "openai");
        assert_string_equal(c->providers[1].base_url, "https://api.anthropic.com");
        assert_string_equal(c->providers[2].prefix, "/gemini");
        assert_int_equal(c->providers[3].port, 11434);
        assert_false(c->providers[3].tls);
        assert_int_equal(c->tenancy, TENANCY_HEADER);
        assert_int_equal(c->limits.request_body, 64 << 20);
        assert_int_equal(c->limits.directives, 16);
        assert_int_equal(c->limits.stream_buffer, 256 << 10);
        assert_int_equal(c->limits.attachment_characters, 250000);
        assert_int_equal(c->timeouts.header, 10000);
        assert_int_equal(c->timeouts.first_byte, 300000);
        assert_int_equal(c->timeouts.forward_ttl, 3600000);
        assert_int_equal(c->artifacts.retention_s, 7 * 86400);
        assert_int_equal(c->artifacts.link_ttl_s, 86400);
        assert_int_equal(c->log.level, LOG_INFO);
        assert_null(c->image_generation.provider);
        assert_null(c->image_generation.model);
        assert_null(c->transcription.provider);
        assert_null(c->sentry.source);
        assert_int_equal(c->timeouts.upload_ttl, 86400000);
        assert_int_equal(c->providers[0].inline_size, 0);
        config_unref(c);
    }
}

static void values(void **state)
{
    (void)state;
    struct config *c =
        parse("enabled: false\nworkers: auto\nstate_dir: /var/lib/penstock/\n"
              "listen:\n- {address: ':0'}\n- {address: '[::1]:8443', tls: {certificate: c.pem, key: k.pem}}\n"
              "- {address: unix:/run/p.sock, proxy_protocol: true}\n"
              "default_provider: none\n"
              "providers:\n- {name: openai, dialect: llama.cpp, base_url: 'HTTPS://[::1]:8443/v1//', "
              "consults: off, prefix: /llm/x, api_key: 'file:/k'}\n"
              "- {name: b-1_2, dialect: azure, base_url: 'http://h:080', consults: marked}\n"
              "tenancy: keys\norganisations:\n- {name: Acme, key_sha256: [" KEY_A ", '" KEY_B "'],"
              " image_generation: false}\n"
              "stream: buffer\ndisconnect: drain\nlinks: markdown\ncontext: attachments\n"
              "limits: {directive: 2048, drain_bytes: 0}\ntimeouts: {idle: 250ms, drain: 0s}\nlog: {level: "
              "warning}\nimage_generation: {model: m-1, provider: b-1_2}\n"
              "transcription: {model: whisper-1, provider: openai}\n"
              "sentry_dsn: http://pub:old@[::1]:9000/se/ntry/42\n");
    assert_false(c->enabled);
    assert_true(c->workers >= 1);
    assert_string_equal(c->workspace_root, "/var/lib/penstock/workspace");
    assert_string_equal(c->listeners[0].address.host, "::");
    assert_string_equal(c->public_url, "http://127.0.0.1:0");
    assert_string_equal(c->listeners[1].address.host, "::1");
    assert_string_equal(c->listeners[1].key, "k.pem");
    assert_true(c->listeners[2].address.is_unix && c->listeners[2].proxy_protocol);
    assert_string_equal(c->listeners[2].address.host, "/run/p.sock");
    assert_null(c->default_provider);
    const struct config_provider *p = config_provider_find(c, SPAN_LIT("openai"));
    assert_string_equal(p->dialect, "llamacpp");
    assert_string_equal(p->base_url, "HTTPS://[::1]:8443/v1");
    assert_string_equal(p->base_path, "/v1");
    assert_string_equal(p->host, "::1");
    assert_string_equal(p->host_header, "[::1]:8443");
    assert_true(p->tls && p->port == 8443 && p->consults == CONSULTS_OFF && !p->api_key);
    assert_string_equal(p->api_key_source, "file:/k");
    assert_string_equal(p->prefix, "/llm/x");
    p = config_provider_find(c, SPAN_LIT("b-1_2"));
    assert_string_equal(p->host_header, "h");
    assert_string_equal(p->base_path, "");
    assert_true(p->port == 80 && p->consults == CONSULTS_MARKED);
    assert_null(config_provider_find(c, SPAN_LIT("b")));
    assert_int_equal(c->organisations[0].nkeys, 2);
    assert_int_equal(c->organisations[0].keys[0][0], 0x89);
    assert_false(c->organisations[0].image_generation);
    assert_ptr_equal(c->image_generation.provider, p);
    assert_string_equal(c->image_generation.model, "m-1");
    assert_string_equal(c->transcription.provider->name, "openai");
    assert_string_equal(c->transcription.model, "whisper-1");
    assert_string_equal(c->sentry.host, "::1");
    assert_string_equal(c->sentry.host_header, "[::1]:9000");
    assert_string_equal(c->sentry.path, "/se/ntry/api/42/envelope/");
    assert_string_equal(c->sentry.key, "pub");
    assert_true(!c->sentry.tls && c->sentry.port == 9000);
    assert_int_equal(c->stream, STREAM_BUFFER);
    assert_int_equal(c->disconnect, DISCONNECT_DRAIN);
    assert_int_equal(c->links, LINKS_MARKDOWN);
    assert_int_equal(c->context, CONTEXT_ATTACHMENTS);
    assert_int_equal(c->limits.directive, 2048);
    assert_int_equal(c->limits.drain_bytes, 0);
    assert_int_equal(c->timeouts.idle, 250);
    assert_int_equal(c->timeouts.drain, 0);
    assert_int_equal(c->log.level, LOG_WARNING);
    struct config *same = config_ref(c);
    config_unref(same);
    config_unref(c);
    config_unref(NULL);
}

static void without_openai_no_default_provider(void **state)
{
    (void)state;
    struct config *c = parse(PROVIDER "http://h");
    assert_null(c->default_provider);
    assert_string_equal(c->default_provider_name, "none");
    config_unref(c);
}

static void printed_is_read_again(void **state)
{
    (void)state;
    static const char *const yaml[] = {
        "",
        "enabled: false\nworkers: 7\nstate_dir: \"a \\\"b\\\" \\\\ ü: #x\"\nworkspace_root: 'off'\n",
        "listen:\n- {address: ':0'}\n- {address: '[::1]:8443', tls: {certificate: c.pem, key: k.pem}}\n"
        "- {address: 'unix:/run/p q.sock', proxy_protocol: true}\npublic_url: https://h/x/\n",
        PROVIDER "http://h:81/v1/\n  consults: off\n  api_key: env:HOME\ndefault_provider: none\n",
        "tenancy: keys\norganisations:\n- {name: a, key_sha256: [" KEY_A "]}\n"
        "- {name: \"null\", key_sha256: [" KEY_B "], image_generation: false}\n",
        "limits: {directive: 2049, drain_bytes: 0}\ntimeouts: {idle: 1250ms, drain: 0ms}\nartifacts: "
        "{retention: 36h}",
        "image_generation: {provider: openai, model: 'm: x'}\n",
        "transcription: {provider: openai, model: 'm: x'}\nsentry_dsn: https://a@h/1\n",
    };
    for (size_t i = 0; i < sizeof yaml / sizeof yaml[0]; i++) {
        struct buf first, second;
        buf_init(&first, 1 << 20);
        buf_init(&second, 1 << 20);
        struct config *c = parse(yaml[i]);
        config_print(c, &first);
        config_unref(c);
        c = parse(buf_cstr(&first));
        config_print(c, &second);
        config_unref(c);
        assert_string_equal(buf_cstr(&first), buf_cstr(&second));
        assert_non_null(strstr(buf_cstr(&first), "\nworkers: "));
        buf_free(&first);
        buf_free(&second);
    }
}

static void overrides(void **state)
{
    (void)state;
    struct config *c = parse("state_dir: /a\n");
    struct config_error e;
    assert_int_equal(config_override(c, "listen", "127.0.0.1:9000,unix:/s", &e), 0);
    assert_int_equal(c->nlisteners, 2);
    assert_string_equal(c->public_url, "http://127.0.0.1:9000");
    assert_int_equal(config_override(c, "admin", "127.0.0.1:0", &e), 0);
    assert_int_equal(c->admin.port, 0);
    assert_int_equal(config_override(c, "state_dir", "/b", &e), 0);
    assert_string_equal(c->workspace_root, "/b/workspace");
    assert_int_equal(config_override(c, "workspace_root", "/w", &e), 0);
    assert_int_equal(config_override(c, "state_dir", "/c", &e), 0);
    assert_string_equal(c->workspace_root, "/w");
    assert_int_equal(config_override(c, "public_url", "http://p/", &e), 0);
    assert_int_equal(config_override(c, "listen", ":1", &e), 0);
    assert_string_equal(c->public_url, "http://p");
    assert_int_equal(config_override(c, "log.level", "debug", &e), 0);
    assert_int_equal(c->log.level, LOG_DEBUG);
    assert_int_equal(config_override(c, "default_provider", "ollama", &e), 0);
    assert_ptr_equal(c->default_provider, &c->providers[3]);

    static const struct {
        const char *key, *value, *message;
    } wrong[] = {
        {"listen", ":x", "listen[0].address: expected a port"},
        {"listen", ":1,", "listen[1].address: expected"},
        {"listen", "", "listen[0].address: expected"},
        {"workers", "many", "workers: expected"},
        {"log.level", "loud", "log.level: expected one of debug, info, warning, error, found \"loud\""},
        {"default_provider", "x", "default_provider: expected"},
        {"tenancy", "keys", "tenancy: "},
        {"providers", "x", "providers: there is no such key"},
        {"limits", "x", "limits: there is no such key"},
        {"nothing.at.all", "x", "nothing.at.all: there is no such key"},
        {"artifacts.bucket", "x", "artifacts.bucket: it belongs"},
    };
    config_unref(c);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        c = parse("");
        assert_int_equal(config_override(c, wrong[i].key, wrong[i].value, &e), -1);
        if (strncmp(e.message, wrong[i].message, strlen(wrong[i].message)) != 0)
            fail_msg("%s", e.message);
        config_unref(c);
    }
}

static void too_large(void **state)
{
    (void)state;
    struct config_error e;
    size_t n = (1 << 20) + 1;
    char *text = xmalloc(n);
    memset(text, '#', n);
    assert_null(config_parse(span_of(text, n), "f", &e));
    assert_non_null(strstr(e.message, "1 MiB"));
    struct config *c = config_parse(span_of(text, n - 1), "f", &e);
    assert_non_null(c);
    config_unref(c);
    memset(text, '[', n);
    assert_null(config_parse(span_of(text, n - 1), "f", &e));
    xfree(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_snippets),
        cmocka_unit_test(secrets_stay_out_of_messages),
        cmocka_unit_test(defaults),
        cmocka_unit_test(values),
        cmocka_unit_test(without_openai_no_default_provider),
        cmocka_unit_test(printed_is_read_again),
        cmocka_unit_test(overrides),
        cmocka_unit_test(too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
