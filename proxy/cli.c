#include "proxy/cli.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>

#include "artifacts/store.h"
#include "base/xalloc.h"
#include "config/value.h"

enum { OPTIONS = 12, LONG = 256 };

enum { USAGE_ERROR = 2, LISTEN_MOST = 8192, TRANSCRIPT_OPERANDS = 3 };

struct option_row {
    const char *name;
    const char *argument; /* NULL: the option is a switch */
    const char *variable;
    const char *help;
    const char *key; /* of the configuration, which then reads the variable itself */
};

struct command {
    const char *name;
    enum cli_command command;
    const char *operand; /* NULL: takes none; one that ends in "…": several */
    const char *about;   /* in the list of commands */
    const char *help;
    struct option_row options[OPTIONS]; /* ends with a row without name */
    int (*finish)(struct cli *cli, const char *const values[OPTIONS], const char *operand, FILE *err);
};

static int finish_serve(struct cli *cli, const char *const values[OPTIONS], const char *operand, FILE *err);
static int finish_check(struct cli *cli, const char *const values[OPTIONS], const char *operand, FILE *err);
static int finish_demo(struct cli *cli, const char *const values[OPTIONS], const char *operand, FILE *err);
static int finish_extract(struct cli *cli, const char *const values[OPTIONS], const char *operand, FILE *err);
static int finish_convert(struct cli *cli, const char *const values[OPTIONS], const char *operand, FILE *err);
static int finish_transcript(struct cli *cli, const char *const values[OPTIONS], const char *operand,
                             FILE *err);

/* The finish functions know these rows by their places. */
enum { SERVE_CONFIG };
enum { CHECK_PRINT };
enum { DEMO_LIVE, DEMO_OUT, DEMO_PORT };
enum { EXTRACT_OUT };
enum { CONVERT_OUT };
enum {
    TRANSCRIPT_OUT,
    TRANSCRIPT_ALL,
    TRANSCRIPT_CONFIG,
    TRANSCRIPT_STATE_DIR,
    TRANSCRIPT_ORG,
    TRANSCRIPT_FULL,
    TRANSCRIPT_FORCE,
    TRANSCRIPT_THREAD_JSON,
    TRANSCRIPT_DRY_RUN,
    TRANSCRIPT_LIMIT
};

