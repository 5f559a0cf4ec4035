#ifndef PROVIDERS_PLACING_H
#define PROVIDERS_PLACING_H
/* For the dialects: writing attachments into a request. What place.h is made of. */
#include "providers/place.h"

/* How a file goes into a request. */
enum place_shape {
    SHAPE_NONE,      /* there is none: refused */
    SHAPE_UPLOAD,    /* only as the text of a file that was uploaded before */
    SHAPE_TEXT,      /* its bytes are text, and stand there as any other text */
    SHAPE_IMAGE,     /* image_url, input_image, image, inlineData, images[] */
    SHAPE_DOCUMENT,  /* file, input_file, document, inlineData */
    SHAPE_PLAIN,     /* Anthropic's document with the text itself */
    SHAPE_AUDIO,     /* input_audio, inlineData, images[] */
    SHAPE_AUDIO_URL, /* audio_url */
    SHAPE_VIDEO,     /* input_video, inlineData */
    SHAPE_VIDEO_URL, /* video_url */
};

/* The table of media kinds × APIs × dialects. A dialect that is not in it takes nothing but text. */
enum place_shape place_shape_of(enum api api, const char *dialect, struct span media_type);
/* Whether the API names an uploaded file of that shape by its id. */
bool place_shape_has_id(enum api api, const char *dialect, enum place_shape shape);
/* "wav", "mp3", "flac", "m4a", "ogg", "aiff", "aac", "webm"; NULL: another media type. */
const char *place_audio_format(struct span media_type);
/* The media type as Gemini's list spells it; empty: not in it. */
struct span place_gemini_type(struct span media_type);
/* ".pdf", ".docx" …: what a file of this media type is called; NULL: it does not matter. */
const char *place_extension(struct span media_type);
/* Whether the file's bytes are text, if they are UTF-8. */
bool place_is_text_type(struct span media_type);

struct place_piece;

/* One call of place_attachments. */
struct placing {
    const struct place_request *r;
    const struct place_item *items;
    size_t n;
    enum place_shape *shapes; /* of each item */
    bool all_text;            /* every item is text, or goes as text */
    struct buf *room;
    struct edits *edits;
    struct place_piece *pieces;
    size_t npieces, pieces_room;
    size_t from;   /* what was written to the room since then belongs to no piece yet */
    size_t at;     /* where it will stand in the body */
    size_t cut;    /* bytes that go there */
    bool unplaced; /* nothing can be added to this request */
};

/* What follows is written there, in place of `cut` bytes. To be closed with placing_end before the next
 * one. */
void placing_begin(struct placing *p, const char *at, size_t cut);
void placing_end(struct placing *p);
void placing_write(struct placing *p, const char *json);
/* The inside of a string. */
void placing_escaped(struct placing *p, struct span text);
void placing_base64(struct placing *p, const struct place_item *item);
/* The id or URI of one that was uploaded. */
void placing_uploaded(struct placing *p, const struct place_item *item);
/* data:MEDIA/TYPE;base64,… */
void placing_data_url(struct placing *p, const struct place_item *item);
/* The inside of a string: a name whose extension fits the media type. */
void placing_filename(struct placing *p, const struct place_item *item);
/* All items as one text, the inside of a string. `more`: other text stands before it. */
void placing_joined(struct placing *p, bool more);
/* The text of an item that is text or goes as text. */
struct span placing_item_text(const struct placing *p, size_t i);

/* A message of an API: the member that holds what it says, and how parts of it look. */
struct place_style {
    const char *member;      /* "content" */
    const char *before_text; /* of a text part, up to the string's opening quote */
    bool strings;            /* the member may be a string, too */
    /* One part for a file of this shape; none of SHAPE_TEXT. */
    void (*part)(struct placing *p, const struct place_item *item, enum place_shape shape);
};

/* Adds everything to this message (an object), behind what it says already. */
void placing_to_message(struct placing *p, const struct place_style *style, struct span message);
/* Writes everything as the value of the style's member. */
void placing_value(struct placing *p, const struct place_style *style);
/* Writes everything as parts with commas between them. */
void placing_parts(struct placing *p, const struct place_style *style);
/* Begins a further item at the end of a list of messages; the caller writes it. */
void placing_begin_item(struct placing *p, struct span list);
/* Begins a further member at the end of an object, the request's or one in it, with its comma; the caller
 * writes key and value. */
void placing_begin_member(struct placing *p, struct span object);
/* Whether something else is inserted there. */
bool placing_is_taken(const struct placing *p, const char *at);
/* The last item that fits; false: none does. */
bool placing_find_last(struct span list, bool (*fits)(struct span item), struct span *found) MUST_USE;
/* An object whose role is "user". */
bool placing_is_user(struct span message);
/* The last user message of a list gets everything; with none, a new one at its end. */
void placing_to_list(struct placing *p, const struct place_style *style, struct span list);

/* The dialects' own functions, for their struct dialect. */
void place_openai_chat(struct placing *p);
void place_openai_responses(struct placing *p);
void place_anthropic_messages(struct placing *p);
void place_gemini(struct placing *p);
void place_ollama(struct placing *p);

#endif
