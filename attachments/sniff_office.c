/* What is inside of ZIP and OLE2 files, by the names in their directories. */
#include "attachments/sniff_parts.h"

enum {
    ZIP_ENTRIES = 4096,
    ZIP_TAIL = 65557,  /* end record and the longest comment */
    OLE_SECTORS = 1024 /* of a directory */
};

/* ---- ZIP: what the directory names ---- */

#define ODF "application/vnd.oasis.opendocument."

/* Where the central directory begins; b.n: there is none. What says 0xffffffff has the number in a record of
 * its own (APPNOTE 4.3.14, 4.3.15). */
static size_t zip_directory(struct span b)
{
    if (b.n < 22)
        return b.n;
    size_t last = b.n - 22, first = b.n > ZIP_TAIL ? b.n - ZIP_TAIL : 0, at = last + 1;
    while (at > first && !HAS(b, at - 1, "PK\5\6"))
        at--;
    if (at == first)
        return b.n;
    uint64_t where = number(b, --at + 16, 4, false);
    if (where == UINT32_MAX && at >= 20 && HAS(b, at - 20, "PK\6\7")) {
        uint64_t record = number(b, at - 12, 8, false);
        if (b.n < 56 || record > b.n - 56 || !HAS(b, (size_t)record, "PK\6\6"))
            return b.n;
        where = number(b, (size_t)record + 48, 8, false);
    }
    return where < b.n ? (size_t)where : b.n;
}

/* An OpenDocument or EPUB file begins with a member `mimetype`, stored as it is (OCF 3.3, section 4.3). */
static bool mimetype_member(struct span b, struct media *out)
{
    static const struct {
        const char *said;
        struct media media;
    } known[] = {
        {"application/epub+zip", {MEDIA_DOCUMENT, "application/epub+zip", "an EPUB book"}},
        {ODF "text", {MEDIA_DOCUMENT, ODF "text", "an OpenDocument text"}},
        {ODF "text-template", {MEDIA_DOCUMENT, ODF "text", "an OpenDocument text"}},
        {ODF "spreadsheet", {MEDIA_DOCUMENT, ODF "spreadsheet", "an OpenDocument spreadsheet"}},
        {ODF "spreadsheet-template", {MEDIA_DOCUMENT, ODF "spreadsheet", "an OpenDocument spreadsheet"}},
        {ODF "presentation", {MEDIA_DOCUMENT, ODF "presentation", "an OpenDocument presentation"}},
        {ODF "presentation-template", {MEDIA_DOCUMENT, ODF "presentation", "an OpenDocument presentation"}},
        {ODF "graphics", {MEDIA_OTHER, ODF "graphics", "an OpenDocument drawing"}},
    };
    if (b.n < 38 || LITTLE(b, 26, 2) != 8 || !HAS(b, 30, "mimetype"))
        return false;
    size_t at = 38 + LITTLE(b, 28, 2), n = LITTLE(b, 22, 4);
    if (at > b.n || n > b.n - at)
        return false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (span_is(span_of(b.p + at, n), known[i].said)) {
            *out = known[i].media;
            return true;
        }
    return false;
}

#define OOXML "application/vnd.openxmlformats-officedocument."

/* A main part by its usual name, or else by its folder: some programs write word/document2.xml. Macros do not
 * matter to who reads the text, but the media type says that they are there. */
static const struct office {
    const char *part, *folder, *macros;
    struct media plain, with_macros;
} offices[] = {
    {"word/document.xml",
     "word/",
     "word/vbaProject.bin",
     {MEDIA_DOCUMENT, OOXML "wordprocessingml.document", "a Word document (docx)"},
     {MEDIA_DOCUMENT, "application/vnd.ms-word.document.macroEnabled.12",
      "a Word document with macros (docm)"}},
    {"xl/workbook.xml",
     "xl/",
     "xl/vbaProject.bin",
     {MEDIA_DOCUMENT, OOXML "spreadsheetml.sheet", "an Excel workbook (xlsx)"},
     {MEDIA_DOCUMENT, "application/vnd.ms-excel.sheet.macroEnabled.12",
      "an Excel workbook with macros (xlsm)"}},
    {"ppt/presentation.xml",
     "ppt/",
     "ppt/vbaProject.bin",
     {MEDIA_DOCUMENT, OOXML "presentationml.presentation", "a PowerPoint presentation (pptx)"},
     {MEDIA_DOCUMENT, "application/vnd.ms-powerpoint.presentation.macroEnabled.12",
      "a PowerPoint presentation with macros (pptm)"}},
};

enum { OFFICES = sizeof offices / sizeof offices[0] };

struct zip_names {
    bool types, binary_workbook;
    bool part[OFFICES], folder[OFFICES], macros[OFFICES];
};

static void see_name(struct span name, struct zip_names *seen)
{
    seen->types = seen->types || span_is(name, "[Content_Types].xml");
    seen->binary_workbook = seen->binary_workbook || span_is(name, "xl/workbook.bin");
    for (size_t k = 0; k < OFFICES; k++) {
        seen->part[k] = seen->part[k] || span_is(name, offices[k].part);
        seen->folder[k] = seen->folder[k] || span_starts(name, offices[k].folder);
        seen->macros[k] = seen->macros[k] || span_is(name, offices[k].macros);
    }
}

/* Of a file that was cut off before its directory: what the members themselves say (APPNOTE 4.3.7), so that
 * it is refused as a broken document and not as an archive. One whose length follows it is passed over by
 * looking for the next. */
