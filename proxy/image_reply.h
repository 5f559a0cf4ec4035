#ifndef PROXY_IMAGE_REPLY_H
#define PROXY_IMAGE_REPLY_H
/*
 * What is said to an image-generation API and what it answers, in OpenAI's shape (POST
 * /v1/images/generations, https://platform.openai.com/docs/api-reference/images). Pure; any thread may call
 * it.
 */
#include "artifacts/artifact.h"
#include "config/config.h"

/* Appends the path under which that provider makes pictures. */
void image_request_path(const struct config_provider *provider, struct buf *out);
/* Appends the JSON body of the request for one picture. */
void image_request_body(const char *model, const struct image_wanted *wanted, struct buf *out);

enum image_answer {
    IMAGE_PICTURE, /* its bytes are in `picture`; whether they are a picture is another question */
    IMAGE_AT_URL,  /* it lies on the provider's own host: path and query are in `target` */
    IMAGE_NONE     /* `why` says so in a clause */
};

/* The body of a good answer (2xx). An address on another host is not followed: that is IMAGE_NONE. */
enum image_answer image_reply_read(struct span body, const struct config_provider *provider,
                                   struct buf *picture, struct buf *target, char why[LIMIT_ERROR_TEXT]);
/* Any other answer: writes a clause with the status and the provider's own words, as far as there are some:
 * without `key` (NULL: none) and what looks like a secret, markers and control characters, and shortened. */
void image_reply_refusal(int status, struct span body, const char *key, char why[LIMIT_ERROR_TEXT]);

#endif
