/* The extractors of penstock-worker. */
#include "attachments/extract.h"
#include "attachments/extract_office.h"

/* clang-format off */
const struct renderer_ops *const extractor_list[] = {
    &extract_pdf_ops,
    &extract_docx_ops,
    &extract_xlsx_ops,
    &extract_pptx_ops,
    &extract_odt_ops,
    &extract_epub_ops,
    &extract_html_ops,
    &extract_csv_ops,
    &extract_rtf_ops,
    &extract_text_ops,
    &extract_audio_ops,
    &extract_mp3_ops,
    &extract_video_ops,
    &extract_frames_ops,
    NULL,
};
