#include "attachments/sniff.h"

#include <stdint.h>

#include "base/json.h"

enum {
    ZIP_ENTRIES = 4096,
    ZIP_TAIL = 65557, /* end record and the longest comment */
    PDF_HEAD = 1024,
    BOXES = 1024, /* of ISO base media that are looked at */
    EBML_HEAD = 64 * 1024
};

static bool has(struct span b, size_t at, const char *magic, size_t n)
{
    return b.n >= n && at <= b.n - n && memcmp(b.p + at, magic, n) == 0;
}

#define HAS(b, at, magic) has(b, at, magic, sizeof(magic) - 1)

static bool holds(struct span b, const char *what, size_t n)
{
    return b.n >= n && memmem(b.p, b.n, what, n) != NULL;
}

static struct span head_of(struct span b, size_t n)
{
    return span_of(b.p, b.n < n ? b.n : n);
}

static uint64_t number(struct span b, size_t at, unsigned n, bool big)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++)
        v = v << 8 | (unsigned char)b.p[big ? at + i : at + n - 1 - i];
    return v;
}

#define LITTLE(b, at, n) ((size_t)number(b, at, n, false))

static struct media media(enum media_kind kind, const char *type, const char *word)
{
    return (struct media){kind, type, word};
}

/* ---- ZIP: what the directory names ---- */

/* Where the central directory begins; b.n: there is none. */
static size_t zip_directory(struct span b)
{
    if (b.n < 22)
        return b.n;
    size_t last = b.n - 22, first = b.n > ZIP_TAIL ? b.n - ZIP_TAIL : 0;
    for (size_t at = last + 1; at-- > first;)
        if (b.p[at] == 'P' && HAS(b, at, "PK\5\6"))
            return LITTLE(b, at + 16, 4) < b.n ? LITTLE(b, at + 16, 4) : b.n;
    return b.n;
}

/* An OpenDocument or EPUB file begins with a member `mimetype`, stored as it is (OCF 3.3, section 4.3). */
static bool zip_mimetype(struct span b, struct media *out)
{
    static const char *const known[][2] = {
        {"application/epub+zip", "an EPUB book"},
        {"application/vnd.oasis.opendocument.text", "an OpenDocument text"},
        {"application/vnd.oasis.opendocument.spreadsheet", "an OpenDocument spreadsheet"},
        {"application/vnd.oasis.opendocument.presentation", "an OpenDocument presentation"},
    };
    if (b.n < 38 || LITTLE(b, 26, 2) != 8 || !HAS(b, 30, "mimetype"))
        return false;
    size_t at = 38 + LITTLE(b, 28, 2), n = LITTLE(b, 22, 4);
    if (at > b.n || n > b.n - at)
        return false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (span_is(span_of(b.p + at, n), known[i][0])) {
            *out = media(MEDIA_DOCUMENT, known[i][0], known[i][1]);
            return true;
        }
    return false;
}

static struct media sniff_zip(struct span b)
{
    static const struct {
        const char *part;
        struct media media;
    } parts[] = {
        {"word/document.xml",
         {MEDIA_DOCUMENT, "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
          "a Word document (docx)"}},
        {"xl/workbook.xml",
         {MEDIA_DOCUMENT, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
          "an Excel workbook (xlsx)"}},
        {"ppt/presentation.xml",
         {MEDIA_DOCUMENT, "application/vnd.openxmlformats-officedocument.presentationml.presentation",
          "a PowerPoint presentation (pptx)"}},
    };
    struct media found = media(MEDIA_OTHER, "application/zip", "a ZIP archive");
    if (zip_mimetype(b, &found))
        return found;
    bool types = false, office = false;
    size_t at = zip_directory(b);
    for (int i = 0; i < ZIP_ENTRIES && b.n >= 46 && at <= b.n - 46 && HAS(b, at, "PK\1\2"); i++) {
        size_t n = LITTLE(b, at + 28, 2), more = LITTLE(b, at + 30, 2) + LITTLE(b, at + 32, 2);
        if (n > b.n - at - 46 || more > b.n - at - 46 - n)
            break;
        struct span name = span_of(b.p + at + 46, n);
        types = types || span_is(name, "[Content_Types].xml");
        for (size_t k = 0; k < sizeof parts / sizeof parts[0] && !office; k++)
            if (span_is(name, parts[k].part)) {
                found = parts[k].media;
                office = true;
            }
        at += 46 + n + more;
    }
    return office && types ? found : media(MEDIA_OTHER, "application/zip", "a ZIP archive");
}

