#ifndef PROXY_CLI_H
#define PROXY_CLI_H
/*
 * The command line: `penstock serve | check FILE | demo | extract FILE | convert FILE… | transcript ACTION |
 * --version | --help`. Tables say what options there are, which environment variable stands for each, and
 * what
 * --help prints. Only main.c calls this.
 *
 * Strings point into argv, the environment, or memory that cli_finish gives back.
 */
#include <stdint.h>
#include <stdio.h>

#include "config/config.h"

enum cli_command {
    CLI_NONE, /* all is said: exit with `status` (0 after --help, 2 after a mistake) */
    CLI_SERVE,
    CLI_CHECK,
    CLI_DEMO,
    CLI_EXTRACT,
    CLI_CONVERT,
    CLI_TRANSCRIPT,
};

/* One option that stands for a key of the configuration. */
struct cli_setting {
    const char *option;   /* "state-dir" */
    const char *variable; /* "PENSTOCK_STATE_DIR" */
    const char *key;      /* "state_dir" */
    const char *value;
};

struct serve_options {
    const char *config_path; /* NULL: the defaults */
    struct cli_setting settings[8];
    size_t nsettings;
};

struct check_options {
    const char *path;
    bool print; /* also what is in force */
};

struct demo_options {
    bool live;       /* OpenAI's API instead of the built-in script, with the key in OPENAI_API_KEY */
    const char *out; /* directory for what the demo makes */
    uint16_t port;   /* 0: the system chooses one */
};

struct extract_options {
    const char *path; /* NULL: standard input */
    const char *out;  /* directory for the files; the cleaned text goes to standard output */
};

struct convert_options {
    char *const *paths; /* "-": standard input */
    size_t npaths;      /* at least one */
    const char *out;    /* directory for the texts; NULL: standard output */
};

enum transcript_action { TRANSCRIPT_EXPORT, TRANSCRIPT_RENDER, TRANSCRIPT_RERENDER, TRANSCRIPT_LIST };

struct transcript_options {
    enum transcript_action action;
    const char *config_path, *state_dir, *org; /* NULL: not said */
    const char *out;                           /* of export and render */
    const char *thread;                        /* of export; NULL: all of them */
    const char *files[2];                      /* of render; the second may be NULL */
    const char *directory;                     /* of rerender */
    bool full, force, thread_json, dry_run;
    size_t limit; /* 0: none */
};

struct cli {
    enum cli_command command;
    int status;
    struct serve_options serve;
    struct check_options check;
    struct demo_options demo;
    struct extract_options extract;
    struct convert_options convert;
    struct transcript_options transcript;
    char **operands; /* of the command */
    size_t noperands;
    char *listen; /* several --listen joined */
};

/* Help goes to `out`; a mistake is one line to `err` that says what to do. */
void cli_parse(struct cli *cli, int argc, char **argv, FILE *out, FILE *err);
void cli_finish(struct cli *cli);
/*
 * The configuration that serve runs with: file, environment, options. The options are also put into the
 * environment, so that config_load alone, on SIGHUP, comes to the same. NULL after one line to `err`: exit
 * with 1.
 */
struct config *cli_load(const struct serve_options *options, FILE *err) MUST_USE;

#endif
