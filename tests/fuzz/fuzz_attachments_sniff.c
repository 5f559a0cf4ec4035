/* Any bytes as a file: every walk inside stays inside, and only text is called text. */
#include <stdint.h>
#include <stdlib.h>

#include "attachments/sniff.h"

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"", "a.csv", "b.HTML", ".md"};
    char *copy = malloc(size ? size : 1); /* so that one byte beyond the end is seen */
    for (size_t i = 0; i < size; i++)
        copy[i] = (char)data[i];
    struct span bytes = span_of(copy, size);
    enum media_kind first = MEDIA_OTHER;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct media m = sniff_media(bytes, span_str(names[i]));
        require(m.type && strchr(m.type, '/') && m.word && m.word[0]);
        require(m.kind != MEDIA_TEXT || sniff_is_text(bytes));
        if (i == 0)
            first = m.kind;
        bool text = first == MEDIA_TEXT || first == MEDIA_DOCUMENT;
        /* A name chooses among texts, and among those in older encodings, which lack control characters. */
        bool encoded = first == MEDIA_OTHER && m.kind == MEDIA_DOCUMENT && strncmp(m.type, "text/", 5) == 0 &&
                       (size == 0 || !memchr(copy, 0, size));
        require(m.kind == first || (text && sniff_is_text(bytes)) || encoded);
    }
    free(copy);
    return 0;
}
