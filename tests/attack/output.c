/* Whether what a renderer made of a hostile source is a file at all. */
#include <expat.h>
#include <string.h>
#include <zlib.h>

#include "tests/attack/attack.h"

static const char *xml_fault(struct span text)
{
    XML_Parser p = XML_ParserCreate(NULL);
    enum XML_Status status = XML_Parse(p, text.p, (int)text.n, 1);
    const char *fault = status == XML_STATUS_OK ? NULL : XML_ErrorString(XML_GetErrorCode(p));
    XML_ParserFree(p);
    return fault;
}

static size_t little(const char *p, int n)
{
    size_t v = 0;
    while (n--)
        v = v << 8 | (unsigned char)p[n];
    return v;
}

/* One entry of the archive's directory, whose head is at `at`. */
static const char *part_fault(struct span zip, const char *at, struct buf *text)
{
    size_t packed = little(at + 20, 4), size = little(at + 24, 4), name = little(at + 28, 2);
    const char *local = zip.p + little(at + 42, 4), *data = local + 30 + name;
    if (memcmp(at, "PK\1\2", 4) != 0 || memcmp(local, "PK\3\4", 4) != 0 || data + packed > zip.p + zip.n ||
        memcmp(local + 30, at + 46, name) != 0)
        return "an entry's place";
    buf_reset(text);
    char *to = buf_reserve(text, size + 1);
    if (!to)
        return "an entry's size";
    if (little(at + 10, 2)) {
        z_stream z = {.next_in = (Bytef *)(uintptr_t)data,
                      .avail_in = (uInt)packed,
                      .next_out = (Bytef *)to,
                      .avail_out = (uInt)size + 1};
        if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
            return "memory";
        int end = inflate(&z, Z_FINISH);
        inflateEnd(&z);
        if (end != Z_STREAM_END || z.total_out != size)
            return "an entry's data";
    } else {
        memcpy(to, data, size);
    }
    if (crc32(0, (Bytef *)to, (uInt)size) != little(at + 16, 4))
        return "an entry's sum";
    buf_commit(text, size);
    struct span n = span_of(at + 46, name);
    return span_ends(n, ".xml") || span_ends(n, ".rels") ? xml_fault(buf_span(text)) : NULL;
}

static const char *archive_fault(struct span zip)
{
    struct buf text;
    const char *end = zip.p + zip.n - 22, *fault = NULL;
    if (zip.n < 22 || memcmp(end, "PK\5\6", 4) != 0 || little(end + 16, 4) > zip.n)
        return "no directory";
    const char *at = zip.p + little(end + 16, 4);
    buf_init(&text, 512 << 20);
    for (size_t i = little(end + 10, 2); i && !fault; i--) {
        fault = part_fault(zip, at, &text);
        at += 46 + little(at + 28, 2);
    }
    buf_free(&text);
    return fault;
}

static const char *framed(struct span bytes, const char *from, const char *to)
{
    return span_starts(bytes, from) && span_ends(bytes, to) ? NULL : "its beginning or its end";
}

const char *output_fault(const char *format, struct span bytes)
{
    if (!strcmp(format, "pdf"))
        return framed(bytes, "%PDF-1.", "%%EOF\n");
    if (!strcmp(format, "png"))
        return framed(bytes, "\x89PNG", "IEND\xae\x42\x60\x82");
    if (!strcmp(format, "svg"))
        return xml_fault(bytes);
    return !strcmp(format, "docx") || !strcmp(format, "pptx") || !strcmp(format, "xlsx")
               ? archive_fault(bytes)
               : NULL;
}
