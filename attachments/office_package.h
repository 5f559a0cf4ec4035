#ifndef ATTACHMENTS_OFFICE_PACKAGE_H
#define ATTACHMENTS_OFFICE_PACKAGE_H
/* How the parts of an Office document find each other (ISO/IEC 29500-2, 9.3: relationships). */
#include "attachments/xml.h"

struct office_relation {
    const char *id;
    const char *type;   /* the last part of its address: "styles", "hyperlink"; the same in both namespaces */
    const char *target; /* the part's name in the archive, or the address as it stands when external */
    bool external;
};

struct office_relations {
    struct office_relation *list;
    size_t n;
};

/* Those of a part ("" : of the package). A part without any has none; -1 is for broken ones, and for
 * those that lead to notes, comments or charts that are not there: x says which. */
int office_relations_read(struct archive *a, const char *part, struct arena *memory,
                          struct office_relations *r);
/* NULL: none; so it is for a NULL id. */
const struct office_relation *office_relation_by_id(const struct office_relations *r, const char *id);
/* The first one of the type that leads to a part of the archive. */
const struct office_relation *office_relation_by_type(const struct office_relations *r, const char *type);
/* The document's main part, or `usual` when the package does not say. NULL: there is neither; x says that
 * this is no `kind` file. */
const char *office_main_part(struct archive *a, struct arena *memory, const char *usual, const char *kind);
/* The target of a part's relationship as a name in the archive: relative ones begin at the part's folder. */
const char *office_resolve(struct arena *memory, const char *part, const char *target);
/* What stands behind the last slash. */
const char *office_base_name(const char *target);

#endif
