#ifndef ATTACHMENTS_EXTRACT_OFFICE_H
#define ATTACHMENTS_EXTRACT_OFFICE_H
/* Readers of Office documents, OpenDocument texts and books: bytes of a file in, Markdown out. */
#include "jobs/renderer.h"

extern const struct renderer_ops extract_docx_ops, extract_xlsx_ops, extract_pptx_ops, extract_odt_ops,
    extract_epub_ops;

#endif
