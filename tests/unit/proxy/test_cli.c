/* The command line: commands, options, environment, what is said about mistakes, and `penstock check`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "proxy/check.h"
#include "proxy/cli.h"

enum { ARGUMENTS = 12 };

struct run {
    struct cli cli;
    char *out, *err;
};

static struct run run(const char *const words[ARGUMENTS])
{
    /* getopt_long reorders argv; the strings themselves are never written to. */
    char *argv[ARGUMENTS + 1] = {0};
    struct run r = {0};
    size_t nout, nerr;
    int argc = 0;
    FILE *out = open_memstream(&r.out, &nout), *err = open_memstream(&r.err, &nerr);
    for (; words[argc]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc];
    cli_parse(&r.cli, argc, argv, out, err);
    fclose(out);
    fclose(err);
    return r;
}

static void done(struct run *r)
{
    cli_finish(&r->cli);
    free(r->out);
    free(r->err);
}

static void mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *words[ARGUMENTS];
        const char *said;
    } rows[] = {
        {{"penstock"}, "a command is needed"},
        {{"penstock", "serv"}, "unknown command \"serv\"; did you mean serve?"},
        {{"penstock", "inspect"}, "unknown command \"inspect\"; see penstock --help"},
        {{"penstock", "--serve"}, "unknown option \"--serve\""},
        {{"penstock", "serve", "--bogus"},
         "penstock serve: unknown option --bogus; see penstock serve --help"},
        {{"penstock", "serve", "-x"}, "penstock serve: unknown option -x"},
        {{"penstock", "serve", "--listen"}, "--listen needs a value: --listen ADDRESS"},
        {{"penstock", "serve", "extra"}, "unexpected \"extra\""},
        {{"penstock", "check"}, "which file?"},
        {{"penstock", "convert"}, "which file?"},
        {{"penstock", "convert", "--out"}, "--out needs a value: --out DIR"},
        {{"penstock", "check", "a", "b"}, "unexpected \"b\""},
        {{"penstock", "check", "--print=x", "a"}, "--print takes no value"},
        {{"penstock", "demo", "--port", "70000"}, "--port must be a number from 0 to 65535"},
        {{"penstock", "demo", "--port", "x"}, "--port must be a number"},
        {{"penstock", "extract", "a", "b"}, "unexpected \"b\""},
        {{"penstock", "check", "--help=foo"},
         "penstock check: --help takes no value; see penstock check --help"},
        {{"penstock", "help", "chek"}, "unknown command \"chek\"; did you mean check?"},
        {{"penstock", "transcript"}, "what to do? It takes export, render, rerender or list"},
        {{"penstock", "transcript", "exprot"}, "there is no \"exprot\". It takes export"},
        {{"penstock", "transcript", "export", "--out", "x"},
         "say penstock transcript export THREAD --out DIR, or export --all --out DIR"},
        {{"penstock", "transcript", "export", "t"}, "export THREAD --out DIR"},
        {{"penstock", "transcript", "export", "t", "--all", "--out", "x"}, "export THREAD --out DIR"},
        {{"penstock", "transcript", "render", "--out", "x"}, "say penstock transcript render FILE [FILE]"},
        {{"penstock", "transcript", "render", "a", "b", "c", "--out", "x"}, "unexpected \"c\""},
        {{"penstock", "transcript", "rerender"}, "say penstock transcript rerender DIR"},
        {{"penstock", "transcript", "list", "t"}, "say penstock transcript list"},
        {{"penstock", "transcript", "export", "t", "--out", ""}, "--out needs a value: --out DIR"},
        {{"penstock", "transcript", "export", "t", "--out="}, "--out needs a value: --out DIR"},
        {{"penstock", "transcript", "list", "--org", "../x"},
         "--org must be an organisation: letters, digits, - and _, at most 64, not \"../x\""},
        {{"penstock", "transcript", "rerender", "x", "--limit", "0"}, "--limit must be a number from 1 on"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct run r = run(rows[i].words);
        if (r.cli.command != CLI_NONE || r.cli.status != 2 || !strstr(r.err, rows[i].said) || *r.out)
            fail_msg("row %zu: %d %s", i, r.cli.status, r.err);
        assert_ptr_equal(strchr(r.err, '\n'), r.err + strlen(r.err) - 1);
        done(&r);
    }
}

