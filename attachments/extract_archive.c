#include "attachments/extract_archive.h"

enum render_status extract_archive(struct span source, struct buf *out, char sentence[RENDER_SENTENCE],
                                   uint64_t max_nodes,
                                   int (*read)(struct archive *a, struct markup *m, struct extraction *x))
{
    struct extraction x;
    extraction_init(&x, sentence, max_nodes);
    struct archive *archive = archive_open(source, &x);
    if (!archive)
        return x.status;
    struct markup *m = markup_create(out, &x);
    int answer = read(archive, m, &x);
    if (markup_finish(m) == 0 && answer)
        extraction_fail(&x, RENDER_INVALID, "is damaged and cannot be read.");
    markup_destroy(m);
    archive_close(archive);
    return x.status;
}
