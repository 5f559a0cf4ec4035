/* The file store, signed links and workspaces, in a temporary directory. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "artifacts/artifact.h"

enum { MAX = 1 << 20, DAY = 86400 };

struct world {
    char dir[64];
    struct store *store;
    struct owner owner;
};

static struct store *open_store(const char *dir)
{
    struct error e;
    struct store_settings settings = {
        .state_dir = dir, .retention_s = 7 * DAY, .link_ttl_s = DAY, .public_url = "http://127.0.0.1:8080/"};
    struct store *s = store_open(&settings, &e);
    if (!s)
        fail_msg("%s", e.message);
    return s;
}

static void remove_tree(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (fd < 0) {
        unlinkat(parent, name, 0);
        return;
    }
    DIR *list = fdopendir(fd);
    for (struct dirent *e; (e = readdir(list));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            remove_tree(fd, e->d_name);
    closedir(list);
    unlinkat(parent, name, AT_REMOVEDIR);
}

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    snprintf(w->dir, sizeof w->dir, "/tmp/test-store-XXXXXX");
    if (!mkdtemp(w->dir))
        return -1;
    strncat(w->dir, "/state/deep", sizeof w->dir - strlen(w->dir) - 1);
    w->store = open_store(w->dir);
    w->owner = (struct owner){.org = "acme", .has_key = true};
    store_key(w->store, SPAN_LIT("sk-test"), w->owner.key);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    store_close(w->store);
    w->dir[strlen("/tmp/test-store-XXXXXX")] = '\0';
    remove_tree(AT_FDCWD, w->dir);
    free(w);
    return 0;
}

static void take(struct workspace *w, unsigned number, const char *text, enum flag refused, struct made *made)
{
    workspace_take(w, number, span_str(text), refused, MAX, made);
}

static json_t *read_json(const struct world *w, const char *consult, const char *file)
{
    char path[256];
    snprintf(path, sizeof path, "%s/orgs/acme/%s/%s", w->dir, consult, file);
    return json_load_file(path, 0, NULL);
}

static void read_content(struct store *s, const struct artifact *a, char out[64])
{
    int fd = store_open_content(s, a);
    assert_true(fd >= 0);
    ssize_t n = read(fd, out, 63);
    assert_true(n >= 0);
    out[n] = '\0';
    close(fd);
}

static mode_t mode_of(const struct world *w, const char *rest)
{
    char path[256];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", w->dir, rest);
    if (stat(path, &st))
        fail_msg("%s is not there", path);
    return st.st_mode & 07777;
}

static void makes_a_file(void **state)
{
    struct world *w = *state;
    struct made m;
    struct artifact a;
    char content[64], path[128];
    struct workspace *ws = workspace_create(w->store, &w->owner, "hwc-1", false, NULL);
    take(ws, 0,
         "\n{\"filename\":\"a \u00fc.txt\",\"format\":\"txt\",\"title\":\"A \\\"t\\\"\"}\n---\n0123456789\n",
         FLAG_NONE, &m);
    assert_int_equal(m.flag, FLAG_NONE);
    assert_true(m.stored);
    assert_string_equal(m.artifact.filename, "a \u00fc.txt");
    json_t *entry = json_loads(buf_cstr(&m.entry), 0, NULL);
    assert_non_null(entry);
    assert_int_equal(json_object_size(entry), 9);
    assert_string_equal(json_string_value(json_object_get(entry, "title")), "A \"t\"");
    assert_string_equal(json_string_value(json_object_get(entry, "sha256")),
                        "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882");
    assert_int_equal(json_integer_value(json_object_get(entry, "bytes")), 10);
    assert_string_equal(json_string_value(json_object_get(entry, "url")), buf_cstr(&m.url));
    json_decref(entry);
    assert_int_equal(store_find(w->store, span_str(m.artifact.id), &a), 0);
    assert_string_equal(a.filename, "a \u00fc.txt");
    assert_string_equal(a.owner.org, "acme");
    assert_true(a.owner.has_key);
    assert_memory_equal(a.owner.key, w->owner.key, DIGEST);
    assert_int_equal(a.expires_at - a.created_at, 7 * DAY);
    read_content(w->store, &a, content);
    assert_string_equal(content, "0123456789");
    assert_int_equal(mode_of(w, "secret"), 0600);
    assert_int_equal(mode_of(w, "orgs/acme/hwc-1"), 0700);
    assert_int_equal(mode_of(w, "orgs/acme/hwc-1/outbound"), 0700);
    assert_int_equal(mode_of(w, "orgs/acme/hwc-1/outbound/a \u00fc.txt"), 0600);
    snprintf(path, sizeof path, "files/%.2s/%s.json", a.id + 8, a.id);
    assert_int_equal(mode_of(w, path), 0600);
    json_t *manifest = read_json(w, "hwc-1", "manifest.json");
    assert_string_equal(json_string_value(json_object_get(manifest, "consult")), "hwc-1");
    assert_int_equal(json_array_size(json_object_get(manifest, "inbound")), 0);
    assert_int_equal(json_array_size(json_object_get(manifest, "outbound")), 1);
    json_decref(manifest);
    made_free(&m);
    workspace_destroy(ws);
}

static void keeps_what_fails(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *text;
        enum flag refused, flag;
        const char *filename;
    } rows[] = {
        {"\n{\"filename\":\"a.md\", broken\n---\nCANARY\n", FLAG_NONE, FLAG_INVALID_METADATA, "a.md"},
        {"\n{\"filename\":\"c.json\",\"format\":\"json\"}\n---\nCANARY {\n", FLAG_NONE, FLAG_INVALID_CONTENT,
         "c.json"},
        {"\n{\"filename\":\"q; z.zzz\",\"format\":\"zzz\"}\n---\nCANARY\n", FLAG_NONE,
         FLAG_UNSUPPORTED_FORMAT, "q; z.zzz"},
        {"\n{\"filename\":\"d.docx\"}\n---\nCANARY\n", FLAG_NONE, FLAG_UNSUPPORTED_FORMAT, "d.docx"},
        {"\n{\"filename\":\"cat.png\",\"format\":\"image\"}\n---\nCANARY\n", FLAG_NONE,
         FLAG_IMAGE_GENERATION_DISABLED, "cat.png"},
        {"\n{\"filename\":\"cut.csv\",\"format\":\"csv\"}\n---\nCANARY,", FLAG_UNTERMINATED,
         FLAG_UNTERMINATED, "cut.csv"},
        {"\n{\"filename\":\"n.txt\"}\n---\nCANARY", FLAG_TOO_MANY, FLAG_TOO_MANY, "n.txt"},
        {"\n{\"filen", FLAG_TOO_LARGE, FLAG_TOO_LARGE, ""},
    };
    size_t n = sizeof rows / sizeof rows[0];
    struct workspace *ws = workspace_create(w->store, &w->owner, "hwc-2", false, NULL);
    for (unsigned i = 0; i < n; i++) {
        struct made m;
        take(ws, i, rows[i].text, rows[i].refused, &m);
        assert_int_equal(m.flag, rows[i].flag);
        assert_false(m.stored);
        assert_int_equal(m.entry.n, 0);
        assert_string_equal(m.filename, rows[i].filename);
        assert_non_null(strstr(m.sentence, "could not be made: "));
        assert_null(strstr(m.sentence, "CANARY"));
        assert_null(strchr(m.sentence, ';'));
        made_free(&m);
    }
    json_t *manifest = read_json(w, "hwc-2", "manifest.json");
    json_t *quarantine = json_object_get(manifest, "quarantine");
    assert_int_equal(json_array_size(quarantine), n);
    json_t *first = json_array_get(quarantine, 0);
    assert_string_equal(json_string_value(json_object_get(first, "file")), "quarantine/00.txt");
    assert_string_equal(json_string_value(json_object_get(first, "reason")), "invalid_metadata");
    json_decref(manifest);
    assert_int_equal(mode_of(w, "orgs/acme/hwc-2/quarantine/07.txt"), 0600);
    workspace_destroy(ws);
}

/* The smallest PNG and JPEG that are told as such. */
static const char png[] = "\x89PNG\r\n\x1a\n picture", jpeg[] = "\xff\xd8\xff\xe0 picture";

