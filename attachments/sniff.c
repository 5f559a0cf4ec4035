#include "attachments/sniff.h"

#include "attachments/sniff_parts.h"

enum {
    PDF_HEAD = 1024,
    BOXES = 1024,   /* of ISO base media that are looked at */
    ELEMENTS = 4096 /* of EBML */
};

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

/* Whether that brand is among the compatible ones of the box ftyp, which comes first. */
static bool iso_fits(struct span b, const char *brand)
{
    size_t end = (size_t)number(b, 0, 4, true);
    for (size_t at = 16; at + 4 <= end && at + 4 <= b.n && at < 256; at += 4)
        if (has(b, at, brand, 4))
            return true;
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
        {"heim", {MEDIA_IMAGE, "image/heic", "a HEIC image"}},
        {"heis", {MEDIA_IMAGE, "image/heic", "a HEIC image"}},
        {"hevc", {MEDIA_IMAGE, "image/heic-sequence", "a HEIC image"}},
        {"msf1", {MEDIA_IMAGE, "image/heif-sequence", "a HEIF image"}},
        {"avif", {MEDIA_IMAGE, "image/avif", "an AVIF image"}},
        {"avis", {MEDIA_IMAGE, "image/avif", "an AVIF image"}},
        {"crx ", {MEDIA_OTHER, "image/x-canon-cr3", "a raw photo (CR3)"}},
    };
    for (size_t i = 0; i < sizeof brands / sizeof brands[0]; i++)
        if (has(b, 8, brands[i].brand, 4))
            return brands[i].media;
    if (HAS(b, 8, "mif1"))
        return iso_fits(b, "avif")   ? media(MEDIA_IMAGE, "image/avif", "an AVIF image")
               : iso_fits(b, "heic") ? media(MEDIA_IMAGE, "image/heic", "a HEIC image")
                                     : media(MEDIA_IMAGE, "image/heif", "a HEIF image");
    if (iso_has_handler(b, "soun") && !iso_has_handler(b, "vide"))
        return media(MEDIA_AUDIO, "audio/mp4", "MPEG-4 audio");
    if (HAS(b, 8, "qt  "))
        return media(MEDIA_VIDEO, "video/quicktime", "a QuickTime video");
    if (HAS(b, 8, "3gp") || HAS(b, 8, "3g2"))
        return media(MEDIA_VIDEO, "video/3gpp", "a 3GPP video");
    return media(MEDIA_VIDEO, "video/mp4", "an MP4 video");
}

/* From the time before brands: one of the boxes of a QuickTime file comes first, and there are tracks. */
static bool is_old_quicktime(struct span b)
{
    bool first = HAS(b, 4, "moov") || HAS(b, 4, "mdat") || HAS(b, 4, "wide") || HAS(b, 4, "free") ||
                 HAS(b, 4, "skip") || HAS(b, 4, "pnot");
    return first && (iso_has_handler(b, "vide") || iso_has_handler(b, "soun"));
}

/* ---- the other containers ---- */

/* An EBML number (RFC 8794, section 4) of `keep` with its marker, as in an identifier. Answers its bytes, 0:
 * none. All bits of a size set say that it is not known. */
static size_t ebml_number(struct span b, size_t at, bool keep, uint64_t *out)
{
    if (at >= b.n || b.p[at] == 0)
        return 0;
    unsigned char first = (unsigned char)b.p[at];
    size_t n = 1;
    while (!(first & (0x80U >> (n - 1))))
        n++;
    if (n > b.n - at)
        return 0;
    uint64_t marker = 1ULL << (7 * n), v = number(b, at, (unsigned)n, true);
    *out = keep ? v : v == 2 * marker - 1 ? UINT64_MAX : v - marker;
    return n;
}

struct ebml_seen {
    bool webm, video, audio;
};

static void ebml_walk(struct span b, struct ebml_seen *seen)
{
    enum {
        HEAD = 0x1a45dfa3,
        DOCTYPE = 0x4282,
        SEGMENT = 0x18538067,
        TRACKS = 0x1654ae6b,
        TRACK = 0xae,
        TYPE = 0x83
    };
    size_t at = 0;
    for (int i = 0; i < ELEMENTS; i++) {
        uint64_t id, size;
        size_t n = ebml_number(b, at, true, &id), m = n ? ebml_number(b, at + n, false, &size) : 0;
        if (m == 0)
            return;
        at += n + m;
        struct span value = span_of(b.p + at, size < b.n - at ? (size_t)size : b.n - at);
        if (id == DOCTYPE)
            seen->webm = span_starts(value, "webm");
        if (id == TYPE && value.n == 1) {
            seen->video = seen->video || value.p[0] == 1;
            seen->audio = seen->audio || value.p[0] == 2;
        }
        if (id != HEAD && id != SEGMENT && id != TRACKS && id != TRACK)
            at += value.n;
    }
}

