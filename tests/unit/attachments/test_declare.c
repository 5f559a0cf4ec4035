/* The attachments array: what is taken, and what is refused and how it is named (behaviours B.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attachments/attachment.h"
#include "base/json.h"

static int declare(const char *json, struct attachments *a, struct error *e)
{
    struct span value;
    if (!json_document(span_str(json), &value))
        fail_msg("no JSON: %s", json);
    *e = (struct error){0};
    return attachments_declare(value, a, e);
}

static void b1_what_is_refused(void **state)
{
    static const struct {
        const char *json, *named;
        enum error_code code;
    } rows[] = {
        {"{}", "array", ERROR_BAD_REQUEST},
        {"\"x\"", "array", ERROR_BAD_REQUEST},
        {"[\"text\"]", "attachments[0]:", ERROR_ATTACHMENT_INVALID},
        {"[{\"data\":\"eA==\"},7]", "attachments[1]:", ERROR_ATTACHMENT_INVALID},
        {"[{}]", "exactly one", ERROR_ATTACHMENT_INVALID},
        {"[{\"name\":\"a\"}]", "exactly one", ERROR_ATTACHMENT_INVALID},
        {"[{\"path\":\"a\",\"data\":\"eA==\"}]", "attachments[0]: exactly one", ERROR_ATTACHMENT_INVALID},
        {"[{\"data\":\"eA==\",\"content\":\"x\",\"type\":\"log\"}]", "exactly one", ERROR_ATTACHMENT_INVALID},
        {"[{\"url\":\"http://a/\"}]", "attachments[0].url: addresses are not fetched",
         ERROR_ATTACHMENT_INVALID},
        {"[{\"path\":\"a\",\"url\":\"http://a/\"}]", ".url", ERROR_ATTACHMENT_INVALID},
        {"[{\"stream\":true}]", ".stream: a stream cannot be read twice", ERROR_ATTACHMENT_INVALID},
        {"[{\"data\":\"eA==\",\"type\":\"log\"}]", ".type: it goes with content", ERROR_ATTACHMENT_INVALID},
        {"[{\"path\":\"a.png\",\"type\":\"image/png\"}]", ".type", ERROR_ATTACHMENT_INVALID},
        {"[{\"data\":\"eA==\",\"mime\":\"text/plain\"}]", ".mime: there is no such field",
         ERROR_ATTACHMENT_INVALID},
        {"[{\"data\":\"eA==\",\"media_type\":null}]", ".media_type", ERROR_ATTACHMENT_INVALID},
        {"[{\"content\":\"x\"}]", ".type: content needs a type", ERROR_ATTACHMENT_INVALID},
        {"[{\"content\":7,\"type\":\"log\"}]", ".content", ERROR_ATTACHMENT_INVALID},
        {"[{\"content\":true,\"type\":\"log\"}]", ".content", ERROR_ATTACHMENT_INVALID},
        {"[{\"content\":\"x\",\"type\":\"\"}]", ".type", ERROR_ATTACHMENT_INVALID},
        {"[{\"content\":\"x\",\"type\":7}]", ".type", ERROR_ATTACHMENT_INVALID},
        {"[{\"content\":\"x\",\"type\":\"a\\nb\"}]", ".type", ERROR_ATTACHMENT_INVALID},
        {"[{\"content\":\"x\",\"type\":\"log\",\"handling\":\"native\"}]", ".handling",
         ERROR_ATTACHMENT_INVALID},
        {"[{\"data\":\"eA==\",\"handling\":\"magic\"}]", ".handling", ERROR_ATTACHMENT_INVALID},
        {"[{\"data\":\"eA==\",\"handling\":1}]", ".handling", ERROR_ATTACHMENT_INVALID},
        {"[{\"data\":\"eA==\",\"name\":7}]", ".name", ERROR_ATTACHMENT_INVALID},
        {"[{\"data\":\"eA==\",\"name\":\"a\\u0000b\"}]", ".name", ERROR_ATTACHMENT_INVALID},
        {"[{\"data\":7}]", ".data", ERROR_ATTACHMENT_INVALID},
        {"[{\"data\":\"data:image/png;base64,eA==\"}]", ".data: it begins as a data: URL",
         ERROR_ATTACHMENT_INVALID},
        {"[{\"data\":\"eA==\",\"d\\u0061ta\":\"eA==\"}]", ".data: it is given more than once",
         ERROR_ATTACHMENT_INVALID},
        {"[{\"path\":\"a\\nb\"}]", ".path", ERROR_ATTACHMENT_INVALID},
        {"[{\"path\":\"a\xff\"}]", ".path", ERROR_ATTACHMENT_INVALID},
        {"[{\"data\":\"eA==\",\"name\":\"\xc3\"}]", ".name", ERROR_ATTACHMENT_INVALID},
        {"[{\"path\":7}]", ".path", ERROR_ATTACHMENT_INVALID},
        {"[{\"path\":\"a\\u0000b\"}]", ".path", ERROR_ATTACHMENT_FORBIDDEN_PATH},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct attachments a = {0};
        struct error e;
        if (declare(rows[i].json, &a, &e) != -1)
            fail_msg("taken: %s", rows[i].json);
        if (e.code != rows[i].code || !strstr(e.message, rows[i].named))
            fail_msg("%s: %s %s", rows[i].json, error_name(e.code), e.message);
        attachments_free(&a);
    }
}

static void says_nothing(void **state)
{
    static const char *const rows[] = {"null", "[]", " [ ] "};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct attachments a = {0};
        struct error e;
        assert_int_equal(declare(rows[i], &a, &e), 0);
        assert_int_equal(a.n, 0);
        attachments_free(&a);
    }
    struct attachments a = {0};
    struct error e;
    assert_int_equal(attachments_declare((struct span){0}, &a, &e), 0);
}

static void b1_names_and_handling(void **state)
{
    struct attachments a = {0};
    struct error e;
    (void)state;
    assert_int_equal(
        declare("[{\"path\":\"docs/a b.png\"},{\"data\":\"eA==\",\"handling\":\"native\",\"url\":null},"
                "{\"data\":\"eA==\",\"name\":\"n\\u00e9.txt\",\"handling\":\"preprocess\"},"
                "{\"type\":\"log\",\"content\":null},{\"type\":\"log\",\"content\":[],\"name\":\"l\"}]",
                &a, &e),
        0);
    assert_int_equal(a.n, 5);
    assert_string_equal(a.list[0].name, "a b.png");
    assert_string_equal(a.list[0].path, "docs/a b.png");
    assert_false(a.list[0].native);
    assert_string_equal(a.list[1].name, "attachment-2");
    assert_true(a.list[1].native);
    assert_string_equal(a.list[2].name, "n\xc3\xa9.txt");
    assert_int_equal(a.list[3].source, ATTACHMENT_CONTENT);
    assert_null(a.list[3].name);
    assert_string_equal(a.list[4].name, "l");
    attachments_free(&a);
}

static void not_without_end(void **state)
{
    struct buf json;
    struct attachments a = {0};
    struct error e;
    (void)state;
    buf_init(&json, 1 << 20);
    buf_addc(&json, '[');
    for (int i = 0; i <= LIMIT_ATTACHMENTS; i++)
        buf_printf(&json, "%s{\"data\":\"eA==\"}", i ? "," : "");
    buf_addc(&json, ']');
    assert_int_equal(declare(buf_cstr(&json), &a, &e), -1);
    assert_non_null(strstr(e.message, "attachments[64]"));
    assert_int_equal(a.n, LIMIT_ATTACHMENTS);
    attachments_free(&a);
    buf_free(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b1_what_is_refused),
        cmocka_unit_test(says_nothing),
        cmocka_unit_test(b1_names_and_handling),
        cmocka_unit_test(not_without_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
