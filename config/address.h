#ifndef CONFIG_ADDRESS_H
#define CONFIG_ADDRESS_H
/* Addresses and base URLs: text to parts. The parsers fill what they are given, and on a mistake answer what
 * was expected. */
#include "config/config.h"

/*
 * "host:port", "[v6]:port", ":port" (every address of the machine: host becomes "::", to be bound for IPv4 as
 * well), "unix:/path". Port 0: the kernel chooses. NULL: good, and what *a held before is freed; otherwise *a
 * is as it was.
 */
const char *address_parse(struct span text, struct config_address *a) MUST_USE;
void address_finish(struct config_address *a);
bool address_same(const struct config_address *a, const struct config_address *b);

/* The parts of an http or https URL without user, query and fragment; all strings owned. */
struct url {
    char *text; /* without trailing slashes */
    bool tls;
    char *host, *host_header, *path;
    uint16_t port;
};

const char *url_parse(struct span text, struct url *u) MUST_USE;
void url_finish(struct url *u);

#endif