static const struct command commands[] = {
    {"serve",
     CLI_SERVE,
     NULL,
     "run the proxy",
     "Runs the proxy until SIGTERM or SIGINT; SIGHUP reads the configuration again.\n"
     "Without --config it runs with the documented defaults: listening on 127.0.0.1:8080,\n"
     "with the providers openai (the default), anthropic, gemini and ollama.\n",
     {{"config", "FILE", "PENSTOCK_CONFIG", "the configuration, a YAML file", NULL},
      {"listen", "ADDRESS", "PENSTOCK_LISTEN",
       "HOST:PORT, [IPV6]:PORT, :PORT or unix:PATH; may be given several times", "listen"},
      {"admin", "ADDRESS", "PENSTOCK_ADMIN",
       "where /healthz, /readyz, /metrics, /consults and /threads are served", "admin"},
      {"state-dir", "DIR", "PENSTOCK_STATE_DIR", "where artifacts, records and threads are kept",
       "state_dir"},
      {"workers", "N", "PENSTOCK_WORKERS", "event-loop processes, or auto", "workers"},
      {"public-url", "URL", "PENSTOCK_PUBLIC_URL", "what artifact links start with", "public_url"},
      {"log-level", "LEVEL", "PENSTOCK_LOG_LEVEL", "debug, info, warning or error", "log.level"},
      {0}},
     finish_serve},
    {"check",
     CLI_CHECK,
     "FILE",
     "say whether a configuration file is good",
     "Reads a configuration file as serve would, environment included, and says what it means, or\n"
     "which line and key are wrong. FILE may be left out when PENSTOCK_CONFIG names it.\n",
     {{"print", NULL, "PENSTOCK_PRINT", "also print all that is in force, as YAML", NULL}, {0}},
     finish_check},
    {"demo",
     CLI_DEMO,
     NULL,
     "show what Penstock does, with one command",
     "Runs a consult through a proxy of its own and shows what the provider sent, what the client got,\n"
     "and which files were made. Nothing leaves this machine, unless --live is given.\n",
     {{"live", NULL, "PENSTOCK_LIVE",
       "ask OpenAI's API (OPENAI_API_KEY, OPENAI_MODEL), not the built-in script", NULL},
      {"out", "DIR", "PENSTOCK_DEMO_OUT", "where the files go (default: demo-output)", NULL},
      {"port", "PORT", "PENSTOCK_DEMO_PORT", "the proxy's port (default: one that is free)", NULL},
      {0}},
     finish_demo},
    {"extract",
     CLI_EXTRACT,
     "[FILE]",
     "make the files out of a reply's text",
     "Reads a reply's text from FILE, or from standard input when FILE is - or left out. Writes the text\n"
     "without its directives to standard output, and the files that they describe to a directory.\n",
     {{"out", "DIR", "PENSTOCK_EXTRACT_OUT", "where the files go (default: extracted)", NULL}, {0}},
     finish_extract},
    {"convert",
     CLI_CONVERT,
     "FILE…",
     "show what a model would be given for a document",
     "Converts documents as serve does with what callers attach, and writes the Markdown to standard\n"
     "output, between the tags in which a model sees it, or each into a file of its own. FILE may be -\n"
     "for standard input. Exits with 3 when a file would be refused, and says why.\n",
     {{"out", "DIR", "PENSTOCK_CONVERT_OUT", "a directory for the texts (default: -, standard output)", NULL},
      {0}},
     finish_convert},
    {"transcript",
     CLI_TRANSCRIPT,
     "ACTION…",
     "write threads as files to read",
     "  export THREAD|--all --out DIR   threads that the server recorded; those that did not change since "
     "the\n"
     "                                  last export are left alone\n"
     "  render FILE [FILE] --out DIR    a raw thread document, or a dump that came as two files\n"
     "  rerender DIR                    draws anew what export and render wrote there\n"
     "  list                            the recorded threads, the one that changed last first: last update,\n"
     "                                  organisation, thread, turns, consults, title\n",
     {{"out", "DIR", "PENSTOCK_TRANSCRIPT_OUT", "where the files go", NULL},
      {"all", NULL, "PENSTOCK_TRANSCRIPT_ALL", "export: every thread", NULL},
      {"config", "FILE", "PENSTOCK_CONFIG", "the server's configuration, which says where threads are", NULL},
      {"state-dir", "DIR", "PENSTOCK_STATE_DIR", "or that directory itself", NULL},
      {"org", "ORG", "PENSTOCK_TRANSCRIPT_ORG", "threads of this organisation", NULL},
      {"full", NULL, "PENSTOCK_TRANSCRIPT_FULL", "export: look at the oldest threads too", NULL},
      {"force", NULL, "PENSTOCK_TRANSCRIPT_FORCE", "export: those that did not change as well", NULL},
      {"thread-json", NULL, "PENSTOCK_TRANSCRIPT_THREAD_JSON",
       "rerender: also the interruptions in thread.json", NULL},
      {"dry-run", NULL, "PENSTOCK_TRANSCRIPT_DRY_RUN", "rerender: only list the directories", NULL},
      {"limit", "N", "PENSTOCK_TRANSCRIPT_LIMIT", "list, rerender: only the first N threads or directories",
       NULL},
      {0}},
     finish_transcript},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* How wide an operand is, all of whose characters take one column. */
static int letters(const char *operand)
{
    int n = 0;
    for (; operand && *operand; operand++)
        n += ((unsigned char)*operand & 0xc0) != 0x80;
    return n;
}

static int operands_most(const struct command *c)
{
    if (c->command == CLI_TRANSCRIPT)
        return TRANSCRIPT_OPERANDS;
    return !c->operand ? 0 : strstr(c->operand, "…") ? INT_MAX : 1;
}

static void print_general_help(FILE *out)
{
    fputs("Usage: penstock COMMAND [OPTION…]\n\n"
          "A streaming reverse proxy between an application and its LLM providers, which turns the\n"
          "files that models describe in their replies into real ones.\n\nCommands:\n",
          out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-10s %s%*s %s\n", commands[i].name, commands[i].operand ? commands[i].operand : "",
                7 - letters(commands[i].operand), "", commands[i].about);
    fputs("\nOptions:\n"
          "  --help           this text (also: penstock help); after a command, that command's options\n"
          "  --version        the version\n\n"
          "Every option of a command can also be set by an environment variable; its --help names them.\n"
          "See penstock(1) and docs/CONFIGURATION.md.\n",
          out);
}

static void print_command_help(const struct command *c, FILE *out)
{
    fprintf(out,
            "Usage: penstock %s [OPTION…]%s%s\n\n%s\nOptions, and the environment variables that stand for "
            "them (the option wins):\n",
            c->name, c->operand ? " " : "", c->operand ? c->operand : "", c->help);
    for (const struct option_row *row = c->options; row->name; row++) {
        char form[64];
        snprintf(form, sizeof form, "--%s%s%s", row->name, row->argument ? " " : "",
                 row->argument ? row->argument : "");
        fprintf(out, "  %-20s %s\n%-23s[%s]\n", form, row->help, "", row->variable);
    }
    fputs("  --help               this text\n", out);
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int refuse_command(const char *name, FILE *err)
{
    enum { NEAR = 3 };
    const char *nearest = NULL;
    unsigned best = NEAR;
    for (size_t i = 0; i < COMMANDS; i++) {
        unsigned distance = value_distance(span_str(name), span_str(commands[i].name));
        if (distance < best) {
            best = distance;
            nearest = commands[i].name;
        }
    }
    fprintf(err, "penstock: unknown %s \"%.60s\"; %s%s%ssee penstock --help\n",
            name[0] == '-' ? "option" : "command", name, nearest ? "did you mean " : "",
            nearest ? nearest : "", nearest ? "? Or " : "");
    return USAGE_ERROR;
}

/* Whether a switch's environment variable is on. -1: neither on nor off. */
static int switch_value(const char *value)
{
    static const char *const on[] = {"1", "true", "yes", "on"}, *const off[] = {"", "0", "false", "no",
                                                                                "off"};
    for (size_t i = 0; i < sizeof on / sizeof on[0]; i++)
        if (strcasecmp(value, on[i]) == 0)
            return 1;
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++)
        if (strcasecmp(value, off[i]) == 0)
            return 0;
    return -1;
}

/* What no option said, from the environment; what is a key of the configuration is left to config_load. */
static int take_environment(const struct command *c, const char *values[OPTIONS], FILE *err)
{
    for (size_t i = 0; c->options[i].name; i++) {
        const struct option_row *row = &c->options[i];
        const char *value = row->key || values[i] ? NULL : getenv(row->variable);
        if (!value || !*value)
            continue;
        int on = row->argument ? 1 : switch_value(value);
        if (on < 0) {
            fprintf(err, "penstock %s: %s must be true or false, not \"%.60s\"\n", c->name, row->variable,
                    value);
            return USAGE_ERROR;
        }
        if (on)
            values[i] = value;
    }
    return 0;
}

/* Several listeners become one list, as the key wants it. */
static int join_listen(struct cli *cli, const char **value, const char *more)
{
    struct buf joined;
    int failed;
    buf_init(&joined, LISTEN_MOST);
    buf_printf(&joined, "%s%s%s", cli->listen ? cli->listen : "", cli->listen ? "," : "", more);
    failed = buf_full(&joined);
    xfree(cli->listen);
    cli->listen = xspandup(buf_span(&joined));
    buf_free(&joined);
    *value = cli->listen;
    return failed ? -1 : 0;
}

static int refuse_missing(const struct command *c, const struct option_row *row, FILE *err)
{
    fprintf(err, "penstock %s: --%s needs a value: --%s %s; see penstock %s --help\n", c->name, row->name,
            row->name, row->argument, c->name);
    return USAGE_ERROR;
}

/* getopt_long answered that it does not know what stands there, or that a value is missing. */
static int refuse_option(const struct command *c, int answer, char **argv, FILE *err)
{
    const struct option_row *row =
        optopt >= LONG && optopt < LONG + OPTIONS ? &c->options[optopt - LONG] : NULL;
    const char *argument = argv[optind - 1];
    if (answer == ':' && row)
        return refuse_missing(c, row, err);
    if (row)
        fprintf(err, "penstock %s: --%s takes no value; see penstock %s --help\n", c->name, row->name,
                c->name);
    else if (optopt == 'h') /* -h alone was taken */
        fprintf(err, "penstock %s: --help takes no value; see penstock %s --help\n", c->name, c->name);
    else if (optopt > 0 && optopt < LONG)
        fprintf(err, "penstock %s: unknown option -%c; see penstock %s --help\n", c->name, optopt, c->name);
    else
        fprintf(err, "penstock %s: unknown option %.60s; see penstock %s --help\n", c->name, argument,
                c->name);
    return USAGE_ERROR;
}

/* -1: an option that was help; >0: exit status. */
static int read_options(struct cli *cli, const struct command *c, int argc, char **argv,
                        const char *values[OPTIONS], FILE *out, FILE *err)
{
    struct option longs[OPTIONS + 2] = {0};
    int n = 0, answer;
    for (; c->options[n].name; n++)
        longs[n] = (struct option){.name = c->options[n].name,
                                   .has_arg = c->options[n].argument ? required_argument : no_argument,
                                   .val = LONG + n};
    longs[n] = (struct option){.name = "help", .has_arg = no_argument, .val = 'h'};
    opterr = 0;
    optind = 0; /* glibc: begin anew */
    while ((answer = getopt_long(argc, argv, ":h", longs, NULL)) != -1) {
        if (answer == 'h') {
            print_command_help(c, out);
            return -1;
        }
        if (answer < LONG)
            return refuse_option(c, answer, argv, err);
        const struct option_row *row = &c->options[answer - LONG];
        const char **value = &values[answer - LONG];
        if (!row->key && optarg && !*optarg) /* an unset variable of a script, most likely */
            return refuse_missing(c, row, err);
        if (row->key && strcmp(row->key, "listen") == 0) {
            if (join_listen(cli, value, optarg)) {
                fprintf(err, "penstock %s: too many --listen; write them into a configuration file\n",
                        c->name);
                return USAGE_ERROR;
            }
        } else {
            *value = optarg ? optarg : "";
        }
    }
    return 0;
}

/* `penstock help`, `penstock help COMMAND`. */
static int help(int argc, char **argv, FILE *out, FILE *err)
{
    const struct command *c = argc > 2 ? find_command(argv[2]) : NULL;
    if (argc > 2 && !c)
        return refuse_command(argv[2], err);
    if (c)
        print_command_help(c, out);
    else
        print_general_help(out);
    return 0;
}

static int run_command(struct cli *cli, const struct command *c, int argc, char **argv, FILE *out, FILE *err)
{
    const char *values[OPTIONS] = {0};
    int status = read_options(cli, c, argc, argv, values, out, err);
    if (status)
        return status < 0 ? 0 : status;
    int left = argc - optind, most = operands_most(c);
    if (left > most) {
        fprintf(err, "penstock %s: unexpected \"%.60s\"; see penstock %s --help\n", c->name,
                argv[optind + most], c->name);
        return USAGE_ERROR;
    }
    cli->operands = argv + optind;
    cli->noperands = (size_t)left;
    status = take_environment(c, values, err);
    if (!status)
        status = c->finish(cli, values, left ? argv[optind] : NULL, err);
    if (!status)
        cli->command = c->command;
    return status;
}

void cli_parse(struct cli *cli, int argc, char **argv, FILE *out, FILE *err)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    *cli = (struct cli){.command = CLI_NONE};
    if (!word) {
        fputs(
            "penstock: a command is needed: serve, check, demo, extract, convert or transcript; see penstock "
            "--help\n",
            err);
        cli->status = USAGE_ERROR;
    } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        print_general_help(out);
    } else if (strcmp(word, "help") == 0) {
        cli->status = help(argc, argv, out, err);
    } else if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        fprintf(out, "penstock %s\n", PENSTOCK_VERSION);
    } else {
        const struct command *c = find_command(word);
        cli->status = c ? run_command(cli, c, argc - 1, argv + 1, out, err) : refuse_command(word, err);
    }
}

