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
    assert_non_null(render_submit(s->pool, &(struct render_order){format, fd, clock_mono_ms() + LONG_MS, 0},
                                  on_done, &e, &why));
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

/* A PDF of three pages with these contents; pdftotext finds its way without a table of the objects. */
static struct buf pdf_of(const char *const pages[3])
{
    struct buf b;
    buf_init(&b, MADE_FILE);
    buf_adds(
        &b,
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 3/Kids[4 0 R 6 0 R "
        "8 0 R]>>endobj\n3 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n");
    size_t offsets[10] = {0};
    for (int i = 0; i < 3; i++)
        buf_printf(&b,
                   "%d 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents %d 0 "
                   "R/Resources<</Font<</F 3 0 "
                   "R>>>>>>endobj\n%d 0 obj<</Length %zu>>stream\n%s\nendstream endobj\n",
                   4 + 2 * i, 5 + 2 * i, 5 + 2 * i, strlen(pages[i]), pages[i]);
    for (int i = 1; i < 10; i++) {
        char mark[16];
        snprintf(mark, sizeof mark, "\n%d 0 obj", i);
        const char *at = memmem(buf_span(&b).p, b.n, mark, strlen(mark));
        offsets[i] = (size_t)(at - buf_span(&b).p) + 1;
    }
    size_t table = b.n;
    buf_adds(&b, "xref\n0 10\n0000000000 65535 f \n");
    for (int i = 1; i < 10; i++)
        buf_printf(&b, "%010zu 00000 n \n", offsets[i]);
    buf_printf(&b, "trailer<</Size 10/Root 1 0 R>>\nstartxref\n%zu\n%%%%EOF\n", table);
    return b;
}

#define SAY(x, y, text) "BT /F 12 Tf 1 0 0 1 " #x " " #y " Tm (" text ") Tj ET\n"

/* What lies over a page's edge is text as well; what has no text, or was broken, says so. */
static void pages_are_whole(void **state)
{
    if (!offers(*state, "text:pdf"))
        skip();
    struct buf pdf = pdf_of((const char *const[]){
        SAY(250, 200, "over the edge of the page") SAY(400, 100, "outside"), "", SAY(10, 10, "last")});
    expect(*state, "text:pdf", buf_span(&pdf),
           "over the edge of the page\n\n    outside\n\n<!-- Page 2 -->\n\n(no text on this page)\n\n"
           "<!-- Page 3 -->\n\nlast");
    buf_free(&pdf);
    pdf = pdf_of((const char *const[]){SAY(10, 10, "first"), "BT /F 12 Tf (x", SAY(10, 10, "last")});
    expect(*state, "text:pdf", buf_span(&pdf),
           "first\n\n<!-- Page 2 -->\n\n(no text on this page)\n\n<!-- Page 3 -->\n\nlast\n\n"
           "(pdftotext found damage in this file: a part of its text may be missing.)");
    buf_free(&pdf);
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
                               "-pix_fmt", "yuv420p", sound ? "-ac" : "-an", sound ? "1" : path,
                               sound ? path : NULL, NULL});
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
    assert_int_equal(n, 2 + 2 * 8);
    assert_true(span_is(parts[0].bytes, "### Video (bars.mp4, video/mp4, 0:12, 1280 x 720)"));
    for (int i = 1; i < n - 1; i += 2) {
        assert_true(!parts[i].picture && parts[i + 1].picture);
        assert_true(span_starts(parts[i].bytes, "Frame at 00:00:"));
    }
    assert_true(span_is(parts[1].bytes, "Frame at 00:00:01:"));
    assert_true(span_is(parts[15].bytes, "Frame at 00:00:11:"));
    if (offers(s, "text:audio"))
        assert_true(span_is(parts[n - 1].bytes, "### Transcript (bars.mp4, 0:02, pocketsphinx)\n\n"
                                                "(offline recogniser, English only, may be wrong)\n\n"
                                                "[00:00:00] my name is john and i live in london\n"));
    buf_free(&e.text);
    buf_free(&mp4);
}

/* ---- hostile ---- */

/* For a provider that writes down what is said: the same, with the sound in the place of the transcript. */
static void the_sound_of_a_film_can_come_apart(void **state)
{
    struct service *s = *state;
    struct part parts[PARTS_MOST];
    if (!offers(s, "text:frames"))
        skip();
    struct buf mp4 = film(s, "mp4", "320x240", "12", true);
    struct ended e = extract(s, "text:frames", "bars.mp4", buf_span(&mp4));
    assert_int_equal(e.outcome, RENDER_JOB_DONE);
    int n = parts_read(buf_span(&e.text), parts);
    assert_int_equal(n, 2 + 2 * 8);
    assert_true(parts[2].picture && parts[n - 1].sound);
    assert_true(parts[n - 1].bytes.n > 2000);
    buf_free(&e.text);
    buf_free(&mp4);
    mp4 = film(s, "mp4", "320x240", "12", false);
    e = extract(s, "text:frames", "bars.mp4", buf_span(&mp4));
    n = parts_read(buf_span(&e.text), parts);
    assert_int_equal(n, 2 + 2 * 8);
    assert_true(span_is(parts[n - 1].bytes, "(no sound)\n"));
    buf_free(&e.text);
    buf_free(&mp4);
}

static void little(struct buf *b, uint32_t v, unsigned n)
{
    for (; n--; v >>= 8)
        buf_addc(b, (char)(v & 255));
}