#define CAT       "\n{\"filename\":\"cat.png\",\"format\":\"image\",\"title\":\"Cat\"}\n---\n a red cat\n"
#define ASK(more) "\n{\"format\":\"image\"" more "}\n---\nx\n"

static void wants_pictures(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *text;
        enum flag flag;
        const char *prompt, *size, *quality;
    } rows[] = {
        {CAT, FLAG_NONE, "a red cat", "", ""},
        {ASK(",\"size\":\"1024x1536\",\"quality\":\"high\""), FLAG_NONE, "x", "1024x1536", "high"},
        {ASK(",\"size\":\"1024 \u00d7 1024\",\"quality\":null"), FLAG_NONE, "x", "1024x1024", ""},
        {ASK(",\"size\":1024"), FLAG_INVALID_METADATA, "", "", ""},
        {ASK(",\"size\":\"\""), FLAG_INVALID_METADATA, "", "", ""},
        {ASK(",\"quality\":\"a\\nb\""), FLAG_INVALID_METADATA, "", "", ""},
        {ASK(",\"size\":\"12345678901234567890123456789012\""), FLAG_INVALID_METADATA, "", "", ""},
        {"\n{\"format\":\"image\"}\n---\n \n\n", FLAG_INVALID_CONTENT, "", "", ""},
        {"\n{\"format\":\"image\"}\n---\n\xff\n", FLAG_INVALID_CONTENT, "", "", ""},
        {"\n{\"format\":\"image\",\"encoding\":\"base64\"}\n---\nAAAA\n", FLAG_INVALID_CONTENT, "", "", ""},
    };
    struct workspace *ws = workspace_create(w->store, &w->owner, "hwc-6", true, NULL);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct made m;
        take(ws, i, rows[i].text, FLAG_NONE, &m);
        assert_int_equal(m.flag, rows[i].flag);
        assert_int_equal(m.image.wanted, rows[i].flag == FLAG_NONE);
        assert_false(m.stored);
        assert_string_equal(buf_cstr(&m.image.prompt), rows[i].prompt);
        if (m.image.wanted) {
            assert_string_equal(m.image.size, rows[i].size);
            assert_string_equal(m.image.quality, rows[i].quality);
        } else {
            assert_non_null(strstr(m.sentence, "could not be made: "));
        }
        made_free(&m);
    }
    workspace_destroy(ws);
}

