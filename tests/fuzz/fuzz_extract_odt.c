/* An OpenDocument text: an archive as it is, or the text of its parts in one that is made around it. */
#include <stdlib.h>

#include "attachments/extract_office.h"
#include "office_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const parts[] = {"content.xml", "styles.xml", "Object 1/content.xml", NULL};
    office_input(&extract_odt_ops, data, size, parts);
    return 0;
}
