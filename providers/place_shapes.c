/*
 * Which files have a shape of their own where: media kinds × APIs × dialects. This says what an API can
 * carry, not what a model can read: that the model's provider answers itself.
 */
#include "providers/placing.h"

enum kind { KIND_OTHER, KIND_IMAGE, KIND_PDF, KIND_OFFICE, KIND_TEXT, KIND_AUDIO, KIND_VIDEO };

/* What is only true of some dialects. */
enum takes {
    PDF_FILE = 1,      /* chat: `file` with a PDF */
    AUDIO = 2,         /* chat: `input_audio` with wav and mp3 */
    MORE_AUDIO = 4,    /* … with the other formats, too */
    AUDIO_URL = 8,     /* chat: `audio_url` for the other formats */
    VIDEO_URL = 16,    /* chat: `video_url` */
    INPUT_VIDEO = 32,  /* chat: `input_video` */
    UPLOADED = 64,     /* chat: documents, but uploaded */
    INPUT_FILE = 128,  /* Responses: `input_file` with a PDF */
    INPUT_FILES = 256, /* … with office documents and text, too */
    DOCUMENT = 512,    /* Messages: `document` */
};

static const struct row {
    const char *dialect;
    unsigned takes;
} rows[] = {
    {"openai", PDF_FILE | AUDIO | INPUT_FILE | INPUT_FILES | DOCUMENT},
    {"azure", PDF_FILE | AUDIO | INPUT_FILE | INPUT_FILES | DOCUMENT},
    {"openrouter", PDF_FILE | AUDIO | MORE_AUDIO | VIDEO_URL | INPUT_FILE | DOCUMENT},
    {"moonshot", VIDEO_URL | UPLOADED},
    {"vllm", AUDIO | AUDIO_URL | VIDEO_URL},
    {"llamacpp", AUDIO | INPUT_VIDEO},
    {"mistral", 0},
    {"anthropic", DOCUMENT},
    {"gemini", 0},
    {"ollama", 0},
};

struct type_name {
    const char *type, *name;
};

#define OFFICE "application/vnd.openxmlformats-officedocument."

static const struct type_name extensions[] = {
    {"application/pdf", ".pdf"},
    {OFFICE "wordprocessingml.document", ".docx"},
    {OFFICE "spreadsheetml.sheet", ".xlsx"},
    {OFFICE "presentationml.presentation", ".pptx"},
};

static const struct type_name formats[] = {
    {"audio/wav", "wav"},   {"audio/x-wav", "wav"}, {"audio/wave", "wav"},    {"audio/vnd.wave", "wav"},
    {"audio/mpeg", "mp3"},  {"audio/mp3", "mp3"},   {"audio/flac", "flac"},   {"audio/x-flac", "flac"},
    {"audio/mp4", "m4a"},   {"audio/m4a", "m4a"},   {"audio/x-m4a", "m4a"},   {"audio/ogg", "ogg"},
    {"audio/opus", "ogg"},  {"audio/aiff", "aiff"}, {"audio/x-aiff", "aiff"}, {"audio/aac", "aac"},
    {"audio/webm", "webm"},
};

static const struct type_name gemini_types[] = {
    {"audio/x-wav", "audio/wav"},
    {"audio/wave", "audio/wav"},
    {"audio/vnd.wave", "audio/wav"},
    {"audio/x-flac", "audio/flac"},
    {"audio/mp4", "audio/m4a"},
    {"audio/x-m4a", "audio/m4a"},
    {"audio/x-aiff", "audio/aiff"},
    {"video/quicktime", "video/mov"},
    {"video/x-msvideo", "video/avi"},
    {"video/x-ms-wmv", "video/wmv"},
    {"application/rtf", "text/rtf"},
    {"application/xml", "text/xml"},
    {"image/svg+xml", "text/xml"},
    {"application/javascript", "text/javascript"},
    {"application/pdf", "application/pdf"},
};