static struct media sniff_ebml(struct span b)
{
    struct ebml_seen seen = {0};
    ebml_walk(b, &seen);
    if (seen.audio && !seen.video)
        return media(MEDIA_AUDIO, seen.webm ? "audio/webm" : "audio/x-matroska",
                     seen.webm ? "WebM audio" : "Matroska audio");
    return media(MEDIA_VIDEO, seen.webm ? "video/webm" : "video/x-matroska",
                 seen.webm ? "a WebM video" : "a Matroska video");
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

/* Packets of 188 bytes, each beginning with its sync byte (ISO 13818-1, 2.4.3.2). */
static bool is_transport_stream(struct span b)
{
    enum { PACKET = 188, SEEN = 5 };
    for (size_t i = 0; i < SEEN; i++)
        if (!HAS(b, i * PACKET, "\x47"))
            return false;
    return !sniff_is_text(head_of(b, PACKET));
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
    {"8BPS", 4, {MEDIA_OTHER, "image/vnd.adobe.photoshop", "a Photoshop file"}},
    {"fLaC", 4, {MEDIA_AUDIO, "audio/flac", "FLAC audio"}},
    {"ID3", 3, {MEDIA_AUDIO, "audio/mpeg", "MP3 audio"}},
    {"#!AMR", 5, {MEDIA_AUDIO, "audio/amr", "AMR audio"}},
    {".snd", 4, {MEDIA_AUDIO, "audio/basic", "AU audio"}},
    {"caff\0\1", 6, {MEDIA_AUDIO, "audio/x-caf", "CAF audio"}},
    {"MThd\0\0\0\6", 8, {MEDIA_OTHER, "audio/midi", "a MIDI file"}},
    {"FLV\1", 4, {MEDIA_VIDEO, "video/x-flv", "a Flash video"}},
    {"\x30\x26\xb2\x75\x8e\x66\xcf\x11", 8, {MEDIA_VIDEO, "video/x-ms-asf", "a Windows Media file"}},
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
    {"\x04\x22\x4d\x18", 4, {MEDIA_OTHER, "application/x-lz4", "an lz4 archive"}},
    {"LZIP\1", 5, {MEDIA_OTHER, "application/x-lzip", "an lzip archive"}},
    {"\x1f\x9d", 2, {MEDIA_OTHER, "application/x-compress", "a compressed archive (Z)"}},
    {"MSCF\0\0\0\0", 8, {MEDIA_OTHER, "application/vnd.ms-cab-compressed", "a cabinet archive"}},
    {"SQLite format 3\0", 16, {MEDIA_OTHER, "application/vnd.sqlite3", "an SQLite database"}},
    {"\0asm", 4, {MEDIA_OTHER, "application/wasm", "a program (WebAssembly)"}},
    {"\xcf\xfa\xed\xfe", 4, {MEDIA_OTHER, "application/x-mach-binary", "a program"}},
    {"\xca\xfe\xba\xbe", 4, {MEDIA_OTHER, "application/x-mach-binary", "a program"}},
    {"BZh", 3, {MEDIA_OTHER, "application/x-bzip2", "a bzip2 archive"}},
    {"\x7f"
     "ELF",
     4,
     {MEDIA_OTHER, "application/x-executable", "a program"}},
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
    else if (is_old_quicktime(b))
        *out = sniff_iso(b).kind == MEDIA_AUDIO ? media(MEDIA_AUDIO, "audio/mp4", "MPEG-4 audio")
                                                : media(MEDIA_VIDEO, "video/quicktime", "a QuickTime video");
    else if (HAS(b, 0, "\x1a\x45\xdf\xa3"))
        *out = sniff_ebml(b);
    else if (HAS(b, 257, "ustar"))
        *out = media(MEDIA_OTHER, "application/x-tar", "a tar archive");
    else if (HAS(b, 32769, "CD001"))
        *out = media(MEDIA_OTHER, "application/x-iso9660-image", "a disc image");
    else if (HAS(b, 0, "!<arch>\n"))
        *out = media(MEDIA_OTHER, "application/x-archive", "an ar archive");
    else if (is_transport_stream(b))
        *out = media(MEDIA_VIDEO, "video/mp2t", "an MPEG transport stream");
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
    if (HAS(b, 0, "{\\rtf"))
        return media(MEDIA_DOCUMENT, "application/rtf", "an RTF document");
    if (sniff_is_text(b))
        return sniff_text(b, name);
    if (sniff_encoded(b, name, &found))
        return found;
    if (HAS(b, 0, "MZ"))
        return media(MEDIA_OTHER, "application/x-msdownload", "a program");
    return media(MEDIA_OTHER, "application/octet-stream", "bytes of no known type");
}
