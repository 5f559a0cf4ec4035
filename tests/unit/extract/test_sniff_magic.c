/*
 * Our table of media types beside libmagic's, over files that programs make. Where the two differ, the list
 * says why ours stays; a difference that is not listed is a fault, and so is one that is listed and gone.
 */
#include <magic.h>
#include <stdlib.h>

#include "made_file.h"

#include "attachments/sniff.h"
#include "jobs/renderer.h"

extern const struct renderer_ops render_docx, render_xlsx, render_pptx;

static const struct difference {
    const char *name, *ours, *theirs, *why;
} differences[] = {
    {"a.ts", "video/mp2t", "application/octet-stream", "it knows a transport stream by other packets"},
    {"a.caf", "audio/x-caf", "application/octet-stream", "it knows none"},
    {"a.mka", "audio/x-matroska", "video/x-matroska", "it does not look at the tracks"},
    {"sound.mp4", "audio/mp4", "video/mp4", "it does not look at the tracks"},
    {"sound.webm", "audio/webm", "video/webm", "it does not look at the tracks"},
    {"program", "application/x-executable", "application/x-sharedlib",
     "a program that may lie anywhere looks like one"},
    {"semicolons.csv", "text/csv", "text/plain", "it counts commas, and we may be told a name"},
    {"a.md", "text/markdown", "text/plain", "it knows none, and we may be told a name"},
    {"code.txt", "text/plain", "text/x-c", "text is text"},
    {"script.txt", "text/plain", "text/x-shellscript", "text is text"},
};

enum { DIFFERENCES = sizeof differences / sizeof differences[0] };

struct judge {
    magic_t magic;
    char folder[64];
    bool seen[DIFFERENCES];
    unsigned files, faults;
};

/* Names for the same thing. */
static bool same(const char *ours, const char *theirs)
{
    static const char *const names[][2] = {
        {"audio/wav", "audio/x-wav"},
        {"audio/aiff", "audio/x-aiff"},
        {"application/rtf", "text/rtf"},
        {"image/x-icon", "image/vnd.microsoft.icon"},
        {"application/vnd.rar", "application/x-rar"},
        {"image/bmp", "image/x-ms-bmp"},
        {"audio/aac", "audio/x-hx-aac-adts"},
        {"application/x-executable", "application/x-pie-executable"},
        {"application/x-tar", "application/x-tar"},
        {"audio/mp4", "audio/x-m4a"},
        {"video/x-ms-asf", "video/x-ms-wmv"},
    };
    if (!strcmp(ours, theirs))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(names[i][0], ours) && !strcmp(names[i][1], theirs))
            return true;
    return false;
}

static void compare(struct judge *j, const char *name, struct span bytes)
{
    const char *theirs = magic_buffer(j->magic, bytes.p, bytes.n),
               *ours = sniff_media(bytes, span_str(name)).type;
    j->files++;
    assert_non_null(theirs);
    for (size_t i = 0; i < DIFFERENCES; i++)
        if (!strcmp(differences[i].name, name)) {
            j->seen[i] = true;
            if (!strcmp(ours, differences[i].ours) && !strcmp(theirs, differences[i].theirs))
                return;
        }
    if (same(ours, theirs))
        return;
    print_message("%s: %s, but libmagic says %s\n", name, ours, theirs);
    j->faults++;
}

static void compare_made(struct judge *j, const char *name, const char *const *arguments, const char *path)
{
    make(arguments);
    struct buf b = take(path);
    compare(j, name, buf_span(&b));
    buf_free(&b);
}

static void with_ffmpeg(struct judge *j)
{
    static const char *const endings[] = {"wav",  "mp3", "ogg",  "opus", "flac", "aac", "m4a", "mp4",
                                          "mov",  "mkv", "webm", "avi",  "mpg",  "ts",  "flv", "wmv",
                                          "aiff", "au",  "caf",  "mka",  "ogv",  "3gp"};
    static const char *const pictures[] = {"png", "jpg", "gif", "bmp", "tiff", "webp"};
    char path[128];
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        snprintf(path, sizeof path, "%s/a.%s", j->folder, endings[i]);
        bool sound = !strcmp(endings[i], "m4a") || !strcmp(endings[i], "mka"),
             silent = !strcmp(endings[i], "3gp");
        compare_made(j, path + strlen(j->folder) + 1,
                     (const char *const[]){"ffmpeg", "-y", "-f", "lavfi", "-i",
                                           "testsrc=size=176x144:rate=25:duration=1", "-f", "lavfi", "-i",
                                           "sine=duration=1",
                                           silent  ? "-an"
                                           : sound ? "-vn"
                                                   : "-shortest",
                                           path, NULL},
                     path);
    }
    for (size_t i = 0; i < sizeof pictures / sizeof pictures[0]; i++) {
        snprintf(path, sizeof path, "%s/a.%s", j->folder, pictures[i]);
        compare_made(j, path + strlen(j->folder) + 1,
                     (const char *const[]){"ffmpeg", "-y", "-f", "lavfi", "-i",
                                           "testsrc=size=16x16:duration=1", "-frames:v", "1", path, NULL},
                     path);
    }
    /* Sound alone, in containers of films. */
    snprintf(path, sizeof path, "%s/sound.mp4", j->folder);
    compare_made(j, "sound.mp4",
                 (const char *const[]){"ffmpeg", "-y", "-f", "lavfi", "-i", "sine=duration=1", path, NULL},
                 path);
    snprintf(path, sizeof path, "%s/sound.webm", j->folder);
    compare_made(j, "sound.webm",
                 (const char *const[]){"ffmpeg", "-y", "-f", "lavfi", "-i", "sine=duration=1", path, NULL},
                 path);
}

