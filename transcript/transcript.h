#ifndef TRANSCRIPT_TRANSCRIPT_H
#define TRANSCRIPT_TRANSCRIPT_H
/*
 * A thread as people read it: who asked whom, and what came of it. The input is a raw thread document: what a
 * thread's journal becomes (transcript/journal.h), or what another tool dumped. Out come the bytes of files.
 * Pure: no clock, no disk, no network, no state but what is loaded; the same bytes in give the same bytes
 * out. transcript/directory.h puts them on disk.
 *
 * Nothing in a raw document is trusted: a member of the wrong type counts as missing, depth and sizes are
 * capped, and what cannot be drawn leaves a line that says so.
 *
 * All output goes to buffers whose caps the caller chose (TRANSCRIPT_FILE is meant for them); functions
 * answer -1 when one is full.
 */
#include "base/buf.h"
#include "base/error.h"
#include "transcript/journal.h"

enum {
    TRANSCRIPT_DOCUMENT = 128 << 20, /* a raw thread document or a journal: bytes */
    TRANSCRIPT_FILE = 256 << 20,     /* one file that is made of it */
    TRANSCRIPT_WARNINGS = 100,       /* kept of one document */
};

struct transcript;

/*
 * Reads a raw thread document: sorts and numbers the turns, finds the place of every background record.
 * `blocks` is the second file of a dump that came as two, plain steps and blocks, in either order; empty for
 * one file. -1: not a JSON object, or too large; the message says which. The texts must stay as long as the
 * transcript does: its entries are read in them again when they are drawn.
 *
 * Such reading is hidden state, so one transcript is not for two threads at a time.
 */
int transcript_load(struct span plain, struct span blocks, struct transcript **out, struct error *e) MUST_USE;
/* The same of a journal, which must stay; neither it nor its document is in memory as a whole. */
int transcript_load_journal(const struct journal *j, struct transcript **out, struct error *e) MUST_USE;
void transcript_destroy(struct transcript *t);

/* What a list of threads shows. The spans are valid as long as the transcript is. */
struct transcript_entry {
    struct span id, title, mode, author;
    struct span last_updated; /* as the document spells it, or "2035-01-02T03:04:05.000000Z"; may be empty */
    unsigned turns, sources, interruptions;
};
struct transcript_entry transcript_entry(const struct transcript *t);
size_t transcript_warnings(const struct transcript *t);
/* "duplicate_payload id=…". */
struct span transcript_warning(const struct transcript *t, size_t i);

/* Whether the journal could not be read again: what was drawn since then lacks something. */
bool transcript_failed(const struct transcript *t);

/*
 * Files that grow with the thread are drawn in parts, one after the other, so that none of them need be in
 * memory as a whole: sources.json and sources.md, and conversation.md with queries, answers and the
 * background work that belongs to no turn. Part n of the latter is about turn n, as far as there are turns.
 */
enum transcript_file { TRANSCRIPT_CONVERSATION, TRANSCRIPT_SOURCES_JSON, TRANSCRIPT_SOURCES_MD };
size_t transcript_parts(const struct transcript *t, enum transcript_file file);
/* Appends the part; they are numbered from 0. */
int transcript_part(const struct transcript *t, enum transcript_file file, size_t part,
                    struct buf *out) MUST_USE;
/* Appends all of its parts. */
int transcript_draw(const struct transcript *t, enum transcript_file file, struct buf *out) MUST_USE;

/* turns/turn_NNNN.md; turns are numbered from 1. */
int transcript_turn(const struct transcript *t, unsigned number, struct buf *out) MUST_USE;
/* thread.json; exported_at is a time as text, "2035-12-26T00:00:00Z". */
int transcript_thread_json(const struct transcript *t, struct span exported_at, struct buf *out) MUST_USE;
/*
 * The text of a thread.json with its `interruptions` set or removed; every other key stays, in its order. -1
 * also when the text is not a JSON object.
 */
int transcript_update_thread_json(const struct transcript *t, struct span old, struct buf *out) MUST_USE;

/*
 * The unfinished workflows in one line, without a line end:
 *   thread t1 "Demo": 2 unfinished workflows: entry:e1:limit_interrupted; background:b2:limit_interrupted
 * Appends nothing when all are completed. Holds the title: it is for the one who exports, not for a log.
 */
int transcript_alert(const struct transcript *t, struct buf *out) MUST_USE;

#endif
