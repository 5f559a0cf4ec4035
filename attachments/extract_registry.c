/* The extractors of penstock-worker. */
#include "attachments/extract.h"

const struct renderer_ops *const extractor_list[] = {
    &extract_pdf_ops,
    NULL,
};
