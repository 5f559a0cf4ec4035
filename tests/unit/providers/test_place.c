/* Attachments in requests: where they go, in which shape, and that every other byte stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "providers/place.h"

enum { ROOM = 1 << 16 };

#define TEXT_ITEM(s)                                                                                         \
    {                                                                                                        \
        .text = { s, sizeof(s) - 1 }                                                                         \
    }
#define FILE_ITEM(type, b, called)                                                                           \
    {                                                                                                        \
        .media_type = {type, sizeof(type) - 1}, .bytes = {b, sizeof(b) - 1}, .name = {                       \
            called,                                                                                          \
            sizeof(called) - 1                                                                               \
        }                                                                                                    \
    }

static const struct place_item text_item = TEXT_ITEM("T\"\n");
static const struct place_item png = FILE_ITEM("image/png", "\x89P", "p.png");
static const struct place_item pdf = FILE_ITEM("application/pdf", "%PDF", "a");

#define PNG_64 "iVA="
#define PDF_64 "JVBERg=="

struct placed {
    const char *body;
    const char *items; /* t, i (png), p (pdf) */
    const char *want;  /* NULL: BAD_REQUEST */
};

static size_t fill_items(const char *letters, struct place_item *items)
{
    size_t n = strlen(letters);
    for (size_t i = 0; i < n; i++)
        items[i] = letters[i] == 't' ? text_item : letters[i] == 'i' ? png : pdf;
    return n;
}

/* The request with Penstock's keys out and everything in; out: freed by the caller. */
static int place_one(enum api api, const char *dialect, const char *body, const struct place_item *items,
                     size_t n, bool protocol, struct buf *out, struct error *e)
{
    static const char *const ours[] = {"hw", "attachments"};
    struct request_facts facts;
    struct edits edits = {0};
    struct buf room, protocol_room;
    const struct dialect *d = dialect_find(api);
    d->request(span_str(body), &facts);
    assert_true(facts.root.n > 0);
    struct place_request r = {span_str(body), &facts, api, dialect, "my-provider"};
    buf_init(out, ROOM);
    buf_init(&room, ROOM);
    buf_init(&protocol_room, ROOM);
    json_remove_members(span_str(body), facts.root, ours, 2, &edits);
    if (protocol)
        d->add_protocol(span_str(body), &facts, SPAN_LIT("P"), &protocol_room, &edits);
    size_t before = edits.n;
    int answer = place_attachments(&r, items, n, &room, &edits, e);
    if (answer < 0)
        assert_int_equal(edits.n, before);
    else
        assert_int_equal(edits_apply(&edits, span_str(body), out), 0);
    edits_free(&edits);
    buf_free(&room);
    buf_free(&protocol_room);
    return answer;
}

static void check_table(enum api api, const char *dialect, const struct placed *table, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct place_item items[8];
        struct buf out;
        struct error e;
        struct span value;
        size_t count = fill_items(table[i].items, items);
        int answer = place_one(api, dialect, table[i].body, items, count, false, &out, &e);
        if (answer < 0 && table[i].want)
            fail_msg("%s: %s", table[i].body, e.message);
        if (!table[i].want) {
            assert_int_equal(answer, -1);
            assert_int_equal(e.code, ERROR_BAD_REQUEST);
        } else {
            assert_string_equal(buf_cstr(&out), table[i].want);
            assert_true(json_document(buf_span(&out), &value));
        }
        buf_free(&out);
    }
}

#define CHECK(api, dialect, table) check_table(api, dialect, table, sizeof(table) / sizeof(table)[0])

#define T_ESC      "T\\\"\\n"
#define CHAT_TEXT  "{\"type\":\"text\",\"text\":\"" T_ESC "\"}"
#define CHAT_IMAGE "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64," PNG_64 "\"}}"
#define CHAT_FILE                                                                                            \
    "{\"type\":\"file\",\"file\":{\"filename\":\"a.pdf\",\"file_data\":\"data:application/"                  \
    "pdf;base64," PDF_64 "\"}}"
#define CHAT(messages) "{\"model\":\"m\", \"messages\" : [" messages "] ,\"x\":1e3}"
#define TOOL           ",{\"role\":\"tool\",\"content\":\"r\"}"

