/*
 * Renders hostile sources, each in a process of its own, and mutants of these and of good ones, one after
 * another in this process, whose sanitizers see everything:
 *
 *   attack RENDERER [--mutants N] [--seconds S] [--seed N] [--from N] [--most N] [--write DIR] FOLDER…
 *
 * FOLDER: good sources, a file each. --seconds: no more mutants after it. --from: the first mutant; after 0
 * there are no hostile sources. --most: repetitions in a hostile source. --write: where sources that made a
 * fault are kept. The exit status is 1 if anything was wrong: a
 * crash, a renderer that says it failed or refuses without a reason, a file that is none, two files of one
 * source, or more processor time than TOO_SLOW.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "artifacts/render.h"
#include "base/clock.h"
#include "tests/attack/attack.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define SANITIZED 1
#endif
#endif

/* Seconds of one document: far above its cap, since sanitizers cost a factor. */
enum { TOO_SLOW = 60, SEEDS = 256, SEED_BYTES = 1 << 20 };

/* Fontconfig and cairo keep what they know about fonts until the process ends. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\nleak:libcairo\nleak:libpango\nleak:libglib\n";
}

static bool same(const struct buf *a, const struct buf *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(buf_span(a).p, buf_span(b).p, a->n) == 0);
}

static enum render_status make_csv(struct span source, const struct render_params *params, struct buf *out,
                                   char sentence[RENDER_SENTENCE])
{
    struct buf again;
    bool tab = !strcmp(params->title, "T1");
    if (csv_make_inert(source, tab, out)) {
        snprintf(sentence, RENDER_SENTENCE, "it is too large");
        return RENDER_LIMIT;
    }
    buf_init(&again, 256 << 20);
    int failed = csv_make_inert(buf_span(out), tab, &again) || !same(out, &again);
    buf_free(&again);
    return failed ? RENDER_FAILED : RENDER_OK; /* what is inert stays as it is */
}

static const struct renderer_ops csv = {.name = "csv",
                                        .formats = (const char *const[]){"csv", NULL},
                                        .limits = {.source_bytes = 8 << 20, .out_bytes = 64 << 20},
                                        .render = make_csv};

/* ---- one document ---- */

static struct {
    const struct renderer_ops *ops;
    const struct kind *kinds;
    const char *folder; /* of findings; NULL: they are only told */
    struct span source; /* that is rendered just now */
    char name[160];
    unsigned faults;
    size_t most; /* repetitions in a hostile source */
} at = {.most = 1000000};

static void keep(const char *prefix)
{
    char path[512];
    if (!at.folder)
        return;
    snprintf(path, sizeof path, "%s/%s-%s-%s", at.folder, prefix, at.ops->name, at.name);
    for (char *c = path + strlen(at.folder) + 1; *c; c++)
        if (*c == ' ' || *c == '/')
            *c = '_';
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd >= 0 && write(fd, at.source.p, at.source.n) == (ssize_t)at.source.n)
        fprintf(stderr, "%s: kept as %s\n", at.name, path);
    if (fd >= 0)
        close(fd);
}

static void on_death(void)
{
    fprintf(stderr, "%s: %s: the process died\n", at.ops->name, at.name);
    keep("died");
}

static void on_slow(int signal)
{
    (void)signal;
    fprintf(stderr, "%s: %s: more than %d s\n", at.ops->name, at.name, TOO_SLOW);
    keep("slow");
    _exit(1);
}

static void fault(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", at.ops->name, at.name, what);
    keep("fault");
    at.faults++;
}

static struct render_params params_of(unsigned n)
{
    static const char *const options[] = {
        "", "{\"page_size\":\"A5\",\"chart\":\"line\"}",
        "{\"orientation\":\"landscape\",\"chart\":\"pie\",\"width\":\"300\"}",
        "{\"author\":\"\\u202e\\ud800\",\"chart\":\"scatter\",\"toc\":true}"};
    const char *const *formats = at.ops->formats;
    return (struct render_params){.format = formats[1] ? formats[n % 2] : formats[0],
                                  .filename = "a",
                                  .title = n % 2 ? "T1" : "",
                                  .made_at = 1790000000,
                                  .options = span_str(options[n % 4])};
}