/* Of audio, video and text; images go as what they are. */
static const char *const gemini_list[] = {
    "audio/wav",  "audio/mp3",  "audio/mpeg", "audio/aiff",    "audio/aac",       "audio/ogg",
    "audio/flac", "audio/m4a",  "audio/webm", "audio/opus",    "audio/l16",       "video/mp4",
    "video/mpeg", "video/mpg",  "video/mov",  "video/avi",     "video/x-flv",     "video/webm",
    "video/wmv",  "video/3gpp", "text/plain", "text/html",     "text/css",        "text/md",
    "text/csv",   "text/xml",   "text/rtf",   "text/markdown", "text/javascript", "text/x-python",
};

static const char *find_name(const struct type_name *list, size_t n, struct span type)
{
    for (size_t i = 0; i < n; i++)
        if (span_is_nocase(type, list[i].type))
            return list[i].name;
    return NULL;
}

#define FIND(list, type) find_name(list, sizeof(list) / sizeof(list)[0], type)

const char *place_audio_format(struct span media_type)
{
    return FIND(formats, media_type);
}

const char *place_extension(struct span media_type)
{
    return FIND(extensions, media_type);
}

static bool is_family(struct span type, const char *family)
{
    size_t n = strlen(family);
    return type.n > n && span_is_nocase(span_of(type.p, n), family);
}

static bool has_suffix(struct span type, const char *suffix)
{
    size_t n = strlen(suffix);
    return type.n > n && span_is_nocase(span_from(type, type.n - n), suffix);
}

