#include "proxy/demo.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/xalloc.h"
#include "proxy/demo_specialist.h"
#include "proxy/demo_view.h"
#include "proxy/serve.h"

enum { READY_MS = 15000, STOP_MS = 8000, STEP_MS = 20, STARTS = 3, CONFIG = 16 * 1024, INTERRUPTED = 130 };

#define STATE         "state"
#define DOWNLOADS     "downloads"
#define LOG           "penstock.log"
#define CLIENT_STREAM "client.sse"

struct demo {
    const char *dir;
    bool live;
    struct demo_io io;
    sigset_t signals, before;
    pid_t specialist, proxy;
    uint16_t specialist_port, port, admin_port;
    const char *model, *key; /* key NULL: none */
    char *base_url;
    struct demo_stream provider, client;
    struct demo_reply reply;
    bool good;
};

/* One sentence on standard error; always -1. */
static int fail(const struct demo *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(const struct demo *d, const char *format, ...)
{
    va_list list;
    if (d->io.interrupted)
        return -1;
    fflush(stdout);
    fputs("penstock demo: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    return -1;
}

/* ---- the children ---- */

/* Out of the terminal's sight: this process alone hears of Ctrl-C, and ends them. */
static pid_t start_child(struct demo *d)
{
    pid_t parent = getpid();
    fflush(stdout);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    close(d->io.signals);
    sigprocmask(SIG_SETMASK, &d->before, NULL);
    return 0;
}

static void stop_child(pid_t *pid)
{
    int64_t until = clock_mono_ms() + STOP_MS;
    struct demo_io deaf = {.signals = -1};
    if (*pid <= 0)
        return;
    kill(*pid, SIGTERM);
    while (waitpid(*pid, NULL, WNOHANG) == 0) {
        if (clock_mono_ms() > until) {
            kill(-*pid, SIGKILL); /* its workers too */
            waitpid(*pid, NULL, 0);
            break;
        }
        (void)demo_io_pause(&deaf, STEP_MS);
    }
    *pid = 0;
}

static int start_specialist(struct demo *d)
{
    int fd = demo_io_bind(&d->specialist_port);
    if (fd < 0 || listen(fd, 16) < 0) {
        if (fd >= 0)
            close(fd);
        return fail(d, "cannot listen on this machine: %s", strerror(errno));
    }
    d->specialist = start_child(d);
    if (d->specialist == 0)
        demo_specialist_run(fd, d->dir);
    close(fd);
    return d->specialist < 0 ? fail(d, "cannot start a process: %s", strerror(errno)) : 0;
}

static struct config *make_config(const struct demo *d, struct config_error *e)
{
    char state[DEMO_PATH], workspace[DEMO_PATH];
    struct buf yaml;
    struct config *c = NULL;
    buf_init(&yaml, CONFIG);
    buf_printf(&yaml,
               "listen: [{address: \"127.0.0.1:%u\"}]\nadmin: {address: \"127.0.0.1:%u\"}\nworkers: 1\n"
               "default_provider: openai\nproviders:\n"
               "  - {name: openai, dialect: openai, consults: all, base_url: \"",
               d->port, d->admin_port);
    int failed = json_escape(span_str(d->base_url), &yaml);
    buf_adds(&yaml, "\"}\ntimeouts: {drain: 2s}\n");
    snprintf(e->message, sizeof e->message, "the directory's name is too long");
    if (!failed && !buf_full(&yaml) && demo_io_path(state, d->dir, STATE) == 0 &&
        demo_io_path(workspace, d->dir, "workspace") == 0)
        c = config_parse(buf_span(&yaml), "the demo's configuration", e);
    if (c &&
        (config_override(c, "state_dir", state, e) || config_override(c, "workspace_root", workspace, e))) {
        config_unref(c);
        c = NULL;
    }
    buf_free(&yaml);
    return c;
}

static void forget_proxies(void)
{
    static const char *const names[] = {"http_proxy",  "HTTP_PROXY", "https_proxy",
                                        "HTTPS_PROXY", "all_proxy",  "ALL_PROXY"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
}

/* In the child, which takes the configuration: what it says goes to the log. Does not come back. */
static void run_proxy(struct demo *d, struct config *c, int log)
{
    static const struct serve_options options = {.config_path = NULL};
    if (!d->live)
        forget_proxies();
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    close(log);
    _exit(serve_run(c, &options));
}

static bool is_ready(struct demo *d)
{
    char why[LIMIT_ERROR_TEXT];
    struct buf body;
    int status = 0;
    buf_init(&body, DEMO_FILE);
    int failed = demo_client_get(&d->io, d->admin_port, "/readyz", &body, &status, why);
    buf_free(&body);
    return !failed && status == 200;
}

/* 0: ready; 1: the process ended; -1: it takes too long, or the demo is to end. */
static int await_ready(struct demo *d)
{
    int64_t until = clock_mono_ms() + READY_MS;
    while (clock_mono_ms() < until && demo_io_pause(&d->io, STEP_MS)) {
        if (waitpid(d->proxy, NULL, WNOHANG) == d->proxy) {
            d->proxy = 0;
            return 1;
        }
        if (is_ready(d))
            return 0;
    }
    return -1;
}

/* Two free ports; the first is `wanted` unless that is 0. */
static int choose_ports(struct demo *d, uint16_t wanted)
{
    d->port = wanted;
    d->admin_port = 0;
    int fd = demo_io_bind(&d->port);
    if (fd < 0)
        return fail(d, "port %u on this machine cannot be had: %s; choose another --port", wanted,
                    strerror(errno));
    int admin = demo_io_bind(&d->admin_port);
    int failed = admin < 0 ? fail(d, "no free port on this machine: %s", strerror(errno)) : 0;
    close(fd);
    if (admin >= 0)
        close(admin);
    return failed;
}

static int start_proxy(struct demo *d, uint16_t wanted)
{
    struct config_error e;
    char log_path[DEMO_PATH];
    int ready = 1;
    if (demo_io_path(log_path, d->dir, LOG))
        return fail(d, "%s: the name is too long", d->dir);
    for (int i = 0; i < STARTS && ready == 1; i++) { /* another program may take a port in between */
        if (choose_ports(d, wanted))
            return -1;
        struct config *c = make_config(d, &e);
        if (!c)
            return fail(d, "%s", e.message);
        int log = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
        if (log < 0) {
            config_unref(c);
            return fail(d, "cannot write %s: %s", log_path, strerror(errno));
        }
        d->proxy = start_child(d);
        if (d->proxy == 0)
            run_proxy(d, c, log);
        close(log);
        config_unref(c);
        if (d->proxy < 0)
            return fail(d, "cannot start a process: %s", strerror(errno));
        ready = await_ready(d);
    }
    return ready ? fail(d, "the proxy did not start; %s says why", log_path) : 0;
}

/* ---- the consult ---- */

static const char *question_of(const struct demo *d)
{
    return d->live
               ? "Make a small CSV file for me: a fictional company's four quarters with revenue, cost and "
                 "profit. One sentence before it, one after it."
               : demo_specialist_question();
}

static int read_provider_side(struct demo *d)
{
    char path[DEMO_PATH];
    struct buf bytes;
    buf_init(&bytes, DEMO_FILE);
    int failed = demo_io_path(path, d->dir, DEMO_PROVIDER_STREAM) || demo_io_read_file(path, &bytes) ||
                 demo_stream_feed(&d->provider, buf_span(&bytes), true);
    buf_free(&bytes);
    return failed ? fail(d, "%s cannot be read", path) : 0;
}

static int consult(struct demo *d)
{
    char why[LIMIT_ERROR_TEXT], path[DEMO_PATH];
    demo_view_title("Expert asks, and the Specialist's reply streams in");
    demo_view_styled(DEMO_DIM, SPAN_LIT("Expert:     "));
    demo_view_text(span_str(question_of(d)));
    putchar('\n');
    demo_view_styled(DEMO_DIM, SPAN_LIT("Specialist: "));
    fflush(stdout);
    d->client.show = demo_view_text;
    int failed =
        demo_client_consult(&d->io, d->port, d->model, d->key, question_of(d), &d->client, &d->reply, why);
    putchar('\n');
    if (demo_io_path(path, d->dir, CLIENT_STREAM) == 0 && demo_io_write_file(path, buf_span(&d->client.raw)))
        return fail(d, "cannot write %s: %s", path, strerror(errno));
    if (failed)
        return fail(d, "the reply did not come: %s; see %s/" LOG, why, d->dir);
    if (d->reply.status != 200 || d->client.error[0])
        return fail(d, "the consult failed with status %d: %s", d->reply.status,
                    d->client.error[0] ? d->client.error : "no reason was given");
    return d->live ? 0 : read_provider_side(d);
}

static void show_sides(const struct demo *d)
{
    if (!d->live) {
        demo_view_sides(&d->provider, &d->client);
        printf("What Penstock added to the prompt stands in %s/" DEMO_PROVIDER_REQUEST ".\n", d->dir);
        return;
    }
    demo_view_title("What the provider sent");
    printf("Its own bytes went to the proxy alone; what the client saw of them is above, in %zu pieces.\n"
           "What the proxy took out are the files below.\n",
           d->client.ncuts);
}

/* ---- the files ---- */

static void digest(struct span bytes, char out[65])
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    EVP_Digest(bytes.p, bytes.n, sum, &n, EVP_sha256(), NULL);
    hex_write(sum, n, out);
}

/* The part of the link behind the proxy's own address; NULL: it leads elsewhere. */
static const char *target_of(const struct demo *d, const char *url)
{
    char own[64];
    int n = snprintf(own, sizeof own, "http://127.0.0.1:%u/", d->port);
    return strncmp(url, own, (size_t)n) == 0 ? url + n - 1 : NULL;
}

static int download(struct demo *d, const struct demo_artifact *a, struct buf *bytes,
                    char why[LIMIT_ERROR_TEXT])
{
    char sum[65] = "";
    int status = 0;
    const char *target = target_of(d, a->url);
    if (!target) {
        snprintf(why, LIMIT_ERROR_TEXT, "its link does not lead to the proxy");
        return -1;
    }
    if (demo_client_get(&d->io, d->port, target, bytes, &status, why))
        return -1;
    digest(buf_span(bytes), sum);
    if (status == 200 && a->bytes == (int64_t)bytes->n && strcmp(sum, a->sha256) == 0)
        return 0;
    snprintf(why, LIMIT_ERROR_TEXT, "%s (status %d, %zu bytes)",
             status == 200 ? "the bytes are others than the reply said" : "the link is not answered", status,
             bytes->n);
    return -1;
}

/* The file as the store keeps it must hold the same bytes. -1: it does not. */
static int find_stored(const struct demo *d, const struct demo_artifact *a, struct span bytes,
                       char path[DEMO_PATH])
{
    struct buf name, stored;
    buf_init(&name, DEMO_PATH);
    buf_init(&stored, DEMO_FILE);
    buf_printf(&name, STATE "/orgs/default/%s/outbound/%s", d->reply.consult, a->filename);
    int failed = demo_io_path(path, d->dir, buf_cstr(&name)) || demo_io_read_file(path, &stored) ||
                 stored.n != bytes.n || (bytes.n && memcmp(buf_span(&stored).p, bytes.p, bytes.n) != 0);
    buf_free(&name);
    buf_free(&stored);
    return failed ? -1 : 0;
}

static int save_download(const struct demo *d, const struct demo_artifact *a, struct span bytes,
                         char path[DEMO_PATH])
{
    char folder[DEMO_PATH];
    if (demo_io_path(folder, d->dir, DOWNLOADS) || (mkdir(folder, 0777) < 0 && errno != EEXIST) ||
        strchr(a->filename, '/') || demo_io_path(path, folder, a->filename))
        return -1;
    return demo_io_write_file(path, bytes);
}

static bool show_file(struct demo *d, const struct demo_artifact *a)
{
    char why[LIMIT_ERROR_TEXT] = "", stored[DEMO_PATH], saved[DEMO_PATH];
    struct buf bytes;
    buf_init(&bytes, DEMO_FILE);
    int failed = download(d, a, &bytes, why);
    if (!failed && find_stored(d, a, buf_span(&bytes), stored)) {
        snprintf(why, sizeof why, "it does not lie where it should");
        failed = -1;
    }
    if (!failed && save_download(d, a, buf_span(&bytes), saved)) {
        snprintf(why, sizeof why, "it cannot be written to %s/" DOWNLOADS, d->dir);
        failed = -1;
    }
    demo_view_styled(DEMO_BOLD, span_str(a->filename));
    printf("  %s, %lld bytes, sha256 %.12s...\n", a->format, (long long)a->bytes, a->sha256);
    if (!failed) {
        printf("    open it   %s\n    stored    %s\n    its link  ", saved, stored);
        demo_view_text(span_str(a->url));
        putchar('\n');
        demo_view_beginning(buf_span(&bytes), 6);
    }
    if (failed)
        fail(d, "%s: %s", a->filename, why);
    buf_free(&bytes);
    return !failed;
}

/* ---- what must be true ---- */

static bool holds_marker(struct span text)
{
    static const char name[] = "hw_attachment";
    for (size_t i = 0; i + sizeof name - 1 <= text.n; i++)
        if (strncasecmp(text.p + i, name, sizeof name - 1) == 0)
            return true;
    return false;
}

static bool text_is_expected(const struct demo *d)
{
    struct buf expected;
    buf_init(&expected, DEMO_TEXT);
    demo_specialist_expected(&expected);
    bool good = expected.n == d->client.text.n &&
                memcmp(buf_span(&expected).p, buf_span(&d->client.text).p, expected.n) == 0;
    buf_free(&expected);
    return good;
}

static bool check(bool good, const char *sentence)
{
    demo_view_check(good, sentence);
    return good;
}

static bool check_all(const struct demo *d, bool files_good)
{
    bool good = check(!holds_marker(buf_span(&d->client.raw)) && !holds_marker(buf_span(&d->client.text)),
                      "not a byte of a marker reached the client");
    if (!d->live)
        good &= check(text_is_expected(d), "the client's text is the reply's, without its directives");
    good &= check(d->client.done, "the stream came to its end");
    good &= check(d->client.nartifacts > 0 && (d->live || d->client.nartifacts == 2),
                  "the reply's last event names the files");
    good &=
        check(files_good, "each file was downloaded through its link; its sha256 is the one that was named");
    if (d->client.reason[0]) {
        demo_view_styled(DEMO_BAD, SPAN_LIT("  flagged "));
        demo_view_text(span_str(d->client.reason));
        putchar('\n');
    }
    return good && (d->live || !d->client.reason[0]);
}

/* How this program is called from here: its path below the current directory, or as it is known. */
static const char *program_name(char *room, size_t n)
{
    char here[4096];
    ssize_t length = readlink("/proc/self/exe", room, n - 1);
    if (length <= 0 || !getcwd(here, sizeof here))
        return "penstock";
    room[length] = '\0';
    size_t prefix = strlen(here);
    return strncmp(room, here, prefix) == 0 && room[prefix] == '/' ? room + prefix + 1 : room;
}

static int show_files(struct demo *d)
{
    char name[4096];
    bool good = true;
    demo_view_title("The files that were in it");
    if (!d->client.nartifacts)
        puts("None came.");
    for (size_t i = 0; i < d->client.nartifacts && !d->io.interrupted; i++)
        good &= show_file(d, &d->client.artifacts[i]);
    if (d->io.interrupted)
        return -1;
    demo_view_title("Checked");
    if (!check_all(d, good && d->client.nartifacts))
        return fail(d, d->client.nartifacts ? "something above is not as it should be"
                                            : "no file came; the model may not have made one, try again");
    printf("\nBoth sides' bytes and the proxy's log are in %s/. The links were good while its proxy ran.\n"
           "Next: run `%s serve` and point your client at it:\n"
           "      OPENAI_BASE_URL=http://127.0.0.1:8080/v1\n",
           d->dir, program_name(name, sizeof name));
    return 0;
}

/* ---- */

/* "https://host/v1" as clients write it becomes the provider's base. */
static int choose_provider(struct demo *d)
{
    struct buf url;
    buf_init(&url, DEMO_PATH);
    d->model = "specialist";
    d->key = "demo-key";
    if (!d->live) {
        buf_printf(&url, "http://127.0.0.1:%u", d->specialist_port);
    } else {
        const char *base = getenv("OPENAI_BASE_URL"), *model = getenv("OPENAI_MODEL");
        d->key = getenv("OPENAI_API_KEY");
        d->model = model && *model ? model : "gpt-4o-mini";
        if (!d->key || !*d->key)
            return fail(d,
                        "--live asks the real API and needs a key: set OPENAI_API_KEY, or leave --live out");
        if (strpbrk(d->key, "\r\n"))
            return fail(d, "OPENAI_API_KEY holds a line break");
        buf_adds(&url, base && *base ? base : "https://api.openai.com");
        while (url.n && span_ends(buf_span(&url), "/"))
            buf_cut(&url, url.n - 1);
        if (span_ends(buf_span(&url), "/v1"))
            buf_cut(&url, url.n - 3);
    }
    d->base_url = xspandup(buf_span(&url));
    buf_free(&url);
    return 0;
}

static int prepare(struct demo *d)
{
    static const char *const old[] = {DEMO_PROVIDER_REQUEST, DEMO_PROVIDER_STREAM, CLIENT_STREAM};
    char path[DEMO_PATH];
    if (mkdir(d->dir, 0777) < 0 && errno != EEXIST)
        return fail(d, "cannot make the directory %s: %s", d->dir, strerror(errno));
    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++) /* of an earlier run */
        if (demo_io_path(path, d->dir, old[i]) || (unlink(path) < 0 && errno != ENOENT))
            return fail(d, "cannot write into %s: %s", d->dir, strerror(errno));
    sigemptyset(&d->signals);
    sigaddset(&d->signals, SIGINT);
    sigaddset(&d->signals, SIGTERM);
    sigaddset(&d->signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &d->signals, &d->before);
    d->io.signals = signalfd(-1, &d->signals, SFD_CLOEXEC | SFD_NONBLOCK);
    return d->io.signals < 0 ? fail(d, "cannot watch for signals: %s", strerror(errno)) : 0;
}

static int run(struct demo *d, uint16_t port)
{
    if ((d->live && choose_provider(d)) || prepare(d))
        return -1;
    if (!d->live && (start_specialist(d) || choose_provider(d)))
        return -1;
    if (start_proxy(d, port))
        return -1;
    printf("Penstock %s runs on http://127.0.0.1:%u in front of %s.\n", PENSTOCK_VERSION, d->port,
           d->live ? d->base_url : "a built-in Specialist; nothing leaves this machine");
    if (consult(d))
        return -1;
    show_sides(d);
    return show_files(d);
}

int demo_run(const struct demo_options *options)
{
    struct demo d = {.dir = options->out && *options->out ? options->out : "demo-output",
                     .live = options->live,
                     .io = {.signals = -1}};
    sigemptyset(&d.signals);
    sigprocmask(SIG_BLOCK, NULL, &d.before);
    demo_stream_init(&d.provider);
    demo_stream_init(&d.client);
    int failed = run(&d, options->port);
    if (!failed && (fflush(stdout) || ferror(stdout)))
        failed = fail(&d, "cannot write to standard output: %s", strerror(errno));
    stop_child(&d.proxy);
    stop_child(&d.specialist);
    if (d.io.signals >= 0)
        close(d.io.signals);
    demo_stream_finish(&d.provider);
    demo_stream_finish(&d.client);
    xfree(d.base_url);
    if (d.io.interrupted)
        fputs("\npenstock demo: interrupted\n", stderr);
    return d.io.interrupted ? INTERRUPTED : failed ? 1 : 0;
}
