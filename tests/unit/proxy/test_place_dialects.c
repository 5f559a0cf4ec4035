/*
 * Every dialect that a provider may have decides on every kind of media: it goes in a shape of its own, as
 * the text that it is, or is refused by name. A dialect that is added to the configuration fails here until
 * it has decided.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "config/config.h"
#include "providers/place.h"

#define OFFICE "application/vnd.openxmlformats-officedocument."

enum { KINDS = 16 };

static const struct {
    const char *name, *type;
} kinds[KINDS] = {
    {"png", "image/png"},
    {"jpeg", "image/jpeg"},
    {"gif", "image/gif"},
    {"webp", "image/webp"},
    {"pdf", "application/pdf"},
    {"docx", OFFICE "wordprocessingml.document"},
    {"xlsx", OFFICE "spreadsheetml.sheet"},
    {"text", "text/plain"},
    {"csv", "text/csv"},
    {"json", "application/json"},
    {"wav", "audio/wav"},
    {"mp3", "audio/mpeg"},
    {"ogg", "audio/ogg"},
    {"mp4", "video/mp4"},
    {"webm", "video/webm"},
    {"bytes", "application/octet-stream"},
};

/* What stands before the file in the request; "-": refused, "t": it stands there as text, "u": it is uploaded
 * and the provider's text of it stands there, so without that text it is refused. */
#define IMG      "\"image_url\":{\"url\":\"data:"
#define FIL      "\"file_data\":\"data:"
#define AUD      "\"input_audio\":{\"data\":\""
#define VID      "\"video_url\":{\"url\":\"data:"
#define INP      "\"input_image\",\"image_url\":\"data:"
#define ANI      "\"image\",\"source\":{\"type\":\"base64\""
#define AND      "\"document\",\"source\":{\"type\":\"base64\""
#define ANT      "\"document\",\"source\":{\"type\":\"text\""
#define GEM      "\"inlineData\":{\"mimeType\":\""
#define OLL      "\"images\":[\""
#define FOUR(x)  x, x, x, x
#define THREE(x) x, x, x

struct row {
    enum api api;
    const char *dialect; /* NULL: all that have no row of their own */
    const char *cells[KINDS];
};

