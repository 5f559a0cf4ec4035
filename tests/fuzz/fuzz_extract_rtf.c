/* RTF documents as text. */
#include <stdint.h>

#include "attachments/extract.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct render_params params = {.format = "text:rtf", .filename = "x"};
    char sentence[RENDER_SENTENCE] = "";
    struct buf out;
    buf_init(&out, 8 << 20);

    /* What is no RTF at all is refused at once. */
    static const char head[] = "{\\rtf1 ";
    struct buf in;
    buf_init(&in, size + sizeof head);
    if (size < 2 || data[0] != '{' || data[1] != '\\')
        buf_addn(&in, head, sizeof head - 1);
    buf_addn(&in, data, size);
    enum render_status status = extract_rtf_ops.render(buf_span(&in), &params, &out, sentence);
    if (status == RENDER_FAILED || (status == RENDER_OK) != (sentence[0] == '\0'))
        __builtin_trap();
    buf_free(&in);
    buf_free(&out);
    return 0;
}