static enum render_status render(unsigned n, struct buf *out)
{
    char sentence[RENDER_SENTENCE] = "";
    struct render_params params = params_of(n);
    struct itimerval slow = {.it_value.tv_sec = TOO_SLOW}, none = {.it_value.tv_sec = 0};
    if (at.source.n > at.ops->limits.source_bytes)
        return RENDER_LIMIT; /* never reaches a renderer */
    setitimer(ITIMER_PROF, &slow, NULL);
    enum render_status status = at.ops->render(at.source, &params, out, sentence);
    setitimer(ITIMER_PROF, &none, NULL);
    if (status == RENDER_FAILED && !buf_full(out))
        fault("the renderer says that it failed");
    if ((status == RENDER_INVALID || status == RENDER_LIMIT) && !sentence[0])
        fault("refused without a reason");
    if (status == RENDER_OK && !buf_full(out)) {
        const char *wrong = output_fault(params.format, buf_span(out));
        if (wrong)
            fault(wrong);
    }
    return buf_full(out) ? RENDER_LIMIT : status;
}

/* ---- hostile sources ---- */

struct figures {
    unsigned by_status[RENDER_FAILED + 1];
    double slowest_s, seconds;
    long most_kib;
    char slowest[160], largest[160];
};

static void note(struct figures *f, enum render_status status, double s, long kib)
{
    f->by_status[status]++;
    f->seconds += s;
    if (s > f->slowest_s) {
        f->slowest_s = s;
        snprintf(f->slowest, sizeof f->slowest, "%s", at.name);
    }
    if (kib > f->most_kib) {
        f->most_kib = kib;
        snprintf(f->largest, sizeof f->largest, "%s", at.name);
    }
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static _Noreturn void render_twice(unsigned n)
{
    struct buf one, two;
    buf_init(&one, at.ops->limits.out_bytes);
    buf_init(&two, at.ops->limits.out_bytes);
    enum render_status status = render(n, &one);
    if (n % 4 == 0 && render(n, &two) == RENDER_OK && !same(&one, &two))
        fault("the same source made other bytes");
    fflush(NULL);
    _exit(at.faults ? 100 : (int)status);
}

static void attack_hostile(struct figures *f)
{
    struct buf source;
    buf_init(&source, 256 << 20);
    for (unsigned n = 0; n < hostile_count(at.kinds); n++) {
        snprintf(at.name, sizeof at.name, "hostile %u, %s", n, hostile_source(at.kinds, n, at.most, &source));
        at.source = buf_span(&source);
        int status = 0;
        struct rusage used;
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0)
            render_twice(n);
        if (pid < 0 || wait4(pid, &status, 0, &used) != pid) {
            perror("attack");
            exit(2);
        }
        if (!WIFEXITED(status) || WEXITSTATUS(status) > RENDER_FAILED) {
            fprintf(stderr, "%s: %s: status %x\n", at.ops->name, at.name, (unsigned)status);
            at.faults++;
            continue;
        }
        note(f, (enum render_status)WEXITSTATUS(status),
             seconds_of(used.ru_utime) + seconds_of(used.ru_stime), used.ru_maxrss);
    }
    buf_free(&source);
}

/* ---- mutants ---- */

static struct buf seeds[SEEDS];
static size_t n_seeds;

static void read_seed(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rbe");
    if (!file || n_seeds == SEEDS)
        exit(2);
    struct buf *b = &seeds[n_seeds++];
    buf_init(b, SEED_BYTES);
    for (char *to; (to = buf_reserve(b, 4096));) {
        size_t n = fread(to, 1, 4096, file);
        buf_commit(b, n);
        if (!n)
            break;
    }
    fclose(file);
}

static void read_seeds(const char *folder)
{
    struct dirent **names;
    int n = scandir(folder, &names, NULL, alphasort); /* in an order that is always the same */
    if (n < 0) {
        perror(folder);
        exit(2);
    }
    for (int i = 0; i < n; i++) {
        if (names[i]->d_name[0] != '.')
            read_seed(folder, names[i]->d_name);
        free(names[i]);
    }
    free(names);
}

static void choose(struct dice *d, struct buf *out)
{
    buf_reset(out);
    if (n_seeds && dice_below(d, 3))
        buf_add(out, buf_span(&seeds[dice_below(d, n_seeds)]));
    else /* of the first two sizes */
        hostile_source(at.kinds, (unsigned)dice_below(d, 80), 40, out);
}

