#ifndef ATTACHMENTS_OFFICE_MATH_H
#define ATTACHMENTS_OFFICE_MATH_H
/* Office equations (ISO/IEC 29500-1, 22.1) as LaTeX: fractions, powers, indices, roots, sums, brackets,
 * functions, accents, limits, matrices. What is not known is written as what stands in it. */
#include "attachments/xml.h"

/* Appends the LaTeX of an oMath element, without dollar signs. */
void office_math_write(const struct xml_node *node, struct buf *out);

#endif
