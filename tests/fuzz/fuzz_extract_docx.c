/* A Word document: an archive as it is, or the text of the document's main part in one that is made around
 * it. */
#include <stdlib.h>

#include "attachments/extract_office.h"
#include "office_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const parts[] = {
        "word/document.xml",  "word/styles.xml",   "word/numbering.xml",
        "word/footnotes.xml", "word/comments.xml", "word/_rels/document.xml.rels",
        "word/chunk",         "word/more.xml",     NULL};
    office_input(&extract_docx_ops, data, size, parts);
    return 0;
}