static void attack_mutants(unsigned from, unsigned n, unsigned seconds, uint64_t seed, struct figures *f)
{
    struct buf source, other, mutant, out;
    int64_t until = clock_mono_ms() + (int64_t)seconds * 1000;
    buf_init(&source, SEED_BYTES);
    buf_init(&other, SEED_BYTES);
    buf_init(&mutant, ATTACK_MUTANT);
    buf_init(&out, at.ops->limits.out_bytes);
    for (unsigned i = from; i < from + n && (!seconds || clock_mono_ms() < until); i++) {
        struct dice d = {seed + (uint64_t)i * 1000003};
        choose(&d, &source);
        choose(&d, &other);
        mutate(buf_span(&source), buf_span(&other), &d, &mutant);
        snprintf(at.name, sizeof at.name, "mutant %u", i);
        at.source = buf_span(&mutant);
        buf_reset(&out);
        clock_t before = clock();
        enum render_status status = render(i, &out);
        struct rusage used;
        getrusage(RUSAGE_SELF, &used);
        note(f, status, (double)(clock() - before) / CLOCKS_PER_SEC, used.ru_maxrss);
    }
    buf_free(&source);
    buf_free(&other);
    buf_free(&mutant);
    buf_free(&out);
    for (size_t i = 0; i < n_seeds; i++)
        buf_free(&seeds[i]);
}

/* ---- */

static void show(const char *what, const struct figures *f)
{
    const unsigned *n = f->by_status;
    printf("%s, %s: %u sources in %.1f s: %u files, %u invalid, %u over a limit, %u failed; "
           "slowest %.2f s (%s), peak %ld MiB (%s)\n",
           at.ops->name, what, n[0] + n[1] + n[2] + n[3], f->seconds, n[RENDER_OK], n[RENDER_INVALID],
           n[RENDER_LIMIT], n[RENDER_FAILED], f->slowest_s, f->slowest, f->most_kib / 1024, f->largest);
    fflush(stdout);
}

static bool choose_renderer(const char *name)
{
    at.ops = !strcmp(name, "csv") ? &csv : NULL;
    for (size_t i = 0; renderer_list[i]; i++)
        if (!strcmp(renderer_list[i]->name, name))
            at.ops = renderer_list[i];
    at.kinds = !strcmp(name, "chart")                          ? chart_kinds
               : !strcmp(name, "xlsx") || !strcmp(name, "csv") ? table_kinds
               : !strcmp(name, "ics") || !strcmp(name, "zip")  ? part_kinds
                                                               : markdown_kinds;
    return at.ops;
}

int main(int argc, char **argv)
{
    unsigned mutants = 10000, seconds = 0, seed = 1, from = 0;
    if (argc < 2 || !choose_renderer(argv[1])) {
        fprintf(stderr, "usage: attack RENDERER [--mutants N] [--seconds S] [--seed N] [--from N] [--most N] "
                        "[--write DIR] "
                        "FOLDER...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        const char *value = argv[i][0] == '-' && i + 1 < argc ? argv[i + 1] : "";
        if (argv[i][0] != '-') {
            read_seeds(argv[i]);
            continue;
        }
        unsigned number = (unsigned)strtoul(value, NULL, 10);
        if (!strcmp(argv[i], "--mutants"))
            mutants = number;
        else if (!strcmp(argv[i], "--seconds"))
            seconds = number;
        else if (!strcmp(argv[i], "--seed"))
            seed = number;
        else if (!strcmp(argv[i], "--from"))
            from = number;
        else if (!strcmp(argv[i], "--most"))
            at.most = number;
        else if (!strcmp(argv[i], "--write"))
            at.folder = value;
        i++;
    }
#if defined(SANITIZED)
    __sanitizer_set_death_callback(on_death);
#else
    (void)on_death;
#endif
    signal(SIGPROF, on_slow);
    if (at.ops->warm && at.ops->warm())
        return 2;
    struct figures hostile = {.seconds = 0}, changed = {.seconds = 0};
    if (!from) {
        attack_hostile(&hostile);
        show("hostile", &hostile);
    }
    attack_mutants(from, mutants, seconds, seed, &changed);
    show("mutants", &changed);
    if (at.faults)
        printf("%s: %u faults\n", at.ops->name, at.faults);
    return at.faults != 0;
}
