#include "base/multipart.h"

void multipart_type(const char *boundary, struct buf *out)
{
    buf_printf(out, "multipart/form-data; boundary=%s", boundary);
}

static void begin(const char *boundary, const char *name, struct buf *out)
{
    buf_printf(out, "--%s\r\nContent-Disposition: form-data; name=\"%s\"", boundary, name);
}

void multipart_field(const char *boundary, const char *name, struct span value, struct buf *out)
{
    begin(boundary, name, out);
    buf_adds(out, "\r\n\r\n");
    buf_add(out, value);
    buf_adds(out, "\r\n");
}

/* As the URL standard's multipart encoding has it; other control characters go with them. */
static void add_filename(struct span name, struct buf *out)
{
    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];
        if (c == '"' || c < ' ' || c == 0x7f)
            buf_printf(out, "%%%02X", c);
        else
            buf_addc(out, (char)c);
    }
}

void multipart_file(const char *boundary, const char *name, struct span filename, struct span media_type,
                    struct span bytes, struct buf *out)
{
    begin(boundary, name, out);
    buf_adds(out, "; filename=\"");
    add_filename(filename, out);
    buf_adds(out, "\"\r\nContent-Type: ");
    buf_add(out, media_type);
    buf_adds(out, "\r\n\r\n");
    buf_add(out, bytes);
    buf_adds(out, "\r\n");
}

void multipart_end(const char *boundary, struct buf *out)
{
    buf_printf(out, "--%s--\r\n", boundary);
}
