#include "proxy/conversion.h"

#include <stdio.h>
#include <unistd.h>

#include "attachments/extract.h"
#include "attachments/parts.h"
#include "jobs/document.h"
#include "proxy/local_renders.h"

bool conversion_offered(const void *pool, const char *format)
{
    size_t n;
    const struct render_format *list = render_pool_formats(pool, &n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i].format, format))
            return true;
    return false;
}

int64_t conversion_most_ms(const struct config *config, const char *format)
{
    return extract_is_sound(format) ? config->timeouts.transcribe : config->timeouts.render;
}

int conversion_document(const struct attachment *a, const char *format)
{
    struct render_params params = {.format = format, .filename = attachment_title(a)};
    return document_create(buf_span(&a->bytes), &params);
}

int conversion_sound(int fd, uint64_t n, struct buf *mp3)
{
    struct part parts[PARTS_MOST];
    struct buf all;
    buf_init(&all, PARTS_BYTES);
    int count = local_render_read(fd, n, &all) ? -1 : parts_read(buf_span(&all), parts);
    for (int i = 0; i < count; i++)
        if (parts[i].sound)
            buf_add(mp3, parts[i].bytes);
    buf_free(&all);
    return count > 0 && !buf_full(mp3) ? 0 : -1;
}

/* Texts and pictures; without a picture it is a document as any. */
static int read_parts(struct attachment *a, int fd, uint64_t n, struct span transcript)
{
    struct part parts[PARTS_MOST];
    struct buf all;
    bool pictures = false, good;
    buf_init(&all, PARTS_BYTES);
    buf_init(&a->parts, PARTS_BYTES + transcript.n);
    int count = local_render_read(fd, n, &all) ? -1 : parts_read(buf_span(&all), parts);
    good = count > 0;
    parts_begin(&a->parts);
    for (int i = 0; i < count && good; i++) {
        struct span bytes = parts[i].sound ? transcript : parts[i].bytes;
        good = bytes.n > 0; /* else it is a sound that nobody wrote down */
        pictures = pictures || parts[i].picture;
        parts_add(parts[i].picture ? parts[i].media_type : "text/markdown", bytes, &a->parts);
        if (parts[i].picture)
            continue;
        if (a->text.n)
            buf_adds(&a->text, "\n\n");
        buf_add(&a->text, bytes);
    }
    good = good && a->text.n && !buf_full(&a->text) && !buf_full(&a->parts);
    buf_free(&all);
    if (!pictures)
        buf_free(&a->parts);
    return good ? 0 : -1;
}

static int read_text(struct attachment *a, int fd, uint64_t n)
{
    return local_render_read(fd, n, &a->text) == 0 && sniff_is_text(buf_span(&a->text)) ? 0 : -1;
}

/* What a child wrote is as hostile as what it read. */
int conversion_read(struct attachment *a, int fd, uint64_t n, struct span transcript, struct error *e)
{
    char place[ATTACHMENT_PLACE];
    bool parts = strcmp(a->conversion->format, EXTRACT_PARTS) == 0;
    buf_init(&a->text, EXTRACT_TEXT);
    if ((parts ? read_parts(a, fd, n, transcript) : read_text(a, fd, n)) == 0) {
        a->characters = limits_characters(buf_span(&a->text));
        return 0;
    }
    buf_free(&a->text);
    buf_free(&a->parts);
    a->decision = ATTACHMENT_REFUSED;
    attachment_place(a, place);
    return error_set(e, ERROR_ATTACHMENT_INVALID,
                     "%s: what its conversion made is no text. Send it with handling: native, or in another "
                     "format.",
                     place);
}

static const char *reason_of(const struct attachment *a, const struct render_result *r)
{
    if (r->sentence[0] && sniff_is_text(span_str(r->sentence)))
        return r->sentence;
    switch (r->outcome) {
    case RENDER_JOB_TIMEOUT:
        return a->conversion && extract_is_sound(a->conversion->format)
                   ? "takes too long to transcribe (timeouts.transcribe); configure a provider for it "
                     "(transcription), or split it"
                   : "takes too long to convert to text (timeouts.render)";
    case RENDER_JOB_LIMIT:
        return "is larger than a conversion to text accepts";
    case RENDER_JOB_DIED:
        return "brings the conversion to text down; it may be damaged";
    case RENDER_JOB_UNSAFE:
        return "cannot be converted to text, since converters cannot be caged on the proxy's host";
    default:
        return "cannot be converted to text";
    }
}

static enum error_code code_of(enum render_job_outcome outcome)
{
    return outcome == RENDER_JOB_BUSY     ? ERROR_OVERLOADED
           : outcome == RENDER_JOB_LIMIT  ? ERROR_ATTACHMENT_TOO_LARGE
           : outcome == RENDER_JOB_UNSAFE ? ERROR_ATTACHMENT_UNSUPPORTED
                                          : ERROR_ATTACHMENT_INVALID;
}

void conversion_refused(struct attachment *a, const struct render_result *r, struct error *e)
{
    char place[ATTACHMENT_PLACE];
    const char *reason = reason_of(a, r);
    size_t n = strlen(reason);
    a->decision = ATTACHMENT_REFUSED;
    if (r->outcome == RENDER_JOB_BUSY) {
        error_set(e, ERROR_OVERLOADED, "Too many documents are being converted at this moment.");
        return;
    }
    attachment_place(a, place);
    error_set(e, code_of(r->outcome), "%s: it %s%s%s", place, reason,
              n && strchr(".!", reason[n - 1]) ? "" : ".",
              strstr(reason, "native") ? "" : " Send it with handling: native, or in another format.");
    if (r->outcome == RENDER_JOB_LIMIT && attachment_in_array(a))
        snprintf(e->details, sizeof e->details, "{\"index\":%zu}", a->index);
}