static const struct row rows[] = {
    /*                                png…       pdf  docx xlsx  text…        wav  mp3  ogg  mp4  webm bytes
     */
    {API_OPENAI_CHAT, "openai", {FOUR(IMG), FIL, "-", "-", THREE("t"), AUD, AUD, "-", "-", "-", "-"}},
    {API_OPENAI_CHAT, "azure", {FOUR(IMG), FIL, "-", "-", THREE("t"), AUD, AUD, "-", "-", "-", "-"}},
    {API_OPENAI_CHAT, "openrouter", {FOUR(IMG), FIL, "-", "-", THREE("t"), AUD, AUD, AUD, VID, VID, "-"}},
    {API_OPENAI_CHAT, "moonshot", {FOUR(IMG), "u", "u", "u", THREE("t"), "-", "-", "-", VID, VID, "-"}},
    {API_OPENAI_CHAT,
     "vllm",
     {FOUR(IMG), "-", "-", "-", THREE("t"), AUD, AUD, "\"audio_url\":{\"url\":\"data:", VID, VID, "-"}},
    {API_OPENAI_CHAT,
     "llamacpp",
     {FOUR(IMG), "-", "-", "-", THREE("t"), AUD, AUD, "-", "\"input_video\":{\"data\":\"",
      "\"input_video\":{\"data\":\"", "-"}},
    {API_OPENAI_CHAT, NULL, {FOUR(IMG), "-", "-", "-", THREE("t"), "-", "-", "-", "-", "-", "-"}},
    {API_OPENAI_RESPONSES, "openai", {FOUR(INP), FIL, FIL, FIL, THREE(FIL), "-", "-", "-", "-", "-", "-"}},
    {API_OPENAI_RESPONSES, "azure", {FOUR(INP), FIL, FIL, FIL, THREE(FIL), "-", "-", "-", "-", "-", "-"}},
    {API_OPENAI_RESPONSES,
     "openrouter",
     {FOUR(INP), FIL, "-", "-", THREE("t"), "-", "-", "-", "-", "-", "-"}},
    {API_OPENAI_RESPONSES, NULL, {FOUR(INP), "-", "-", "-", THREE("t"), "-", "-", "-", "-", "-", "-"}},
    {API_ANTHROPIC_MESSAGES, "vllm", {FOUR(ANI), "-", "-", "-", THREE("t"), "-", "-", "-", "-", "-", "-"}},
    {API_ANTHROPIC_MESSAGES,
     "llamacpp",
     {FOUR(ANI), "-", "-", "-", THREE("t"), "-", "-", "-", "-", "-", "-"}},
    {API_ANTHROPIC_MESSAGES,
     "moonshot",
     {FOUR(ANI), "-", "-", "-", THREE("t"), "-", "-", "-", "-", "-", "-"}},
    {API_ANTHROPIC_MESSAGES, "mistral", {FOUR(ANI), "-", "-", "-", THREE("t"), "-", "-", "-", "-", "-", "-"}},
    {API_ANTHROPIC_MESSAGES, "gemini", {FOUR(ANI), "-", "-", "-", THREE("t"), "-", "-", "-", "-", "-", "-"}},
    {API_ANTHROPIC_MESSAGES, "ollama", {FOUR(ANI), "-", "-", "-", THREE("t"), "-", "-", "-", "-", "-", "-"}},
    {API_ANTHROPIC_MESSAGES, NULL, {FOUR(ANI), AND, "-", "-", THREE(ANT), "-", "-", "-", "-", "-", "-"}},
    {API_GEMINI, NULL, {FOUR(GEM), GEM, "-", "-", THREE(GEM), GEM, GEM, GEM, GEM, GEM, "-"}},
    {API_OLLAMA, NULL, {FOUR(OLL), "-", "-", "-", THREE("t"), OLL, OLL, "-", "-", "-", "-"}},
};

static const char *const bodies[] = {
    [API_OPENAI_CHAT] = "{\"messages\":[{\"role\":\"user\",\"content\":\"u\"}]}",
    [API_OPENAI_RESPONSES] = "{\"model\":\"m\",\"input\":\"u\"}",
    [API_ANTHROPIC_MESSAGES] = "{\"messages\":[{\"role\":\"user\",\"content\":\"u\"}]}",
    [API_GEMINI] = "{\"contents\":[{\"parts\":[{\"text\":\"u\"}]}]}",
    [API_OLLAMA] = "{\"messages\":[{\"role\":\"user\",\"content\":\"u\"}]}",
};

static const struct row *find_row(enum api api, const char *dialect)
{
    const struct row *general = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].api != api)
            continue;
        if (!rows[i].dialect)
            general = &rows[i];
        else if (strcmp(rows[i].dialect, dialect) == 0)
            return &rows[i];
    }
    return general;
}

static bool holds(const struct buf *out, const char *what)
{
    return memmem(buf_span(out).p, out->n, what, strlen(what)) != NULL;
}

