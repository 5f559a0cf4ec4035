/* Messages and documents as a peer that was taken over would write them. The first byte says which fields are
 * asked for, the rest is read as a message and as a document. */
#include <stdlib.h>

#include "jobs/document.h"
#include "jobs/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void read_message(struct span bytes, uint8_t fields)
{
    struct wire_in in;
    uint32_t type;
    uint64_t id;
    char text[RENDER_SENTENCE];
    if (wire_open(bytes, &type, &id, &in))
        return;
    for (int i = 0; i < 8; i++, fields >>= 1)
        if (fields & 1) {
            wire_get_string(&in, text, sizeof text);
            if (strlen(text) >= sizeof text)
                abort();
        } else if (i & 1) {
            (void)wire_get_u32(&in);
        } else {
            (void)wire_get_u64(&in);
        }
    if (wire_close(&in) == 0 && (in.bad || in.rest.n))
        abort();
}

static bool inside(struct span part, struct span whole)
{
    return part.p >= whole.p && part.p + part.n <= whole.p + whole.n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct document d;
    if (!n)
        return 0;
    struct span bytes = span_of((const char *)data + 1, n - 1);
    read_message(bytes, data[0]);
    if (document_read(bytes, &d) == 0) {
        if (!inside(d.source, bytes) || !inside(d.params.brand.logo, bytes) || strlen(d.params.title) > n)
            abort();
        for (size_t i = 0; i < d.params.n_assets; i++)
            if (!inside(d.assets[i].bytes, bytes) || strlen(d.assets[i].name) > n)
                abort();
    }
    document_finish(&d);
    return 0;
}
