/* Media types by content (behaviours B.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attachments/sniff.h"
#include "base/buf.h"

/* A header with a document type, a segment of unknown size, and tracks of that type. */
#define EBML(doctype) "\x1a\x45\xdf\xa3\x87\x42\x82" doctype "\x18\x53\x80\x67\xff\xec\x82\x83\x81"
#define TRACK(type)   "\x16\x54\xae\x6b\x85\xae\x83\x83\x81" type

static void b3_beginnings(void **state)
{
#define ROW(bytes, name, kind, type)                                                                         \
    {                                                                                                        \
        bytes, sizeof(bytes) - 1, name, kind, type                                                           \
    }
    static const struct {
        const char *bytes;
        size_t n;
        const char *name;
        enum media_kind kind;
        const char *type;
    } rows[] = {
        ROW("\x89PNG\r\n\x1a\n..", "a.pdf", MEDIA_IMAGE, "image/png"),
        ROW("\xff\xd8\xff\xe0", "", MEDIA_IMAGE, "image/jpeg"),
        ROW("GIF89a\1\0", "a.webp", MEDIA_IMAGE, "image/gif"),
        ROW("RIFF\0\0\0\0WEBPVP8 ", "", MEDIA_IMAGE, "image/webp"),
        ROW("RIFF\0\0\0\0WAVEfmt ", "", MEDIA_AUDIO, "audio/wav"),
        ROW("RIFF\0\0\0\0AVI LIST", "", MEDIA_VIDEO, "video/x-msvideo"),
        ROW("%PDF-1.7", "a.txt", MEDIA_DOCUMENT, "application/pdf"),
        ROW("\n\n%PDF-1.7\x80", "", MEDIA_DOCUMENT, "application/pdf"),
        ROW("ID3\4\0\0", "", MEDIA_AUDIO, "audio/mpeg"),
        ROW("ID3 is a tag", "", MEDIA_TEXT, "text/plain"),
        ROW("BZh is not archived", "", MEDIA_TEXT, "text/plain"),
        ROW("OggS\0\2", "", MEDIA_AUDIO, "audio/ogg"),
        ROW("OggS\0\2\x80theora", "", MEDIA_VIDEO, "video/ogg"),
        ROW("fLaC\0", "", MEDIA_AUDIO, "audio/flac"),
        ROW("\0\0\0\x18"
            "ftypM4A \0\0\0\0",
            "", MEDIA_AUDIO, "audio/mp4"),
        ROW("\0\0\0\x18"
            "ftypheic\0\0\0\0",
            "", MEDIA_IMAGE, "image/heic"),
        ROW("\0\0\0\x10"
            "ftypisom\0\0\0\0",
            "", MEDIA_VIDEO, "video/mp4"),
        ROW("\0\0\0\x10"
            "ftypisom\0\0\0\0\0\0\0\x2cmoov\0\0\0\x24trak\0\0\0\x1cmdia\0\0\0\x14hdlr\0\0\0\0\0\0\0\0soun",
            "", MEDIA_AUDIO, "audio/mp4"),
        ROW("\x1a\x45\xdf\xa3\x87\x42\x82\x84webm", "", MEDIA_VIDEO, "video/webm"),
        ROW(EBML("\x84webm") TRACK("\x01"), "", MEDIA_VIDEO, "video/webm"),
        ROW(EBML("\x84webm") TRACK("\x02"), "", MEDIA_AUDIO, "audio/webm"),
        ROW(EBML("\x84webm") TRACK("\x02") TRACK("\x01"), "", MEDIA_VIDEO, "video/webm"),
        ROW(EBML("\x84mkva") TRACK("\x02"), "", MEDIA_AUDIO, "audio/x-matroska"),
        ROW("PK\3\4", "a.docx", MEDIA_OTHER, "application/zip"),
        ROW("{\\rtf1}", "a.txt", MEDIA_DOCUMENT, "application/rtf"),
        ROW("\xff\xfe"
            "a\0",
            "", MEDIA_DOCUMENT, "text/plain"),
        ROW("\xff\xfe"
            "a\0,\0",
            "a.csv", MEDIA_DOCUMENT, "text/csv"),
        ROW("\xff\xfe"
            " \0<\0h\0t\0m\0l\0>\0\xe9\0",
            "", MEDIA_DOCUMENT, "text/html"),
        ROW("\xfe\xff\0<\0!\0D\0O\0C\0T\0Y\0P\0E\0 \0h\0t\0m\0l\0>", "a.txt", MEDIA_DOCUMENT, "text/html"),
        ROW("\xfe\xff\0<\0h\0t\0m\0l\0x", "", MEDIA_DOCUMENT, "text/plain"),
        ROW("\xff\xfe"
            "a\0\1\0",
            "a.csv", MEDIA_OTHER, "application/octet-stream"),
        ROW("\xff\xfe"
            "\0\xdc",
            "", MEDIA_OTHER, "application/octet-stream"),
        ROW("caf\xe9,1\n", "a.csv", MEDIA_DOCUMENT, "text/csv"),
        ROW("caf\xe9\0,1\n", "a.csv", MEDIA_OTHER, "application/octet-stream"),
        ROW("caf\xe9", "a.md", MEDIA_OTHER, "application/octet-stream"),
        ROW("<!doctype html>caf\xe9", "", MEDIA_DOCUMENT, "text/html"),
        ROW("{\\rtf1 caf\xe9}", "", MEDIA_DOCUMENT, "application/rtf"),
        ROW("[1,2]", "a.csv", MEDIA_TEXT, "application/json"),
        ROW("\0\0\0\x14"
            "ftypmif1\0\0\0\0avif",
            "", MEDIA_IMAGE, "image/avif"),
        ROW("\0\0\0\x10"
            "ftypqt  \0\0\0\0\0\0\0\x2cmoov\0\0\0\x24trak\0\0\0\x1cmdia\0\0\0\x14hdlr\0\0\0\0\0\0\0\0soun",
            "", MEDIA_AUDIO, "audio/mp4"),
        ROW("\0\0\0\x2cmoov\0\0\0\x24trak\0\0\0\x1cmdia\0\0\0\x14hdlr\0\0\0\0\0\0\0\0vide", "", MEDIA_VIDEO,
            "video/quicktime"),
        ROW("\0\0\0\x08"
            "freemore",
            "", MEDIA_OTHER, "application/octet-stream"),
        ROW("hello", "a.png", MEDIA_TEXT, "text/plain"),
        ROW("a,b\n1,2\n", "a.csv", MEDIA_TEXT, "text/csv"),
        ROW("a,b\n1,2\n", "a.txt", MEDIA_TEXT, "text/plain"),
        ROW("# x", "A.MD", MEDIA_TEXT, "text/markdown"),
        ROW("{\"a\":1}", "", MEDIA_TEXT, "application/json"),
        ROW("{\"a\":1", "", MEDIA_TEXT, "text/plain"),
        ROW("\x1b[31mred\x1b[0m\n", "", MEDIA_TEXT, "text/plain"),
        ROW("a\0b", "a.txt", MEDIA_OTHER, "application/octet-stream"),
        ROW("caf\xe9", "a.txt", MEDIA_OTHER, "application/octet-stream"),
        ROW("\xed\xa0\x80", "", MEDIA_OTHER, "application/octet-stream"),
        ROW("<?xml version=\"1.0\"?>\n<!-- <html> -->\n<svg xmlns=\"x\"/>", "", MEDIA_TEXT, "image/svg+xml"),
        ROW("a <svg>", "", MEDIA_TEXT, "text/plain"),
        ROW("<!DOCTYPE HTML>\n<p>", "", MEDIA_DOCUMENT, "text/html"),
        ROW("\xef\xbb\xbf<html>", "", MEDIA_DOCUMENT, "text/html"),
        ROW("BEGIN:VCALENDAR\r\n", "", MEDIA_TEXT, "text/calendar"),
        ROW("\x7f"
            "ELF\2",
            "", MEDIA_OTHER, "application/x-executable"),
        ROW("\xff\xfb\x90\x64", "", MEDIA_OTHER,
            "application/octet-stream"), /* one frame alone is not enough */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct media m = sniff_media(span_of(rows[i].bytes, rows[i].n), span_str(rows[i].name));
        if (m.kind != rows[i].kind || strcmp(m.type, rows[i].type) != 0)
            fail_msg("row %zu: %s instead of %s", i, m.type, rows[i].type);
    }
}