static void test_chat(void **state)
{
    (void)state;
    static const struct placed table[] = {
        {CHAT("{\"role\":\"user\",\"content\":\"u\\u00e9\"}"), "",
         CHAT("{\"role\":\"user\",\"content\":\"u\\u00e9\"}")},
        {CHAT("{\"role\":\"user\",\"content\":\"u\\u00e9\"}"), "t",
         CHAT("{\"role\":\"user\",\"content\":\"u\\u00e9\\n\\n" T_ESC "\"}")},
        {CHAT("{\"role\":\"user\",\"content\":\"\"}"), "tt",
         CHAT("{\"role\":\"user\",\"content\":\"" T_ESC "\\n\\n" T_ESC "\"}")},
        {CHAT("{\"role\":\"user\",\"content\": \"u\" ,\"name\":\"n\"}"), "it",
         CHAT("{\"role\":\"user\",\"content\": [{\"type\":\"text\",\"text\":\"u\"}," CHAT_IMAGE "," CHAT_TEXT
              "] ,\"name\":\"n\"}")},
        {CHAT("{\"role\":\"user\",\"content\":\"\"}"), "i",
         CHAT("{\"role\":\"user\",\"content\":[" CHAT_IMAGE "]}")},
        {CHAT("{\"role\":\"user\",\"content\":null}"), "i",
         CHAT("{\"role\":\"user\",\"content\":[" CHAT_IMAGE "]}")},
        {CHAT("{\"role\":\"user\",\"content\":null}"), "t",
         CHAT("{\"role\":\"user\",\"content\":\"" T_ESC "\"}")},
        {CHAT("{\"role\":\"user\"}"), "i", CHAT("{\"role\":\"user\",\"content\":[" CHAT_IMAGE "]}")},
        {CHAT("{\"role\":\"user\",\"content\":[]}"), "t",
         CHAT("{\"role\":\"user\",\"content\":[" CHAT_TEXT "]}")},
        {CHAT("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"u\"} ]}"), "tp",
         CHAT("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"u\"}," CHAT_TEXT "," CHAT_FILE
              " ]}")},
        {CHAT("{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"u\"}}"), "t",
         CHAT("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"u\"}," CHAT_TEXT "]}")},
        {CHAT("{\"role\":\"user\",\"content\":7}"), "t", NULL},
        /* the last of the user's, whatever comes behind it */
        {CHAT("{\"role\":\"user\",\"content\":\"a\"},{\"content\":\"b\",\"r\\u006fle\":\"us\\u0065r\"}" TOOL),
         "t",
         CHAT("{\"role\":\"user\",\"content\":\"a\"},{\"content\":\"b\\n\\n" T_ESC
              "\",\"r\\u006fle\":\"us\\u0065r\"}" TOOL)},
        /* of a name that is given twice the last counts */
        {CHAT("{\"role\":\"user\",\"content\":\"a\",\"content\":\"b\"}"), "t",
         CHAT("{\"role\":\"user\",\"content\":\"a\",\"content\":\"b\\n\\n" T_ESC "\"}")},
        /* nobody has said anything yet */
        {CHAT("{\"role\":\"system\",\"content\":\"s\"}"), "t",
         CHAT("{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":\"" T_ESC "\"}")},
        {CHAT(""), "i", CHAT("{\"role\":\"user\",\"content\":[" CHAT_IMAGE "]}")},
        /* Penstock's own keys go */
        {"{\"messages\":[{\"role\":\"user\",\"content\":\"u\"}],\"attachments\":[1],\"hw\":{}}", "i",
         "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"u\"}," CHAT_IMAGE
         "]}]}"},
    };
    CHECK(API_OPENAI_CHAT, "openai", table);
}

#define R_TEXT  "{\"type\":\"input_text\",\"text\":\"" T_ESC "\"}"
#define R_IMAGE "{\"type\":\"input_image\",\"image_url\":\"data:image/png;base64," PNG_64 "\"}"
#define R_FILE                                                                                               \
    "{\"type\":\"input_file\",\"filename\":\"a.pdf\",\"file_data\":\"data:application/pdf;base64," PDF_64    \
    "\"}"
#define R(input) "{\"model\":\"m\",\"input\":" input "}"
#define R_CALL   "{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"o\"}"

