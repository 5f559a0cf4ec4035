/* The extractors of penstock-worker where they run: in their cages, with what each may read or start. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "attachments/parts.h"
#include "base/buf.h"
#include "base/clock.h"
#include "jobs/document.h"
#include "jobs/render_job.h"
#include "made_file.h"

enum { LONG_MS = 400000 };

struct service {
    struct launch launch;
    struct render_pool *pool;
    char folder[64];
};

struct ended {
    unsigned times;
    enum render_job_outcome outcome;
    char sentence[RENDER_SENTENCE];
    struct buf text;
};

static int setup(void **state)
{
    static struct service s;
    char why[256];
    *state = &s;
    setenv("PENSTOCK_WORKER", WORKER, 1);
    assert_int_equal(launch_init(&s.launch, true, why), 0);
    s.launch.quiet = true;
    assert_int_equal(launch_start(&s.launch), 0);
    s.pool = render_pool_open(&s.launch.address, 16, 30000);
    snprintf(s.folder, sizeof s.folder, "%s/extract-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    assert_non_null(mkdtemp(s.folder));
    return 0;
}

static int teardown(void **state)
{
    struct service *s = *state;
    render_pool_close(s->pool);
    kill(s->launch.pid, SIGTERM);
    waitpid(s->launch.pid, NULL, 0);
    launch_finish(&s->launch);
    return rmdir(s->folder);
}

static bool offers(const struct service *s, const char *format)
{
    size_t n;
    const struct render_format *list = render_pool_formats(s->pool, &n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i].format, format))
            return true;
    return false;
}

static void on_done(void *arg, const struct render_result *r)
{
    struct ended *e = arg;
    e->times++;
    e->outcome = r->outcome;
    snprintf(e->sentence, sizeof e->sentence, "%s", r->sentence);
    print_message("%s: %s, %llu ms of computing, %llu KiB\n", r->renderer ? r->renderer : "-",
                  render_job_outcome_name(r->outcome), (unsigned long long)r->cpu_us / 1000,
                  (unsigned long long)r->peak_bytes / 1024);
    if (r->outcome != RENDER_JOB_DONE)
        return;
    char *room = buf_reserve(&e->text, (size_t)r->bytes);
    assert_non_null(room);
    assert_int_equal(pread(r->fd, room, (size_t)r->bytes, 0), r->bytes);
    buf_commit(&e->text, (size_t)r->bytes);
    close(r->fd);
}

/* To be freed by the caller: e.text. */
static struct ended extract(struct service *s, const char *format, const char *name, struct span bytes)
{
    struct ended e = {.times = 0};
    struct render_params p = {.format = format, .filename = name};
    const char *why = NULL;
    buf_init(&e.text, MADE_FILE);
    int fd = document_create(bytes, &p);
    assert_true(fd >= 0);
    assert_non_null(render_submit(s->pool, format, fd, clock_mono_ms() + LONG_MS, on_done, &e, &why));
    for (int64_t until = clock_mono_ms() + LONG_MS; !e.times && clock_mono_ms() < until;) {
        struct pollfd one = {.fd = render_pool_fd(s->pool), .events = POLLIN};
        poll(&one, 1, 50);
        render_pool_process(s->pool);
        render_pool_tick(s->pool, clock_mono_ms());
    }
    assert_int_equal(e.times, 1);
    return e;
}

static void expect(struct service *s, const char *format, struct span bytes, const char *text)
{
    struct ended e = extract(s, format, "a", bytes);
    if (e.outcome != RENDER_JOB_DONE)
        print_message("%s\n", e.sentence);
    assert_int_equal(e.outcome, RENDER_JOB_DONE);
    assert_string_equal(buf_cstr(&e.text), text);
    buf_free(&e.text);
}

/* ---- tests ---- */

/* Encodings need tables, which are files: they are there although a child can open none. */
static void encodings_are_read_in_the_cage(void **state)
{
    expect(*state, "text:csv", SPAN_LIT("\x96\xbc\x91\x4f,\x92\x6c\n\x82\xb1\x82\xea\x82\xcd,1\n"),
           "| 名前 | 値 |\n| --- | --- |\n| これは | 1 |\n");
    expect(*state, "text:csv",
           SPAN_LIT("Stra\xdf"
                    "e;1\n"),
           "| Straße | 1 |\n| --- | --- |\n");
    expect(*state, "text:html", SPAN_LIT("<meta charset=euc-kr><p>\xc7\xd1\xb1\xdb"), "한글\n");
    expect(*state, "text:html", SPAN_LIT("<meta charset=gb2312><p>\xd6\xd0\xce\xc4"), "中文\n");
    expect(*state, "text:html", SPAN_LIT("<meta charset=koi8-r><p>\xed\xc9\xd2"), "Мир\n");
}

static struct buf say(struct service *s, const char *words, const char *voice)
{
    char path[128];
    snprintf(path, sizeof path, "%s/said.wav", s->folder);
    make((const char *const[]){"flite", "-voice", voice, "-t", words, "-o", path, NULL});
    return take(path);
}

static void what_is_said_is_recognised(void **state)
{
    struct service *s = *state;
    if (!offers(s, "text:audio"))
        skip(); /* built without the recogniser */
    struct buf wav = say(s, "my name is john and i live in london", "rms");
    struct ended e = extract(s, "text:audio", "hello.wav", buf_span(&wav));
    assert_string_equal(buf_cstr(&e.text), "### Audio transcript (hello.wav, 0:02, pocketsphinx)\n\n"
                                           "(offline recogniser, English only, may be wrong)\n\n"
                                           "[00:00:00] my name is john and i live in london\n");
    buf_free(&e.text);
    buf_free(&wav);
}

/* A film of colour bars in which a sentence is said, made of what ffmpeg draws. */
static struct buf film(struct service *s, const char *ending, const char *size, const char *seconds,
                       bool sound)
{
    char wav[128], path[128], picture[128];
    snprintf(wav, sizeof wav, "%s/said.wav", s->folder);
    snprintf(path, sizeof path, "%s/film.%s", s->folder, ending);
    snprintf(picture, sizeof picture, "testsrc=size=%s:rate=25:duration=%s", size, seconds);
    make((const char *const[]){"flite", "-voice", "rms", "-t", "my name is john and i live in london", "-o",
                               wav, NULL});
    make((const char *const[]){"ffmpeg", "-y", "-f", "lavfi", "-i", picture, "-i", wav, "-g", "25",
                               "-pix_fmt", "yuv420p", sound ? "-shortest" : "-an", path, NULL});
    unlink(wav);
    return take(path);
}

static void films_become_frames_and_a_transcript(void **state)
{
    struct service *s = *state;
    struct part parts[PARTS_MOST];
    if (!offers(s, "text:video"))
        skip();
    struct buf mp4 = film(s, "mp4", "1280x720", "12", true);
    struct ended e = extract(s, "text:video", "bars.mp4", buf_span(&mp4));
    if (e.outcome != RENDER_JOB_DONE)
        fail_msg("%s", e.sentence);
    int n = parts_read(buf_span(&e.text), parts);
    assert_true(n >= 4 && n % 2 == 0);
    for (int i = 0; i < n; i++)
        if (!parts[i].picture)
            print_message("%.*s\n", (int)parts[i].bytes.n, parts[i].bytes.p);
        else
            print_message("[%zu bytes of JPEG]\n", parts[i].bytes.n);
    buf_free(&e.text);
    buf_free(&mp4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodings_are_read_in_the_cage),
        cmocka_unit_test(what_is_said_is_recognised),
        cmocka_unit_test(films_become_frames_and_a_transcript),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