void cli_finish(struct cli *cli)
{
    xfree(cli->listen);
    *cli = (struct cli){.command = CLI_NONE};
}

static int finish_serve(struct cli *cli, const char *const values[OPTIONS], const char *operand, FILE *err)
{
    const struct option_row *rows = find_command("serve")->options;
    struct serve_options *options = &cli->serve;
    (void)operand;
    (void)err;
    options->config_path = values[SERVE_CONFIG];
    for (size_t i = 0; rows[i].name; i++)
        if (rows[i].key && values[i])
            options->settings[options->nsettings++] = (struct cli_setting){
                .option = rows[i].name, .variable = rows[i].variable, .key = rows[i].key, .value = values[i]};
    return 0;
}

static int finish_check(struct cli *cli, const char *const values[OPTIONS], const char *operand, FILE *err)
{
    const char *path = operand ? operand : getenv("PENSTOCK_CONFIG");
    cli->check = (struct check_options){.path = path, .print = values[CHECK_PRINT]};
    if (path && *path)
        return 0;
    fputs("penstock check: which file? penstock check FILE, or set PENSTOCK_CONFIG\n", err);
    return USAGE_ERROR;
}

static int finish_demo(struct cli *cli, const char *const values[OPTIONS], const char *operand, FILE *err)
{
    int64_t port = 0;
    (void)operand;
    if (values[DEMO_PORT] && (value_count(span_str(values[DEMO_PORT]), &port) || port > 65535)) {
        fprintf(err, "penstock demo: --port must be a number from 0 to 65535, not \"%.60s\"\n",
                values[DEMO_PORT]);
        return USAGE_ERROR;
    }
    cli->demo = (struct demo_options){.live = values[DEMO_LIVE],
                                      .out = values[DEMO_OUT] ? values[DEMO_OUT] : "demo-output",
                                      .port = (uint16_t)port};
    return 0;
}

