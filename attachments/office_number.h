#ifndef ATTACHMENTS_OFFICE_NUMBER_H
#define ATTACHMENTS_OFFICE_NUMBER_H
/* Numbers of a spreadsheet as a reader would write them: dates and times by ISO 8601, percent with its sign,
 * everything else with all the digits that count. Pure. */
#include "base/buf.h"
#include "base/span.h"

enum office_number {
    OFFICE_PLAIN,
    OFFICE_PERCENT,
    OFFICE_DATE,
    OFFICE_TIME,
    OFFICE_DATE_TIME,
    OFFICE_DURATION
};

/* What a format code shows (ISO/IEC 29500-1, 18.8.31); only its first section counts. */
enum office_number office_number_of_code(struct span code);
/* The same of a format that is known by number alone. */
enum office_number office_number_of_id(unsigned id);
/* 46204 as 2026-07-01, or in the system that counts from 1904 as what that is there; numbers that are no day
 * stay numbers. */
void office_number_write(struct buf *out, double value, enum office_number as, bool from_1904);
/* The same from its text; what is no number is written as it is. */
void office_number_write_text(struct buf *out, struct span text, enum office_number as, bool from_1904);

#endif