static void stores_pictures(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *text, *picture;
        enum flag failed, flag;
        const char *filename, *format, *media_type;
    } rows[] = {
        {CAT, png, FLAG_NONE, FLAG_NONE, "cat.png", "png", "image/png"},
        {CAT, png, FLAG_NONE, FLAG_NONE, "cat (2).png", "png", "image/png"},
        {CAT, jpeg, FLAG_NONE, FLAG_NONE, "cat.jpg", "jpg", "image/jpeg"},
        {ASK(""), png, FLAG_NONE, FLAG_NONE, "image.png", "png", "image/png"},
        {ASK(",\"title\":\"A; cat\""), png, FLAG_NONE, FLAG_NONE, "A; cat.png", "png", "image/png"},
        {CAT, "%PDF-1.7", FLAG_NONE, FLAG_RENDER_FAILED, "cat.png", "", ""},
        {CAT, "", FLAG_NONE, FLAG_RENDER_FAILED, "cat.png", "", ""},
        {CAT, "", FLAG_RENDER_TIMEOUT, FLAG_RENDER_TIMEOUT, "cat.png", "", ""},
    };
    struct workspace *ws = workspace_create(w->store, &w->owner, "hwc-7", true, NULL);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct made m;
        workspace_store(ws, i, span_str(rows[i].text), MAX, span_str(rows[i].picture), rows[i].failed,
                        rows[i].failed ? "it; said no" : "", &m);
        assert_int_equal(m.flag, rows[i].flag);
        assert_int_equal(m.stored, rows[i].flag == FLAG_NONE);
        assert_string_equal(m.artifact.format, rows[i].format);
        assert_string_equal(m.artifact.media_type, rows[i].media_type);
        if (m.stored)
            assert_string_equal(m.artifact.filename, rows[i].filename);
        if (rows[i].failed)
            assert_non_null(strstr(m.sentence, "could not be made: it, said no."));
        made_free(&m);
    }
    json_t *manifest = read_json(w, "hwc-7", "manifest.json");
    assert_int_equal(json_array_size(json_object_get(manifest, "outbound")), 5);
    assert_int_equal(json_array_size(json_object_get(manifest, "quarantine")), 3);
    json_decref(manifest);
    workspace_destroy(ws);
}

