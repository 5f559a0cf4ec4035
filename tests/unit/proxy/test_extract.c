/* `penstock extract` on texts in files: what goes to standard output, which files are made, and the exit
 * status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "proxy/demo_io.h"
#include "proxy/extract.h"

enum { ROOM = 64 * 1024 * 1024 };

struct place {
    char root[64], in[96], out[96], captured[96], err[96];
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    const char *tmp = "/tmp/penstock-extract-XXXXXX";
    snprintf(p->root, sizeof p->root, "%s", tmp);
    if (!mkdtemp(p->root))
        return -1;
    snprintf(p->in, sizeof p->in, "%s/in", p->root);
    snprintf(p->out, sizeof p->out, "%s/deep/out", p->root);
    snprintf(p->captured, sizeof p->captured, "%s/captured", p->root);
    snprintf(p->err, sizeof p->err, "%s/err", p->root);
    *state = p;
    return 0;
}

static void remove_below(const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        char below[DEMO_PATH];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        assert_int_equal(demo_io_path(below, path, e->d_name), 0);
        if (unlink(below) < 0)
            remove_below(below);
    }
    if (d)
        closedir(d);
    rmdir(path);
}

static int tear_down(void **state)
{
    struct place *p = *state;
    remove_below(p->root);
    free(p);
    return 0;
}

static int redirect(int fd, const char *path)
{
    int saved = dup(fd), to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(saved >= 0 && to >= 0);
    dup2(to, fd);
    close(to);
    return saved;
}

static void restore(int fd, int saved)
{
    dup2(saved, fd);
    close(saved);
}

static int extract(const struct place *p, struct span text)
{
    struct extract_options options = {.path = p->in, .out = p->out};
    assert_int_equal(demo_io_write_file(p->in, text), 0);
    fflush(NULL);
    int out = redirect(STDOUT_FILENO, p->captured), err = redirect(STDERR_FILENO, p->err);
    int status = extract_run(&options);
    fflush(NULL);
    restore(STDOUT_FILENO, out);
    restore(STDERR_FILENO, err);
    return status;
}

static void assert_file(const char *dir, const char *name, struct span expected)
{
    char path[DEMO_PATH];
    struct buf bytes;
    buf_init(&bytes, ROOM);
    assert_int_equal(demo_io_path(path, dir, name), 0);
    assert_int_equal(demo_io_read_file(path, &bytes), 0);
    assert_int_equal(bytes.n, expected.n);
    assert_memory_equal(buf_span(&bytes).p, expected.p, expected.n);
    buf_free(&bytes);
}

static void assert_said(const struct place *p, const char *word)
{
    struct buf bytes;
    buf_init(&bytes, ROOM);
    assert_int_equal(demo_io_read_file(p->err, &bytes), 0);
    if (!strstr(buf_cstr(&bytes), word))
        fail_msg("no \"%s\" in: %s", word, buf_cstr(&bytes));
    buf_free(&bytes);
}

static bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

#define DIRECTIVE(metadata, content) "<<<HW_ATTACHMENT\n" metadata "\n---\n" content "\nHW_ATTACHMENT>>>\n"
#define NOTE                         DIRECTIVE("{\"filename\":\"q3.txt\",\"format\":\"txt\"}", "a,b\n1,2")

static void test_texts(void **state)
{
    static const struct {
        const char *text, *client, *said;
        int status;
    } cases[] = {
        {"", "", "", 0},
        {"No file.\r\n\ttab \\n \\u0041 \"x\" \x7f\n", "No file.\r\n\ttab \\n \\u0041 \"x\" \x7f\n", "", 0},
        {"Here:\n\n" NOTE "\nBye", "Here:\n\n\nBye", "wrote ", 0},
        {"x HW_ATTACHMENT>>> y", "x  y", "stray_marker: ", 3},
        {"x\n<<<HW_ATTACHMENT\n{\"format\":\"csv\"}\n---\na", "x\n", "unterminated: ", 3},
        {"x\n" DIRECTIVE("{]", "a") "y", "x\ny", "invalid_metadata: ", 3},
        {"x\n" DIRECTIVE("{\"filename\":\"a.json\"}", "{") "y", "x\ny", "invalid_content: ", 3},
        {"x\n" DIRECTIVE("{\"format\":\"nosuch\"}", "{") "y", "x\ny", "unsupported_format: ", 3},
        {NOTE, "Attached: q3.txt.\n", "", 0},
    };
    struct place *p = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        remove_below(p->out);
        assert_int_equal(extract(p, span_str(cases[i].text)), cases[i].status);
        assert_file(p->root, "captured", span_str(cases[i].client));
        assert_said(p, cases[i].said);
        if (!*cases[i].said && cases[i].status == 0 && !strstr(cases[i].text, "<<<"))
            assert_false(exists(p->out)); /* nothing to put there */
    }
}

