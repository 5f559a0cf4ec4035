/* Files, the environment, API keys, and that the example and the reference say what the tables say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/xalloc.h"
#include "config/config.h"

#define DOCS TEST_DATA "/../../docs/"

static char folder[] = "/tmp/penstock-config-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static char *path_of(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return xstrdup(path);
}

static char *write_file(const char *name, struct span text)
{
    char *path = path_of(name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text.p, 1, text.n, f), text.n);
    fclose(f);
    return path;
}

static void done_with(char *path)
{
    unlink(path);
    xfree(path);
}

static struct config *load(const char *path)
{
    struct config_error e;
    struct config *c = config_load(path, &e);
    if (!c)
        fail_msg("%s", e.message);
    return c;
}

static void refused(const char *path, const char *begin, const char *holds)
{
    struct config_error e;
    struct config *c = config_load(path, &e);
    assert_null(c);
    if (strncmp(e.message, begin, strlen(begin)) != 0 || !strstr(e.message, holds))
        fail_msg("got: %s\nexpected: %s … %s", e.message, begin, holds);
}

static void files(void **state)
{
    (void)state;
    char *missing = path_of("missing.yaml"), begin[300];
    snprintf(begin, sizeof begin, "%s: cannot be read: ", missing);
    refused(missing, begin, "No such file");
    snprintf(begin, sizeof begin, "%s: cannot be read: ", folder);
    refused(folder, begin, "directory");
    refused("/dev/zero", "/dev/zero: larger than 1 MiB", "");
    char *good = write_file("good.yaml", SPAN_LIT("workers: 3\n"));
    struct config *c = load(good);
    assert_int_equal(c->workers, 3);
    config_unref(c);
    char *bad = write_file("bad.yaml", SPAN_LIT("\nworkers: x\n"));
    snprintf(begin, sizeof begin, "%s:2: workers: expected", bad);
    refused(bad, begin, "");
    done_with(bad);
    done_with(good);
    xfree(missing);
}

static void certificates_must_be_readable(void **state)
{
    (void)state;
    char text[600];
    char *pem = write_file("c.pem", SPAN_LIT("x"));
    snprintf(text, sizeof text, "listen:\n- address: :0\n  tls:\n    certificate: %s\n    key: %s.gone\n",
             pem, pem);
    char *yaml = write_file("tls.yaml", span_str(text)), begin[300];
    snprintf(begin, sizeof begin, "%s:5: listen[0].tls.key: the file ", yaml);
    refused(yaml, begin, "cannot be read: No such file");
    done_with(yaml);
    done_with(pem);
}

static void with_key(const char *source, const char *expected, const char *complaint)
{
    char text[600];
    snprintf(text, sizeof text,
             "providers: [{name: a, dialect: openai, base_url: 'http://h', api_key: '%s'}]", source);
    char *yaml = write_file("key.yaml", span_str(text)), begin[300];
    if (expected) {
        struct config *c = load(yaml);
        struct buf printed;
        buf_init(&printed, 1 << 16);
        assert_string_equal(c->providers[0].api_key, expected);
        config_print(c, &printed);
        assert_null(strstr(buf_cstr(&printed), expected));
        assert_non_null(strstr(buf_cstr(&printed), source));
        buf_free(&printed);
        config_unref(c);
    } else {
        snprintf(begin, sizeof begin, "%s:1: providers[0].api_key: ", yaml);
        refused(yaml, begin, complaint);
    }
    done_with(yaml);
}

static void api_keys(void **state)
{
    (void)state;
    char *key = write_file("key", SPAN_LIT("sk-from-file\r\nsecond line\n")), source[300];
    char *empty = write_file("empty", SPAN_LIT("\n"));
    char *blank = write_file("blank", SPAN_LIT("a b\n"));
    char *most = xmalloc(LIMIT_KEY + 1);
    memset(most, 'k', LIMIT_KEY + 1);
    char *longest = write_file("longest", span_of(most, LIMIT_KEY + 1));
    setenv("TEST_KEY", "sk-from-environment", 1);
    unsetenv("TEST_NO_KEY");
    with_key("env:TEST_KEY", "sk-from-environment", NULL);
    with_key("env:TEST_NO_KEY", NULL, "is not set");
    with_key("env:", NULL, "expected env:NAME or file:PATH");
    with_key("sk-literal", NULL, "expected env:NAME or file:PATH");
    snprintf(source, sizeof source, "file:%s", key);
    with_key(source, "sk-from-file", NULL);
    snprintf(source, sizeof source, "file:%s", empty);
    with_key(source, NULL, "empty");
    snprintf(source, sizeof source, "file:%s", blank);
    with_key(source, NULL, "blanks");
    snprintf(source, sizeof source, "file:%s", longest);
    with_key(source, NULL, "longer than 4096");
    with_key("file:/does/not/exist", NULL, "cannot be read");
    xfree(most);
    done_with(longest);
    done_with(blank);
    done_with(empty);
    done_with(key);
}

static void environment_wins_over_the_file(void **state)
{
    (void)state;
    char *yaml =
        write_file("env.yaml", SPAN_LIT("state_dir: /file\nlimits: {directives: 3}\nlog: {level: error}\n"));
    setenv("PENSTOCK_STATE_DIR", "/environment", 1);
    setenv("PENSTOCK_LIMITS_DIRECTIVES", "4", 1);
    setenv("PENSTOCK_LOG_LEVEL", "", 1);
    /* The addresses of both change places: only the result must be free of doubles. */
    setenv("PENSTOCK_LISTEN", "127.0.0.1:9090,[::1]:9090", 1);
    setenv("PENSTOCK_ADMIN", "127.0.0.1:8080", 1);
    struct config *c = load(yaml);
    assert_string_equal(c->state_dir, "/environment");
    assert_string_equal(c->workspace_root, "/environment/workspace");
    assert_int_equal(c->limits.directives, 4);
    assert_int_equal(c->log.level, LOG_ERROR);
    assert_int_equal(c->nlisteners, 2);
    assert_string_equal(c->public_url, "http://127.0.0.1:9090");
    assert_int_equal(c->admin.port, 8080);
    config_unref(c);
    c = load(NULL);
    assert_string_equal(c->state_dir, "/environment");
    config_unref(c);
    setenv("PENSTOCK_ADMIN", "127.0.0.1:9090", 1);
    refused(NULL, "the environment: admin.address: a listener has the same address", "");
    setenv("PENSTOCK_ADMIN", "9090", 1);
    refused(yaml, "environment variable PENSTOCK_ADMIN: admin.address: expected an address", "");
    unsetenv("PENSTOCK_ADMIN");
    unsetenv("PENSTOCK_LISTEN");
    unsetenv("PENSTOCK_STATE_DIR");
    setenv("PENSTOCK_LIMITS_DIRECTIVES", "many", 1);
    refused(yaml,
            "environment variable PENSTOCK_LIMITS_DIRECTIVES: limits.directives: expected a whole number",
            "");
    unsetenv("PENSTOCK_LIMITS_DIRECTIVES");
    setenv("PENSTOCK_IMAGE_GENERATION_PROVIDER", "openai", 1);
    refused(yaml, "the environment: image_generation.model: this key is missing", "");
    setenv("PENSTOCK_IMAGE_GENERATION_MODEL", "m", 1);
    c = load(yaml);
    assert_string_equal(c->image_generation.provider->name, "openai");
    config_unref(c);
    unsetenv("PENSTOCK_IMAGE_GENERATION_PROVIDER");
    unsetenv("PENSTOCK_IMAGE_GENERATION_MODEL");
    setenv("PENSTOCK_TENANCY", "keys", 1);
    refused(yaml, "the environment: tenancy: ", "organisations must be listed");
    unsetenv("PENSTOCK_TENANCY");
    unsetenv("PENSTOCK_LOG_LEVEL");
    done_with(yaml);
}