static void check_cell(enum api api, const char *dialect, size_t kind, const char *want)
{
    static const char content[] = "CANARY-7f3a91", base64[] = "Q0FOQVJZLTdmM2E5MQ==";
    struct span body = span_str(bodies[api]), value;
    struct place_item item = {.media_type = span_str(kinds[kind].type), .bytes = span_str(content)};
    struct request_facts facts;
    struct edits edits = {0};
    struct buf room, out;
    struct error e;
    dialect_find(api)->request(body, &facts);
    struct place_request r = {body, &facts, api, dialect, dialect};
    bool uploaded = strcmp(want, "u") == 0;
    buf_init(&room, 4096);
    buf_init(&out, 4096);
    assert_int_equal(place_upload_of(&r, item.media_type) == PLACE_BY_TEXT, uploaded);
    assert_int_equal(place_check(&r, &item, &e) == 0, strcmp(want, "-") != 0);
    if (uploaded)
        want = "-";
    int answer = place_attachments(&r, &item, 1, &room, &edits, &e);
    if (answer == 0) {
        assert_int_equal(edits_apply(&edits, body, &out), 0);
        assert_true(json_document(buf_span(&out), &value));
        bool text = strcmp(want, "t") == 0, raw = text || strcmp(want, ANT) == 0;
        if (strcmp(want, "-") == 0 || !(text || holds(&out, want)) || holds(&out, content) != raw ||
            holds(&out, base64) == raw)
            fail_msg("%s, %s, %s: %s", api_name(api), dialect, kinds[kind].name, buf_cstr(&out));
        assert_int_equal(place_goes_as_text(&r, item.media_type), raw);
    } else if (strcmp(want, "-") != 0 || e.code != ERROR_ATTACHMENT_UNSUPPORTED ||
               !strstr(e.message, dialect) || !strstr(e.message, kinds[kind].type)) {
        fail_msg("%s, %s, %s: %s", api_name(api), dialect, kinds[kind].name, e.message);
    }
    edits_free(&edits);
    buf_free(&room);
    buf_free(&out);
}

static void test_b4_every_dialect_decides(void **state)
{
    (void)state;
    for (enum api api = API_OPENAI_CHAT; api <= API_OLLAMA; api++)
        for (size_t i = 0; config_dialect(i); i++)
            for (size_t kind = 0; kind < KINDS; kind++)
                check_cell(api, config_dialect(i), kind, find_row(api, config_dialect(i))->cells[kind]);
}

/* What stands before the id of an upload; "": it has no such shape, and is refused with one. */
#define UIMG "\"image_url\":{\"url\":\"ms://file-7\""
#define UVID "\"video_url\":{\"url\":\"ms://file-7\""
#define UFIL "{\"type\":\"file\",\"file\":{\"file_id\":\"file-7\"}}"
#define UINP "{\"type\":\"input_image\",\"file_id\":\"file-7\"}"
#define UDOC "{\"type\":\"input_file\",\"file_id\":\"file-7\"}"
#define UANI "{\"type\":\"image\",\"source\":{\"type\":\"file\",\"file_id\":\"file-7\"}}"
#define UAND "{\"type\":\"document\",\"source\":{\"type\":\"file\",\"file_id\":\"file-7\"}"
#define UGEM "\"fileUri\":\"file-7\"}}"

static const struct row uploads[] = {
    {API_OPENAI_CHAT, "openai", {FOUR(""), UFIL, "", "", THREE(""), "", "", "", "", "", ""}},
    {API_OPENAI_CHAT, "moonshot", {FOUR(UIMG), "", "", "", THREE(""), "", "", "", UVID, UVID, ""}},
    {API_OPENAI_RESPONSES, "openai", {FOUR(UINP), UDOC, UDOC, UDOC, THREE(UDOC), "", "", "", "", "", ""}},
    {API_ANTHROPIC_MESSAGES, "anthropic", {FOUR(UANI), UAND, "", "", THREE(""), "", "", "", "", "", ""}},
    {API_GEMINI, "gemini", {FOUR(UGEM), UGEM, "", "", THREE(UGEM), UGEM, UGEM, UGEM, UGEM, UGEM, ""}},
};

static void check_upload(enum api api, const char *dialect, size_t kind, const char *want)
{
    struct span body = span_str(bodies[api]), value;
    struct place_item item = {.media_type = span_str(kinds[kind].type), .uploaded = SPAN_LIT("file-7")};
    struct request_facts facts;
    struct edits edits = {0};
    struct buf room, out;
    struct error e;
    dialect_find(api)->request(body, &facts);
    struct place_request r = {body, &facts, api, dialect, dialect};
    buf_init(&room, 4096);
    buf_init(&out, 4096);
    int answer = place_attachments(&r, &item, 1, &room, &edits, &e);
    assert_int_equal(place_upload_of(&r, item.media_type) == PLACE_BY_ID, *want != '\0');
    if (answer == 0) {
        assert_int_equal(edits_apply(&edits, body, &out), 0);
        assert_true(json_document(buf_span(&out), &value));
        if (!*want || !holds(&out, want) || holds(&out, "base64"))
            fail_msg("%s, %s, %s: %s", api_name(api), dialect, kinds[kind].name, buf_cstr(&out));
    } else if (*want || e.code != ERROR_ATTACHMENT_UNSUPPORTED) {
        fail_msg("%s, %s, %s: %s", api_name(api), dialect, kinds[kind].name, e.message);
    }
    edits_free(&edits);
    buf_free(&room);
    buf_free(&out);
}

