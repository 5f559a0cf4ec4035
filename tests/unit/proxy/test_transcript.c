/* Requests for transcripts, and the text that is made of their answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "proxy/transcript.h"

static void test_request(void **state)
{
    (void)state;
    struct buf out;
    const struct transcript_file file = {SPAN_LIT("talk"), SPAN_LIT("audio/mpeg"), SPAN_LIT("ID3\0x")};
    buf_init(&out, 4096);
    transcript_request("whisper-1", &file, "b0", &out);
    static const char want[] =
        "--b0\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nwhisper-1\r\n"
        "--b0\r\nContent-Disposition: form-data; name=\"response_format\"\r\n\r\nverbose_json\r\n"
        "--b0\r\nContent-Disposition: form-data; name=\"file\"; filename=\"talk.mp3\"\r\n"
        "Content-Type: audio/mpeg\r\n\r\nID3\0x\r\n--b0--\r\n";
    assert_int_equal(out.n, sizeof want - 1);
    assert_memory_equal(buf_span(&out).p, want, sizeof want - 1);
    buf_reset(&out);
    transcript_request("gpt-4o-transcribe", &file, "b0", &out);
    assert_non_null(strstr(buf_cstr(&out), "\r\n\r\njson\r\n"));
    buf_free(&out);
    assert_true(transcript_takes(SPAN_LIT("audio/mp4")) && transcript_takes(SPAN_LIT("audio/webm")));
    assert_false(transcript_takes(SPAN_LIT("audio/ogg")) || transcript_takes(SPAN_LIT("audio/flac")));
}

#define HEAD(rest) "### Audio transcript (a\xc3\xa9 b.mp3, " rest ")\n\n"

static void test_answers(void **state)
{
    (void)state;
    static const struct {
        const char *body, *want; /* NULL: refused */
    } table[] = {
        {"{\"text\":\"Hello\\nthere.\"}", HEAD("w") "Hello\nthere.\n"},
        {"{\"text\":\"Hi\",\"duration\":252.4,\"segments\":[]}", HEAD("4:12, w") "Hi\n"},
        {"{\"text\":\"Hi\",\"duration\":\"3852\"}", HEAD("1:04:12, w") "Hi\n"},
        {"{\"text\":\" Hi you\",\"duration\":7.5,\"segments\":[{\"start\":0.0,\"text\":\" Hi \"},"
         "{\"start\":3671.9,\"text\":\"yo\\nu\"}]}",
         HEAD("0:08, w") "[00:00:00] Hi\n[01:01:11] yo u\n"},
        {"{\"text\":\" \\n\",\"duration\":1,\"segments\":[{\"start\":0,\"text\":\" \"}]}",
         HEAD("0:01, w") "(no speech found)\n"},
        {"{\"text\":\"\"}", HEAD("w") "(no speech found)\n"},
        {"{\"text\":\"a\",\"duration\":-1}", HEAD("w") "a\n"},
        {"{\"text\":\"a\",\"duration\":1e300}", HEAD("w") "a\n"},
        {"{\"text\":\"a\",\"segments\":[7]}", NULL},
        {"{\"text\":7}", NULL},
        {"{}", NULL},
        {"Hello", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct buf out;
        char why[LIMIT_ERROR_TEXT];
        buf_init(&out, 4096);
        int answer = transcript_read(span_str(table[i].body), SPAN_LIT("a\xc3\xa9\nb.mp3"), "w", &out, why);
        assert_int_equal(answer, table[i].want ? 0 : -1);
        assert_string_equal(buf_cstr(&out), table[i].want ? table[i].want : "");
        buf_free(&out);
    }
}

/* Cut anywhere, and with any room, there is a whole text or none. */
static void test_cuts_and_caps(void **state)
{
    (void)state;
    static const char body[] = "{\"text\":\"Hello you\",\"duration\":3,\"segments\":[{\"start\":1,\"text\":"
                               "\"Hello\"},{\"start\":2,\"text\":\"you\"}]}";
    char why[LIMIT_ERROR_TEXT];
    for (size_t n = 0; n < sizeof body - 1; n++) {
        struct buf out;
        buf_init(&out, 4096);
        assert_int_equal(transcript_read(span_of(body, n), SPAN_LIT("a"), "w", &out, why), -1);
        assert_int_equal(out.n, 0);
        buf_free(&out);
    }
    size_t whole = 0;
    for (size_t max = 256; max > 0; max--) {
        struct buf out;
        buf_init(&out, max);
        int answer = transcript_read(span_of(body, sizeof body - 1), SPAN_LIT("a"), "w", &out, why);
        whole = max == 256 ? out.n : whole;
        assert_int_equal(answer, max < whole ? -1 : 0);
        assert_int_equal(out.n, max < whole ? 0 : whole);
        buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_request), cmocka_unit_test(test_answers),
                                       cmocka_unit_test(test_cuts_and_caps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
