#ifndef TRANSCRIPT_DISK_H
#define TRANSCRIPT_DISK_H
/* Files by their paths: reading whole ones, writing changed ones, directories. */
#include "base/buf.h"
#include "base/error.h"

enum { DISK_NESTING = 8 }; /* of directories that are moved */

/* The caller frees it. name may be empty. */
char *disk_join(const char *dir, const char *name) MUST_USE;
/* Appends a file. -1: it cannot be read, or is larger than the buffer's cap (errno says: EFBIG). */
int disk_read(const char *path, struct buf *out) MUST_USE;
/* Answers 1: written, 0: the same bytes were there; -1 with an error. */
int disk_write(const char *path, struct span bytes, struct error *e) MUST_USE;
/*
 * A file that is written as it is made: its bytes are compared with those that are there, and only from the
 * first difference on is there a new file, which takes the other's name when it is whole. disk_close ends it
 * and answers as disk_write does; after a disk_add that failed it must not.
 */
struct disk_file;
struct disk_file *disk_open(const char *path) MUST_USE;
int disk_add(struct disk_file *f, struct span bytes, struct error *e) MUST_USE;
int disk_close(struct disk_file *f, struct error *e) MUST_USE;
/* Gives it up: what is there stays. */
void disk_abandon(struct disk_file *f);
/* The directory and those above it. */
int disk_make(const char *path, struct error *e) MUST_USE;
/* The names in a directory, sorted, without those that begin with a dot. -1 with errno. */
int disk_list(const char *path, char ***names, size_t *n) MUST_USE;
/* With them, but for "." and "..". */
int disk_list_all(const char *path, char ***names, size_t *n) MUST_USE;
void disk_list_free(char **names, size_t n);
bool disk_is_directory(const char *path);
/*
 * Copies what `to` lacks, compares what was copied, then removes `from`. Names that are in both with
 * different bytes go to `clashes`. -1: `from` is as it was.
 */
int disk_move_into(const char *from, const char *to, struct buf *clashes, struct error *e) MUST_USE;

#endif
