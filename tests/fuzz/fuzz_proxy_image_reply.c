/* Answers of an image-generation API: read as a good answer and as a refusal. */
#include <stdint.h>
#include <stdlib.h>

#include "artifacts/utf8.h"
#include "proxy/image_reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct config_provider provider = {.host_header = "h:1", .host = "h", .port = 1, .base_path = ""};
    struct span body = span_of((const char *)data, size);
    struct buf picture, target = {0};
    char why[LIMIT_ERROR_TEXT];
    buf_init(&picture, size + 4);
    enum image_answer answer = image_reply_read(body, &provider, &picture, &target, why);
    if (answer == IMAGE_AT_URL) {
        struct span t = buf_span(&target);
        check(t.n && t.p[0] == '/');
        for (size_t i = 0; i < t.n; i++)
            check(t.p[i] > ' ' && t.p[i] < 0x7f && t.p[i] != '#');
    } else if (answer == IMAGE_NONE) {
        check(why[0] && utf8_valid(span_str(why)));
    }
    buf_free(&picture);
    buf_free(&target);
    image_reply_refusal(400, body, "abc", why);
    check(utf8_valid(span_str(why)) && !strpbrk(why, "<>\r\n") && !strstr(why, "abc"));
    return 0;
}
