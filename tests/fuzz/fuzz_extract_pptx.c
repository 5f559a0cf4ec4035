/* A presentation: an archive as it is, or the text of its parts in one that is made around
 * it. */
#include <stdlib.h>

#include "attachments/extract_office.h"
#include "office_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const parts[] = {"ppt/slides/s1.xml",
                                        "ppt/presentation.xml",
                                        "ppt/_rels/presentation.xml.rels",
                                        "ppt/slides/_rels/s1.xml.rels",
                                        "ppt/notesSlides/n1.xml",
                                        "ppt/slideLayouts/l1.xml",
                                        NULL};
    office_input(&extract_pptx_ops, data, size, parts);
    return 0;
}
