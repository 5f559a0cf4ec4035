#include "attachments/archive.h"

#include <stdlib.h>
#include <zip.h>

#include "base/xalloc.h"

struct archive {
    struct extraction *x;
    zip_t *zip;
    struct archive_entry {
        const char *name;
        zip_uint64_t index;
    } * entries; /* by name */
    size_t n;
};

static unsigned little16(const char *p)
{
    return (unsigned)(unsigned char)p[0] | (unsigned)(unsigned char)p[1] << 8;
}

/* How many members the end of the directory announces, before anything is made for them. Archives over
 * 65,534 members (ZIP64) answer 65,535. -1: no directory. */
static long announced(struct span bytes)
{
    enum { END = 22, COMMENT = 65535 };
    for (size_t back = END; back <= bytes.n && back <= END + COMMENT; back++) {
        const char *p = bytes.p + bytes.n - back;
        if (memcmp(p, "PK\5\6", 4) == 0)
            return (long)little16(p + 10);
    }
    return -1;
}

static int refuse_ole2(struct span bytes, struct extraction *x)
{
    static const char package[] = "E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e";
    if (memmem(bytes.p, bytes.n, package, sizeof package))
        return extraction_fail(x, RENDER_INVALID,
                               "is encrypted; remove the password, or send it with handling: native.");
    return extraction_fail(
        x, RENDER_INVALID,
        "is an Office file of the old binary kind; save it as docx, xlsx or pptx, or send it "
        "with handling: native.");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct archive_entry *)a)->name, ((const struct archive_entry *)b)->name);
}

static bool climbs(const char *name)
{
    if (name[0] == '/' || name[0] == '\\')
        return true;
    for (const char *p = name; *p;) {
        size_t n = strcspn(p, "/\\");
        if (n == 2 && p[0] == '.' && p[1] == '.')
            return true;
        p += n;
        p += *p != '\0';
    }
    return false;
}

static int list(struct archive *a)
{
    zip_int64_t n = zip_get_num_entries(a->zip, 0);
    if (n > ARCHIVE_ENTRIES)
        return extraction_fail(a->x, RENDER_LIMIT, "holds %lld files; at most %d.", (long long)n,
                               ARCHIVE_ENTRIES);
    a->entries = xcalloc((size_t)n + 1, sizeof *a->entries);
    for (zip_int64_t i = 0; i < n; i++) {
        const char *name = zip_get_name(a->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        size_t length = name ? strlen(name) : 0;
        if (length == 0 || length > ARCHIVE_NAME)
            return extraction_fail(a->x, RENDER_INVALID,
                                   "is damaged: it holds a file without a proper name.");
        if (climbs(name))
            return extraction_fail(a->x, RENDER_INVALID, "holds a file whose name leads out of it: %s.",
                                   extraction_name(span_str(name)).text);
        a->entries[a->n++] = (struct archive_entry){name, (zip_uint64_t)i};
    }
    qsort(a->entries, a->n, sizeof *a->entries, by_name);
    for (size_t i = 1; i < a->n; i++)
        if (!strcmp(a->entries[i - 1].name, a->entries[i].name))
            return extraction_fail(a->x, RENDER_INVALID, "holds two files of the name %s.",
                                   extraction_name(span_str(a->entries[i].name)).text);
    return 0;
}

struct archive *archive_open(struct span bytes, struct extraction *x)
{
    if (span_starts(bytes, "\xd0\xcf\x11\xe0")) {
        refuse_ole2(bytes, x);
        return NULL;
    }
    long entries = announced(bytes);
    if (entries < 0) {
        extraction_fail(x, RENDER_INVALID, "is damaged or cut off: its ZIP directory is missing.");
        return NULL;
    }
    if (entries > ARCHIVE_ENTRIES) {
        extraction_fail(x, RENDER_LIMIT, "holds %ld files; at most %d.", entries, ARCHIVE_ENTRIES);
        return NULL;
    }
    struct archive *a = xcalloc(1, sizeof *a);
    a->x = x;
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(bytes.p, bytes.n, 0, &error);
    if (source && !(a->zip = zip_open_from_source(source, ZIP_RDONLY, &error)))
        zip_source_free(source);
    if (!a->zip)
        extraction_fail(x, RENDER_INVALID, "is damaged: its ZIP directory cannot be read (%s).",
                        zip_error_strerror(&error));
    zip_error_fini(&error);
    if (!a->zip || list(a)) {
        archive_close(a);
        return NULL;
    }
    return a;
}

void archive_close(struct archive *a)
{
    if (!a)
        return;
    if (a->zip)
        zip_discard(a->zip);
    xfree(a->entries);
    xfree(a);
}

struct extraction *archive_extraction(struct archive *a)
{
    return a->x;
}

size_t archive_count(const struct archive *a)
{
    return a->n;
}

const char *archive_name(const struct archive *a, size_t i)
{
    return a->entries[i].name;
}

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        unsigned char x = (unsigned char)(*a == '\\' ? '/' : *a), y = (unsigned char)(*b == '\\' ? '/' : *b);
        if (x >= 'A' && x <= 'Z')
            x |= 0x20;
        if (y >= 'A' && y <= 'Z')
            y |= 0x20;
        if (x != y)
            return false;
    }
    return *a == *b;
}

