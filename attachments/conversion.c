/* Which extractor makes text of which media type. */
#include <string.h>

#include "attachments/extract.h"

#define OOXML "application/vnd.openxmlformats-officedocument."
#define OPEN  "application/vnd.oasis.opendocument."
static const struct conversion conversions[] = {
    {"application/pdf", "text:pdf", "pdftotext (package poppler-utils)"},
    {OOXML "wordprocessingml.document", "text:docx", NULL},
    {OOXML "spreadsheetml.sheet", "text:xlsx", NULL},
    {OOXML "presentationml.presentation", "text:pptx", NULL},
    {"application/vnd.ms-word.document.macroEnabled.12", "text:docx", NULL},
    {"application/vnd.ms-excel.sheet.macroEnabled.12", "text:xlsx", NULL},
    {"application/vnd.ms-powerpoint.presentation.macroEnabled.12", "text:pptx", NULL},
    {OPEN "text", "text:odt", NULL},
    {"application/epub+zip", "text:epub", NULL},
    {"text/html", "text:html", NULL},
    {"text/csv", "text:csv", NULL},
    {"text/tab-separated-values", "text:tsv", NULL},
    {"application/rtf", "text:rtf", NULL},
    {"text/plain", "text:plain", NULL}, /* only when it is not UTF-8 */
    {"audio/wav", "text:audio", NULL},
    {"audio/mpeg", "text:audio", NULL},
    {"audio/ogg", "text:audio", NULL},
    {"audio/flac", "text:audio", NULL},
    {"audio/aiff", "text:audio", NULL},
    {"audio/basic", "text:audio", NULL},
    {"audio/x-caf", "text:audio", NULL},
    {"audio/mp4", "text:video", "ffmpeg (package ffmpeg)"},
    {"audio/aac", "text:video", "ffmpeg (package ffmpeg)"},
    {"audio/amr", "text:video", "ffmpeg (package ffmpeg)"},
    {"audio/webm", "text:video", "ffmpeg (package ffmpeg)"},
    {"audio/x-matroska", "text:video", "ffmpeg (package ffmpeg)"},
    {"video/mp4", "text:video", "ffmpeg (package ffmpeg)"},
    {"video/quicktime", "text:video", "ffmpeg (package ffmpeg)"},
    {"video/3gpp", "text:video", "ffmpeg (package ffmpeg)"},
    {"video/webm", "text:video", "ffmpeg (package ffmpeg)"},
    {"video/x-matroska", "text:video", "ffmpeg (package ffmpeg)"},
    {"video/x-msvideo", "text:video", "ffmpeg (package ffmpeg)"},
    {"video/ogg", "text:video", "ffmpeg (package ffmpeg)"},
    {"video/mpeg", "text:video", "ffmpeg (package ffmpeg)"},
    {"video/mp2t", "text:video", "ffmpeg (package ffmpeg)"},
    {"video/x-flv", "text:video", "ffmpeg (package ffmpeg)"},
    {"video/x-ms-asf", "text:video", "ffmpeg (package ffmpeg)"},
};

const struct conversion *extract_conversion(const char *media_type)
{
    for (size_t i = 0; i < sizeof conversions / sizeof conversions[0]; i++)
        if (!strcmp(conversions[i].media_type, media_type))
            return &conversions[i];
    return NULL;
}

bool extract_is_sound(const char *format)
{
    static const char *const formats[] = {"text:audio", EXTRACT_PARTS, EXTRACT_FRAMES, EXTRACT_MP3};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (!strcmp(formats[i], format))
            return true;
    return false;
}

bool extract_is_format(const char *format)
{
    return strncmp(format, EXTRACT_PREFIX, sizeof EXTRACT_PREFIX - 1) == 0;
}