static void test_responses(void **state)
{
    (void)state;
    static const struct placed table[] = {
        {R("\"u\""), "t", R("\"u\\n\\n" T_ESC "\"")},
        {R("\"u\""), "ipt",
         R("[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"u\"}," R_IMAGE "," R_FILE
           "," R_TEXT "]}]")},
        {R("\"\""), "t", R("\"" T_ESC "\"")},
        {R("\"\""), "i", R("[{\"role\":\"user\",\"content\":[" R_IMAGE "]}]")},
        {R("null"), "t", R("\"" T_ESC "\"")},
        {R("null"), "i", R("[{\"role\":\"user\",\"content\":[" R_IMAGE "]}]")},
        {"{\"model\":\"m\"}", "i",
         "{\"model\":\"m\",\"input\":[{\"role\":\"user\",\"content\":[" R_IMAGE "]}]}"},
        {"{\"model\":\"m\",\"attachments\":[]}", "t", "{\"model\":\"m\",\"input\":\"" T_ESC "\"}"},
        {R("[{\"role\":\"user\",\"content\":\"u\"}," R_CALL "]"), "it",
         R("[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"u\"}," R_IMAGE "," R_TEXT
           "]}," R_CALL "]")},
        {R("[{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"u\"}]}"
           "]"),
         "t",
         R("[{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"u\"}"
           "," R_TEXT "]}]")},
        {R("[" R_CALL "]"), "t", R("[" R_CALL ",{\"role\":\"user\",\"content\":\"" T_ESC "\"}]")},
        {R("[]"), "i", R("[{\"role\":\"user\",\"content\":[" R_IMAGE "]}]")},
    };
    CHECK(API_OPENAI_RESPONSES, "openai", table);
}

#define A_IMAGE                                                                                              \
    "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"" PNG_64    \
    "\"}}"
#define A_PDF                                                                                                \
    "{\"type\":\"document\",\"source\":{\"type\":\"base64\",\"media_type\":\"application/"                   \
    "pdf\",\"data\":\"" PDF_64 "\"},\"title\":\"a\"}"
#define A(messages) "{\"max_tokens\":1,\"messages\":[" messages "]}"
#define A_RESULT    "{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"r\"}"

static void test_anthropic(void **state)
{
    (void)state;
    static const struct placed table[] = {
        {A("{\"role\":\"user\",\"content\":\"u\"}"), "t",
         A("{\"role\":\"user\",\"content\":\"u\\n\\n" T_ESC "\"}")},
        {A("{\"role\":\"user\",\"content\":\"u\"}"), "ip",
         A("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"u\"}," A_IMAGE "," A_PDF "]}")},
        /* results of tools come first */
        {A("{\"role\":\"user\",\"content\":[" A_RESULT "]}"), "ti",
         A("{\"role\":\"user\",\"content\":[" A_RESULT "," CHAT_TEXT "," A_IMAGE "]}")},
        /* a beginning of the reply stays the last message */
        {A("{\"role\":\"user\",\"content\":\"u\"},{\"role\":\"assistant\",\"content\":\"{\"}"), "t",
         A("{\"role\":\"user\",\"content\":\"u\\n\\n" T_ESC
           "\"},{\"role\":\"assistant\",\"content\":\"{\"}")},
        {A("{\"role\":\"user\",\"content\":\"u\"},{\"role\":\"system\",\"content\":\"s\"}"), "t",
         A("{\"role\":\"user\",\"content\":\"u\\n\\n" T_ESC "\"},{\"role\":\"system\",\"content\":\"s\"}")},
    };
    CHECK(API_ANTHROPIC_MESSAGES, "anthropic", table);
}

#define G(contents)    "{\"contents\":" contents "}"
#define G_TEXT         "{\"text\":\"" T_ESC "\"}"
#define G_IMAGE        "{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"" PNG_64 "\"}}"
#define G_PDF          "{\"inlineData\":{\"mimeType\":\"application/pdf\",\"data\":\"" PDF_64 "\"}}"
#define G_ANSWER       "{\"functionResponse\":{\"name\":\"f\",\"response\":{}}}"
#define G_USER         "{\"role\":\"user\",\"parts\":[{\"text\":\"u\"}]}"
#define G_USER_WITH(x) "{\"role\":\"user\",\"parts\":[{\"text\":\"u\"}," x "]}"