static void test_b4_every_dialect_decides_on_uploads(void **state)
{
    (void)state;
    for (enum api api = API_OPENAI_CHAT; api <= API_OLLAMA; api++)
        for (size_t i = 0; config_dialect(i); i++)
            for (size_t kind = 0; kind < KINDS; kind++) {
                const char *want = "";
                for (size_t k = 0; k < sizeof uploads / sizeof uploads[0]; k++)
                    if (uploads[k].api == api && strcmp(uploads[k].dialect, config_dialect(i)) == 0)
                        want = uploads[k].cells[kind];
                check_upload(api, config_dialect(i), kind, want);
            }
}

/* ---- what docs/ATTACHMENTS.md says ---- */

static const struct {
    const char *name;
    enum api api;
} apis[] = {{"chat", API_OPENAI_CHAT},
            {"responses", API_OPENAI_RESPONSES},
            {"messages", API_ANTHROPIC_MESSAGES},
            {"gemini", API_GEMINI},
            {"ollama", API_OLLAMA}};

/* The media types of each column of the document's table. */
static const char *const columns[][3] = {
    {"application/pdf"},
    {OFFICE "wordprocessingml.document", OFFICE "spreadsheetml.sheet"},
    {"text/plain", "text/csv", "application/json"},
    {"audio/wav", "audio/mpeg"},
    {"audio/ogg"},
    {"video/mp4", "video/webm"},
};

static const char *answer(const struct place_request *r, struct span type)
{
    return !place_takes(r, type)                                             ? "no"
           : place_upload_of(r, type) == PLACE_BY_TEXT                       ? "upload"
           : place_goes_as_text(r, type) && r->api != API_ANTHROPIC_MESSAGES ? "text"
                                                                             : "yes";
}

/* `| chat, `openai` | yes | … |` */
static void check_line(char *line)
{
    char api[16], dialect[32];
    size_t n = 0;
    struct place_request r = {.provider = "p"};
    assert_int_equal(sscanf(line, "| %15[a-z], `%31[a-z]` |", api, dialect), 2);
    while (n < sizeof apis / sizeof apis[0] && strcmp(apis[n].name, api) != 0)
        n++;
    assert_true(n < sizeof apis / sizeof apis[0]);
    r.api = apis[n].api;
    r.dialect = dialect;
    char *rest = strchr(line + 2, '|') + 1;
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++) {
        char *end = strchr(rest, '|'), said[16];
        assert_non_null(end);
        *end = '\0';
        assert_int_equal(sscanf(rest, " %15s", said), 1);
        for (size_t i = 0; i < 3 && columns[k][i]; i++)
            if (strcmp(said, answer(&r, span_str(columns[k][i]))) != 0)
                fail_msg("docs/ATTACHMENTS.md: %s, %s, %s: %s, but it is %s", api, dialect, columns[k][i],
                         said, answer(&r, span_str(columns[k][i])));
        rest = end + 1;
    }
}

static void test_document(void **state)
{
    (void)state;
    char line[512];
    size_t checked = 0;
    FILE *f = fopen(TEST_DATA "/../../docs/ATTACHMENTS.md", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "| ", 2) == 0 && strstr(line, ", `") && strstr(line, "` | ") && line[2] != '`') {
            check_line(line);
            checked++;
        }
    fclose(f);
    assert_true(checked >= 13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_b4_every_dialect_decides),
                                       cmocka_unit_test(test_b4_every_dialect_decides_on_uploads),
                                       cmocka_unit_test(test_document)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