static void equal_names_and_delete(void **state)
{
    struct world *w = *state;
    struct made a, b;
    struct artifact found;
    char content[64];
    struct workspace *ws = workspace_create(w->store, &w->owner, "hwc-3", false, NULL);
    take(ws, 0, "\n{\"filename\":\"a.txt\"}\n---\n1\n", FLAG_NONE, &a);
    take(ws, 1, "\n{\"filename\":\"A.txt\"}\n---\n2\n", FLAG_NONE, &b);
    assert_string_equal(a.artifact.filename, "a.txt");
    assert_string_equal(b.artifact.filename, "A (2).txt");
    read_content(w->store, &b.artifact, content);
    assert_string_equal(content, "2");
    assert_int_equal(store_delete(w->store, &a.artifact), 0);
    assert_int_equal(store_find(w->store, span_str(a.artifact.id), &found), -1);
    assert_int_equal(store_open_content(w->store, &a.artifact), -1);
    assert_int_equal(store_find(w->store, span_str(b.artifact.id), &found), 0);
    json_t *manifest = read_json(w, "hwc-3", "manifest.json");
    json_t *outbound = json_object_get(manifest, "outbound");
    assert_non_null(json_object_get(json_array_get(outbound, 0), "deleted"));
    assert_null(json_object_get(json_array_get(outbound, 1), "deleted"));
    json_decref(manifest);
    made_free(&a);
    made_free(&b);
    workspace_destroy(ws);
}

static void ids_are_checked(void **state)
{
    struct world *w = *state;
    static const char *const ids[] = {
        "",
        "file-hw-",
        "file-hw-0",
        "file-abc",
        "file-hw-AAAAAAAAAAAAAAAAAAAAAAAA",
        "file-hw-../../../../../../secre",
        "file-hw-000000000000000000000000",
        "file-hw-0000000000000000000000000",
    };
    struct artifact a;
    char id[ARTIFACT_ID], other[ARTIFACT_ID];
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        assert_int_equal(store_find(w->store, span_str(ids[i]), &a), -1);
    store_new_id("file-hw-", id, sizeof id);
    store_new_id("file-hw-", other, sizeof other);
    assert_int_equal(strlen(id), 32);
    assert_string_not_equal(id, other);
    struct owner outside = {.org = "../x"};
    struct workspace *ws = workspace_create(w->store, &outside, "hwc-4", false, NULL);
    struct made m;
    take(ws, 0, "\n{\"filename\":\"a.txt\"}\n---\n1\n", FLAG_NONE, &m);
    assert_int_equal(m.flag, FLAG_STORAGE_FAILED);
    made_free(&m);
    workspace_destroy(ws);
}

/* A link planted where a directory or file of the store should be leads nowhere. */
static void follows_no_links(void **state)
{
    struct world *w = *state;
    char from[256];
    struct made m;
    struct workspace *ws = workspace_create(w->store, &w->owner, "hwc-5", false, NULL);
    snprintf(from, sizeof from, "%s/orgs/acme", w->dir);
    mkdir(from, 0700);
    snprintf(from, sizeof from, "%s/orgs/acme/hwc-5", w->dir);
    assert_int_equal(symlink("/tmp", from), 0);
    take(ws, 0, "\n{\"filename\":\"planted.txt\"}\n---\n1\n", FLAG_NONE, &m);
    assert_int_equal(m.flag, FLAG_STORAGE_FAILED);
    assert_int_equal(access("/tmp/outbound/planted.txt", F_OK), -1);
    made_free(&m);
    unlink(from);
    take(ws, 0, "\n{\"filename\":\"b.txt\"}\n---\n1\n", FLAG_NONE, &m);
    assert_int_equal(m.flag, FLAG_NONE);
    snprintf(from, sizeof from, "%s/orgs/acme/hwc-5/outbound/b.txt", w->dir);
    unlink(from);
    assert_int_equal(symlink("/etc/passwd", from), 0);
    assert_int_equal(store_open_content(w->store, &m.artifact), -1);
    made_free(&m);
    workspace_destroy(ws);
}

static bool is_signed(struct world *w, const char *id, const char *query, int64_t now)
{
    return store_signed(w->store, span_str(id), span_str(query), now);
}