static void test_gemini(void **state)
{
    (void)state;
    static const struct placed table[] = {
        {G("[" G_USER "]"), "tip", G("[" G_USER_WITH(G_TEXT "," G_IMAGE "," G_PDF) "]")},
        {G("[{\"parts\":[{\"text\":\"u\"}]}]"), "t", G("[{\"parts\":[{\"text\":\"u\"}," G_TEXT "]}]")},
        {G("[" G_USER ",{\"role\":\"model\",\"parts\":[]}]"), "t",
         G("[" G_USER_WITH(G_TEXT) ",{\"role\":\"model\",\"parts\":[]}]")},
        /* answers of functions match the calls before them */
        {G("[" G_USER ",{\"role\":\"user\",\"parts\":[" G_ANSWER "]}]"), "t",
         G("[" G_USER_WITH(G_TEXT) ",{\"role\":\"user\",\"parts\":[" G_ANSWER "]}]")},
        {G("[" G_USER ",{\"role\":\"function\",\"parts\":[" G_ANSWER "]}]"), "t",
         G("[" G_USER_WITH(G_TEXT) ",{\"role\":\"function\",\"parts\":[" G_ANSWER "]}]")},
        {G("[" G_USER ",{\"parts\":[" G_ANSWER ",{\"text\":\"v\"}]}]"), "t",
         G("[" G_USER ",{\"parts\":[" G_ANSWER ",{\"text\":\"v\"}," G_TEXT "]}]")},
        {G("[{\"parts\":[{\"function_response\":{}}]}]"), "t",
         G("[{\"parts\":[{\"function_response\":{}}]},{\"role\":\"user\",\"parts\":[" G_TEXT "]}]")},
        {G("{\"parts\":{\"text\":\"u\"}}"), "t", G("{\"parts\":[{\"text\":\"u\"}," G_TEXT "]}")},
        {G("{\"role\":\"model\"}"), "t",
         G("[{\"role\":\"model\"},{\"role\":\"user\",\"parts\":[" G_TEXT "]}]")},
        {G("[{}]"), "i", G("[{\"parts\":[" G_IMAGE "]}]")},
        {G("[{\"parts\":null}]"), "i", G("[{\"parts\":[" G_IMAGE "]}]")},
        {G("[{\"parts\":\"u\"}]"), "i", NULL},
        {G("[]"), "i", G("[{\"role\":\"user\",\"parts\":[" G_IMAGE "]}]")},
    };
    CHECK(API_GEMINI, "gemini", table);
}

static void test_ollama(void **state)
{
    (void)state;
    static const struct placed table[] = {
        {CHAT("{\"role\":\"user\",\"content\":\"u\"}"), "tit",
         CHAT("{\"role\":\"user\",\"content\":\"u\\n\\n" T_ESC "\\n\\n" T_ESC "\",\"images\":[\"" PNG_64
              "\"]}")},
        {CHAT("{\"role\":\"user\",\"images\":[\"eA==\"],\"content\":\"u\"}" TOOL), "ii",
         CHAT("{\"role\":\"user\",\"images\":[\"eA==\",\"" PNG_64 "\",\"" PNG_64
              "\"],\"content\":\"u\"}" TOOL)},
        {CHAT("{\"role\":\"user\",\"images\":null,\"content\":null}"), "ti",
         CHAT("{\"role\":\"user\",\"images\":[\"" PNG_64 "\"],\"content\":\"" T_ESC "\"}")},
        {CHAT("{\"role\":\"user\"}"), "ti",
         CHAT("{\"role\":\"user\",\"content\":\"" T_ESC "\",\"images\":[\"" PNG_64 "\"]}")},
        {CHAT("{\"role\":\"user\",\"content\":[]}"), "t", NULL},
        {CHAT("{\"role\":\"user\",\"images\":\"\"}"), "i", NULL},
        {CHAT(""), "i", CHAT("{\"role\":\"user\",\"content\":\"\",\"images\":[\"" PNG_64 "\"]}")},
        {"{\"prompt\":\"u\"}", "ti", "{\"prompt\":\"u\\n\\n" T_ESC "\",\"images\":[\"" PNG_64 "\"]}"},
        {"{\"images\":[],\"prompt\":\"\"}", "it", "{\"images\":[\"" PNG_64 "\"],\"prompt\":\"" T_ESC "\"}"},
        {"{\"model\":\"m\",\"attachments\":[]}", "it",
         "{\"model\":\"m\",\"prompt\":\"" T_ESC "\",\"images\":[\"" PNG_64 "\"]}"},
        {"{\"attachments\":[]}", "it", "{\"prompt\":\"" T_ESC "\",\"images\":[\"" PNG_64 "\"]}"},
    };
    CHECK(API_OLLAMA, "ollama", table);
}