static void help(void **state)
{
    (void)state;
    static const struct {
        const char *words[ARGUMENTS];
        const char *said[8];
    } rows[] = {
        {{"penstock", "--help"}, {"serve", "check", "demo", "extract", "convert", "transcript", "--version"}},
        {{"penstock", "-h"}, {"Usage: penstock COMMAND"}},
        {{"penstock", "help"}, {"Usage: penstock COMMAND"}},
        {{"penstock", "help", "demo"}, {"Usage: penstock demo"}},
        {{"penstock", "--version"}, {"penstock " PENSTOCK_VERSION "\n"}},
        {{"penstock", "serve", "--help"},
         {"--config FILE", "[PENSTOCK_CONFIG]", "[PENSTOCK_LISTEN]", "[PENSTOCK_ADMIN]",
          "[PENSTOCK_STATE_DIR]", "[PENSTOCK_WORKERS]", "[PENSTOCK_PUBLIC_URL]", "[PENSTOCK_LOG_LEVEL]"}},
        {{"penstock", "serve", "--listen", ":1", "--help"}, {"Usage: penstock serve"}},
        {{"penstock", "check", "--help"}, {"check [OPTION…] FILE", "[PENSTOCK_PRINT]"}},
        {{"penstock", "demo", "-h"}, {"[PENSTOCK_LIVE]", "[PENSTOCK_DEMO_OUT]", "[PENSTOCK_DEMO_PORT]"}},
        {{"penstock", "extract", "--help"}, {"[FILE]", "[PENSTOCK_EXTRACT_OUT]"}},
        {{"penstock", "convert", "--help"}, {"convert [OPTION…] FILE…", "[PENSTOCK_CONVERT_OUT]"}},
        {{"penstock", "transcript", "--help"},
         {"transcript [OPTION…] ACTION…", "export THREAD|--all", "rerender DIR", "[PENSTOCK_STATE_DIR]",
          "[PENSTOCK_TRANSCRIPT_ORG]", "[PENSTOCK_TRANSCRIPT_ALL]"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct run r = run(rows[i].words);
        assert_int_equal(r.cli.command, CLI_NONE);
        assert_int_equal(r.cli.status, 0);
        assert_string_equal(r.err, "");
        for (size_t j = 0; j < 8 && rows[i].said[j]; j++)
            if (!strstr(r.out, rows[i].said[j]))
                fail_msg("row %zu: no %s in\n%s", i, rows[i].said[j], r.out);
        done(&r);
    }
}

static void options_and_environment(void **state)
{
    (void)state;
    setenv("PENSTOCK_DEMO_OUT", "/env", 1);
    setenv("PENSTOCK_LIVE", "true", 1);
    setenv("PENSTOCK_DEMO_PORT", "81", 1);
    struct run r = run((const char *const[ARGUMENTS]){"penstock", "demo"});
    assert_int_equal(r.cli.command, CLI_DEMO);
    assert_string_equal(r.cli.demo.out, "/env");
    assert_true(r.cli.demo.live);
    assert_int_equal(r.cli.demo.port, 81);
    done(&r);
    setenv("PENSTOCK_LIVE", "no", 1);
    r = run((const char *const[ARGUMENTS]){"penstock", "demo", "--port=0"});
    assert_false(r.cli.demo.live);
    assert_int_equal(r.cli.demo.port, 0);
    done(&r);
    setenv("PENSTOCK_LIVE", "perhaps", 1);
    r = run((const char *const[ARGUMENTS]){"penstock", "demo"});
    assert_int_equal(r.cli.status, 2);
    assert_non_null(strstr(r.err, "PENSTOCK_LIVE must be true or false"));
    done(&r);
    unsetenv("PENSTOCK_LIVE");
    unsetenv("PENSTOCK_DEMO_PORT");
    unsetenv("PENSTOCK_DEMO_OUT");
    setenv("PENSTOCK_EXTRACT_OUT", "/files", 1);
    r = run((const char *const[ARGUMENTS]){"penstock", "extract", "-"});
    assert_string_equal(r.cli.extract.out, "/files");
    done(&r);
    unsetenv("PENSTOCK_EXTRACT_OUT");
    r = run((const char *const[ARGUMENTS]){"penstock", "extract", "-"});
    assert_int_equal(r.cli.command, CLI_EXTRACT);
    assert_null(r.cli.extract.path);
    assert_string_equal(r.cli.extract.out, "extracted");
    done(&r);
    r = run((const char *const[ARGUMENTS]){"penstock", "convert", "a", "--out", "-", "b"});
    assert_int_equal(r.cli.command, CLI_CONVERT);
    assert_int_equal(r.cli.convert.npaths, 2);
    assert_string_equal(r.cli.convert.paths[0], "a");
    assert_string_equal(r.cli.convert.paths[1], "b");
    assert_null(r.cli.convert.out);
    done(&r);
    setenv("PENSTOCK_CONFIG", "/c.yaml", 1);
    r = run((const char *const[ARGUMENTS]){"penstock", "check", "--print"});
    assert_int_equal(r.cli.command, CLI_CHECK);
    assert_string_equal(r.cli.check.path, "/c.yaml");
    assert_true(r.cli.check.print);
    done(&r);
    r = run((const char *const[ARGUMENTS]){"penstock", "serve"});
    assert_int_equal(r.cli.command, CLI_SERVE);
    assert_string_equal(r.cli.serve.config_path, "/c.yaml");
    done(&r);
    unsetenv("PENSTOCK_CONFIG");
}

static void transcripts(void **state)
{
    (void)state;
    struct run r =
        run((const char *const[ARGUMENTS]){"penstock", "transcript", "render", "--out=o", "a", "b"});
    assert_int_equal(r.cli.command, CLI_TRANSCRIPT);
    assert_int_equal(r.cli.transcript.action, TRANSCRIPT_RENDER);
    assert_string_equal(r.cli.transcript.files[0], "a");
    assert_string_equal(r.cli.transcript.files[1], "b");
    assert_string_equal(r.cli.transcript.out, "o");
    done(&r);
    r = run((const char *const[ARGUMENTS]){"penstock", "transcript", "rerender", "d", "--limit", "3",
                                           "--thread-json"});
    assert_int_equal(r.cli.transcript.action, TRANSCRIPT_RERENDER);
    assert_string_equal(r.cli.transcript.directory, "d");
    assert_int_equal(r.cli.transcript.limit, 3);
    assert_true(r.cli.transcript.thread_json);
    assert_false(r.cli.transcript.dry_run);
    done(&r);
    setenv("PENSTOCK_TRANSCRIPT_ALL", "yes", 1);
    setenv("PENSTOCK_OUT", "o", 1);
    setenv("PENSTOCK_TRANSCRIPT_ORG", "acme", 1);
    setenv("PENSTOCK_STATE_DIR", "s", 1);
    r = run((const char *const[ARGUMENTS]){"penstock", "transcript", "export", "--force"});
    assert_int_equal(r.cli.transcript.action, TRANSCRIPT_EXPORT);
    assert_null(r.cli.transcript.thread);
    assert_string_equal(r.cli.transcript.org, "acme");
    assert_string_equal(r.cli.transcript.state_dir, "s");
    assert_true(r.cli.transcript.force);
    done(&r);
    unsetenv("PENSTOCK_TRANSCRIPT_ALL");
    unsetenv("PENSTOCK_OUT");
    unsetenv("PENSTOCK_TRANSCRIPT_ORG");
    unsetenv("PENSTOCK_STATE_DIR");
}

/* Options win over the environment, and a later config_load, as on SIGHUP, comes to the same. */
static void serve_settings(void **state)
{
    (void)state;
    char *said;
    size_t n;
    FILE *err = open_memstream(&said, &n);
    struct config_error e;
    struct serve_options options = {.settings = {{"state-dir", "PENSTOCK_STATE_DIR", "state_dir", "/option"},
                                                 {"listen", "PENSTOCK_LISTEN", "listen", "127.0.0.1:9090,:0"},
                                                 {"admin", "PENSTOCK_ADMIN", "admin", "127.0.0.1:0"}},
                                    .nsettings = 3};
    setenv("PENSTOCK_STATE_DIR", "/environment", 1);
    struct config *c = cli_load(&options, err);
    assert_non_null(c);
    assert_string_equal(c->state_dir, "/option");
    assert_int_equal(c->nlisteners, 2);
    config_unref(c);
    c = config_load(NULL, &e);
    assert_non_null(c);
    assert_string_equal(c->state_dir, "/option");
    assert_int_equal(c->nlisteners, 2);
    assert_int_equal(c->admin.port, 0);
    config_unref(c);
    options.settings[2].value = "nowhere";
    assert_null(cli_load(&options, err));
    fclose(err);
    assert_string_equal(
        said, "penstock: --admin: admin.address: expected an address with its port, such as 127.0.0.1:8080, "
              "[::1]:8080, :8080 or unix:/run/penstock.sock, found \"nowhere\"\n");
    free(said);
    unsetenv("PENSTOCK_STATE_DIR");
    unsetenv("PENSTOCK_LISTEN");
    unsetenv("PENSTOCK_ADMIN");
}

static void several_listeners(void **state)
{
    (void)state;
    struct run r =
        run((const char *const[ARGUMENTS]){"penstock", "serve", "--listen", ":1", "--listen=unix:/s"});
    assert_int_equal(r.cli.serve.nsettings, 1);
    assert_string_equal(r.cli.serve.settings[0].key, "listen");
    assert_string_equal(r.cli.serve.settings[0].value, ":1,unix:/s");
    done(&r);
}

static int check_text(const char *text, bool print, char **out, char **err)
{
    char path[] = "/tmp/penstock-check-XXXXXX";
    size_t nout, nerr;
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    FILE *o = open_memstream(out, &nout), *e = open_memstream(err, &nerr);
    int status = check_run(&(struct check_options){.path = path, .print = print}, o, e);
    fclose(o);
    fclose(e);
    unlink(path);
    assert_non_null(strstr(status ? *err : *out, path));
    return status;
}

/* A size for uploads is a promise that a provider without a files API cannot keep. */
static void check_of_sizes_that_do_nothing(void **state)
{
    (void)state;
    char *out, *err;
    assert_int_equal(check_text("providers:\n"
                                "- {name: a, dialect: anthropic, base_url: 'http://h', inline_size: 1MiB}\n"
                                "- {name: v, dialect: vllm, base_url: 'http://h', inline_size: 1MiB}\n"
                                "- {name: o, dialect: ollama, base_url: 'http://h'}\n",
                                false, &out, &err),
                     0);
    assert_non_null(
        strstr(out, "note      inline_size of v does nothing: the dialect vllm has no files API"));
    assert_null(strstr(out, "inline_size of a"));
    assert_null(strstr(out, "inline_size of o"));
    free(out);
    free(err);
}

static void check(void **state)
{
    (void)state;
    char *out, *err;
    assert_int_equal(
        check_text("providers:\n- {name: a, dialect: anthropic, base_url: 'http://h', consults: marked}\n",
                   false, &out, &err),
        0);
    assert_non_null(strstr(out, ": ok\n  listen    127.0.0.1:8080\n  admin     127.0.0.1:9090\n"));
    assert_non_null(strstr(out, "provider  a: /a → http://h (anthropic, consults: marked)"));
    assert_non_null(strstr(out, "no default provider"));
    assert_null(strstr(out, "openai-chat"));
    assert_string_equal(err, "");
    free(out);
    free(err);
    assert_int_equal(check_text("workers: 2\nlimits: {directive: 8MB}\n", false, &out, &err), 1);
    assert_string_equal(out, "");
    assert_non_null(strstr(err, ":2: limits.directive: expected a size"));
    free(out);
    free(err);
    assert_int_equal(check_text("workers: 2\n", true, &out, &err), 0);
    struct config_error e;
    struct config *c = config_parse(span_str(out), "printed", &e);
    assert_non_null(c);
    assert_int_equal(c->workers, 2);
    config_unref(c);
    free(out);
    free(err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes),
        cmocka_unit_test(help),
        cmocka_unit_test(options_and_environment),
        cmocka_unit_test(transcripts),
        cmocka_unit_test(serve_settings),
        cmocka_unit_test(several_listeners),
        cmocka_unit_test(check),
        cmocka_unit_test(check_of_sizes_that_do_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
