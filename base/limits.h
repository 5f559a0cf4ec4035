#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H
/* Every cap that is not a setting, in one place. Sizes in bytes. */
#include <stddef.h>

enum {
    LIMIT_HTTP_HEAD = 64 * 1024,     /* request or reply head, all fields together */
    LIMIT_HTTP_FIELDS = 200,         /* fields of a head */
    LIMIT_HTTP_TRAILERS = 16 * 1024, /* trailer fields together */
    LIMIT_READ = 64 * 1024,          /* one read from a socket; the worker's shared read buffer */
    LIMIT_SENT_AT_ONCE = 256 * 1024, /* to one peer before others have their turn */
    LIMIT_BODY_ON_LOOP = 256 * 1024, /* a longer body of a consult is read and composed off the event loop */
    LIMIT_PIPELINED = 64 * 1024,     /* bytes of a next request kept while one is answered */
    LIMIT_JSON_DEPTH = 512,          /* nesting of a document that is looked into */
    LIMIT_ERROR_TEXT = 512,          /* an error's message */
    LIMIT_ORG = 64,                  /* organisation, thread, turn, parent: characters */
    LIMIT_FILENAME = 120,            /* artifact name with its extension */
    LIMIT_METADATA = 64 * 1024,      /* a directive's metadata object */
    LIMIT_BASE64 = 10 * 1024 * 1024, /* bytes that a directive gives in base64 */
    LIMIT_CHANNELS = 128,            /* text channels of one reply */
    LIMIT_PARTS = 1024,              /* text channels of a reply whose channels are parts of one text */
    LIMIT_HELD_TEXT = 64,            /* characters that may be held back as the beginning of a marker */
    LIMIT_HELD_BLANK = 64,           /* white space that may be held back */
    LIMIT_FLAGS = 64,                /* flags of one reply that are listed one by one */
    LIMIT_HW = 256 * 1024,           /* what a body says to Penstock itself, without attachments */
    LIMIT_ATTACHMENTS = 64,          /* of one request, forwarded ones included */
    LIMIT_ATTACHMENT_NAME = 255,     /* a display name: bytes */
    LIMIT_ATTACHMENT_TYPE = 64,      /* a content's type: bytes */
    LIMIT_PATH = 1024,               /* of an attachment, under its organisation's folder */
    LIMIT_KEY = 4096,                /* an API key */
    LIMIT_LOG_LINE = 8192,
    /* What a thread's journal keeps of one consult; what is longer is cut, and the line says so. */
    LIMIT_THREAD = 256,                   /* a thread's name as the caller says it */
    LIMIT_THREAD_TEXT = 8 * 1024 * 1024,  /* the query, the text, the reasoning, the sources: each */
    LIMIT_THREAD_ARGUMENTS = 1024 * 1024, /* of all calls of tools */
    LIMIT_THREAD_CALLS = 128,             /* calls of tools */
    LIMIT_THREAD_CITATIONS = 256,         /* sources */
    LIMIT_THREAD_WORD = 1024,             /* a headline, a name, a code, an error's message */
    LIMIT_THREAD_ERROR_BODY = 64 * 1024,  /* of a provider's error that is read for its code */
    /* Journals are read line by line, off the event loop; what they cost there is time, during which lines
     * of other threads wait to be written. */
    LIMIT_THREAD_JOURNAL = 64 * 1024 * 1024,   /* one of which the admin listener makes a page */
    LIMIT_THREAD_SEARCHED = 128 * 1024 * 1024, /* one in which a consult is looked for */
    LIMIT_THREAD_PAGE = 32 * 1024 * 1024,      /* a page about threads, which is in memory as a whole */
};

#endif
