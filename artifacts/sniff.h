#ifndef ARTIFACTS_SNIFF_H
#define ARTIFACTS_SNIFF_H
/* What bytes are, told from the bytes. Pure; looks at the beginning and, for a ZIP, at its directory. */
#include "artifacts/artifact.h"

/* The extension that belongs to the bytes ("png", "docx", "zip" …); NULL: none of the binary types known
 * here. */
const char *sniff_extension(struct span bytes);
/* Whether bytes of the sniffed type may be a file of that format: the same, or a container that holds it. */
bool sniff_fits(const char *sniffed, const struct format *format);

#endif