/* ---- OLE2: names in its directory are UTF-16 ---- */

static bool ole_names(struct span b, const char *name)
{
    char wide[64];
    size_t n = strlen(name);
    for (size_t i = 0; i < n; i++) {
        wide[2 * i] = name[i];
        wide[2 * i + 1] = '\0';
    }
    return holds(b, wide, 2 * n);
}

static struct media sniff_ole(struct span b)
{
    if (ole_names(b, "EncryptedPackage"))
        return media(MEDIA_OTHER, "application/x-ole-storage", "an Office file with a password");
    if (ole_names(b, "WordDocument"))
        return media(MEDIA_DOCUMENT, "application/msword", "an old Word document (doc)");
    if (ole_names(b, "Workbook"))
        return media(MEDIA_DOCUMENT, "application/vnd.ms-excel", "an old Excel workbook (xls)");
    if (ole_names(b, "PowerPoint Document"))
        return media(MEDIA_DOCUMENT, "application/vnd.ms-powerpoint", "an old PowerPoint presentation (ppt)");
    return media(MEDIA_OTHER, "application/x-ole-storage", "an OLE2 file");
}

/* ---- ISO base media: brand and tracks ---- */

/* Whether a handler of that kind is found in the boxes from `at` on; goes down moov, trak and mdia. */
static bool iso_has_handler(struct span b, const char *kind)
{
    size_t at = 0;
    for (int i = 0; i < BOXES && b.n >= 8 && at <= b.n - 8; i++) {
        uint64_t size = number(b, at, 4, true);
        size_t head = 8;
        if (size == 1 && b.n - at >= 16) {
            size = number(b, at + 8, 8, true);
            head = 16;
        } else if (size == 0) {
            size = b.n - at;
        }
        if (HAS(b, at + 4, "hdlr") && has(b, at + head + 8, kind, 4))
            return true;
        bool inside = HAS(b, at + 4, "moov") || HAS(b, at + 4, "trak") || HAS(b, at + 4, "mdia");
        if (size < head || size > b.n - at)
            return false;
        at += inside ? head : (size_t)size;
    }
    return false;
}

static struct media sniff_iso(struct span b)
{
    static const struct {
        const char *brand;
        struct media media;
    } brands[] = {
        {"M4A ", {MEDIA_AUDIO, "audio/mp4", "MPEG-4 audio"}},
        {"M4B ", {MEDIA_AUDIO, "audio/mp4", "MPEG-4 audio"}},
        {"heic", {MEDIA_IMAGE, "image/heic", "a HEIC image"}},
        {"heix", {MEDIA_IMAGE, "image/heic", "a HEIC image"}},
        {"mif1", {MEDIA_IMAGE, "image/heif", "a HEIF image"}},
        {"avif", {MEDIA_IMAGE, "image/avif", "an AVIF image"}},
        {"avis", {MEDIA_IMAGE, "image/avif", "an AVIF image"}},
        {"qt  ", {MEDIA_VIDEO, "video/quicktime", "a QuickTime video"}},
        {"3gp", {MEDIA_VIDEO, "video/3gpp", "a 3GPP video"}},
    };
    for (size_t i = 0; i < sizeof brands / sizeof brands[0]; i++)
        if (has(b, 8, brands[i].brand, strlen(brands[i].brand)))
            return brands[i].media;
    if (iso_has_handler(b, "soun") && !iso_has_handler(b, "vide"))
        return media(MEDIA_AUDIO, "audio/mp4", "MPEG-4 audio");
    return media(MEDIA_VIDEO, "video/mp4", "an MP4 video");
}