static void see_members(struct span b, struct zip_names *seen)
{
    enum { LENGTH_FOLLOWS = 8 };
    size_t at = 0;
    for (int i = 0; i < ZIP_ENTRIES && b.n >= 30 && at <= b.n - 30 && HAS(b, at, "PK\3\4"); i++) {
        size_t n = LITTLE(b, at + 26, 2), rest = b.n - at - 30;
        size_t more = LITTLE(b, at + 28, 2) + LITTLE(b, at + 18, 4);
        if (n > rest)
            break;
        see_name(span_of(b.p + at + 30, n), seen);
        if (more > rest - n)
            break;
        at += 30 + n + more;
        if (LITTLE(b, at - more - n - 30 + 6, 2) & LENGTH_FOLLOWS) {
            const char *next = memmem(b.p + at, b.n - at, "PK\3\4", 4);
            at = next ? (size_t)(next - b.p) : b.n;
        }
    }
}

struct media sniff_zip(struct span b)
{
    struct zip_names seen = {0};
    struct media found;
    if (mimetype_member(b, &found))
        return found;
    size_t at = zip_directory(b);
    if (at == b.n)
        see_members(b, &seen);
    for (int i = 0; i < ZIP_ENTRIES && b.n >= 46 && at <= b.n - 46 && HAS(b, at, "PK\1\2"); i++) {
        size_t n = LITTLE(b, at + 28, 2), more = LITTLE(b, at + 30, 2) + LITTLE(b, at + 32, 2);
        if (n > b.n - at - 46 || more > b.n - at - 46 - n)
            break;
        see_name(span_of(b.p + at + 46, n), &seen);
        at += 46 + n + more;
    }
    if (seen.types && seen.binary_workbook)
        return media(MEDIA_OTHER, "application/vnd.ms-excel.sheet.binary.macroEnabled.12",
                     "a binary Excel workbook (xlsb)");
    for (int by_part = 1; seen.types && by_part >= 0; by_part--)
        for (size_t k = 0; k < OFFICES; k++)
            if (by_part ? seen.part[k] : seen.folder[k])
                return seen.macros[k] ? offices[k].with_macros : offices[k].plain;
    return media(MEDIA_OTHER, "application/zip", "a ZIP archive");
}

/* ---- OLE2: names in its directory are UTF-16 ([MS-CFB] 2.2, 2.3, 2.6) ---- */

struct ole {
    struct span b;
    size_t sector; /* bytes */
};

static size_t ole_at(const struct ole *o, size_t sector)
{
    return sector < o->b.n / o->sector ? (sector + 1) * o->sector : o->b.n;
}

/* The sector behind this one in its chain; SIZE_MAX: there is none, or its table is not in the header's list.
 */
static size_t ole_next(const struct ole *o, size_t sector)
{
    size_t each = o->sector / 4, table = sector / each;
    if (table >= 109)
        return SIZE_MAX;
    size_t at = ole_at(o, LITTLE(o->b, 76 + 4 * table, 4)), from = 4 * (sector % each);
    if (o->b.n < o->sector || at > o->b.n - o->sector)
        return SIZE_MAX;
    size_t next = LITTLE(o->b, at + from, 4);
    return next < 0xfffffff0 ? next : SIZE_MAX;
}

/* An entry's name is 64 bytes, and behind them are their number with the terminator and the entry's kind. */
static bool ole_is(struct span entry, const char *name)
{
    size_t n = strlen(name);
    if (LITTLE(entry, 64, 2) != 2 * n + 2 || entry.p[66] == 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (entry.p[2 * i] != name[i] || entry.p[2 * i + 1] != 0)
            return false;
    return true;
}

/* In the order in which they decide. */
static const struct {
    const char *name;
    struct media media;
} ole_kinds[] = {
    {"EncryptedPackage", {MEDIA_OTHER, "application/x-ole-storage", "an Office file with a password"}},
    {"__properties_version1.0", {MEDIA_OTHER, "application/vnd.ms-outlook", "an Outlook message (msg)"}},
    {"WordDocument", {MEDIA_DOCUMENT, "application/msword", "an old Word document (doc)"}},
    {"Workbook", {MEDIA_DOCUMENT, "application/vnd.ms-excel", "an old Excel workbook (xls)"}},
    {"Book", {MEDIA_DOCUMENT, "application/vnd.ms-excel", "an old Excel workbook (xls)"}},
    {"PowerPoint Document",
     {MEDIA_DOCUMENT, "application/vnd.ms-powerpoint", "an old PowerPoint presentation (ppt)"}},
    {"VisioDocument", {MEDIA_OTHER, "application/vnd.visio", "a Visio drawing (vsd)"}},
};

enum { OLE_KINDS = sizeof ole_kinds / sizeof ole_kinds[0] };

struct media sniff_ole(struct span b)
{
    size_t best = OLE_KINDS, shift = b.n >= 512 ? LITTLE(b, 30, 2) : 0;
    struct ole o = {b, (size_t)1 << (shift == 12 ? 12 : 9)};
    size_t sector = b.n >= 512 ? LITTLE(b, 48, 4) : SIZE_MAX;
    for (int i = 0; i < OLE_SECTORS && sector != SIZE_MAX; i++) {
        size_t at = ole_at(&o, sector);
        for (size_t end = at + o.sector; at < end && b.n >= 128 && at <= b.n - 128; at += 128)
            for (size_t k = 0; k < best; k++)
                if (ole_is(span_of(b.p + at, 128), ole_kinds[k].name))
                    best = k;
        sector = ole_next(&o, sector);
    }
    return best < OLE_KINDS ? ole_kinds[best].media
                            : media(MEDIA_OTHER, "application/x-ole-storage", "an OLE2 file");
}
