#ifndef CONFIG_RECORD_H
#define CONFIG_RECORD_H
/* Giving back the lists of the configuration; struct key_list's `destroy`. Items that were only begun
 * (zeroed) are fine. */
#include <stddef.h>

struct config_service;

void record_destroy_listeners(void *items, size_t n);
void record_destroy_providers(void *items, size_t n);
void record_destroy_organisations(void *items, size_t n);
void record_destroy_hashes(void *items, size_t n);
/* … and what a service's record holds. */
void record_finish_service(struct config_service *service);

#endif