static void the_switch(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        bool in_file, enabled;
    } rows[] = {
        {NULL, true, true},     {NULL, false, false},     {"", true, true},      {"", false, false},
        {"false", true, false}, {"FALSE", true, false},   {"0", true, false},    {"no", true, false},
        {"Off", true, false},   {" off ", true, false},   {"true", false, true}, {"1", false, true},
        {"on", false, true},    {"falsely", false, true}, {"off", false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *yaml =
            write_file("switch.yaml", span_str(rows[i].in_file ? "enabled: true" : "enabled: false"));
        if (rows[i].word)
            setenv("HW_ATTACHMENT_ENABLED", rows[i].word, 1);
        else
            unsetenv("HW_ATTACHMENT_ENABLED");
        struct config *c = load(yaml);
        if (c->enabled != rows[i].enabled)
            fail_msg("row %zu", i);
        config_unref(c);
        done_with(yaml);
    }
    setenv("PENSTOCK_ENABLED", "true", 1);
    struct config *c = load(NULL);
    assert_false(c->enabled);
    config_unref(c);
    unsetenv("PENSTOCK_ENABLED");
    unsetenv("HW_ATTACHMENT_ENABLED");
}

static char *read_whole(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = xcalloc(1, 1 << 20);
    assert_non_null(f);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

/* The example is the defaults, word for word. */
static void the_example_shows_the_defaults(void **state)
{
    (void)state;
    struct buf example, defaults;
    buf_init(&example, 1 << 16);
    buf_init(&defaults, 1 << 16);
    struct config *c = load(DOCS "penstock.example.yaml");
    config_print(c, &example);
    config_unref(c);
    c = load(NULL);
    config_print(c, &defaults);
    config_unref(c);
    assert_string_equal(buf_cstr(&example), buf_cstr(&defaults));
    buf_free(&example);
    buf_free(&defaults);
}

static void in_reference(const char *name, void *reference)
{
    char quoted[160];
    snprintf(quoted, sizeof quoted, "`%s`", name);
    if (!strstr(reference, quoted))
        fail_msg("%s is not in CONFIGURATION.md", quoted);
}

/* Each key has its row. */
static void the_reference_has_every_key(void **state)
{
    (void)state;
    char *reference = read_whole(DOCS "CONFIGURATION.md");
    config_keys(in_reference, reference);
    xfree(reference);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files),
        cmocka_unit_test(certificates_must_be_readable),
        cmocka_unit_test(api_keys),
        cmocka_unit_test(environment_wins_over_the_file),
        cmocka_unit_test(the_switch),
        cmocka_unit_test(the_example_shows_the_defaults),
        cmocka_unit_test(the_reference_has_every_key),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
