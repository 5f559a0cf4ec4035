#ifndef ATTACHMENTS_EXTRACT_MEDIA_H
#define ATTACHMENTS_EXTRACT_MEDIA_H
/* Extractors of what is neither an office document nor a PDF. Run in a caged child of penstock-worker. */
#include "jobs/renderer.h"

extern const struct renderer_ops extract_audio_ops; /* "text:audio" */
extern const struct renderer_ops extract_csv_ops;   /* "text:csv", "text:tsv" */
extern const struct renderer_ops extract_html_ops;  /* "text:html" */
extern const struct renderer_ops extract_rtf_ops;   /* "text:rtf" */

#endif