static void test_never_overwrites(void **state)
{
    struct place *p = *state;
    char path[DEMO_PATH];
    assert_int_equal(extract(p, SPAN_LIT("x\n" NOTE NOTE)), 0);
    assert_file(p->out, "q3.txt", SPAN_LIT("a,b\n1,2"));
    assert_file(p->out, "q3 (2).txt", SPAN_LIT("a,b\n1,2"));
    assert_int_equal(demo_io_path(path, p->out, "q3 (3).txt"), 0);
    assert_int_equal(symlink("nowhere", path), 0); /* also counts as there */
    assert_int_equal(extract(p, SPAN_LIT("x\n" NOTE)), 0);
    assert_file(p->out, "q3 (4).txt", SPAN_LIT("a,b\n1,2"));
    for (int i = 0; i < 2; i++)
        assert_int_equal(extract(p, SPAN_LIT("x\n" NOTE DIRECTIVE("{\"filename\":\"../q3.json\"}", "{"))), 3);
    assert_file(p->out, "quarantine/01.txt", SPAN_LIT("\n{\"filename\":\"../q3.json\"}\n---\n{\n"));
    assert_file(p->out, "quarantine/01-2.txt", SPAN_LIT("\n{\"filename\":\"../q3.json\"}\n---\n{\n"));
}

static void test_limits(void **state)
{
    struct place *p = *state;
    struct buf text;
    buf_init(&text, ROOM);
    setenv("PENSTOCK_LIMITS_DIRECTIVES", "2", 1);
    setenv("PENSTOCK_LIMITS_DIRECTIVE", "2KiB", 1);
    for (int i = 0; i < 80; i++)
        buf_adds(&text, NOTE);
    assert_int_equal(extract(p, buf_span(&text)), 3);
    assert_said(p, "too_many: ");
    assert_said(p, "too_many: 14 more files");
    buf_reset(&text);
    buf_adds(&text, "x\n<<<HW_ATTACHMENT\n{\"format\":\"txt\"}\n---\n");
    for (int i = 0; i < 5000; i++)
        buf_addc(&text, 'y');
    buf_adds(&text, "HW_ATTACHMENT>>>\nz");
    assert_int_equal(extract(p, buf_span(&text)), 3);
    assert_said(p, "too_large: ");
    assert_file(p->root, "captured", SPAN_LIT("x\nz"));
    unsetenv("PENSTOCK_LIMITS_DIRECTIVES");
    unsetenv("PENSTOCK_LIMITS_DIRECTIVE");
    buf_free(&text);
}

/* Longer than one read, with every byte there is, and a directive across the edge. */
static void test_long_text(void **state)
{
    struct place *p = *state;
    struct buf text, client;
    buf_init(&text, ROOM);
    buf_init(&client, ROOM);
    for (unsigned i = 0; i < 65520; i++)
        buf_addc(&text, (char)(i % 251));
    buf_addc(&text, '\n');
    buf_add(&client, buf_span(&text));
    buf_adds(&text, NOTE);
    for (unsigned i = 0; i < 70000; i++) {
        buf_addc(&text, (char)(i * 7));
        buf_addc(&client, (char)(i * 7));
    }
    assert_int_equal(extract(p, buf_span(&text)), 0);
    assert_file(p->root, "captured", buf_span(&client));
    assert_file(p->out, "q3.txt", SPAN_LIT("a,b\n1,2"));
    buf_free(&text);
    buf_free(&client);
}

static void test_errors(void **state)
{
    struct place *p = *state;
    struct extract_options options = {.path = p->root, .out = p->out};
    int err = redirect(STDERR_FILENO, p->err);
    assert_int_equal(extract_run(&options), 1); /* a directory */
    options.path = "/no/such/file";
    assert_int_equal(extract_run(&options), 1);
    fflush(NULL);
    restore(STDERR_FILENO, err);
    assert_said(p, "/no/such/file");
    snprintf(p->out, sizeof p->out, "%s/in/below", p->root); /* below a file */
    assert_int_equal(extract(p, SPAN_LIT("x\n" NOTE "y")), 1);
    assert_file(p->root, "captured", SPAN_LIT("x\ny"));
}

/* A directory that cannot be made is one fault, however many files were to go there. */
static void test_no_directory_is_said_once(void **state)
{
    struct place *p = *state;
    char *said = NULL;
    size_t n = 0;
    snprintf(p->out, sizeof p->out, "%s/in/below", p->root); /* below a file */
    assert_int_equal(extract(p, SPAN_LIT("x\n" NOTE NOTE "y " DIRECTIVE("{]", "a") NOTE)), 1);
    FILE *f = fopen(p->err, "r");
    assert_non_null(f);
    unsigned times = 0;
    while (getline(&said, &n, f) > 0)
        times += strstr(said, "cannot make the directory") != NULL;
    free(said);
    fclose(f);
    assert_int_equal(times, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_directory_is_said_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_texts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_never_overwrites, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_errors, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