/* 8000 samples a second of one byte each: silence. */
static struct buf wav_of_rate(uint32_t rate, uint32_t said, size_t bytes)
{
    struct buf b;
    buf_init(&b, MADE_FILE);
    buf_adds(&b, "RIFF");
    little(&b, said, 4);
    buf_adds(&b, "WAVEfmt ");
    little(&b, 16, 4);
    little(&b, 1, 2);
    little(&b, 1, 2);
    little(&b, rate, 4);
    little(&b, rate, 4);
    little(&b, 1, 2);
    little(&b, 8, 2);
    buf_adds(&b, "data");
    little(&b, said, 4);
    char *room = buf_reserve(&b, bytes);
    memset(room, 0x80, bytes);
    buf_commit(&b, bytes);
    return b;
}

static struct buf wav(uint32_t said, size_t bytes)
{
    return wav_of_rate(8000, said, bytes);
}

static void expect_wav(struct service *s, uint32_t said, size_t bytes, enum render_job_outcome outcome,
                       const char *text)
{
    struct buf b = wav(said, bytes);
    struct ended e = extract(s, "text:audio", "a.wav", buf_span(&b));
    assert_int_equal(e.outcome, outcome);
    assert_string_equal(outcome == RENDER_JOB_DONE ? buf_cstr(&e.text) : e.sentence, text);
    buf_free(&e.text);
    buf_free(&b);
}

/* Three seconds are three, though a resampler keeps its last samples. */
static void recordings_of_whole_seconds(void **state)
{
    struct service *s = *state;
    if (!offers(s, "text:audio"))
        skip();
    for (uint32_t rate = 11025; rate <= 48000; rate = rate == 44100 ? 48000 : rate * 2) {
        struct buf b = wav_of_rate(rate, 3 * rate, 3 * rate);
        struct ended e = extract(s, "text:audio", "a.wav", buf_span(&b));
        assert_int_equal(e.outcome, RENDER_JOB_DONE);
        assert_non_null(strstr(buf_cstr(&e.text), "(a.wav, 0:03, "));
        buf_free(&e.text);
        buf_free(&b);
        if (rate == 48000)
            break;
    }
}

/* What a recording says of its length is not believed. */
static void recordings_that_lie(void **state)
{
    struct service *s = *state;
    static const char silence[] =
        "### Audio transcript (a.wav, 0:02, pocketsphinx)\n\n(offline recogniser, English only, may "
        "be wrong)\n\n(no speech found)\n";
    if (!offers(s, "text:audio"))
        skip();
    expect_wav(s, 16000, 16000, RENDER_JOB_DONE, silence);
    expect_wav(s, 0xfffffff0, 16000, RENDER_JOB_DONE, silence);
    expect_wav(s, 602 * 8000, 602 * 8000, RENDER_JOB_LIMIT,
               "is 10:02 long; at most 10:00 can be transcribed offline: configure a provider for it "
               "(transcription), or split it.");
    struct ended e = extract(s, "text:audio", "a.wav", SPAN_LIT("RIFF\xff\xff\xff\x7fWAVEfmt "));
    assert_int_equal(e.outcome, RENDER_JOB_INVALID);
    assert_string_equal(e.sentence, "is damaged, or in an encoding of sound that cannot be read.");
    buf_free(&e.text);
}

/* Whatever is done to it: text and frames, or a refusal that says why. */
static void expect_end(struct service *s, struct span film)
{
    struct part parts[PARTS_MOST];
    struct ended e = extract(s, "text:video", "a.mp4", film);
    if (e.outcome == RENDER_JOB_DONE)
        assert_true(parts_read(buf_span(&e.text), parts) > 0);
    else
        assert_true((e.outcome == RENDER_JOB_INVALID || e.outcome == RENDER_JOB_LIMIT) && e.sentence[0]);
    buf_free(&e.text);
}

/* Writes a number into the table of that name, `at` bytes behind it. */
static void patch(struct buf *film, const char *table, size_t at, uint32_t v)
{
    char *p = memmem(buf_span(film).p, film->n, table, 4);
    assert_non_null(p);
    for (unsigned i = 0; i < 4; i++)
        p[4 + at + i] = (char)(v >> (24 - 8 * i));
}

static void films_that_lie(void **state)
{
    struct service *s = *state;
    if (!offers(s, "text:video"))
        skip();
    struct buf wide = film(s, "mp4", "9000x16", "1", false);
    struct ended e = extract(s, "text:video", "a.mp4", buf_span(&wide));
    assert_int_equal(e.outcome, RENDER_JOB_LIMIT);
    assert_string_equal(e.sentence, "has pictures of 9000 x 16 pixels; at most 8192 x 8192 can be read.");
    buf_free(&e.text);
    buf_free(&wide);
    struct buf mp4 = film(s, "mp4", "64x64", "2", false);
    expect_end(s, span_of(buf_span(&mp4).p, mp4.n / 2));
    /* Two thousand million pictures, each as long as the file is. */
    patch(&mp4, "stts", 8, 0x7fffffff);
    patch(&mp4, "stsz", 4, 4096);
    patch(&mp4, "stsz", 8, 0x7fffffff);
    expect_end(s, buf_span(&mp4));
    patch(&mp4, "mvhd", 12, 1);
    patch(&mp4, "mvhd", 16, 0xffffffff);
    expect_end(s, buf_span(&mp4));
    buf_free(&mp4);
    /* A list of other files is no film, whatever it is called. */
    e = extract(s, "text:video", "a.mp4", SPAN_LIT("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"));
    assert_int_equal(e.outcome, RENDER_JOB_INVALID);
    buf_free(&e.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodings_are_read_in_the_cage),
        cmocka_unit_test(pages_are_whole),
        cmocka_unit_test(what_is_said_is_recognised),
        cmocka_unit_test(films_become_frames_and_a_transcript),
        cmocka_unit_test(the_sound_of_a_film_can_come_apart),
        cmocka_unit_test(recordings_of_whole_seconds),
        cmocka_unit_test(recordings_that_lie),
        cmocka_unit_test(films_that_lie),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