/* Both may go to one place. */
static void test_with_protocol(void **state)
{
    (void)state;
    static const struct {
        enum api api;
        const char *body, *want;
    } table[] = {
        {API_OPENAI_CHAT, "{\"messages\":[]}",
         "{\"messages\":[{\"role\":\"system\",\"content\":\"P\"},{\"role\":\"user\",\"content\":\"" T_ESC
         "\"}]}"},
        {API_OPENAI_CHAT, "{\"messages\":[{\"role\":\"system\",\"content\":\"s\"}]}",
         "{\"messages\":[{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"system\",\"content\":\"P\"},"
         "{\"role\":\"user\",\"content\":\"" T_ESC "\"}]}"},
        {API_OLLAMA, "{\"attachments\":[],\"prompt\":\"u\"}",
         "{\"prompt\":\"u\\n\\n" T_ESC "\",\"system\":\"P\"}"},
        {API_OPENAI_RESPONSES, "{\"model\":\"m\",\"attachments\":[]}",
         "{\"instructions\":\"P\",\"model\":\"m\",\"input\":\"" T_ESC "\"}"},
        {API_GEMINI, "{\"contents\":[]}",
         "{\"contents\":[{\"role\":\"user\",\"parts\":[" G_TEXT
         "]}],\"systemInstruction\":{\"parts\":[{\"text\":"
         "\"P\"}]}}"},
        {API_GEMINI, "{\"contents\":{\"role\":\"model\"}}",
         "{\"contents\":[{\"role\":\"model\"},{\"role\":\"user\",\"parts\":[" G_TEXT
         "]}],\"systemInstruction\":{\"parts\":[{\"text\":\"P\"}]}}"},
        {API_ANTHROPIC_MESSAGES, "{\"messages\":[]}",
         "{\"system\":[{\"type\":\"text\",\"text\":\"P\"}],\"messages\":[{\"role\":\"user\",\"content\":"
         "\"" T_ESC "\"}]}"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct buf out;
        struct error e;
        assert_int_equal(place_one(table[i].api, "openai", table[i].body, &text_item, 1, true, &out, &e), 0);
        assert_string_equal(buf_cstr(&out), table[i].want);
        buf_free(&out);
    }
}

static void test_shapes(void **state)
{
    (void)state;
    static const struct {
        enum api api;
        const char *dialect;
        struct place_item item;
        const char *want; /* in the request */
    } table[] = {
        {API_OPENAI_CHAT, "openai", FILE_ITEM("audio/mpeg", "ID3", "a"),
         "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"SUQz\",\"format\":\"mp3\"}}"},
        {API_OPENAI_CHAT, "openai", FILE_ITEM("text/csv", "a;b\n", "t.csv"), "u\\n\\na;b\\n\""},
        {API_OPENAI_CHAT, "openrouter", FILE_ITEM("audio/mp4", "x", "a"), "\"format\":\"m4a\""},
        {API_OPENAI_CHAT, "vllm", FILE_ITEM("audio/ogg", "OggS", "a"),
         "{\"type\":\"audio_url\",\"audio_url\":{\"url\":\"data:audio/ogg;base64,T2dnUw==\"}}"},
        {API_OPENAI_CHAT, "moonshot", FILE_ITEM("video/mp4", "x", "a"),
         "{\"type\":\"video_url\",\"video_url\":{\"url\":\"data:video/mp4;base64,eA==\"}}"},
        {API_OPENAI_CHAT, "llamacpp", FILE_ITEM("video/mp4", "x", "a"),
         "{\"type\":\"input_video\",\"input_video\":{\"data\":\"eA==\"}}"},
        {API_OPENAI_RESPONSES, "openai", FILE_ITEM("text/plain", "x", "Read me"),
         "{\"type\":\"input_file\",\"filename\":\"Read "
         "me.txt\",\"file_data\":\"data:text/plain;base64,eA==\"}"},
        {API_OPENAI_RESPONSES, "openai", FILE_ITEM("text/plain", "x", "a.log"), "\"filename\":\"a.log\""},
        {API_OPENAI_RESPONSES, "openai", FILE_ITEM("application/pdf", "x", "A.PDF"),
         "\"filename\":\"A.PDF\""},
        {API_OPENAI_RESPONSES, "vllm", FILE_ITEM("text/plain", "x", "a.log"), "\"input\":\"u\\n\\nx\""},
        {API_ANTHROPIC_MESSAGES, "anthropic", FILE_ITEM("application/json", "{\"a\":1}", "a\"b"),
         "{\"type\":\"document\",\"source\":{\"type\":\"text\",\"media_type\":\"text/"
         "plain\",\"data\":\"{\\\"a\\\":1}"
         "\"},\"title\":\"a\\\"b\"}"},
        {API_ANTHROPIC_MESSAGES, "ollama", FILE_ITEM("text/plain", "x", "a"), "u\\n\\nx\""},
        {API_GEMINI, "gemini", FILE_ITEM("application/json", "{}", "a"),
         "\"mimeType\":\"text/plain\",\"data\":\"e30=\""},
        {API_GEMINI, "gemini", FILE_ITEM("video/quicktime", "x", "a"), "\"mimeType\":\"video/mov\""},
        {API_OLLAMA, "ollama", FILE_ITEM("audio/wav", "RIFF", "a"), "\"images\":[\"UklGRg==\"]"},
    };
    static const char *const bodies[] = {[API_OPENAI_CHAT] = CHAT("{\"role\":\"user\",\"content\":\"u\"}"),
                                         [API_OPENAI_RESPONSES] = R("\"u\""),
                                         [API_ANTHROPIC_MESSAGES] =
                                             A("{\"role\":\"user\",\"content\":\"u\"}"),
                                         [API_GEMINI] = G("[" G_USER "]"),
                                         [API_OLLAMA] = CHAT("{\"role\":\"user\",\"content\":\"u\"}")};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct buf out;
        struct error e;
        if (place_one(table[i].api, table[i].dialect, bodies[table[i].api], &table[i].item, 1, false, &out,
                      &e) < 0)
            fail_msg("%s", e.message);
        if (!strstr(buf_cstr(&out), table[i].want))
            fail_msg("%s not in %s", table[i].want, buf_cstr(&out));
        buf_free(&out);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        enum api api;
        const char *dialect;
        struct place_item item;
        const char *message;
    } table[] = {
        {API_OLLAMA, "ollama", FILE_ITEM("application/pdf", "x", "a"),
         "attachments[0] (\"a\"): my-provider cannot carry application/pdf."},
        {API_OPENAI_CHAT, "moonshot", FILE_ITEM("application/pdf", "x", "a"),
         "attachments[0] (\"a\"): my-provider takes application/pdf only as an uploaded file"},
        {API_OPENAI_CHAT, "openai", FILE_ITEM("text/plain", "\xff", "a"),
         "attachments[0] (\"a\"): my-provider takes text/plain only as UTF-8 text"},
        {API_OPENAI_CHAT, "openai", FILE_ITEM("text/plain", "\xed\xa0\x80", "a"), "UTF-8"},
        {API_OPENAI_CHAT, "unheard-of", FILE_ITEM("image/png", "x", "a"), "cannot carry image/png."},
        {API_OPENAI_CHAT, "openai", {.media_type = {"", 0}}, "cannot carry"},
    };
    static const char *body = CHAT("{\"role\":\"user\",\"content\":\"u\"}");
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct buf out;
        struct error e;
        struct span details, value;
        /* the first of two is fine, and nothing of it goes either */
        struct place_item items[] = {text_item, table[i].item};
        assert_int_equal(place_one(table[i].api, table[i].dialect, body, items, 2, false, &out, &e), -1);
        assert_int_equal(e.code, ERROR_ATTACHMENT_UNSUPPORTED);
        assert_int_equal(e.status, 422);
        if (!strstr(e.message, table[i].message))
            fail_msg("%s not in %s", table[i].message, e.message);
        assert_true(json_document(span_str(e.details), &details));
        assert_true(json_member(details, "provider", &value) && span_is(value, "\"my-provider\""));
        assert_true(json_member(details, "media_type", &value) && json_member(details, "name", &value));
        buf_free(&out);
    }
}

