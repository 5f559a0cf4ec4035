#ifndef PROXY_THREAD_LINE_H
#define PROXY_THREAD_LINE_H
/*
 * The lines of a thread's journal (transcript/journal.h says how they are read). Each is one JSON object and
 * a line end. What came from strangers is made valid first: what is no UTF-8, half a surrogate pair and NUL
 * become U+FFFD. Pure; called in the threads' job.
 */
#include <stdint.h>

#include "filters/recorder.h"

/* The journal's first line. Nobody says who speaks, so the organisation stands for the author. */
void thread_line_first(const char *thread, const char *org, struct buf *out);

struct thread_begin_line {
    const char *id;
    uint64_t run;
    int64_t at_us;
    const char *parent, *turn, *trigger, *headline; /* NULL: not said; parent makes it a specialist's */
    struct span query;                              /* plain text */
    bool query_cut;
    bool results;            /* the request's last message holds nothing but results of tools */
    struct span attachments; /* a JSON array of metadata, or empty */
    const char *model, *provider;
};
void thread_line_begin(const struct thread_begin_line *l, struct buf *out);

struct thread_ending {
    const char *cause;                      /* transcript/ending.h */
    int http_status;                        /* 0: none */
    const char *error_code, *error_message; /* of our own; NULL: what the recorder heard counts */
};

struct thread_end_line {
    const char *id;
    int64_t at_us;
    const struct recorder *said; /* NULL: nothing */
    struct span artifacts;       /* entries, comma separated, or empty */
    struct thread_ending ending;
};
void thread_line_end(const struct thread_end_line *l, struct buf *out);

/* Whether the parent is a consult's id. Anything else is the id of the call of a tool with which an Expert
 * asked for this consult. */
bool thread_parent_is_consult(const char *parent);
/* A number that an error frame gives as its code and that is an HTTP status; 0: it gives none. */
int thread_error_status(const struct recorder *r);
/* Appends the text that a string's escaped inside stands for, made valid. */
void thread_plain(struct span escaped, struct buf *out);

#endif