static void archives(struct judge *j)
{
    static const struct {
        const char *name, *program, *option;
    } rows[] = {{"a.gz", "gzip", "-kf"}, {"a.bz2", "bzip2", "-kf"}, {"a.xz", "xz", "-kf"}};
    char source[128], path[160];
    snprintf(source, sizeof source, "%s/a", j->folder);
    FILE *f = fopen(source, "wb");
    assert_non_null(f);
    for (int i = 0; i < 1000; i++)
        fprintf(f, "line %d\n", i * i);
    fclose(f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", j->folder, rows[i].name);
        compare_made(j, rows[i].name, (const char *const[]){rows[i].program, rows[i].option, source, NULL},
                     path);
    }
    snprintf(path, sizeof path, "%s/a.tar", j->folder);
    compare_made(j, "a.tar", (const char *const[]){"tar", "-cf", path, "-C", j->folder, "a", NULL}, path);
    unlink(source);
    f = fopen("/proc/self/exe", "rb");
    struct buf program;
    buf_init(&program, 4096);
    buf_commit(&program, fread(buf_reserve(&program, 4096), 1, 4096, f));
    fclose(f);
    compare(j, "program", buf_span(&program));
    buf_free(&program);
}

static void documents(struct judge *j)
{
    static const struct {
        const struct renderer_ops *ops;
        const char *format, *source;
    } rows[] = {{&render_docx, "docx", "# T\n\ntext"},
                {&render_xlsx, "xlsx", "a,b\n1,2\n"},
                {&render_pptx, "pptx", "# T\n\n- a\n"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char sentence[RENDER_SENTENCE] = "", name[16];
        struct render_params p = {
            .format = rows[i].format, .filename = "a", .title = "T", .made_at = 1790000000};
        struct buf out;
        buf_init(&out, MADE_FILE);
        assert_int_equal(rows[i].ops->render(span_str(rows[i].source), &p, &out, sentence), RENDER_OK);
        snprintf(name, sizeof name, "a.%s", rows[i].format);
        compare(j, name, buf_span(&out));
        buf_free(&out);
    }
}

static void texts(struct judge *j)
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"a.pdf", "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<</Type/Catalog>>\nendobj\n"},
        {"plain.txt", "Just a line of text.\nAnd another.\n"},
        {"utf8.txt", "Größe, naïve, 東京\n"},
        {"a.json", "{\"a\": [1, 2, {\"b\": null}]}\n"},
        {"a.html", "<!DOCTYPE html>\n<html><head><title>x</title></head><body>y</body></html>\n"},
        {"a.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"></svg>\n"},
        {"a.csv", "name,count,price\nfoo,1,2.5\nbar,2,3.5\nbaz,3,4.5\n"},
        {"semicolons.csv", "a;b\n1;2\n"},
        {"a.md", "# Title\n\n- one\n- two\n\n```c\nint x;\n```\n"},
        {"a.ics", "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"},
        {"a.rtf", "{\\rtf1\\ansi text}"},
        {"code.txt", "#include <stdio.h>\nint main(void) { return 0; }\n"},
        {"script.txt", "#!/bin/sh\necho hello\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        compare(j, rows[i].name, span_str(rows[i].text));
}

static void ours_beside_libmagic(void **state)
{
    struct judge j = {.magic = magic_open(MAGIC_MIME_TYPE)};
    (void)state;
    assert_non_null(j.magic);
    assert_int_equal(magic_load(j.magic, NULL), 0);
    snprintf(j.folder, sizeof j.folder, "%s/sniff-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    assert_non_null(mkdtemp(j.folder));
    with_ffmpeg(&j);
    archives(&j);
    documents(&j);
    texts(&j);
    for (size_t i = 0; i < DIFFERENCES; i++)
        if (!j.seen[i]) {
            print_message("%s is listed and was not seen\n", differences[i].name);
            j.faults++;
        }
    magic_close(j.magic);
    rmdir(j.folder);
    assert_true(j.files > 40);
    assert_int_equal(j.faults, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ours_beside_libmagic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
