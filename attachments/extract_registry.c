/* The extractors of penstock-worker. */
#include "attachments/extract.h"

const struct renderer_ops *const extractor_list[] = {
    &extract_audio_ops, &extract_csv_ops, &extract_html_ops, &extract_pdf_ops, &extract_rtf_ops, NULL,
};