static void signed_links(void **state)
{
    struct world *w = *state;
    struct artifact a = {.id = "file-hw-000000000000000000000000",
                         .created_at = 1000000000,
                         .expires_at = 1000000000 + 7 * DAY};
    char query[512], turned[512];
    struct buf url;
    buf_init(&url, 4096);
    store_url(w->store, &a, a.created_at, &url);
    static const char start[] = "http://127.0.0.1:8080/v1/files/file-hw-000000000000000000000000/content?";
    assert_true(span_starts(buf_span(&url), start));
    snprintf(query, sizeof query, "%s", buf_cstr(&url) + strlen(start));
    assert_true(is_signed(w, a.id, query, a.created_at));
    assert_true(is_signed(w, a.id, query, a.created_at + DAY - 1));
    assert_false(is_signed(w, a.id, query, a.created_at + DAY));
    assert_false(is_signed(w, "file-hw-000000000000000000000001", query, a.created_at));
    char *and = strchr(query, '&');
    snprintf(turned, sizeof turned, "%s&%.*s", and+1, (int)(and-query), query);
    assert_true(is_signed(w, a.id, turned, a.created_at));
    static const char *const wrong[] = {"%s0",    "%s&",    "&%s",         "%s&expires=2000000000",
                                        "%s&x=1", "%s%%20", "expires=9%s", "%s#"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(turned, sizeof turned, wrong[i], query);
#pragma GCC diagnostic pop
        if (is_signed(w, a.id, turned, a.created_at))
            fail_msg("%s is taken", turned);
    }
    query[strlen(query) - 1] ^= 1;
    assert_false(is_signed(w, a.id, query, a.created_at));
    assert_false(is_signed(w, a.id, "", a.created_at));
    assert_false(is_signed(w, a.id, "expires=&signature=", a.created_at));
    buf_reset(&url); /* a link does not outlive its file */
    store_url(w->store, &a, a.expires_at - 10, &url);
    assert_non_null(strstr(buf_cstr(&url), "expires=1000604800&"));
    buf_free(&url);
}

static void sweep_removes_what_expired(void **state)
{
    struct world *w = *state;
    struct made m;
    struct artifact a;
    struct stat st;
    char path[256];
    struct workspace *ws = workspace_create(w->store, &w->owner, "hwc-6", false, NULL);
    take(ws, 0, "\n{\"filename\":\"a.txt\"}\n---\n1\n", FLAG_NONE, &m);
    assert_int_equal(m.flag, FLAG_NONE);
    take(ws, 1, "\n{\"filename\":\"a.txt\"", FLAG_UNTERMINATED, &(struct made){0});
    int64_t now = m.artifact.created_at;
    assert_int_equal(store_sweep(w->store, now + DAY), 0);
    assert_int_equal(store_find(w->store, span_str(m.artifact.id), &a), 0);
    assert_int_equal(store_sweep(w->store, now + 7 * DAY + 60), 1);
    assert_int_equal(store_find(w->store, span_str(m.artifact.id), &a), -1);
    assert_int_equal(store_open_content(w->store, &m.artifact), -1);
    snprintf(path, sizeof path, "%s/orgs/acme/hwc-6", w->dir);
    assert_int_equal(stat(path, &st), -1);
    assert_int_equal(store_sweep(w->store, now + 7 * DAY + 60), 0);
    made_free(&m);
    workspace_destroy(ws);
}

/* Several processes that start at once end up with one secret. */
static void one_secret_for_all(void **state)
{
    struct world *w = *state;
    char dir[128];
    unsigned char key[DIGEST], mine[DIGEST];
    int pipes[2];
    enum { PROCESSES = 8 };
    snprintf(dir, sizeof dir, "%s/race", w->dir);
    assert_int_equal(pipe(pipes), 0);
    pid_t pids[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            struct store *s = open_store(dir);
            store_key(s, SPAN_LIT("sk"), key);
            _exit(write(pipes[1], key, DIGEST) == DIGEST ? 0 : 1);
        }
    }
    for (int i = 0; i < PROCESSES; i++)
        waitpid(pids[i], NULL, 0);
    struct store *s = open_store(dir);
    store_key(s, SPAN_LIT("sk"), mine);
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(read(pipes[0], key, DIGEST), DIGEST);
        assert_memory_equal(key, mine, DIGEST);
    }
    store_key(s, SPAN_LIT("sk2"), key);
    assert_memory_not_equal(key, mine, DIGEST);
    store_close(s);
    close(pipes[0]);
    close(pipes[1]);
}