/* Names and types of any length and content leave the error readable. */
static void test_long_names(void **state)
{
    (void)state;
    static char name[2000];
    struct place_item item = FILE_ITEM("application/zip", "x", "");
    struct request_facts facts;
    struct error e;
    struct span value;
    struct place_request r = {SPAN_LIT("{}"), &facts, API_OLLAMA, "ollama", "ollama"};
    for (size_t i = 0; i + 2 < sizeof name; i += 2)
        memcpy(name + i, "\xc3\xa9", 2);
    item.index = SIZE_MAX;
    for (size_t n = 0; n < 300; n += 2) {
        item.name = span_of(name, n);
        assert_int_equal(place_check(&r, &item, &e), -1);
        assert_true(json_document(span_str(e.details), &value));
        assert_true(json_member(value, "name", &value) && value.n % 2 == 0);
    }
    assert_non_null(strstr(e.message, "A forwarded attachment (\"\xc3\xa9"));
    memset(name, 1, sizeof name);
    item.name = span_of(name, sizeof name);
    assert_int_equal(place_check(&r, &item, &e), -1);
    assert_true(json_document(span_str(e.details), &value) && json_member(value, "media_type", &value));
}

/* Every length of bytes, and base64 that is given instead of made. */
static void test_base64(void **state)
{
    (void)state;
    static const char *const want[] = {"\"Zg==\"",     "\"Zm8=\"",     "\"Zm9v\"",
                                       "\"Zm9vYg==\"", "\"Zm9vYmE=\"", "\"Zm9vYmFy\""};
    struct place_item item = FILE_ITEM("image/png", "", "");
    struct buf out;
    struct error e;
    for (size_t n = 1; n <= 6; n++) {
        item.bytes = span_of("foobar", n);
        assert_int_equal(place_one(API_OLLAMA, "ollama", "{\"prompt\":\"u\"}", &item, 1, false, &out, &e), 0);
        assert_non_null(strstr(buf_cstr(&out), want[n - 1]));
        buf_free(&out);
    }
    struct place_item items[] = {item, text_item, item};
    items[0].base64 = SPAN_LIT("AAAA");
    items[2].base64 = SPAN_LIT("BBBB");
    assert_int_equal(place_one(API_OPENAI_CHAT, "openai", CHAT("{\"role\":\"user\",\"content\":\"\"}"), items,
                               3, false, &out, &e),
                     0);
    assert_string_equal(
        buf_cstr(&out),
        CHAT("{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/"
             "png;base64,AAAA\"}}," CHAT_TEXT ",{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:"
             "image/png;base64,BBBB\"}}]}"));
    buf_free(&out);
}

