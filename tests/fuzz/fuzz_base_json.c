/*
 * base/json against jansson, and against itself: both take the same documents (save for invalid UTF-8, which
 * jansson refuses, for great depth, and for numbers that fit no double); a walk finds what jansson finds;
 * escapes undo escapes; what is left after members were removed is valid and holds the others.
 */
/* Both libraries name the types alike; here jansson's are called otherwise. */
#define json_type    jansson_type
#define JSON_OBJECT  JANSSON_OBJECT
#define JSON_ARRAY   JANSSON_ARRAY
#define JSON_STRING  JANSSON_STRING
#define JSON_INTEGER JANSSON_INTEGER
#define JSON_REAL    JANSSON_REAL
#define JSON_TRUE    JANSSON_TRUE
#define JSON_FALSE   JANSSON_FALSE
#define JSON_NULL    JANSSON_NULL
#include <jansson.h>
#undef json_type
#undef JSON_OBJECT
#undef JSON_ARRAY
#undef JSON_STRING
#undef JSON_INTEGER
#undef JSON_REAL
#undef JSON_TRUE
#undef JSON_FALSE
#undef JSON_NULL

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/xalloc.h"

enum { CAP = 1 << 24, MEMBERS_MAX = 64 };

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                  \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Counts values by iterating into everything, as a caller would. */
static size_t walk(struct span value, unsigned depth)
{
    size_t count = 1;
    struct json_iter it = json_iter(value);
    int got = 0;
    CHECK(depth <= LIMIT_JSON_DEPTH);
    if (json_type(value) != JSON_OBJECT && json_type(value) != JSON_ARRAY)
        return 1;
    const char *at = value.p;
    while ((got = json_next(&it)) == 1) {
        struct span again;
        CHECK(it.whole.p > at && it.whole.p + it.whole.n < value.p + value.n);
        at = it.whole.p + it.whole.n;
        CHECK(json_document(it.value, &again) && again.p == it.value.p && again.n == it.value.n);
        count += depth < 8 ? walk(it.value, depth + 1) : 1;
    }
    CHECK(got == 0 && json_next(&it) == 0);
    return count;
}

static void check_string(struct span value)
{
    struct buf plain, escaped, again;
    buf_init(&plain, CAP);
    buf_init(&escaped, CAP);
    buf_init(&again, CAP);
    CHECK(json_unescape(json_inside(value), &plain) == 0);
    CHECK(plain.n <= value.n);
    CHECK(json_escape(buf_span(&plain), &escaped) == 0);
    CHECK(json_unescape(buf_span(&escaped), &again) == 0);
    CHECK(plain.n == again.n && (plain.n == 0 || memcmp(plain.data, again.data, plain.n) == 0));
    if (!plain.n || !memchr(plain.data, '\0', plain.n)) {
        CHECK(json_inside_is(json_inside(value), buf_cstr(&plain)));
        buf_addc(&plain, 'x');
        CHECK(!json_inside_is(json_inside(value), buf_cstr(&plain)));
    }
    buf_free(&plain);
    buf_free(&escaped);
    buf_free(&again);
}

/* Removes the members or items whose bit is set, and looks at what is left. */
static void check_removal(struct span text, struct span container, uint64_t bits)
{
    struct span cut[MEMBERS_MAX], kept[MEMBERS_MAX], value;
    size_t cuts = 0, keeps = 0;
    struct json_iter it = json_iter(container);
    for (unsigned i = 0; json_next(&it) == 1; i++) {
        if (i == MEMBERS_MAX)
            return;
        if (bits >> i & 1)
            cut[cuts++] = it.whole;
        else
            kept[keeps++] = it.whole;
    }
    struct edits e = {0};
    struct buf out;
    buf_init(&out, CAP);
    json_removals(text, container, cut, cuts, &e);
    for (size_t i = 1; i < e.n; i++)
        CHECK(e.list[i - 1].at + e.list[i - 1].cut <= e.list[i].at);
    CHECK(edits_apply(&e, text, &out) == 0);
    CHECK(json_document(buf_span(&out), &value));
    it = json_iter(value);
    for (size_t i = 0; i < keeps; i++) {
        CHECK(json_next(&it) == 1);
        CHECK(it.whole.n == kept[i].n && memcmp(it.whole.p, kept[i].p, kept[i].n) == 0);
    }
    CHECK(json_next(&it) == 0);
    if (cuts) {
        struct span one = json_removal(container, cut[0]);
        edits_reset(&e);
        buf_reset(&out);
        edits_add(&e, (size_t)(one.p - text.p), one.n, span_of("", 0));
        CHECK(edits_apply(&e, text, &out) == 0);
        CHECK(json_document(buf_span(&out), &value));
    }
    edits_free(&e);
    buf_free(&out);
}