/* ---- the other containers ---- */

static struct media sniff_ebml(struct span b)
{
    struct span head = head_of(b, EBML_HEAD);
    bool webm = holds(head_of(b, 256), "webm", 4);
    bool video = holds(head, "\x83\x81\x01", 3), audio = holds(head, "\x83\x81\x02", 3); /* TrackType */
    if (audio && !video)
        return media(MEDIA_AUDIO, webm ? "audio/webm" : "audio/x-matroska", "Matroska audio");
    return media(MEDIA_VIDEO, webm ? "video/webm" : "video/x-matroska",
                 webm ? "a WebM video" : "a Matroska video");
}

static struct media sniff_riff(struct span b)
{
    if (HAS(b, 8, "WEBP"))
        return media(MEDIA_IMAGE, "image/webp", "a WebP image");
    if (HAS(b, 8, "WAVE"))
        return media(MEDIA_AUDIO, "audio/wav", "WAV audio");
    if (HAS(b, 8, "AVI "))
        return media(MEDIA_VIDEO, "video/x-msvideo", "an AVI video");
    return media(MEDIA_OTHER, "application/octet-stream", "a RIFF file");
}

static struct media sniff_ogg(struct span b)
{
    bool video = holds(head_of(b, 4096), "\x80theora", 7);
    return video ? media(MEDIA_VIDEO, "video/ogg", "an Ogg video")
                 : media(MEDIA_AUDIO, "audio/ogg", "Ogg audio");
}