/* The cap is the caller's, and what does not fit goes nowhere. */
static void test_cap(void **state)
{
    (void)state;
    static const char body[] = CHAT("{\"role\":\"user\",\"content\":\"u\"}");
    static char big[ROOM];
    struct request_facts facts;
    struct edits edits = {0};
    struct buf room;
    struct error e;
    dialect_find(API_OPENAI_CHAT)->request(span_str(body), &facts);
    struct place_request r = {span_str(body), &facts, API_OPENAI_CHAT, "openai", "openai"};
    memset(big, 'x', sizeof big);
    struct place_item as_text = {.text = span_of(big, sizeof big)};
    struct place_item as_image = {.media_type = SPAN_LIT("image/png"), .bytes = span_of(big, sizeof big)};
    for (int i = 0; i < 2; i++) {
        buf_init(&room, ROOM);
        assert_int_equal(place_attachments(&r, i ? &as_text : &as_image, 1, &room, &edits, &e), -1);
        assert_int_equal(e.code, ERROR_REQUEST_TOO_LARGE);
        assert_int_equal(edits.n, 0);
        buf_free(&room);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chat),   cmocka_unit_test(test_responses), cmocka_unit_test(test_anthropic),
        cmocka_unit_test(test_gemini), cmocka_unit_test(test_ollama),    cmocka_unit_test(test_with_protocol),
        cmocka_unit_test(test_shapes), cmocka_unit_test(test_refusals),  cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_base64), cmocka_unit_test(test_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
