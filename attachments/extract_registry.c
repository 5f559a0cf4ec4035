/* The extractors of penstock-worker. */
#include "attachments/extract.h"
#include "attachments/extract_office.h"

const struct renderer_ops *const extractor_list[] = {
    &extract_pdf_ops,
    &extract_docx_ops,
    NULL,
};
