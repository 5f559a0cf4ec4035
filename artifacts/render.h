#ifndef ARTIFACTS_RENDER_H
#define ARTIFACTS_RENDER_H
/* The parts of artifact_render that stand in files of their own. Pure. */
#include "artifacts/artifact.h"

/* Appends a table's text in which no cell is run as a formula by a spreadsheet; all else byte for byte.
 * `tab`: cells are parted by tabs. */
int csv_make_inert(struct span text, bool tab, struct buf *out) MUST_USE;

/* NULL when the text is a well-formed document as far as nesting, quoting and comments go (not: entities,
 * namespaces, DTDs); or what is wrong. `root`: its local name, or NULL for any. */
const char *xml_check(struct span text, const char *root);
/* The same for an SVG drawing, which may besides hold no script, event handler, foreign content, link, nor
 * anything that is fetched: references go to its own parts or to data: pictures in png or jpeg. */
const char *svg_check(struct span text);
/* NULL, or what is wrong. */
const char *yaml_check(struct span text);

#endif
