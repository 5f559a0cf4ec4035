/* Answers of files APIs: whatever they are, what is taken of them can stand in a path and in JSON. */
#include <stdlib.h>

#include "base/json.h"
#include "providers/upload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(const char *text)
{
    char json[UPLOAD_URI + 3];
    struct span value;
    size_t n = strlen(text);
    json[0] = '"';
    memcpy(json + 1, text, n);
    json[n + 1] = '"';
    if (!json_document(span_of(json, n + 2), &value))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const dialects[] = {"openai", "anthropic", "gemini", "moonshot"};
    if (n == 0)
        return 0;
    struct upload_reply r;
    char why[LIMIT_ERROR_TEXT] = "";
    int answer = upload_read(dialects[data[0] % 4], span_of((const char *)data + 1, n - 1), &r, why);
    if (answer < 0 && !why[0])
        abort();
    if (answer < 0)
        return 0;
    check(r.id);
    check(r.uri);
    if (!r.id[0] || strpbrk(r.id, " \r\n?#%\\") || strstr(r.id, "..") || r.expires_s < 0 ||
        r.expires_s > INT64_MAX / 1000)
        abort();
    return 0;
}
