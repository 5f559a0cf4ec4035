#ifndef ATTACHMENTS_EXTRACT_H
#define ATTACHMENTS_EXTRACT_H
/*
 * Documents, sound and pictures that move, as text for a model (product.md §6, "Bytes"). An extractor is a
 * renderer used the other way round (jobs/renderer.h): `source` is the document's bytes, params->filename the
 * name that the caller gave it, all other parameters are empty; what it appends to `out` is Markdown in
 * UTF-8. Extractors are linked into penstock-worker alone (extract_registry.c); the proxy knows their formats
 * by name and the table of extract_conversion.
 *
 * What their statuses mean to the caller of the API (proxy/attach_prepare.c), the sentence being the end of
 * one that begins with the attachment: "is encrypted; remove the password, or send it with handling: native"
 *   RENDER_OK       the text, whole; nothing is ever cut silently
 *   RENDER_INVALID  ATTACHMENT_INVALID: broken, locked, without text, hostile
 *   RENDER_LIMIT    ATTACHMENT_TOO_LARGE: more of something than is accepted, with the counts
 *   RENDER_FAILED   ATTACHMENT_INVALID: the extractor gave up
 */
#include "jobs/renderer.h"

/* Formats of extractors begin with it: "text:pdf". They are nothing that a reply may ask for. */
#define EXTRACT_PREFIX "text:"
/* A recording as MP3, on its way to a transcription endpoint. */
#define EXTRACT_MP3 EXTRACT_PREFIX "mp3"

/* The formats whose output is no text but what attachments/parts.h says: text and pictures; and the same with
 * the sound itself as MP3 in the place of its transcript, on its way to a transcription endpoint. */
#define EXTRACT_PARTS  EXTRACT_PREFIX "video"
#define EXTRACT_FRAMES EXTRACT_PREFIX "frames"

enum { EXTRACT_TEXT = 8 * 1024 * 1024 /* the longest text of one document, in bytes */ };

/* ---- for the proxy (conversion.c) ---- */

/* How a media type becomes text. */
struct conversion {
    const char *media_type;
    const char *format; /* of the extractor: "text:pdf" */
    const char *needs;  /* what must be installed for it beside Penstock, for messages; NULL: nothing */
};

/* NULL: there is no extractor for the type at all. */
const struct conversion *extract_conversion(const char *media_type);
/* Whether it may recognise speech, which takes minutes (timeouts.transcribe), or makes sound ready for who
 * does. */
bool extract_is_sound(const char *format);
/* Whether a renderer's format is an extractor's. */
bool extract_is_format(const char *format);

/* ---- extractors; those of Office documents are in extract_office.h ---- */

extern const struct renderer_ops extract_audio_ops;  /* "text:audio" */
extern const struct renderer_ops extract_csv_ops;    /* "text:csv", "text:tsv" */
extern const struct renderer_ops extract_frames_ops; /* EXTRACT_FRAMES */
extern const struct renderer_ops extract_html_ops;   /* "text:html" */
extern const struct renderer_ops extract_mp3_ops; /* makes no text, but what a transcription endpoint takes */
extern const struct renderer_ops extract_pdf_ops; /* "text:pdf" */
extern const struct renderer_ops extract_rtf_ops; /* "text:rtf" */
extern const struct renderer_ops extract_text_ops;  /* "text:plain": UTF-16 */
extern const struct renderer_ops extract_video_ops; /* "text:video", see EXTRACT_PARTS */

#endif
