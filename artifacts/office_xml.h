#ifndef ARTIFACTS_OFFICE_XML_H
#define ARTIFACTS_OFFICE_XML_H
/* What the writers of Office documents share: text as XML, sizes of characters, options, common parts. */
#include "artifacts/office_zip.h"
#include "jobs/renderer.h"

#define OFFICE_XML       "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
#define OFFICE_RELATIONS "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
#define OFFICE_RELS_HEAD                                                                                     \
    OFFICE_XML "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">"

enum { OFFICE_SHORT = 256, OFFICE_URI = 2008 };

/* Text or an attribute's value, quotes escaped: what XML 1.0 does not allow is left out, what is not UTF-8
 * becomes U+FFFD. */
void office_xml_text(struct buf *out, struct span text);
/* The same of at most `max` bytes, not cut inside of a character. */
void office_xml_short(struct buf *out, struct span text, size_t max);
/* Columns that a text takes in a font of fixed width: 2 for East Asian and emoji characters, 0 for marks. */
size_t office_width(struct span text);
/* UTF-16 units of the text. */
size_t office_units(struct span text);
/* The longest beginning that has at most so many UTF-16 units. */
struct span office_cut_units(struct span text, size_t units);
/* Whether the first character with a direction is written from right to left. */
bool office_is_rtl(struct span text);

/*
 * A link's target (markdown_link_allowed) as a URI: readers refuse a whole document for one that is none
 * (RFC 3986). False: it cannot be made one.
 */
bool office_uri(struct span href, char out[OFFICE_URI]) MUST_USE;

/* The same for a target that may be followed from a document at all (markdown_link_allowed). */
bool office_link(struct span href, char out[OFFICE_URI]) MUST_USE;
/* Appends a relationship ("hyperlink", "image" …) to the list of a part; answers its number, which is *n + 1.
 */
unsigned office_relation(struct buf *rels, unsigned *n, const char *type, const char *target, bool external);

/* A string among the options, with its escapes undone; "" when it is absent or no string. */
void office_option(const struct render_params *params, const char *name, char out[OFFICE_SHORT]);
/* "1F4E79" from "#1f4e79", or from the brand's colour being no such thing the second. */
void office_colour(const char *colour, const char *otherwise, char out[7]);
/* White or near black, whichever can be read on that colour ("1F4E79"). */
const char *office_ink(const char *ground);

/* docProps/core.xml, docProps/app.xml. `title` and `author` may be empty. */
void office_properties(struct office_zip *z, const struct render_params *params, struct span title,
                       struct span author);
/* _rels/.rels, which names the main part and the properties. */
void office_root_relations(struct office_zip *z, const char *main_part);

#endif
