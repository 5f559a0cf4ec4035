#ifndef CONFIG_SPECIAL_H
#define CONFIG_SPECIAL_H
/* Keys whose values have rules of their own: `set` and `print` functions for the tables in keys.c; see struct
 * key. */
#include "config/keys.h"

/* unsigned: a number or "auto", the number of processors this process may use. */
int special_set_workers(struct setting *s, void *at);
void special_print_workers(const void *at, struct buf *out);

/* struct config_address. */
int special_set_address(struct setting *s, void *at);
void special_print_address(const void *at, struct buf *out);

/* char *: an http or https URL without trailing slash. */
int special_set_public_url(struct setting *s, void *at);
/* struct config_provider. */
int special_set_base_url(struct setting *s, void *at);
void special_print_base_url(const void *at, struct buf *out);
int special_set_api_key(struct setting *s, void *at);
void special_print_api_key(const void *at, struct buf *out);

/* char *. */
int special_set_provider_name(struct setting *s, void *at);
int special_set_dialect(struct setting *s, void *at);
/* Whether providers of that dialect have OpenAI's images and audio API. */
bool special_dialect_is_openai(const char *dialect);
/* All of them, with commas between. */
void special_dialects_openai(char names[256]);
int special_set_prefix(struct setting *s, void *at);
int special_set_default_provider(struct setting *s, void *at);
int special_set_service_provider(struct setting *s, void *at);
int special_set_organisation(struct setting *s, void *at);
int special_set_brand_text(struct setting *s, void *at);
int special_set_colour(struct setting *s, void *at);
void special_print_text(const void *at, struct buf *out);

/* unsigned char[32]. */
int special_set_hash(struct setting *s, void *at);
void special_print_hash(const void *at, struct buf *out);

/* Of which one value exists; nothing is stored. */
int special_set_artifact_store(struct setting *s, void *at);
void special_print_artifact_store(const void *at, struct buf *out);
int special_set_record_store(struct setting *s, void *at);
void special_print_record_store(const void *at, struct buf *out);
/* bool. */
int special_set_log_content(struct setting *s, void *at);
void special_print_log_content(const void *at, struct buf *out);

int special_set_sentry_dsn(struct setting *s, void *at);
void special_print_sentry_dsn(const void *at, struct buf *out);

#endif