static void two_frames(void **state)
{
    enum { FRAME = 417 }; /* 128 kbit/s at 44.1 kHz */
    char bytes[2 * FRAME] = {0};
    (void)state;
    memcpy(bytes, "\xff\xfb\x90\x64", 4);
    memcpy(bytes + FRAME, "\xff\xfb\x90\x64", 4);
    assert_string_equal(sniff_media(span_of(bytes, sizeof bytes), SPAN_LIT("")).type, "audio/mpeg");
}

static void little(struct buf *b, size_t v, unsigned n)
{
    for (; n--; v >>= 8)
        buf_addc(b, (char)(v & 255));
}

/* A ZIP with just a directory of these names. */
static const char *zip_type(const char *const *names, bool cut)
{
    struct buf b;
    buf_init(&b, 4096);
    buf_adds(&b, "PK\3\4....");
    size_t at = b.n;
    for (; *names; names++) {
        buf_adds(&b, "PK\1\2");
        for (int i = 0; i < 24; i++)
            buf_addc(&b, 0);
        little(&b, strlen(*names), 2);
        for (int i = 0; i < 16; i++)
            buf_addc(&b, 0);
        buf_adds(&b, *names);
    }
    buf_adds(&b, "PK\5\6");
    for (int i = 0; i < 12; i++)
        buf_addc(&b, 0);
    little(&b, cut ? 0xffffffff : at, 4);
    little(&b, 0, 2);
    const char *type = sniff_media(buf_span(&b), SPAN_LIT("")).type;
    buf_free(&b);
    return type;
}