/* The last member of each key, as jansson has it. */
static void check_members(struct span object, json_t *theirs)
{
    static const enum json_type types[] = {
        [JANSSON_OBJECT] = JSON_OBJECT,  [JANSSON_ARRAY] = JSON_ARRAY, [JANSSON_STRING] = JSON_STRING,
        [JANSSON_INTEGER] = JSON_NUMBER, [JANSSON_REAL] = JSON_NUMBER, [JANSSON_TRUE] = JSON_TRUE,
        [JANSSON_FALSE] = JSON_FALSE,    [JANSSON_NULL] = JSON_NULL,
    };
    const char *key;
    json_t *item;
    json_object_foreach(theirs, key, item)
    {
        struct span value;
        CHECK(json_member(object, key, &value));
        CHECK(json_type(value) == types[item->type]);
        if (item->type == JANSSON_STRING) {
            struct buf plain;
            buf_init(&plain, CAP);
            CHECK(json_unescape(json_inside(value), &plain) == 0);
            CHECK(plain.n == json_string_length(item));
            CHECK(plain.n == 0 || memcmp(plain.data, json_string_value(item), plain.n) == 0);
            buf_free(&plain);
        }
        int64_t number = 0;
        CHECK(json_int(value, &number) == (item->type == JANSSON_INTEGER));
        if (item->type == JANSSON_INTEGER)
            CHECK(number == json_integer_value(item));
    }
}

/* jansson's reasons to refuse what the grammar allows. */
static bool is_excused(const json_error_t *error)
{
    switch (json_error_code(error)) {
    case json_error_invalid_utf8:
    case json_error_numeric_overflow:
    case json_error_null_byte_in_key:
    case json_error_stack_overflow:
        return true;
    default:
        /* It also refuses lone surrogates. */
        return strstr(error->text, "invalid Unicode") != NULL;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 8)
        return 0;
    uint64_t bits;
    memcpy(&bits, data, sizeof bits);
    /* Exactly its size, so that a read beyond it is found. */
    struct span text = span_of(xmalloc(size - 8), size - 8), value = {0};
    if (text.n)
        memcpy((char *)text.p, data + 8, text.n);

    json_error_t error;
    bool ours = json_document(text, &value);
    json_t *theirs = json_loadb(text.p, text.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (ours && !theirs)
        CHECK(is_excused(&error));
    if (!ours && theirs) {
        /* Too deep for us; or a NUL behind the value, which jansson takes for the end of the text. */
        size_t depth = 0;
        for (size_t i = 0; i < text.n; i++)
            depth += text.p[i] == '[' || text.p[i] == '{';
        CHECK(depth > LIMIT_JSON_DEPTH || memchr(text.p, '\0', text.n));
    }
    if (ours) {
        walk(value, 1);
        if (json_type(value) == JSON_STRING)
            check_string(value);
        if (json_type(value) == JSON_OBJECT || json_type(value) == JSON_ARRAY)
            check_removal(text, value, bits);
        if (theirs && theirs->type == JANSSON_OBJECT)
            check_members(value, theirs);
    }
    struct json_iter it = json_iter(text);
    while (json_next(&it) == 1) {
        if (it.object)
            (void)json_key_is(&it, "content");
    }
    struct buf out;
    buf_init(&out, CAP);
    if (json_unescape(text, &out) < 0)
        CHECK(out.n == 0);
    json_decref(theirs);
    buf_free(&out);
    xfree((char *)text.p);
    return 0;
}
