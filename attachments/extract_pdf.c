/*
 * PDF to text with the program pdftotext (poppler-utils), which is run and never linked. A page is taken as
 * it is laid out, so that the cells of a table and the fields of a form stay on their lines; but a page of
 * two columns of prose is taken in reading order, which a second run gives.
 */
#include <signal.h>
#include <stdio.h>

#include "attachments/extract.h"
#include "attachments/pdf_text.h"
#include "jobs/program.h"

enum { MIB = 1024 * 1024, RAW = 4 * EXTRACT_TEXT /* with all its blanks */ };

static const struct program pdftotext = {
    .name = "pdftotext",
    .reads = (const char *const[]){"/usr/share/poppler", NULL},
    .runs = 2,
    .memory_bytes = 1024ULL * MIB,
    .cpu_s = 20,
};

/* Text that runs over a page's edge, or lies beyond it, would be cut off there; no page is larger than 14,400
 * points (ISO 32000-1, annex C.2), so this is more than any of them with its surroundings. */
#define EVERYWHERE "-x", "-14400", "-y", "-14400", "-W", "43200", "-H", "43200"

/* One run; RENDER_OK with its text, which may be empty. *damaged: it met something that it could not read. */
static enum render_status run(const char *const *arguments, struct span input, struct buf *out, bool *damaged,
                              char sentence[RENDER_SENTENCE])
{
    struct program_result r;
    buf_init(out, RAW);
    program_run(arguments, input, program_take_buf, out, &r);
    if (r.end == PROGRAM_TOO_MUCH) {
        snprintf(sentence, RENDER_SENTENCE, "holds more than %d MiB of text", EXTRACT_TEXT / MIB);
        return RENDER_LIMIT;
    }
    if (r.end == PROGRAM_KILLED && (r.signal == SIGXCPU || r.signal == SIGKILL)) {
        snprintf(sentence, RENDER_SENTENCE, "takes more than %u s of computing to read", pdftotext.cpu_s);
        return RENDER_LIMIT;
    }
    if (r.end != PROGRAM_ENDED) {
        snprintf(sentence, RENDER_SENTENCE, "could not be read: pdftotext broke on it");
        return r.end == PROGRAM_KILLED ? RENDER_INVALID : RENDER_FAILED;
    }
    if (strstr(r.said, "Incorrect password")) {
        snprintf(sentence, RENDER_SENTENCE,
                 "is protected with a password; remove it, or send the file with handling: native");
        return RENDER_INVALID;
    }
    if (r.status == 3) {
        snprintf(sentence, RENDER_SENTENCE,
                 "forbids that its text is copied; send it with handling: native, or another version of it");
        return RENDER_INVALID;
    }
    if (r.status && !pdf_text_visible(buf_span(out))) {
        snprintf(sentence, RENDER_SENTENCE, "is damaged, or no PDF: no page of it could be read");
        return RENDER_INVALID;
    }
    *damaged = r.status != 0 || strstr(r.said, "Syntax Error") || strstr(r.said, "Internal Error");
    return RENDER_OK;
}

static enum render_status extract_pdf(struct span source, const struct render_params *params, struct buf *out,
                                      char sentence[RENDER_SENTENCE])
{
    static const char *const layout[] = {"-layout", EVERYWHERE, "-enc", "UTF-8", "-eol",
                                         "unix",    "-",        "-",    NULL};
    static const char *const reading[] = {EVERYWHERE, "-enc", "UTF-8", "-eol", "unix", "-", "-", NULL};
    struct buf laid_out, in_order;
    bool damaged = false;
    (void)params;
    buf_init(&in_order, 0);
    enum render_status status = run(layout, source, &laid_out, &damaged, sentence);
    if (status == RENDER_OK && !pdf_text_visible(buf_span(&laid_out))) {
        snprintf(
            sentence, RENDER_SENTENCE,
            "has no text layer: its pages are pictures of text. Send it with handling: native, or a version "
            "in which the text was recognised (OCR)");
        status = RENDER_INVALID;
    }
    if (status == RENDER_OK && pdf_text_has_columns(buf_span(&laid_out)))
        status = run(reading, span_of("", 0), &in_order, &damaged, sentence);
    if (status == RENDER_OK)
        pdf_text_write(buf_span(&laid_out), buf_span(&in_order), out);
    if (status == RENDER_OK && damaged)
        buf_adds(out, "\n\n(pdftotext found damage in this file: a part of its text may be missing.)");
    buf_free(&laid_out);
    buf_free(&in_order);
    return status;
}

const struct renderer_ops extract_pdf_ops = {
    .name = "pdftotext",
    .version = "1",
    .formats = (const char *const[]){"text:pdf", NULL},
    .limits = {.source_bytes = 64 * MIB,
               .out_bytes = EXTRACT_TEXT,
               .memory_bytes = 256 * MIB,
               .cpu_s = 20,
               .wall_ms = 30000},
    .program = &pdftotext,
    .render = extract_pdf,
};
