/*
 * What `penstock transcript export` needs for journals of a given size:
 *   build/release/bench_threads PROGRAM THREADS BYTES [ROUNDS]
 * writes THREADS journals of about BYTES each, exports them ROUNDS times (default 3) to new directories and
 * once more to one that has them, and prints for each run the seconds of CPU, the seconds that passed and the
 * most memory that was resident. Every turn has text, reasoning, sources, a tool's call and a consult of 12
 * KB in all or more. Without ROUNDS it takes about 5 × THREADS × BYTES of room in the directory for temporary
 * files.
 */
#include <errno.h>
#include <ftw.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static const char *const words[] = {"market", "price", "the", "report",   "of",        "growth",
                                    "and",    "naïve", "a",   "customer", "share",     "\\n\\n",
                                    "margin", "in",    "–",   "region",   "\\\"q\\\"", "invoice"};
enum { WORDS = sizeof words / sizeof words[0], PLACE = 128 };

struct writer {
    FILE *f;
    uint64_t seed;
    size_t n;
};

static unsigned pick(struct writer *w, unsigned n)
{
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((w->seed >> 33) % n);
}

static void put(struct writer *w, const char *text)
{
    size_t n = strlen(text);
    if (fwrite(text, 1, n, w->f) != n)
        exit(1);
    w->n += n;
}

/* A member of about n bytes. */
static void put_text(struct writer *w, const char *name, unsigned n)
{
    size_t until = w->n + n / 2 + pick(w, n);
    put(w, ",\"");
    put(w, name);
    put(w, "\":\"");
    while (w->n < until) {
        put(w, words[pick(w, WORDS)]);
        put(w, " ");
    }
    put(w, "\"");
}

static void put_head(struct writer *w, const char *event, const char *id, unsigned turn, unsigned second)
{
    char head[160];
    snprintf(head, sizeof head, "{\"ev\":\"%s\",\"id\":\"%s%u\",\"at_us\":%llu", event, id, turn,
             2051319840000000ull + (60ull * turn + second) * 1000000);
    put(w, head);
}

static void put_turn(struct writer *w, unsigned turn)
{
    char line[256];
    put_head(w, "begin", "turn", turn, 0);
    put(w, ",\"role\":\"expert\",\"model\":\"m-1\",\"provider\":\"main\"");
    put_text(w, "query", 600);
    put(w, "}\n");
    put_head(w, "begin", "side", turn, 5);
    snprintf(line, sizeof line,
             ",\"role\":\"specialist\",\"consult_id\":\"call_%u_a\",\"headline\":\"Look at %u\"", turn, turn);
    put(w, line);
    put_text(w, "query", 900);
    put(w, "}\n");
    put_head(w, "end", "side", turn, 20);
    put_text(w, "reasoning", 2500);
    put_text(w, "text", 5000);
    put(w, ",\"end\":{\"cause\":\"finish\",\"finish_reason\":\"stop\"}}\n");
    put_head(w, "end", "turn", turn, 30);
    put_text(w, "reasoning", 2000);
    put_text(w, "text", 4000);
    snprintf(line, sizeof line,
             ",\"tool_calls\":[{\"id\":\"call_%u_a\",\"name\":\"consult\",\"arguments\":\"{}\"},"
             "{\"id\":\"call_%u_b\",\"name\":\"search\"",
             turn, turn);
    put(w, line);
    put_text(w, "arguments", 1500);
    put(w, "}],\"citations\":[");
    for (unsigned i = 0; i < 4; i++) {
        snprintf(line, sizeof line, "%s{\"url\":\"https://example.com/%u/%u\",\"title\":\"Source %u of %u\"}",
                 i ? "," : "", turn, pick(w, 1000), i, turn);
        put(w, line);
    }
    put(w, "],\"end\":{\"cause\":\"finish\",\"finish_reason\":\"stop\"}}\n");
}

static void make_dir(const char *path)
{
    if (mkdir(path, 0700) && errno != EEXIST) {
        perror(path);
        exit(1);
    }
}

static void make_journals(unsigned threads, size_t bytes)
{
    make_dir("orgs");
    make_dir("orgs/default");
    make_dir("orgs/default/threads");
    for (unsigned i = 0; i < threads; i++) {
        char path[PLACE];
        snprintf(path, sizeof path, "orgs/default/threads/thread-%u.jsonl", i);
        struct writer w = {.f = fopen(path, "w"), .seed = i + 1};
        if (!w.f) {
            perror(path);
            exit(1);
        }
        snprintf(path, sizeof path, "{\"ev\":\"thread\",\"thread\":\"thread-%u\",\"author\":\"ana\"}\n", i);
        put(&w, path);
        for (unsigned turn = 1; w.n < bytes; turn++)
            put_turn(&w, turn);
        fclose(w.f);
    }
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The program's own memory: this process is small, so that what counts from before exec is none of it. */
static void export(const char *program, const char *out, const char *what)
{
    const char *const argv[] = {program, "transcript", "export",      "--all", "--full",
                                "--out", out,          "--state-dir", ".",     NULL};
    struct rusage used;
    double began = now();
    pid_t child;
    int status;
    fflush(stdout);
    if (posix_spawn(&child, program, NULL, NULL, (char *const *)argv, environ) != 0 ||
        wait4(child, &status, 0, &used) != child || status != 0) {
        fprintf(stderr, "%s failed\n", program);
        exit(1);
    }
    printf("  %-12s %6.2f s of CPU (%.2f of them the system's), %6.2f s, %7.1f MB\n", what,
           seconds(used.ru_utime) + seconds(used.ru_stime), seconds(used.ru_stime), now() - began,
           (double)used.ru_maxrss * 1024 / 1e6);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

int main(int argc, char **argv)
{
    char place[] = "/tmp/bench-threads-XXXXXX", *program = argc > 1 ? realpath(argv[1], NULL) : NULL;
    if (argc < 4 || !program) {
        fputs("usage: bench_threads PROGRAM THREADS BYTES [ROUNDS]\n", stderr);
        return 2;
    }
    unsigned rounds = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 3;
    if (!mkdtemp(place) || chdir(place)) {
        perror(place);
        return 1;
    }
    make_journals((unsigned)strtoul(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    for (unsigned i = 0; i < rounds; i++) {
        export(program, "out", "first");
        if (i + 1 == rounds)
            export(program, "out", "again");
        nftw("out", remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    if (chdir("/") == 0)
        nftw(place, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(program);
    return 0;
}
