#include "artifacts/sniff.h"

#include <stdint.h>

enum { ZIP_ENTRIES = 4096, ZIP_TAIL = 65557 /* end record and the longest comment */, PDF_HEAD = 1024 };

static bool has(struct span b, size_t at, const char *magic, size_t n)
{
    return b.n >= at + n && memcmp(b.p + at, magic, n) == 0;
}

#define HAS(b, at, magic) has(b, at, magic, sizeof(magic) - 1)

static uint32_t little(struct span b, size_t at, unsigned n)
{
    uint32_t v = 0;
    while (n-- > 0)
        v = v << 8 | (unsigned char)b.p[at + n];
    return v;
}

/* An OpenDocument or EPUB file begins with a member `mimetype`, stored as it is (OCF 3.3, section 4.3). */
static const char *mimetype_member(struct span b)
{
    static const char *const known[][2] = {
        {"application/epub+zip", "epub"},
        {"application/vnd.oasis.opendocument.text", "odt"},
        {"application/vnd.oasis.opendocument.spreadsheet", "ods"},
        {"application/vnd.oasis.opendocument.presentation", "odp"},
    };
    if (b.n < 38 || little(b, 26, 2) != 8 || !HAS(b, 30, "mimetype"))
        return NULL;
    size_t at = 38 + little(b, 28, 2), n = little(b, 22, 4);
    if (at > b.n || n > b.n - at)
        return NULL;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (span_is(span_of(b.p + at, n), known[i][0]))
            return known[i][1];
    return NULL;
}

/* Where the central directory begins; b.n: there is none. */
static size_t zip_directory(struct span b)
{
    if (b.n < 22)
        return b.n;
    size_t last = b.n - 22, first = b.n > ZIP_TAIL ? b.n - ZIP_TAIL : 0;
    for (size_t at = last + 1; at-- > first;)
        if (b.p[at] == 'P' && HAS(b, at, "PK\5\6"))
            return little(b, at + 16, 4) < b.n ? little(b, at + 16, 4) : b.n;
    return b.n;
}

static const char *sniff_zip(struct span b)
{
    const char *named = mimetype_member(b), *office = NULL;
    bool types = false;
    size_t at = zip_directory(b);
    for (int i = 0; !named && i < ZIP_ENTRIES && at + 46 <= b.n && HAS(b, at, "PK\1\2"); i++) {
        size_t n = little(b, at + 28, 2), more = little(b, at + 30, 2) + (size_t)little(b, at + 32, 2);
        if (n > b.n - at - 46)
            break;
        struct span name = span_of(b.p + at + 46, n);
        types = types || span_is(name, "[Content_Types].xml");
        if (span_is(name, "word/document.xml"))
            office = "docx";
        else if (span_is(name, "xl/workbook.xml"))
            office = "xlsx";
        else if (span_is(name, "ppt/presentation.xml"))
            office = "pptx";
        if (more > b.n - at - 46 - n)
            break;
        at += 46 + n + more;
    }
    return named ? named : types && office ? office : "zip";
}

/* ISO base media: the brand stands at 8. */
static const char *sniff_iso(struct span b)
{
    static const char *const brands[][2] = {
        {"M4A ", "m4a"},  {"M4B ", "m4a"},  {"heic", "heic"}, {"heix", "heic"},
        {"mif1", "heic"}, {"avif", "avif"}, {"avis", "avif"}, {"qt  ", "mov"},
    };
    for (size_t i = 0; i < sizeof brands / sizeof brands[0]; i++)
        if (has(b, 8, brands[i][0], 4))
            return brands[i][1];
    return "mp4";
}

/* An MPEG audio frame's header: its sync word, a version, layer, rate and frequency that exist. */
static bool mpeg_frame(struct span b)
{
    if (b.n < 4)
        return false;
    const unsigned char *u = (const unsigned char *)b.p;
    return u[0] == 0xff && (u[1] & 0xe0) == 0xe0 && (u[1] & 0x18) != 0x08 && (u[1] & 0x06) != 0 &&
           (u[2] & 0xf0) != 0xf0 && (u[2] & 0xf0) != 0 && (u[2] & 0x0c) != 0x0c;
}

static bool is_pdf(struct span b)
{
    struct span head = span_of(b.p, b.n < PDF_HEAD ? b.n : PDF_HEAD);
    return head.n && memmem(head.p, head.n, "%PDF-", 5) != NULL;
}

static const char *sniff_riff(struct span b)
{
    return HAS(b, 8, "WEBP") ? "webp" : HAS(b, 8, "WAVE") ? "wav" : "riff";
}

static const char *sniff_ebml(struct span b)
{
    struct span head = span_of(b.p, b.n < 256 ? b.n : 256);
    return memmem(head.p, head.n, "webm", 4) ? "webm" : "mkv";
}

const char *sniff_extension(struct span b)
{
    static const struct {
        const char *magic;
        size_t n, at;
        const char *extension;
    } table[] = {
        {"\x89PNG\r\n\x1a\n", 8, 0, "png"},
        {"\xff\xd8\xff", 3, 0, "jpg"},
        {"GIF87a", 6, 0, "gif"},
        {"GIF89a", 6, 0, "gif"},
        {"II*\0", 4, 0, "tif"},
        {"MM\0*", 4, 0, "tif"},
        {"\0\0\1\0", 4, 0, "ico"},
        {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8, 0, "ole"},
        {"{\\rtf", 5, 0, "rtf"},
        {"OggS", 4, 0, "ogg"},
        {"fLaC", 4, 0, "flac"},
        {"ID3", 3, 0, "mp3"},
        {"\x1f\x8b\x08", 3, 0, "gz"},
        {"7z\xbc\xaf\x27\x1c", 6, 0, "7z"},
        {"Rar!\x1a\x07", 6, 0, "rar"},
        {"\xfd"
         "7zXZ\0",
         6, 0, "xz"},
        {"\x28\xb5\x2f\xfd", 4, 0, "zst"},
        {"\x7f"
         "ELF",
         4, 0, "elf"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (has(b, table[i].at, table[i].magic, table[i].n))
            return table[i].extension;
    if (HAS(b, 0, "RIFF") && b.n >= 12)
        return sniff_riff(b);
    if (HAS(b, 0, "PK\3\4") || HAS(b, 0, "PK\5\6"))
        return sniff_zip(b);
    if (HAS(b, 4, "ftyp") && b.n >= 12)
        return sniff_iso(b);
    if (HAS(b, 0, "\x1a\x45\xdf\xa3"))
        return sniff_ebml(b);
    if (HAS(b, 0, "BM") && b.n >= 26 && little(b, 6, 4) == 0)
        return "bmp";
    if (HAS(b, 0, "MZ") && b.n >= 64 && little(b, 60, 4) < b.n)
        return "exe";
    if (mpeg_frame(b))
        return "mp3";
    return is_pdf(b) ? "pdf" : NULL;
}

bool sniff_fits(const char *sniffed, const struct format *format)
{
    static const char *const holds[][2] = {
        {"zip", "docx"}, {"zip", "xlsx"}, {"zip", "pptx"}, {"zip", "epub"}, {"zip", "odt"},
        {"zip", "ods"},  {"zip", "odp"},  {"m4a", "mp4"},  {"mp4", "m4a"},  {"mkv", "webm"},
    };
    if (strcmp(sniffed, format->name) == 0)
        return true;
    for (size_t i = 0; i < sizeof holds / sizeof holds[0]; i++)
        if (strcmp(format->name, holds[i][0]) == 0 && strcmp(sniffed, holds[i][1]) == 0)
            return true;
    return false;
}
