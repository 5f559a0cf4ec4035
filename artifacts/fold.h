#ifndef ARTIFACTS_FOLD_H
#define ARTIFACTS_FOLD_H
/*
 * The form in which file names are compared: without case, accents and invisible characters, so that names
 * which any file system or reader may take for one (NFC or NFD, case or not) are one here. Rather too many
 * are equal than too few. Covers Latin, Greek, Cyrillic, Armenian and full-width letters; others are compared
 * as they are. Pure.
 */
#include "base/buf.h"

void name_fold(struct span name, struct buf *out);

#endif