static int finish_extract(struct cli *cli, const char *const values[OPTIONS], const char *operand, FILE *err)
{
    (void)err;
    cli->extract = (struct extract_options){.path = operand && strcmp(operand, "-") != 0 ? operand : NULL,
                                            .out = values[EXTRACT_OUT] ? values[EXTRACT_OUT] : "extracted"};
    return 0;
}

static int finish_convert(struct cli *cli, const char *const values[OPTIONS], const char *operand, FILE *err)
{
    const char *out = values[CONVERT_OUT];
    cli->convert = (struct convert_options){.paths = cli->operands, .npaths = cli->noperands};
    cli->convert.out = out && strcmp(out, "-") != 0 ? out : NULL;
    if (operand)
        return 0;
    fputs("penstock convert: which file? penstock convert FILE…, or - for standard input\n", err);
    return USAGE_ERROR;
}

/* What the action needs, and what it was given. */
static int check_transcript(const struct transcript_options *o, size_t operands, bool all, FILE *err)
{
    static const char *const usage[] = {"export THREAD --out DIR, or export --all --out DIR",
                                        "render FILE [FILE] --out DIR", "rerender DIR", "list"};
    bool good = false;
    switch (o->action) {
    case TRANSCRIPT_EXPORT:
        good = o->out && operands == (all ? 0 : 1);
        break;
    case TRANSCRIPT_RENDER:
        good = o->out && (operands == 1 || operands == 2);
        break;
    case TRANSCRIPT_RERENDER:
        good = operands == 1;
        break;
    case TRANSCRIPT_LIST:
        good = operands == 0;
        break;
    }
    if (good)
        return 0;
    fprintf(err, "penstock transcript: say penstock transcript %s; see penstock transcript --help\n",
            usage[o->action]);
    return USAGE_ERROR;
}