static void damaged_secret_is_refused(void **state)
{
    struct world *w = *state;
    char path[128];
    struct error e;
    snprintf(path, sizeof path, "%s/secret", w->dir);
    FILE *f = fopen(path, "w");
    fputs("short\n", f);
    fclose(f);
    struct store_settings settings = {.state_dir = w->dir, .public_url = ""};
    assert_null(store_open(&settings, &e));
    assert_non_null(strstr(e.message, "damaged"));
    settings.state_dir = "/dev/null/x";
    assert_null(store_open(&settings, &e));
}

static void a_document_waits_for_its_picture_and_is_stored_once_drawn(void **state)
{
    static const char text[] = "\n{\"filename\":\"r.pdf\",\"format\":\"pdf\"}\n---\n![x](p.png)\n";
    static const char picture[] =
        "\n{\"filename\":\"p.png\",\"format\":\"png\",\"encoding\":\"base64\"}\n---\n"
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5C"
        "YII=\n";
    struct rendered rendered = {.formats = {"pdf"}, .n = 1};
    struct world *w = *state;
    struct made made;
    struct workspace *ws = workspace_create(w->store, &w->owner, "hwc-9", false, &rendered);
    take(ws, 0, text, FLAG_NONE, &made);
    assert_true(made.render.wanted && made.render.lacks);
    made_free(&made);
    take(ws, 1, picture, FLAG_NONE, &made);
    assert_true(made.stored);
    made_free(&made);
    take(ws, 0, text, FLAG_NONE, &made);
    assert_true(made.render.wanted && !made.render.lacks && !made.stored);
    made_free(&made);
    workspace_store_rendered(ws, 0, span_str(text), MAX, SPAN_LIT("%PDF-1.7\n"), "pdf 3", FLAG_NONE, "",
                             &made);
    assert_true(made.stored);
    assert_string_equal(made.artifact.filename, "r.pdf");
    assert_string_equal(made.artifact.media_type, "application/pdf");
    made_free(&made);
    workspace_store_rendered(ws, 2, span_str(text), MAX, SPAN_LIT("no pdf"), "pdf 3", FLAG_NONE, "", &made);
    assert_int_equal(made.flag, FLAG_RENDER_FAILED);
    made_free(&made);
    workspace_store_rendered(ws, 3, span_str(text), MAX, SPAN_LIT(""), "", FLAG_INVALID_CONTENT,
                             "no; \x01 table.", &made);
    assert_int_equal(made.flag, FLAG_INVALID_CONTENT);
    assert_string_equal(made.sentence, "The file \"r.pdf\" could not be made: the format pdf: no,   table.");
    made_free(&made);
    json_t *manifest = read_json(w, "hwc-9", "manifest.json");
    json_t *one = json_array_get(json_object_get(manifest, "outbound"), 1);
    assert_string_equal(json_string_value(json_object_get(one, "renderer")), "pdf 3");
    assert_int_equal(json_array_size(json_object_get(manifest, "quarantine")), 2);
    json_decref(manifest);
    workspace_destroy(ws);
}

/* What may be text as it is written is never lost to a renderer that fails; what is wrong with it is said. */
static void a_table_needs_no_renderer(void **state)
{
    static const char text[] = "\n{\"filename\":\"t.csv\"}\n---\na;b\n=1;2\n";
    struct rendered rendered = {.formats = {"csv"}, .n = 1};
    struct world *w = *state;
    struct made made;
    struct workspace *ws = workspace_create(w->store, &w->owner, "hwc-10", false, &rendered);
    take(ws, 0, text, FLAG_NONE, &made);
    assert_true(made.render.wanted && !made.stored);
    made_free(&made);
    static const enum flag ours[] = {FLAG_RENDER_FAILED, FLAG_RENDER_TIMEOUT};
    for (size_t i = 0; i < 2; i++) {
        workspace_store_rendered(ws, 0, span_str(text), MAX, SPAN_LIT(""), "", ours[i], "it died", &made);
        assert_true(made.stored && made.flag == FLAG_NONE);
        assert_int_equal(made.artifact.bytes, strlen("a;b\n'=1;2"));
        assert_string_equal(made.artifact.renderer, "");
        made_free(&made);
    }
    workspace_store_rendered(ws, 0, span_str(text), MAX, SPAN_LIT(""), "", FLAG_INVALID_CONTENT,
                             "it is empty", &made);
    assert_true(!made.stored && made.flag == FLAG_INVALID_CONTENT);
    made_free(&made);
    workspace_destroy(ws);
}

