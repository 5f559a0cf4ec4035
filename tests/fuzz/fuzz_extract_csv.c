/* CSV and TSV as text. */
#include <stdint.h>

#include "attachments/extract.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct render_params params = {.format = "text:csv", .filename = "x"};
    char sentence[RENDER_SENTENCE] = "";
    struct buf out;
    buf_init(&out, 8 << 20);
    if (size && data[size - 1] == 1)
        params.format = "text:tsv";
    enum render_status status =
        extract_csv_ops.render(span_of((const char *)data, size), &params, &out, sentence);
    if (status == RENDER_FAILED || (status == RENDER_OK) != (sentence[0] == '\0'))
        __builtin_trap();
    buf_free(&out);
    return 0;
}