static const struct archive_entry *locate(const struct archive *a, const char *name)
{
    struct archive_entry key = {.name = name};
    const struct archive_entry *found =
        a->n ? bsearch(&key, a->entries, a->n, sizeof *a->entries, by_name) : NULL;
    for (size_t i = 0; !found && i < a->n; i++)
        if (same_name(a->entries[i].name, name))
            found = &a->entries[i];
    return found;
}

const char *archive_find(const struct archive *a, const char *name)
{
    const struct archive_entry *found = locate(a, name);
    return found ? found->name : NULL;
}

/* What the directory says about a member, looked at before a byte of it is inflated. */
static int claims(struct archive *a, const struct archive_entry *entry, const char *shown, zip_stat_t *stat)
{
    enum { NEEDED = ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD };
    zip_stat_init(stat);
    if (zip_stat_index(a->zip, entry->index, 0, stat) || (stat->valid & NEEDED) != NEEDED)
        return extraction_fail(a->x, RENDER_INVALID, "is damaged: %s cannot be read.", shown);
    if (stat->encryption_method != ZIP_EM_NONE)
        return extraction_fail(a->x, RENDER_INVALID,
                               "is encrypted; remove the password, or send it with handling: native.");
    if (stat->comp_method != ZIP_CM_STORE && stat->comp_method != ZIP_CM_DEFLATE)
        return extraction_fail(a->x, RENDER_INVALID,
                               "is packed in an unusual way (method %u for %s); save it anew.",
                               stat->comp_method, shown);
    if (stat->size > EXTRACT_PART)
        return extraction_fail(a->x, RENDER_LIMIT,
                               "is too large when unpacked: %s has %llu bytes; at most %d.", shown,
                               (unsigned long long)stat->size, EXTRACT_PART);
    return 0;
}

int archive_read(struct archive *a, const char *name, int (*piece)(void *user, struct span bytes), void *user)
{
    struct extraction_name shown = extraction_name(span_str(name));
    if (a->x->status != RENDER_OK)
        return -1;
    const struct archive_entry *entry = locate(a, name);
    if (!entry)
        return extraction_fail(a->x, RENDER_INVALID, "is damaged: %s is missing.", shown.text);
    zip_stat_t stat;
    if (claims(a, entry, shown.text, &stat))
        return -1;
    zip_file_t *file = zip_fopen_index(a->zip, entry->index, 0);
    if (!file)
        return extraction_fail(a->x, RENDER_INVALID, "is damaged: %s cannot be read.", shown.text);
    char *bytes = xmalloc(ARCHIVE_PIECE);
    uint64_t total = 0;
    int answer = 0;
    while (answer == 0) {
        zip_int64_t got = zip_fread(file, bytes, ARCHIVE_PIECE);
        if (got < 0) {
            answer = extraction_fail(a->x, RENDER_INVALID, "is damaged: %s cannot be unpacked (%s).",
                                     shown.text, zip_file_strerror(file));
            break;
        }
        total += (uint64_t)got;
        a->x->inflated += (uint64_t)got;
        if (total > stat.size || (got == 0 && total != stat.size))
            answer = extraction_fail(a->x, RENDER_INVALID,
                                     "is damaged: %s does not have the %llu bytes that it says.", shown.text,
                                     (unsigned long long)stat.size);
        else if (a->x->inflated > EXTRACT_INFLATED)
            answer = extraction_fail(a->x, RENDER_LIMIT, "is too large when unpacked: at most %d bytes.",
                                     EXTRACT_INFLATED);
        else if (got == 0)
            break;
        else if (piece(user, span_of(bytes, (size_t)got)))
            answer = -1;
    }
    xfree(bytes);
    zip_fclose(file);
    return answer;
}

static int keep(void *user, struct span bytes)
{
    return buf_add(user, bytes);
}

int archive_load(struct archive *a, const char *name, struct buf *out)
{
    if (archive_read(a, name, keep, out) == 0)
        return 0;
    return extraction_fail(a->x, RENDER_LIMIT, "is too large when unpacked: %s has more than %zu bytes.",
                           extraction_name(span_str(name)).text, out->max);
}
