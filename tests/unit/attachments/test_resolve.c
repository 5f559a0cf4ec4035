/* Bytes, media types, limits and the record (behaviours A.4, B.2 to B.4, B.9). */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "attachments/attachment.h"
#include "base/json.h"

static struct attachment_settings settings = {
    .workspace_root = "/nowhere", .org = "o", .file_max = 100, .total_max = 150, .characters_max = 20};

static int resolve(const char *json, struct attachments *a, struct error *e)
{
    struct span value;
    *e = (struct error){0};
    if (!json_document(span_str(json), &value))
        fail_msg("no JSON: %s", json);
    if (attachments_declare(value, a, e) < 0)
        fail_msg("%s: %s", json, e->message);
    return attachments_resolve(a, &settings, e);
}

static void a4_sizes(void **state)
{
    static const struct {
        const char *json, *details; /* NULL: accepted */
    } rows[] = {
        {"[{\"type\":\"log\",\"content\":\"12345678901234567890\"}]", NULL},
        {"[{\"type\":\"log\",\"content\":\"123456789012345678901\"}]",
         "{\"total_characters\":21,\"limit_characters\":20,\"largest_attachment\":{\"type\":\"log\","
         "\"characters\":21}}"},
        {"[{\"type\":\"a\",\"content\":\"12345678901\"},{\"type\":\"b\",\"content\":\"12345678901\"}]",
         "{\"total_characters\":22,\"limit_characters\":20,\"largest_attachment\":{\"type\":\"a\","
         "\"characters\":11}}"},
        {"[{\"type\":\"a\",\"content\":\"                     \"}]",
         "{\"total_characters\":21,\"limit_characters\":20,\"largest_attachment\":{\"type\":\"a\","
         "\"characters\":21}}"},
        {"[{\"type\":\"a\",\"content\":"
         "\"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
         "\xf0\x9f\x98\x80\\ud83d\\ude00\\ud83d\\ude00\\ud800e\xcc\x81\"}]",
         NULL},
        {"[{\"type\":\"a\\\"\",\"content\":[\"12345678901234567890\",\"\"]}]",
         "{\"total_characters\":21,\"limit_characters\":20,\"largest_attachment\":{\"type\":\"a\\\"\","
         "\"characters\":21}}"},
        {"[{\"type\":\"a\",\"content\":\"1\"},{\"data\":\"MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=\"}]",
         "{\"total_characters\":21,\"limit_characters\":20,\"largest_attachment\":{\"type\":\"text/"
         "plain\",\"characters\":20}}"},
        /* a byte order mark is no character */
        {"[{\"data\":\"77u/MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=\"}]", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct attachments a = {0};
        struct error e;
        int bad = resolve(rows[i].json, &a, &e);
        assert_int_equal(bad, rows[i].details ? -1 : 0);
        if (bad) {
            assert_int_equal(e.code, ERROR_ATTACHMENT_TOO_LARGE);
            assert_string_equal(e.details, rows[i].details);
            assert_null(strstr(e.message, "12345678901"));
        }
        attachments_free(&a);
    }
}

static void a4_message(void **state)
{
    struct attachment list[] = {{.type = (char *)"log", .characters = 610002},
                                {.type = (char *)"x", .characters = 2428}};
    struct attachments a = {.list = list, .n = 2};
    struct error e;
    char text[32];
    (void)state;
    assert_int_equal(limits_check(&a, 250000, &e), -1);
    assert_string_equal(e.details,
                        "{\"total_characters\":612430,\"limit_characters\":250000,\"largest_attachment\":"
                        "{\"type\":\"log\",\"characters\":610002}}");
    assert_non_null(strstr(e.message, "612,430"));
    assert_non_null(strstr(e.message, "250,000"));
    assert_non_null(strstr(e.message, "log"));
    assert_int_equal(limits_check(&a, 612430, &e), 0);
    limits_number(UINT64_MAX, text);
    assert_string_equal(text, "18,446,744,073,709,551,615");
    limits_number(999, text);
    assert_string_equal(text, "999");
}

#define UMLAUTS "ääääääääää"

/* Of the bytes alone, whatever the name says. */
static void b4_what_goes(void **state)
{
    static const struct {
        const char *json, *media_type; /* NULL media type: refused, with this code */
        enum error_code code;
        const char *named;
    } rows[] = {
        {"[{\"data\":\"iVBORw0KGgo\",\"name\":\"scan.pdf\"}]", "image/png", ERROR_NONE, NULL},
        {"[{\"data\":\"aGVsbG8\",\"name\":\"shot.png\"}]", "text/plain", ERROR_NONE, NULL},
        {"[{\"data\":\"w7_Dvi1z\"}]", "text/plain", ERROR_NONE, NULL},
        {"[{\"data\":\"YSxi\\/\",\"name\":\"t.CSV\"}]", NULL, ERROR_ATTACHMENT_INVALID, "base64"},
        {"[{\"data\":\"YSxi\\nCg==\",\"name\":\"t.CSV\"}]", "text/csv", ERROR_NONE, NULL},
        {"[{\"data\":\"JVBERi0xLjQK\",\"handling\":\"native\"}]", "application/pdf", ERROR_NONE, NULL},
        {"[{\"data\":\"JVBERi0xLjQK\"}]", NULL, ERROR_ATTACHMENT_UNSUPPORTED, "handling: native"},
        {"[{\"data\":\"UEsDBA==\"}]", NULL, ERROR_ATTACHMENT_UNSUPPORTED, "application/zip"},
        {"[{\"data\":\"PGh0bWw+\"}]", NULL, ERROR_ATTACHMENT_UNSUPPORTED, "needs penstock-worker"},
        {"[{\"data\":\"AAEC\"}]", NULL, ERROR_ATTACHMENT_UNSUPPORTED, "application/octet-stream"},
        {"[{\"data\":\"Y2Fm6Q==\"}]", NULL, ERROR_ATTACHMENT_UNSUPPORTED, "must be UTF-8"},
        {"[{\"data\":\"\"}]", NULL, ERROR_ATTACHMENT_INVALID, "attachments[0].data: it is empty"},
        {"[{\"data\":\"77u/\"}]", NULL, ERROR_ATTACHMENT_INVALID, "it is empty but for a byte order mark"},
        {"[{\"data\":\"a\"}]", NULL, ERROR_ATTACHMENT_INVALID, "attachments[0].data"},
        {"[{\"data\":\"aGVsbG8=x\"}]", NULL, ERROR_ATTACHMENT_INVALID, "base64"},
        {"[{\"path\":\"a\"}]", NULL, ERROR_ATTACHMENT_NOT_FOUND, "attachments[0].path"},
        {"[{\"path\":\"../a\"}]", NULL, ERROR_ATTACHMENT_FORBIDDEN_PATH, "attachments[0].path"},
        {"[{\"path\":\"\"}]", NULL, ERROR_ATTACHMENT_INVALID, "attachments[0].path"},
        {"[{\"data\":\"AAEC\",\"name\":\"scan.x\"}]", NULL, ERROR_ATTACHMENT_UNSUPPORTED,
         "attachments[0] (\"scan.x\"): it is"},
        {"[{\"data\":\"AAEC\"}]", NULL, ERROR_ATTACHMENT_UNSUPPORTED, "attachments[0]: it is"},
        {"[{\"data\":\"\",\"name\":\"scan.x\"}]", NULL, ERROR_ATTACHMENT_INVALID,
         "attachments[0].data (\"scan.x\"): it is empty"},
        {"[{\"path\":\"d/a.x\"}]", NULL, ERROR_ATTACHMENT_NOT_FOUND, "attachments[0].path (\"a.x\"): it"},
        /* of a long name the beginning, in whole characters */
        {"[{\"data\":\"AAEC\",\"name\":\"x" UMLAUTS UMLAUTS UMLAUTS UMLAUTS "\"}]", NULL,
         ERROR_ATTACHMENT_UNSUPPORTED, "(\"x" UMLAUTS UMLAUTS "äääääääää\"): it is"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct attachments a = {0};
        struct error e;
        int bad = resolve(rows[i].json, &a, &e);
        if (bad != (rows[i].media_type ? 0 : -1) || e.code != rows[i].code)
            fail_msg("%s: %s", rows[i].json, e.message);
        if (rows[i].media_type)
            assert_string_equal(a.list[0].media.type, rows[i].media_type);
        if (rows[i].named && !strstr(e.message, rows[i].named))
            fail_msg("%s: %s", rows[i].json, e.message);
        attachments_free(&a);
    }
}

static void b2_bytes_of_a_file(void **state)
{
    char root[] = "/tmp/test-resolve-XXXXXX", path[128], text[102];
    struct error e;
    (void)state;
    assert_non_null(mkdtemp(root));
    snprintf(path, sizeof path, "%s/o", root);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/o/f.png", root);
    settings.workspace_root = root;
    for (size_t n = 99; n <= 101; n++) {
        struct attachments a = {0};
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        memset(text, 'x', sizeof text);
        memcpy(text, "\x89PNG\r\n\x1a\n", 8);
        assert_int_equal(write(fd, text, n), n);
        close(fd);
        assert_int_equal(resolve("[{\"path\":\"f.png\"}]", &a, &e), n > 100 ? -1 : 0);
        if (n > 100) {
            assert_non_null(strstr(e.message, "101 bytes"));
            assert_non_null(strstr(e.message, "100 are accepted"));
            assert_string_equal(e.details, "{\"bytes\":101,\"limit_bytes\":100,\"index\":0}");
            assert_int_equal(a.list[0].decision, ATTACHMENT_REFUSED);
        } else {
            assert_int_equal(a.list[0].bytes.n, n);
            assert_memory_equal(buf_span(&a.list[0].bytes).p, text, n);
        }
        attachments_free(&a);
    }
    struct attachments a = {0};
    int fd = open(path, O_WRONLY | O_TRUNC);
    assert_int_equal(write(fd, text, 80), 80);
    close(fd);
    assert_int_equal(resolve("[{\"path\":\"f.png\"},{\"path\":\"f.png\"}]", &a, &e), -1); /* 160 together */
    assert_int_equal(e.code, ERROR_ATTACHMENT_TOO_LARGE);
    attachments_free(&a);
    unlink(path);
    snprintf(path, sizeof path, "%s/o", root);
    rmdir(path);
    rmdir(root);
    settings.workspace_root = "/nowhere";
}

/* With hash_later an image's bytes and digest come when they are asked for, and are the same. */
static void an_image_may_wait(void **state)
{
    enum { BYTES = 20000 };
    struct attachment_settings later = {.workspace_root = "/nowhere",
                                        .org = "o",
                                        .file_max = BYTES,
                                        .total_max = BYTES,
                                        .characters_max = 20};
    static const char *const beginnings[] = {"iVBORw0KGgoA", "JVBERi0xLjQK"}; /* PNG, PDF */
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (int cut = 0; cut < 2; cut++) { /* 1: a little more than may be */
            struct buf json;
            struct attachments lists[2] = {{0}, {0}};
            struct error e;
            buf_init(&json, 2 * BYTES);
            buf_printf(&json, "[{\"handling\":\"native\",\"data\":\"%s", beginnings[kind]);
            size_t most = json.n - 12 + BYTES / 3 * 4 + (cut ? 8 : 0);
            while (json.n < most)
                buf_adds(&json, "AbC/");
            buf_adds(&json, "\"}]");
            for (int i = 0; i < 2; i++) {
                later.hash_later = i;
                assert_int_equal(attachments_declare(buf_span(&json), &lists[i], &e), 0);
                assert_int_equal(attachments_resolve(&lists[i], &later, &e), cut ? -1 : 0);
                if (cut)
                    assert_int_equal(e.code, ERROR_ATTACHMENT_TOO_LARGE);
            }
            struct attachment *now = &lists[0].list[0], *then = &lists[1].list[0];
            assert_int_equal(then->size, now->size);
            assert_string_equal(then->sha256, "");
            assert_int_equal(then->bytes.n, kind ? now->bytes.n : 0);
            attachments_hash(&lists[1]); /* of what was refused as well */
            assert_int_equal(then->bytes.n, now->bytes.n);
            if (!cut) {
                assert_int_equal(then->base64.n, now->base64.n);
                assert_string_equal(then->media.type, now->media.type);
                assert_string_equal(then->sha256, now->sha256);
            } else {
                assert_int_equal(strlen(then->sha256), 64);
            }
            for (int i = 0; i < 2; i++)
                attachments_free(&lists[i]);
            buf_free(&json);
        }
}

/* Forwarded content comes from a disk, where anything may have happened to it. */
static void forwarded_content(void **state)
{
    static const char *const rows[] = {"\"ok\"", "[1", "\"", "", "\"a\\"};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct attachments a = {0};
        struct error e;
        struct attachment *at = attachments_add(&a);
        at->index = ATTACHMENT_FORWARDED;
        at->source = ATTACHMENT_CONTENT;
        at->type = malloc(4);
        memcpy(at->type, "log", 4);
        buf_init(&at->bytes, 100);
        buf_adds(&at->bytes, rows[i]);
        assert_int_equal(attachments_resolve(&a, &settings, &e), i ? -1 : 0);
        if (i)
            assert_int_equal(e.code, ERROR_ATTACHMENT_NOT_FOUND);
        attachments_free(&a);
    }
}

static void b9_record(void **state)
{
    struct attachments a = {0};
    struct error e;
    struct buf out;
    (void)state;
    buf_init(&out, 4096);
    assert_int_equal(
        resolve("[{\"data\":\"aGVsbG8=\",\"name\":\"m\\\"\"},{\"type\":\"log\",\"content\":\"CANARY\"},"
                "{\"data\":\"JVBERi0xLjQK\"}]",
                &a, &e),
        -1);
    attachments_record(&a, error_name(e.code), &out);
    assert_string_equal(
        buf_cstr(&out),
        "[{\"name\":\"m\\\"\",\"media_type\":\"text/plain\",\"bytes\":5,\"sha256\":"
        "\"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\",\"handling\":\"preprocess\","
        "\"decision\":\"not_sent\"},{\"type\":\"log\",\"media_type\":\"text/plain\",\"bytes\":6,\"sha256\":"
        "\"fe0344af3e43e190840444ba40c096f59418bf9247c6f3bdc8cd35e4b8f59d2e\",\"decision\":\"not_sent\"},{"
        "\"name\":\"attachment-3\",\"media_type\":"
        "\"application/"
        "pdf\",\"bytes\":9,\"sha256\":\"e5c62df5dab5c87b6a015ef3d43597074d1eec433b15f51aec63b8582d0e4ab4\","
        "\"handling\":\"preprocess\",\"decision\":\"refused\","
        "\"reason\":\"ATTACHMENT_UNSUPPORTED\"}]");
    attachments_free(&a);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a4_sizes),          cmocka_unit_test(a4_message),
        cmocka_unit_test(b4_what_goes),      cmocka_unit_test(b2_bytes_of_a_file),
        cmocka_unit_test(an_image_may_wait), cmocka_unit_test(b9_record),
        cmocka_unit_test(forwarded_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
