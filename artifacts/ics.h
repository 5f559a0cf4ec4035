#ifndef ARTIFACTS_ICS_H
#define ARTIFACTS_ICS_H
/*
 * Calendars (RFC 5545) between their source and their file: ics_json.c turns events in JSON into lines of a
 * calendar, render_ics.c makes lines of a calendar, as models write them, right. Used in the worker alone.
 * Pure.
 */
#include "jobs/renderer.h"

/*
 * Appends a date or a time in iCalendar's form, "20260701", "20260701T100000" or "20260701T080000Z", from
 * that form or from ISO 8601's ("2026-07-01", "2026-07-01 10:00", "2026-07-01T10:00:00+02:00"); *date: it is
 * a date alone. -1: it is neither.
 */
int ics_time(struct span text, bool *date, struct buf *out) MUST_USE;
/*
 * {"events":[{"summary","start","end","location","description","tz"}]}, the list alone, or one event: appends
 * lines of a calendar, unfolded, whose times are as they were written.
 */
enum render_status ics_json(struct span document, struct buf *out, char sentence[RENDER_SENTENCE]) MUST_USE;

#endif