static void take_known(struct world *w, const char *consult, unsigned number, const char *text, bool again,
                       struct made *out)
{
    struct workspace *ws = workspace_create(w->store, &w->owner, consult, false, NULL);
    workspace_know(ws, true, again);
    for (unsigned i = 0; i < number; i++) {
        struct made before;
        workspace_take(ws, i, span_str(text), FLAG_NONE, MAX, &before);
        made_free(&before);
    }
    workspace_take(ws, number, span_str(text), FLAG_NONE, MAX, out);
    workspace_destroy(ws);
}

/* A reply that is fetched again gets the files that were made of it. */
static void fetched_again_is_not_made_again(void **state)
{
    struct world *w = *state;
    static const char text[] = "\n{\"filename\":\"a.txt\"}\n---\nA\n", bad[] = "\nno object\n---\n";
    struct made first, second, again, other;
    take_known(w, "hwc-k1", 0, text, false, &first);
    take_known(w, "hwc-k2", 1, text, false, &second); /* makes the first one anew as well */
    assert_true(first.stored && second.stored);
    assert_string_equal(second.filename, "a (2).txt");
    take_known(w, "hwc-k3", 0, text, true, &again);
    assert_true(again.stored);
    assert_string_equal(again.filename, "a.txt");
    assert_string_equal(again.artifact.consult, "hwc-k2");
    assert_true(again.entry.n > 0 && again.url.n > 0);
    made_free(&again);
    take_known(w, "hwc-k3", 1, text, true, &again);
    assert_string_equal(again.artifact.id, second.artifact.id);
    made_free(&again);

    assert_int_equal(store_delete(w->store, &second.artifact), 0);
    take_known(w, "hwc-k3", 1, text, true, &again);
    assert_false(again.stored);
    assert_int_equal(again.flag, FLAG_NONE);
    assert_non_null(strstr(again.sentence, "it was deleted"));
    made_free(&again);

    /* Of somebody else's nothing is known. */
    struct owner owner = w->owner;
    store_key(w->store, SPAN_LIT("sk-other"), w->owner.key);
    take_known(w, "hwc-k4", 0, text, true, &other);
    assert_string_equal(other.artifact.consult, "hwc-k4");
    made_free(&other);
    w->owner = owner;

    /* What fails is not kept a second time. */
    take_known(w, "hwc-k5", 0, bad, true, &other);
    assert_int_equal(other.flag, FLAG_INVALID_METADATA);
    char path[256];
    snprintf(path, sizeof path, "%s/orgs/acme/hwc-k5", w->dir);
    assert_int_not_equal(access(path, F_OK), 0);
    made_free(&other);
    made_free(&first);
    made_free(&second);
}

static void what_is_known_expires(void **state)
{
    struct world *w = *state;
    static const char text[] = "\n{\"filename\":\"b.txt\"}\n---\nB\n";
    struct made made, again;
    take_known(w, "hwc-e1", 0, text, false, &made);
    int64_t late = made.artifact.expires_at + 1;
    assert_int_equal(store_sweep(w->store, late), 1);
    take_known(w, "hwc-e2", 0, text, true, &again);
    assert_true(again.stored);
    assert_string_equal(again.artifact.consult, "hwc-e2");
    made_free(&made);
    made_free(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_table_needs_no_renderer, setup, teardown),
        cmocka_unit_test_setup_teardown(a_document_waits_for_its_picture_and_is_stored_once_drawn, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(makes_a_file, setup, teardown),
        cmocka_unit_test_setup_teardown(keeps_what_fails, setup, teardown),
        cmocka_unit_test_setup_teardown(wants_pictures, setup, teardown),
        cmocka_unit_test_setup_teardown(stores_pictures, setup, teardown),
        cmocka_unit_test_setup_teardown(equal_names_and_delete, setup, teardown),
        cmocka_unit_test_setup_teardown(ids_are_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(follows_no_links, setup, teardown),
        cmocka_unit_test_setup_teardown(signed_links, setup, teardown),
        cmocka_unit_test_setup_teardown(sweep_removes_what_expired, setup, teardown),
        cmocka_unit_test_setup_teardown(one_secret_for_all, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_secret_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(fetched_again_is_not_made_again, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_known_expires, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
