#ifndef PROVIDERS_PLACE_H
#define PROVIDERS_PLACE_H
/*
 * Attachments in a request (product.md §6): into the last user message, after its own content, in the shape
 * of the request's API and the provider's dialect of it, or a refusal that names provider and media type.
 * Pure; all edits are splices. Called by the proxy when everything that the caller attached has been read,
 * checked and counted.
 */
#include "providers/dialect.h"

/* One piece of what is added, in the order in which it is to stand. */
struct place_item {
    /* n > 0: text for the model, UTF-8, not escaped: context, what a document says. The rest is ignored. In a
     * message of parts each text is a part of its own, in a string an empty line stands before it. */
    struct span text;
    /* Else a file that goes as it is: an image, or `native` handling. */
    struct span media_type; /* as sniffed: "image/png", "application/pdf", without parameters */
    struct span bytes;      /* the file; n > 0 */
    struct span base64;     /* the same in the standard alphabet with padding and nothing in between; n = 0:
                             * it is made here. Not copied: it must outlive the edits. May lie in the body. */
    struct span name;       /* display name, UTF-8, not escaped; may be empty */
    struct span uploaded;   /* n > 0: it was uploaded, and goes by this id or URI (struct upload_reply's uri),
                             * which stands in JSON as it is; bytes and base64 are not looked at then */
    bool converts;          /* it would be text without handling: native, which a refusal then advises */
    size_t index;           /* in the caller's array, for messages; SIZE_MAX: forwarded, so it has none */
};

/* Where the pieces go. */
struct place_request {
    struct span body;
    const struct request_facts *facts; /* of that body, root not empty */
    enum api api;
    const char *dialect;  /* of the provider, as configured: "openai", "moonshot" … */
    const char *provider; /* its configured name, for messages */
};

/*
 * Whether the item can go there, from its media type alone. -1: ERROR_ATTACHMENT_UNSUPPORTED, details
 * {provider, media_type, name}. Text items always can, and what can after an upload counts as well. To be
 * called as early as the media type is known, so that nothing is encoded or uploaded in vain;
 * place_attachments asks again.
 */
int place_check(const struct place_request *r, const struct place_item *item, struct error *e) MUST_USE;

/* The same as a mere question, of a file. */
bool place_takes(const struct place_request *r, struct span media_type) MUST_USE;

/* Whether a file of that media type that goes as it is stands in the request as text all the same, because
 * the provider has nothing else for it or wants the text itself in its document: then its characters count.
 */
bool place_goes_as_text(const struct place_request *r, struct span media_type) MUST_USE;

/* How a file that goes as it is may come to be uploaded first (upload.h). */
enum place_upload {
    PLACE_INLINE, /* never: it goes in the request or not at all */
    PLACE_BY_ID,  /* when the request would be too large with it: then by the id of the upload */
    PLACE_BY_TEXT /* always: the text that the provider makes of it goes in its place */
};
enum place_upload place_upload_of(const struct place_request *r, struct span media_type);

/*
 * Adds to `edits` what puts the n items into the request; n = 0 adds nothing. `edits` may hold what removes
 * Penstock's own keys and what add_protocol added, in that order. `room`
 * is empty, used for nothing else, outlives the edits and may not grow any more; its cap bounds what is
 * inserted (base64 that was given does not count). -1 with *e, and nothing added: ATTACHMENT_UNSUPPORTED as
 * above, BAD_REQUEST when the last user message is of no shape to which something can be added,
 * REQUEST_TOO_LARGE when the room's cap is reached.
 */
int place_attachments(const struct place_request *r, const struct place_item *items, size_t n,
                      struct buf *room, struct edits *edits, struct error *e) MUST_USE;

#endif