static int finish_transcript(struct cli *cli, const char *const values[OPTIONS], const char *operand,
                             FILE *err)
{
    static const char *const actions[] = {"export", "render", "rerender", "list"};
    char **operands = cli->operands + 1;
    size_t action = 0, n = cli->noperands ? cli->noperands - 1 : 0;
    int64_t limit = 0;
    while (action < 4 && (!operand || strcmp(operand, actions[action]) != 0))
        action++;
    if (action == 4) {
        fputs("penstock transcript: ", err);
        if (operand)
            fprintf(err, "there is no \"%.60s\". ", operand);
        fprintf(err, "%sIt takes export, render, rerender or list; see penstock transcript --help\n",
                operand ? "" : "what to do? ");
        return USAGE_ERROR;
    }
    if (values[TRANSCRIPT_LIMIT] && (value_count(span_str(values[TRANSCRIPT_LIMIT]), &limit) || limit == 0)) {
        fprintf(err, "penstock transcript: --limit must be a number from 1 on, not \"%.60s\"\n",
                values[TRANSCRIPT_LIMIT]);
        return USAGE_ERROR;
    }
    if (values[TRANSCRIPT_ORG] && !store_org_valid(values[TRANSCRIPT_ORG])) {
        fprintf(err,
                "penstock transcript: --org must be an organisation: letters, digits, - and _, at most 64, "
                "not \"%.60s\"\n",
                values[TRANSCRIPT_ORG]);
        return USAGE_ERROR;
    }
    cli->transcript = (struct transcript_options){.action = (enum transcript_action)action,
                                                  .config_path = values[TRANSCRIPT_CONFIG],
                                                  .state_dir = values[TRANSCRIPT_STATE_DIR],
                                                  .org = values[TRANSCRIPT_ORG],
                                                  .out = values[TRANSCRIPT_OUT],
                                                  .full = values[TRANSCRIPT_FULL],
                                                  .force = values[TRANSCRIPT_FORCE],
                                                  .thread_json = values[TRANSCRIPT_THREAD_JSON],
                                                  .dry_run = values[TRANSCRIPT_DRY_RUN],
                                                  .limit = (size_t)limit};
    struct transcript_options *o = &cli->transcript;
    bool all = values[TRANSCRIPT_ALL];
    if (o->action == TRANSCRIPT_EXPORT)
        o->thread = n ? operands[0] : NULL;
    else if (o->action == TRANSCRIPT_RERENDER)
        o->directory = n ? operands[0] : NULL;
    for (size_t i = 0; i < n && i < 2 && o->action == TRANSCRIPT_RENDER; i++)
        o->files[i] = operands[i];
    return check_transcript(o, n, all, err);
}

struct config *cli_load(const struct serve_options *options, FILE *err)
{
    struct config_error e;
    struct config *c = config_load(options->config_path, &e);
    if (!c) {
        fprintf(err, "penstock: %s\n", e.message);
        return NULL;
    }
    for (size_t i = 0; i < options->nsettings; i++) {
        const struct cli_setting *s = &options->settings[i];
        if (config_override(c, s->key, s->value, &e)) {
            fprintf(err, "penstock: --%s: %s\n", s->option, e.message);
            config_unref(c);
            return NULL;
        }
        setenv(s->variable, s->value, 1);
    }
    return c;
}
