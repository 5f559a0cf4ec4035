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
        ROW("\x1a\x45\xdf\xa3\x42\x82\x84webm", "", MEDIA_VIDEO, "video/webm"),
        ROW("\x1a\x45\xdf\xa3\x42\x82\x84webm\x83\x81\x02", "", MEDIA_AUDIO, "audio/webm"),
        ROW("PK\3\4", "a.docx", MEDIA_OTHER, "application/zip"),
        ROW("{\\rtf1}", "a.txt", MEDIA_DOCUMENT, "application/rtf"),
        ROW("\xff\xfe"
            "a\0",
            "", MEDIA_DOCUMENT, "text/plain"),
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

static void inside_zip(void **state)
{
    static const char *const docx[] = {"[Content_Types].xml", "word/document.xml", NULL},
                             *const xlsx[] = {"xl/workbook.xml", "[Content_Types].xml", NULL},
                             *const half[] = {"word/document.xml", NULL};
    (void)state;
    assert_non_null(strstr(zip_type(docx, false), "wordprocessingml"));
    assert_non_null(strstr(zip_type(xlsx, false), "spreadsheetml"));
    assert_string_equal(zip_type(half, false), "application/zip");
    assert_string_equal(zip_type(docx, true), "application/zip");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(b3_beginnings), cmocka_unit_test(two_frames),
                                       cmocka_unit_test(inside_zip)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
