#ifndef ATTACHMENTS_OFFICE_CHART_H
#define ATTACHMENTS_OFFICE_CHART_H
/* Charts as what they show: "### Chart: title", then a table with a row for each category and a column for
 * each series, from the values that the document stores beside the drawing. Categories of several levels are
 * joined ("2026 / March"); titles of axes, labels that somebody wrote and text boxes drawn into the chart are
 * there, too. */
#include "attachments/markup.h"
#include "attachments/xml.h"

/* Writes one chart part. -1: it is broken, x says so. */
int office_chart_write(struct archive *a, const char *part, struct markup *m);

#endif
