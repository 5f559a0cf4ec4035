#ifndef ATTACHMENTS_OFFICE_DIAGRAM_H
#define ATTACHMENTS_OFFICE_DIAGRAM_H
/* Diagrams (SmartArt; ISO/IEC 29500-1, 21.4) as the words in them, a list item each. */
#include "attachments/markup.h"
#include "attachments/xml.h"

/* Writes the data part of one. -1: it is broken, x says so. */
int office_diagram_write(struct archive *a, const char *part, struct markup *m);

#endif
