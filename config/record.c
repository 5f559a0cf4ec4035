#include "config/record.h"

#include "base/xalloc.h"
#include "config/address.h"
#include "config/config.h"

void record_destroy_listeners(void *items, size_t n)
{
    struct config_listener *list = items;
    for (size_t i = 0; i < n; i++) {
        address_finish(&list[i].address);
        xfree(list[i].certificate);
        xfree(list[i].key);
    }
    xfree(list);
}

void record_destroy_providers(void *items, size_t n)
{
    struct config_provider *list = items;
    for (size_t i = 0; i < n; i++) {
        xfree(list[i].name);
        xfree(list[i].dialect);
        xfree(list[i].base_url);
        xfree(list[i].host);
        xfree(list[i].host_header);
        xfree(list[i].base_path);
        xfree(list[i].prefix);
        if (list[i].api_key)
            explicit_bzero(list[i].api_key, strlen(list[i].api_key));
        xfree(list[i].api_key);
        xfree(list[i].api_key_source);
    }
    xfree(list);
}

void record_destroy_organisations(void *items, size_t n)
{
    struct config_organisation *list = items;
    for (size_t i = 0; i < n; i++) {
        xfree(list[i].name);
        xfree(list[i].keys);
    }
    xfree(list);
}

void record_destroy_hashes(void *items, size_t n)
{
    (void)n;
    xfree(items);
}

void record_finish_service(struct config_service *service)
{
    xfree(service->provider_name);
    xfree(service->model);
}