bool place_is_text_type(struct span media_type)
{
    static const char *const names[] = {"application/json",       "application/xml",      "application/yaml",
                                        "application/javascript", "application/x-ndjson", "application/rtf",
                                        "application/x-yaml",     "application/toml",     "application/sql"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (span_is_nocase(media_type, names[i]))
            return true;
    return is_family(media_type, "text/") || has_suffix(media_type, "+xml") ||
           has_suffix(media_type, "+json");
}

struct span place_gemini_type(struct span media_type)
{
    const char *name = FIND(gemini_types, media_type);
    if (name)
        return span_str(name);
    for (size_t i = 0; i < sizeof gemini_list / sizeof gemini_list[0]; i++)
        if (span_is_nocase(media_type, gemini_list[i]))
            return span_str(gemini_list[i]);
    if (place_is_text_type(media_type)) /* JSON and the like are not in the list, but they are text */
        return SPAN_LIT("text/plain");
    return is_family(media_type, "image/") ? media_type : SPAN_LIT("");
}

static enum kind kind_of(struct span type)
{
    const char *extension = place_extension(type);
    if (extension)
        return strcmp(extension, ".pdf") == 0 ? KIND_PDF : KIND_OFFICE;
    if (place_is_text_type(type))
        return KIND_TEXT;
    if (is_family(type, "image/"))
        return KIND_IMAGE;
    if (is_family(type, "audio/"))
        return KIND_AUDIO;
    return is_family(type, "video/") ? KIND_VIDEO : KIND_OTHER;
}

/* The two that nearly everyone who takes audio takes. */
static bool is_common_audio(struct span type)
{
    const char *format = place_audio_format(type);
    return format && (strcmp(format, "wav") == 0 || strcmp(format, "mp3") == 0);
}

static enum place_shape chat_audio(unsigned takes, struct span type)
{
    const char *format = place_audio_format(type);
    if ((takes & AUDIO) && is_common_audio(type))
        return SHAPE_AUDIO;
    if ((takes & MORE_AUDIO) && format && strcmp(format, "webm") != 0)
        return SHAPE_AUDIO;
    return takes & AUDIO_URL ? SHAPE_AUDIO_URL : SHAPE_NONE;
}

static enum place_shape chat_shape(unsigned takes, enum kind kind, struct span type)
{
    switch (kind) {
    case KIND_IMAGE:
        return SHAPE_IMAGE;
    case KIND_PDF:
        return takes & PDF_FILE ? SHAPE_DOCUMENT : takes & UPLOADED ? SHAPE_UPLOAD : SHAPE_NONE;
    case KIND_OFFICE:
        return takes & UPLOADED ? SHAPE_UPLOAD : SHAPE_NONE;
    case KIND_TEXT:
        return SHAPE_TEXT;
    case KIND_AUDIO:
        return chat_audio(takes, type);
    case KIND_VIDEO:
        return takes & VIDEO_URL ? SHAPE_VIDEO_URL : takes & INPUT_VIDEO ? SHAPE_VIDEO : SHAPE_NONE;
    default:
        return SHAPE_NONE;
    }
}

static enum place_shape responses_shape(unsigned takes, enum kind kind)
{
    switch (kind) {
    case KIND_IMAGE:
        return SHAPE_IMAGE;
    case KIND_PDF:
        return takes & INPUT_FILE ? SHAPE_DOCUMENT : SHAPE_NONE;
    case KIND_OFFICE:
        return takes & INPUT_FILES ? SHAPE_DOCUMENT : SHAPE_NONE;
    case KIND_TEXT:
        return takes & INPUT_FILES ? SHAPE_DOCUMENT : SHAPE_TEXT;
    default:
        return SHAPE_NONE;
    }
}

static enum place_shape messages_shape(unsigned takes, enum kind kind)
{
    switch (kind) {
    case KIND_IMAGE:
        return SHAPE_IMAGE;
    case KIND_PDF:
        return takes & DOCUMENT ? SHAPE_DOCUMENT : SHAPE_NONE;
    case KIND_TEXT:
        return takes & DOCUMENT ? SHAPE_PLAIN : SHAPE_TEXT;
    default:
        return SHAPE_NONE;
    }
}

static enum place_shape gemini_shape(enum kind kind, struct span type)
{
    bool listed = place_gemini_type(type).n > 0;
    switch (kind) {
    case KIND_IMAGE:
        return SHAPE_IMAGE;
    case KIND_AUDIO:
        return listed ? SHAPE_AUDIO : SHAPE_NONE;
    case KIND_VIDEO:
        return listed ? SHAPE_VIDEO : SHAPE_NONE;
    default:
        return listed ? SHAPE_DOCUMENT : SHAPE_NONE;
    }
}

static enum place_shape ollama_shape(enum kind kind, struct span type)
{
    switch (kind) {
    case KIND_IMAGE:
        return SHAPE_IMAGE;
    case KIND_AUDIO:
        return is_common_audio(type) ? SHAPE_AUDIO : SHAPE_NONE;
    case KIND_TEXT:
        return SHAPE_TEXT;
    default:
        return SHAPE_NONE;
    }
}

enum place_shape place_shape_of(enum api api, const char *dialect, struct span media_type)
{
    const struct row *row = NULL;
    enum kind kind = kind_of(media_type);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].dialect, dialect) == 0)
            row = &rows[i];
    if (!row)
        return kind == KIND_TEXT ? SHAPE_TEXT : SHAPE_NONE;
    switch (api) {
    case API_OPENAI_CHAT:
        return chat_shape(row->takes, kind, media_type);
    case API_OPENAI_RESPONSES:
        return responses_shape(row->takes, kind);
    case API_ANTHROPIC_MESSAGES:
        return messages_shape(row->takes, kind);
    case API_GEMINI:
        return gemini_shape(kind, media_type);
    case API_OLLAMA:
        return ollama_shape(kind, media_type);
    default:
        return SHAPE_NONE;
    }
}

bool place_shape_has_id(enum api api, const char *dialect, enum place_shape shape)
{
    bool document = shape == SHAPE_DOCUMENT, image = shape == SHAPE_IMAGE;
    if (api == API_OPENAI_CHAT && strcmp(dialect, "openai") == 0)
        return document;
    if (api == API_OPENAI_CHAT && strcmp(dialect, "moonshot") == 0)
        return image || shape == SHAPE_VIDEO_URL;
    if (api == API_OPENAI_RESPONSES && strcmp(dialect, "openai") == 0)
        return document || image;
    if (api == API_ANTHROPIC_MESSAGES && strcmp(dialect, "anthropic") == 0)
        return document || image;
    return api == API_GEMINI && strcmp(dialect, "gemini") == 0 &&
           (document || image || shape == SHAPE_AUDIO || shape == SHAPE_VIDEO);
}