/* Length of an MPEG audio frame with this header (ISO 11172-3, 13818-3); 0: not one. */
static size_t mpeg_frame(struct span b, size_t at)
{
    static const unsigned short rates[2][3][15] = {
        /* MPEG 1: layers I, II, III */
        {{0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
         {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
         {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}},
        /* MPEG 2 and 2.5 */
        {{0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
         {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
         {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}},
    };
    static const unsigned short frequencies[3] = {44100, 48000, 32000};
    if (b.n < 4 || at > b.n - 4)
        return 0;
    const unsigned char *u = (const unsigned char *)b.p + at;
    unsigned version = u[1] >> 3 & 3, layer = u[1] >> 1 & 3, rate = u[2] >> 4, frequency = u[2] >> 2 & 3;
    if (u[0] != 0xff || (u[1] & 0xe0) != 0xe0 || version == 1 || layer == 0 || rate == 0 || rate == 15 ||
        frequency == 3)
        return 0;
    unsigned old = version == 3 ? 0 : 1;
    size_t bits = rates[old][3 - layer][rate] * 1000u;
    size_t hz = (size_t)frequencies[frequency] >> (version == 3 ? 0 : version == 2 ? 1 : 2);
    size_t pad = u[2] >> 1 & 1;
    if (layer == 3)
        return (12 * bits / hz + pad) * 4;
    return (layer == 1 && old ? 72 : 144) * bits / hz + pad;
}

/* Two frames one behind the other: the sync word alone stands in many a file. */
static bool is_mpeg_audio(struct span b)
{
    size_t n = mpeg_frame(b, 0);
    return n && n < b.n && mpeg_frame(b, n);
}

static bool is_adts(struct span b)
{
    if (b.n < 7 || !HAS(b, 0, "\xff") || ((unsigned char)b.p[1] & 0xf6) != 0xf0)
        return false;
    const unsigned char *u = (const unsigned char *)b.p;
    size_t n = (size_t)(u[3] & 3) << 11 | (size_t)u[4] << 3 | u[5] >> 5;
    return n >= 7 && n < b.n && b.n - n >= 2 && u[n] == 0xff && (u[n + 1] & 0xf6) == 0xf0;
}

/* ---- text ---- */

static size_t utf8_length(const unsigned char *p, size_t n)
{
    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    size_t len = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    unsigned low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    unsigned high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    if (n < len || p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

bool sniff_is_text(struct span b)
{
    const unsigned char *p = (const unsigned char *)b.p;
    for (size_t i = 0, n; i < b.n; i += n) {
        /* Escape colours the logs of many a program. */
        if (p[i] < 0x20 && !(p[i] == '\t' || p[i] == '\n' || p[i] == '\r' || p[i] == '\f' || p[i] == 0x1b))
            return false;
        n = utf8_length(p + i, b.n - i);
        if (n == 0)
            return false;
    }
    return true;
}

/* Without regard to case; white space, comments and declarations of XML before it are passed over. */
static bool root_is(struct span b, const char *root)
{
    size_t at = HAS(b, 0, "\xef\xbb\xbf") ? 3 : 0, n = strlen(root);
    while (at < b.n) {
        struct span rest = span_from(b, at);
        if (strchr(" \t\r\n", rest.p[0])) {
            at++;
            continue;
        }
        if (rest.n >= n && strncasecmp(rest.p, root, n) == 0)
            return rest.n == n || strchr(" \t\r\n>/", rest.p[n]);
        bool comment = HAS(rest, 0, "<!--"), other = HAS(rest, 0, "<?") || HAS(rest, 0, "<!");
        const char *end = comment ? memmem(rest.p, rest.n, "-->", 3)
                          : other ? memchr(rest.p, '>', rest.n)
                                  : NULL;
        if (!end)
            return false;
        at = (size_t)(end - b.p) + (comment ? 3 : 1);
    }
    return false;
}

static bool named(struct span name, const char *const *extensions)
{
    for (; *extensions; extensions++) {
        size_t n = strlen(*extensions);
        if (name.n > n && name.p[name.n - n - 1] == '.' &&
            strncasecmp(name.p + name.n - n, *extensions, n) == 0)
            return true;
    }
    return false;
}

static struct media sniff_text(struct span b, struct span name)
{
    static const char *const csv[] = {"csv", NULL}, *const tsv[] = {"tsv", "tab", NULL},
                             *const md[] = {"md", "markdown", NULL},
                             *const html[] = {"html", "htm", "xhtml", NULL};
    struct span value;
    if (root_is(b, "<svg"))
        return media(MEDIA_TEXT, "image/svg+xml", "an SVG drawing");
    if (root_is(b, "<!doctype html") || root_is(b, "<html") || named(name, html))
        return media(MEDIA_DOCUMENT, "text/html", "an HTML page");
    if (HAS(b, 0, "{\\rtf"))
        return media(MEDIA_DOCUMENT, "application/rtf", "an RTF document");
    if (HAS(b, 0, "BEGIN:VCALENDAR"))
        return media(MEDIA_TEXT, "text/calendar", "a calendar");
    if (named(name, csv))
        return media(MEDIA_TEXT, "text/csv", "a CSV table");
    if (named(name, tsv))
        return media(MEDIA_TEXT, "text/tab-separated-values", "a TSV table");
    if (named(name, md))
        return media(MEDIA_TEXT, "text/markdown", "Markdown text");
    if (json_document(b, &value) && (json_type(value) == JSON_OBJECT || json_type(value) == JSON_ARRAY))
        return media(MEDIA_TEXT, "application/json", "JSON");
    return media(MEDIA_TEXT, "text/plain", "plain text");
}

/* ---- all ---- */

struct magic {
    const char *bytes;
    size_t n;
    struct media media;
};

static const struct magic magics[] = {
    {"\x89PNG\r\n\x1a\n", 8, {MEDIA_IMAGE, "image/png", "a PNG image"}},
    {"\xff\xd8\xff", 3, {MEDIA_IMAGE, "image/jpeg", "a JPEG image"}},
    {"GIF87a", 6, {MEDIA_IMAGE, "image/gif", "a GIF image"}},
    {"GIF89a", 6, {MEDIA_IMAGE, "image/gif", "a GIF image"}},
    {"II*\0", 4, {MEDIA_IMAGE, "image/tiff", "a TIFF image"}},
    {"MM\0*", 4, {MEDIA_IMAGE, "image/tiff", "a TIFF image"}},
    {"\0\0\1\0", 4, {MEDIA_IMAGE, "image/x-icon", "an icon"}},
    {"fLaC", 4, {MEDIA_AUDIO, "audio/flac", "FLAC audio"}},
    {"ID3", 3, {MEDIA_AUDIO, "audio/mpeg", "MP3 audio"}},
    {"#!AMR", 5, {MEDIA_AUDIO, "audio/amr", "AMR audio"}},
    {"\0\0\1\xba", 4, {MEDIA_VIDEO, "video/mpeg", "an MPEG video"}},
    {"\0\0\1\xb3", 4, {MEDIA_VIDEO, "video/mpeg", "an MPEG video"}},
    {"\x1f\x8b\x08", 3, {MEDIA_OTHER, "application/gzip", "a gzip archive"}},
    {"7z\xbc\xaf\x27\x1c", 6, {MEDIA_OTHER, "application/x-7z-compressed", "a 7z archive"}},
    {"Rar!\x1a\x07", 6, {MEDIA_OTHER, "application/vnd.rar", "a RAR archive"}},
    {"\xfd"
     "7zXZ\0",
     6,
     {MEDIA_OTHER, "application/x-xz", "an xz archive"}},
    {"\x28\xb5\x2f\xfd", 4, {MEDIA_OTHER, "application/zstd", "a zstd archive"}},
    {"BZh", 3, {MEDIA_OTHER, "application/x-bzip2", "a bzip2 archive"}},
    {"\x7f"
     "ELF",
     4,
     {MEDIA_OTHER, "application/x-executable", "a program"}},
    {"\xff\xfe", 2, {MEDIA_DOCUMENT, "text/plain", "text in UTF-16"}},
    {"\xfe\xff", 2, {MEDIA_DOCUMENT, "text/plain", "text in UTF-16"}},
};

/* What is more than a few bytes at the beginning. */
static bool sniff_container(struct span b, struct media *out)
{
    if (HAS(b, 0, "RIFF") && b.n >= 12)
        *out = sniff_riff(b);
    else if (HAS(b, 0, "FORM") && (HAS(b, 8, "AIFF") || HAS(b, 8, "AIFC")))
        *out = media(MEDIA_AUDIO, "audio/aiff", "AIFF audio");
    else if (HAS(b, 0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"))
        *out = sniff_ole(b);
    else if (HAS(b, 0, "PK\3\4") || HAS(b, 0, "PK\5\6"))
        *out = sniff_zip(b);
    else if (HAS(b, 0, "OggS"))
        *out = sniff_ogg(b);
    else if (HAS(b, 4, "ftyp") && b.n >= 12)
        *out = sniff_iso(b);
    else if (HAS(b, 0, "\x1a\x45\xdf\xa3"))
        *out = sniff_ebml(b);
    else if (HAS(b, 0, "BM") && b.n >= 26 && LITTLE(b, 6, 4) == 0)
        *out = media(MEDIA_IMAGE, "image/bmp", "a BMP image");
    else if (is_adts(b))
        *out = media(MEDIA_AUDIO, "audio/aac", "AAC audio");
    else if (is_mpeg_audio(b))
        *out = media(MEDIA_AUDIO, "audio/mpeg", "MP3 audio");
    else
        return false;
    return true;
}

struct media sniff_media(struct span b, struct span name)
{
    struct media found;
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
        if (has(b, 0, magics[i].bytes, magics[i].n) &&
            (magics[i].media.kind == MEDIA_IMAGE || !sniff_is_text(head_of(b, 64))))
            return magics[i].media;
    if (sniff_container(b, &found))
        return found;
    if (holds(head_of(b, PDF_HEAD), "%PDF-", 5))
        return media(MEDIA_DOCUMENT, "application/pdf", "a PDF");
    if (sniff_is_text(b))
        return sniff_text(b, name);
    if (HAS(b, 0, "MZ"))
        return media(MEDIA_OTHER, "application/x-msdownload", "a program");
    return media(MEDIA_OTHER, "application/octet-stream", "bytes of no known type");
}