/* A ZIP that was cut off in its last member's contents; `follows`: lengths stand behind the contents. */
static const char *cut_zip_type(const char *const *names, bool follows)
{
    struct buf b;
    buf_init(&b, 4096);
    for (; *names; names++) {
        buf_adds(&b, "PK\3\4");
        little(&b, 20, 2);
        little(&b, follows ? 8 : 0, 2);
        for (int i = 0; i < 10; i++)
            buf_addc(&b, 0);
        little(&b, follows ? 0 : names[1] ? 5 : 500, 4);
        little(&b, 0, 4);
        little(&b, strlen(*names), 2);
        little(&b, 2, 2);
        buf_adds(&b, *names);
        buf_adds(&b, "xxbytes");
        if (follows)
            buf_adds(&b, "PK\7\10............");
    }
    const char *type = sniff_media(buf_span(&b), SPAN_LIT("")).type;
    buf_free(&b);
    return type;
}

static void cut_off_zip(void **state)
{
    static const char *const word[] = {"[Content_Types].xml", "_rels/.rels", "word/document.xml", NULL},
                             *const excel[] = {"[Content_Types].xml", "xl/styles.xml", NULL},
                             *const plain[] = {"a.txt", "word/document.xml", NULL};
    (void)state;
    for (int follows = 0; follows < 2; follows++) {
        assert_string_equal(cut_zip_type(word, follows),
                            "application/vnd.openxmlformats-officedocument.wordprocessingml.document");
        assert_string_equal(cut_zip_type(excel, follows),
                            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet");
        assert_string_equal(cut_zip_type(plain, follows), "application/zip");
    }
}

static void inside_zip(void **state)
{
    static const char *const other[] = {"[Content_Types].xml", "word/document2.xml",
                                        "word/media/xl/workbook.xml", NULL},
                             *const macros[] = {"[Content_Types].xml", "ppt/presentation.xml",
                                                "ppt/vbaProject.bin", NULL},
                             *const binary[] = {"[Content_Types].xml", "xl/workbook.bin", NULL},
                             *const docx[] = {"[Content_Types].xml", "word/document.xml", NULL},
                             *const xlsx[] = {"xl/workbook.xml", "[Content_Types].xml", NULL},
                             *const half[] = {"word/document.xml", NULL};
    (void)state;
    assert_non_null(strstr(zip_type(docx, false), "wordprocessingml"));
    assert_non_null(strstr(zip_type(xlsx, false), "spreadsheetml"));
    assert_non_null(strstr(zip_type(other, false), "wordprocessingml"));
    assert_string_equal(zip_type(macros, false),
                        "application/vnd.ms-powerpoint.presentation.macroEnabled.12");
    assert_non_null(strstr(zip_type(binary, false), "excel.sheet.binary"));
    assert_string_equal(zip_type(half, false), "application/zip");
    assert_string_equal(zip_type(docx, true), "application/zip");
}

/* An OLE2 file of 512-byte sectors: one table, the directory in sectors 1 and 2, text in 3. */
static const char *ole_type(const char *name, const char *text)
{
    static char file[5 * 512];
    memset(file, 0, sizeof file);
    memcpy(file, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8);
    file[30] = 9;
    file[48] = 1; /* the directory's first sector */
    memset(file + 76, 0xff, 436);
    memset(file + 76, 0, 4); /* the table is sector 0 */
    memset(file + 512, 0xff, 512);
    memcpy(file + 512 + 4, "\2\0\0\0\xfe\xff\xff\xff", 8);
    char *entry = file + 3 * 512 + 128; /* in the second sector of the directory */
    for (size_t i = 0; i < strlen(name); i++)
        entry[2 * i] = name[i];
    entry[64] = (char)(2 * strlen(name) + 2);
    entry[66] = 2;
    for (size_t i = 0; i < strlen(text); i++)
        file[4 * 512 + 2 * i] = text[i];
    return sniff_media(span_of(file, sizeof file), SPAN_LIT("")).word;
}

static void inside_ole(void **state)
{
    (void)state;
    assert_string_equal(ole_type("WordDocument", ""), "an old Word document (doc)");
    assert_string_equal(ole_type("Workbook", "WordDocument"), "an old Excel workbook (xls)");
    assert_string_equal(ole_type("Book", ""), "an old Excel workbook (xls)");
    assert_string_equal(ole_type("PowerPoint Document", ""), "an old PowerPoint presentation (ppt)");
    assert_string_equal(ole_type("EncryptedPackage", ""), "an Office file with a password");
    assert_string_equal(ole_type("__properties_version1.0", ""), "an Outlook message (msg)");
    /* The word in a document's own text says nothing. */
    assert_string_equal(ole_type("WordDocument", "EncryptedPackage"), "an old Word document (doc)");
    assert_string_equal(ole_type("Contents", "Workbook"), "an OLE2 file");
}

/* What is refused is refused by its name. */
static void archives_and_programs(void **state)
{
    static const struct {
        const char *bytes;
        size_t n, at;
        const char *word;
    } rows[] = {
        {"\x1f\x8b\x08", 3, 0, "a gzip archive"},
        {"7z\xbc\xaf\x27\x1c", 6, 0, "a 7z archive"},
        {"Rar!\x1a\x07", 6, 0, "a RAR archive"},
        {"\xfd"
         "7zXZ\0",
         6, 0, "an xz archive"},
        {"\x28\xb5\x2f\xfd", 4, 0, "a zstd archive"},
        {"\x04\x22\x4d\x18", 4, 0, "an lz4 archive"},
        {"BZh9", 4, 0, "a bzip2 archive"},
        {"MSCF\0\0\0\0", 8, 0, "a cabinet archive"},
        {"ustar", 5, 257, "a tar archive"},
        {"CD001", 5, 32769, "a disc image"},
        {"!<arch>\n", 8, 0, "an ar archive"},
        {"MZ", 2, 0, "a program"},
        {"\x7f"
         "ELF",
         4, 0, "a program"},
        {"\xcf\xfa\xed\xfe", 4, 0, "a program"},
        {"SQLite format 3\0", 16, 0, "an SQLite database"},
    };
    static char file[40000];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        memset(file, 0, sizeof file);
        memcpy(file + rows[i].at, rows[i].bytes, rows[i].n);
        struct media m = sniff_media(span_of(file, sizeof file), SPAN_LIT("a.csv"));
        assert_string_equal(m.word, rows[i].word);
        assert_int_equal(m.kind, MEDIA_OTHER);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b3_beginnings), cmocka_unit_test(two_frames),
        cmocka_unit_test(inside_zip),    cmocka_unit_test(cut_off_zip),
        cmocka_unit_test(inside_ole),    cmocka_unit_test(archives_and_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
