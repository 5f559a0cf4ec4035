/* A workbook: an archive as it is, or the text of its parts in one that is made around
 * it. */
#include <stdlib.h>

#include "attachments/extract_office.h"
#include "office_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const parts[] = {"xl/worksheets/sheet1.xml",
                                        "xl/workbook.xml",
                                        "xl/_rels/workbook.xml.rels",
                                        "xl/sharedStrings.xml",
                                        "xl/styles.xml",
                                        "xl/comments.xml",
                                        "xl/worksheets/_rels/sheet1.xml.rels",
                                        NULL};
    office_input(&extract_xlsx_ops, data, size, parts);
    return 0;
}
