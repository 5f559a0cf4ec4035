/*
 * Films, and sound that libsndfile cannot read (MPEG-4, AAC, AMR), with the program ffmpeg, which is run and
 * never linked. Three runs at most: the packets of the picture are listed without being decoded, which tells
 * length, size and where the key frames are, whatever the file says of itself; the frames that are wanted are
 * decoded; the sound is decoded and recognised. The demuxer is the one that our own look at the bytes
 * chooses, so a playlist that calls itself a film opens nothing.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "attachments/extract.h"
#include "attachments/extraction.h"
#include "attachments/parts.h"
#include "attachments/sniff.h"
#include "attachments/speech.h"
#include "jobs/program.h"

enum {
    MIB = 1024 * 1024,
    FRAMES = 8,          /* at most */
    SIDE = 768,          /* pixels of a frame's longer side, at most */
    PICTURE_SIDE = 8192, /* of the film */
    KEYS = 100000,       /* key frames that are looked at */
    LINE = 256,
    PICTURES = 16 * MIB,
    SOUND = 15 * MIB, /* together they are less than PARTS_BYTES */
    HOUR = 3600       /* seconds of sound that somebody else writes down, at most */
};

static const struct program ffmpeg = {
    .name = "ffmpeg", .runs = 3, .memory_bytes = 1024ULL * MIB, .cpu_s = 60, .threads = true};

/* ffmpeg's demuxer for what the bytes are; NULL: none. */
static const char *demuxer_of(const char *type)
{
    static const char *const known[][2] = {
        {"video/mp4", "mov"},       {"video/quicktime", "mov"},
        {"video/3gpp", "mov"},      {"audio/mp4", "mov"},
        {"video/webm", "matroska"}, {"video/x-matroska", "matroska"},
        {"audio/webm", "matroska"}, {"audio/x-matroska", "matroska"},
        {"video/x-msvideo", "avi"}, {"video/ogg", "ogg"},
        {"audio/ogg", "ogg"},       {"video/mpeg", "mpeg"},
        {"video/mp2t", "mpegts"},   {"video/x-flv", "flv"},
        {"video/x-ms-asf", "asf"},  {"audio/aac", "aac"},
        {"audio/amr", "amr"},       {"audio/x-caf", "caf"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(known[i][0], type))
            return known[i][1];
    return NULL;
}

struct film {
    struct media media;
    const char *demuxer, *name;
    struct span source; /* for the first run; empty afterwards */
    unsigned longest;   /* seconds of sound */
    char *sentence;
    enum render_status status;
    /* of the picture: */
    char line[LINE];
    size_t n_line;
    unsigned long per_num, per_den; /* a unit of time in seconds */
    unsigned wide, high;
    int64_t first, last; /* of packets that were seen; last < first: none */
    struct buf keys;     /* int64_t */
    int64_t chosen[FRAMES];
    size_t n_chosen;
};

static int fail(struct film *f, enum render_status status, const char *sentence)
{
    if (f->status == RENDER_OK)
        snprintf(f->sentence, RENDER_SENTENCE, "%s", sentence);
    f->status = status;
    return -1;
}

/* ---- running it ---- */

/* 0: it ended well; 1: it said that it could not; -1: refused. */
static int run(struct film *f, const char *const *arguments, program_take take, void *arg, char *said)
{
    struct program_result r;
    program_run(arguments, f->source, take, arg, &r);
    f->source = span_of("", 0);
    if (said)
        memcpy(said, r.said, sizeof r.said);
    if (r.end == PROGRAM_KILLED && (r.signal == SIGXCPU || r.signal == SIGKILL))
        return fail(f, RENDER_LIMIT, "takes more than 60 s of computing to read.");
    if (r.end == PROGRAM_KILLED)
        return fail(f, RENDER_INVALID, "could not be read: ffmpeg broke on it.");
    if (r.end == PROGRAM_TOO_MUCH)
        return 1;
    if (r.end != PROGRAM_ENDED)
        return fail(f, RENDER_FAILED, "could not be read: ffmpeg did not run.");
    return r.status ? 1 : 0;
}

/* ---- the packets of the picture ---- */

static void take_key(struct film *f, int64_t at)
{
    if (f->keys.n < KEYS * sizeof at)
        buf_addn(&f->keys, &at, sizeof at);
}

/* "0, dts, pts, duration, size, checksum" and, unless it is a key frame, ", F=0x0"; before them "#tb 0:
 * 1/25". */
static void take_line(struct film *f)
{
    long long dts, pts, duration;
    unsigned long num, den;
    const char *line = f->line;
    if (sscanf(line, "#tb 0: %lu/%lu", &num, &den) == 2) {
        f->per_num = num;
        f->per_den = den;
    } else if (sscanf(line, "#dimensions 0: %ux%u", &f->wide, &f->high) == 2) {
        return;
    } else if (sscanf(line, "0, %lld, %lld, %lld,", &dts, &pts, &duration) == 3) {
        int64_t end;
        if (__builtin_add_overflow(pts, duration > 0 ? duration : 0, &end))
            return;
        if (f->last < f->first || pts < f->first)
            f->first = pts;
        if (f->last < f->first || end > f->last)
            f->last = end;
        const char *flags = strstr(line, "F=0x");
        if (!flags || strtoul(flags + 2, NULL, 16) & 1)
            take_key(f, pts);
    }
}

static int take_packets(void *arg, struct span piece)
{
    struct film *f = arg;
    for (size_t i = 0; i < piece.n; i++) {
        if (piece.p[i] != '\n') {
            if (f->n_line < LINE - 1)
                f->line[f->n_line++] = piece.p[i];
            continue;
        }
        f->line[f->n_line] = '\0';
        take_line(f);
        f->n_line = 0;
    }
    return 0;
}

static double seconds_of(const struct film *f, int64_t units)
{
    return (double)units * (double)f->per_num / (double)f->per_den;
}

/* Key frames nearest to even spacing, each once, in order. */
static void choose(struct film *f)
{
    size_t n = f->keys.n / sizeof(int64_t), at = 0;
    const char *keys = buf_span(&f->keys).p;
    for (size_t i = 0; i < FRAMES && at < n; i++) {
        double wanted = (double)f->first + ((double)i + 0.5) * (double)(f->last - f->first) / FRAMES,
               best = 0;
        size_t found = n;
        for (size_t k = at; k < n; k++) {
            int64_t key;
            memcpy(&key, keys + k * sizeof key, sizeof key);
            double far = (double)key < wanted ? wanted - (double)key : (double)key - wanted;
            if (found < n && far > best)
                break;
            found = k;
            best = far;
        }
        memcpy(&f->chosen[f->n_chosen++], keys + found * sizeof(int64_t), sizeof(int64_t));
        at = found + 1;
    }
}

static int list_packets(struct film *f)
{
    char said[PROGRAM_SAID];
    const char *const arguments[] = {"-v",          "error", "-nostdin", "-protocol_whitelist",
                                     "file",        "-f",    f->demuxer, "-i",
                                     PROGRAM_INPUT, "-map",  "0:v:0",    "-c",
                                     "copy",        "-f",    "framecrc", "pipe:1",
                                     NULL};
    if (run(f, arguments, take_packets, f, said) < 0)
        return -1;
    if (strstr(said, "partial file") || strstr(said, "ended prematurely"))
        return fail(f, RENDER_INVALID, "is cut off: it ends before its pictures do.");
    if (f->last < f->first || !f->per_num || !f->per_den)
        return 0; /* no picture in it */
    if (f->wide > PICTURE_SIDE || f->high > PICTURE_SIDE) {
        char why[128];
        snprintf(why, sizeof why, "has pictures of %u x %u pixels; at most %u x %u can be read.", f->wide,
                 f->high, PICTURE_SIDE, PICTURE_SIDE);
        return fail(f, RENDER_LIMIT, why);
    }
    choose(f);
    return 0;
}

/* ---- frames ---- */

/* The times of the frames that came, which the second output lists, in units of its own. */
static size_t read_times(const char *said, double times[FRAMES])
{
    unsigned long num = 0, den = 0;
    size_t n = 0;
    for (const char *line = said; line && *line && n < FRAMES; line = strchr(line, '\n')) {
        long long dts, pts;
        line += *line == '\n';
        if (sscanf(line, "#tb 0: %lu/%lu", &num, &den) == 2)
            continue;
        if (den && sscanf(line, "0, %lld, %lld,", &dts, &pts) == 2)
            times[n++] = (double)pts * (double)num / (double)den;
    }
    return n;
}

/* JPEG files one behind the other: an end marker is never part of a picture's data. */
static struct span next_picture(struct span *all)
{
    const char *end = all->n > 4 ? memmem(all->p, all->n, "\xff\xd9", 2) : NULL;
    if (!end)
        return span_of("", 0);
    struct span picture = span_of(all->p, (size_t)(end - all->p) + 2);
    *all = span_from(*all, picture.n);
    return picture;
}

static void add_text(const char *text, struct buf *out)
{
    parts_add("text/markdown", span_str(text), out);
}

static int write_frames(struct film *f, const char *said, struct span pictures, struct buf *out)
{
    double times[FRAMES] = {0};
    size_t n = read_times(said, times), written = 0;
    for (struct span picture; written < n && (picture = next_picture(&pictures)).n; written++) {
        char text[64], at[24];
        speech_time(times[written] > 0 ? (uint64_t)times[written] : 0, at);
        snprintf(text, sizeof text, "Frame at %s:", at);
        add_text(text, out);
        parts_add("image/jpeg", picture, out);
    }
    return written ? 0 : fail(f, RENDER_INVALID, "has pictures that ffmpeg cannot decode.");
}

/* A frame is chosen when it is as near to a wanted time as rounding allows. */
static void write_filter(const struct film *f, char *out, size_t room)
{
    size_t n = (size_t)snprintf(out, room, "[0:v:0]select='");
    for (size_t i = 0; i < f->n_chosen; i++)
        n += (size_t)snprintf(out + n, room - n, "%slt(abs(t-%.4f),0.002)", i ? "+" : "",
                              seconds_of(f, f->chosen[i]));
    snprintf(out + n, room - n,
             "',scale='min(%d,iw)':'min(%d,ih)':force_original_aspect_ratio=decrease:force_divisible_by=2,"
             "format=yuvj420p,split[a][b]",
             SIDE, SIDE);
}

static int take_frames(struct film *f, struct buf *out)
{
    char filter[1024], said[PROGRAM_SAID];
    struct buf pictures;
    write_filter(f, filter, sizeof filter);
    const char *const arguments[] = {"-v",          "quiet",
                                     "-nostdin",    "-protocol_whitelist",
                                     "file",        "-threads",
                                     "1",           "-skip_frame",
                                     "nokey",       "-f",
                                     f->demuxer,    "-i",
                                     PROGRAM_INPUT, "-filter_threads",
                                     "1",           "-filter_complex_threads",
                                     "1",           "-filter_complex",
                                     filter,        "-map",
                                     "[a]",         "-vsync",
                                     "passthrough", "-c:v",
                                     "mjpeg",       "-q:v",
                                     "4",           "-f",
                                     "image2pipe",  "pipe:1",
                                     "-map",        "[b]",
                                     "-vsync",      "passthrough",
                                     "-c:v",        "mjpeg",
                                     "-q:v",        "31",
                                     "-f",          "framecrc",
                                     "pipe:2",      NULL};
    buf_init(&pictures, PICTURES);
    int failed = run(f, arguments, program_take_buf, &pictures, said);
    if (failed >= 0)
        failed = write_frames(f, said, buf_span(&pictures), out);
    buf_free(&pictures);
    return failed;
}

/* ---- sound ---- */

/* *pcm is empty when there is none. */
static int take_sound(struct film *f, struct buf *pcm)
{
    char seconds[16], rate[16], why[160], most[24];
    snprintf(seconds, sizeof seconds, "%u", f->longest + 1);
    snprintf(rate, sizeof rate, "%d", SPEECH_RATE);
    const char *const arguments[] = {"-v",       "quiet",    "-nostdin",    "-protocol_whitelist",
                                     "file",     "-threads", "1",           "-f",
                                     f->demuxer, "-i",       PROGRAM_INPUT, "-vn",
                                     "-sn",      "-dn",      "-map",        "0:a:0",
                                     "-t",       seconds,    "-ac",         "1",
                                     "-ar",      rate,       "-f",          "s16le",
                                     "pipe:1",   NULL};
    if (run(f, arguments, program_take_buf, pcm, NULL) < 0)
        return -1;
    if (pcm->n <= (size_t)f->longest * SPEECH_RATE * sizeof(short))
        return 0;
    speech_length(f->longest, most);
    if (f->longest == SPEECH_SECONDS)
        snprintf(why, sizeof why,
                 "is too long; at most %s of sound can be transcribed offline: " SPEECH_ADVICE, most);
    else
        snprintf(why, sizeof why, "is too long; at most %s of sound can be transcribed: split it.", most);
    return fail(f, RENDER_LIMIT, why);
}

static int write_transcript(struct film *f, bool picture, struct buf *out)
{
    struct buf pcm, lines, text;
    buf_init(&pcm, ((size_t)f->longest + 2) * SPEECH_RATE * sizeof(short));
    buf_init(&lines, EXTRACT_TEXT);
    buf_init(&text, EXTRACT_TEXT);
    int failed = take_sound(f, &pcm);
    if (!failed && pcm.n && speech_works())
        f->status = speech_recognise(buf_span(&pcm), &lines, f->sentence);
    if (!failed && f->status == RENDER_OK) {
        if (!pcm.n && !picture)
            failed = fail(f, RENDER_INVALID, "holds neither pictures nor sound that ffmpeg can read.");
        else if (!pcm.n)
            buf_adds(&text, "(no sound)\n");
        else if (!speech_works())
            buf_adds(&text, "(the sound was not transcribed: no recogniser is installed)\n");
        else
            speech_transcript(picture ? "Transcript" : "Audio transcript", f->name,
                              pcm.n / sizeof(short) / SPEECH_RATE, buf_span(&lines), &text);
        parts_add("text/markdown", buf_span(&text), out);
    }
    buf_free(&pcm);
    buf_free(&lines);
    buf_free(&text);
    return failed || f->status != RENDER_OK ? -1 : 0;
}

/* The sound itself, for somebody else to write down. */
static int write_sound(struct film *f, bool picture, struct buf *out)
{
    struct buf pcm, mp3;
    buf_init(&pcm, ((size_t)f->longest + 2) * SPEECH_RATE * sizeof(short));
    buf_init(&mp3, SOUND);
    int failed = take_sound(f, &pcm);
    if (!failed && !pcm.n && !picture)
        failed = fail(f, RENDER_INVALID, "holds neither pictures nor sound that ffmpeg can read.");
    else if (!failed && !pcm.n)
        parts_add("text/markdown", SPAN_LIT("(no sound)\n"), out);
    else if (!failed) {
        f->status = speech_encode(buf_span(&pcm), &mp3, f->sentence);
        parts_add("audio/mpeg", buf_span(&mp3), out);
    }
    buf_free(&pcm);
    buf_free(&mp3);
    return failed || f->status != RENDER_OK ? -1 : 0;
}

/* ---- all of it ---- */

static void write_head(const struct film *f, struct buf *out)
{
    char length[24];
    struct buf text;
    double seconds = seconds_of(f, f->last - f->first);
    buf_init(&text, EXTRACT_TEXT);
    speech_length(seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds + 0.5) : 0, length);
    buf_adds(&text, "### Video (");
    for (const char *p = f->name; *p; p++)
        buf_addc(&text, (unsigned char)*p < 0x20 || *p == 0x7f ? ' ' : *p);
    buf_printf(&text, "%s%s, %s, %u x %u)", *f->name ? ", " : "", f->media.type, length, f->wide, f->high);
    parts_add("text/markdown", buf_span(&text), out);
    buf_free(&text);
}

static enum render_status extract(struct span source, const struct render_params *params, bool sound_apart,
                                  struct buf *out, char sentence[RENDER_SENTENCE])
{
    struct film f = {.media = sniff_media(source, span_of("", 0)),
                     .name = params->filename ? params->filename : "",
                     .source = source,
                     .longest = sound_apart ? HOUR : SPEECH_SECONDS,
                     .sentence = sentence,
                     .last = -1};
    f.demuxer = demuxer_of(f.media.type);
    if (!f.demuxer) {
        snprintf(sentence, RENDER_SENTENCE, "is no film or recording that can be read.");
        return RENDER_INVALID;
    }
    buf_init(&f.keys, KEYS * sizeof(int64_t));
    parts_begin(out);
    bool picture = false;
    int failed = f.media.kind == MEDIA_VIDEO ? list_packets(&f) : 0;
    if (!failed && f.n_chosen) {
        picture = true;
        write_head(&f, out);
        failed = take_frames(&f, out);
    }
    if (!failed && sound_apart)
        write_sound(&f, picture, out);
    else if (!failed)
        write_transcript(&f, picture, out);
    buf_free(&f.keys);
    return f.status;
}

static enum render_status extract_video(struct span source, const struct render_params *params,
                                        struct buf *out, char sentence[RENDER_SENTENCE])
{
    return extract(source, params, false, out, sentence);
}

static enum render_status extract_frames(struct span source, const struct render_params *params,
                                         struct buf *out, char sentence[RENDER_SENTENCE])
{
    return extract(source, params, true, out, sentence);
}

static int warm_frames(void)
{
    return speech_encodes() ? 0 : 1;
}

const struct renderer_ops extract_video_ops = {
    .name = "video",
    .version = "1",
    .formats = (const char *const[]){EXTRACT_PARTS, NULL},
    .limits = {.source_bytes = RENDER_SOURCE,
               .out_bytes = PARTS_BYTES,
               .memory_bytes = SPEECH_MEMORY,
               .cpu_s = SPEECH_SECONDS + SPEECH_CPU_EXTRA,
               .wall_ms = (SPEECH_SECONDS + 120) * 1000},
    .reads = speech_folders,
    .program = &ffmpeg,
    .render = extract_video,
};

const struct renderer_ops extract_frames_ops = {
    .name = "frames",
    .version = "1",
    .formats = (const char *const[]){EXTRACT_FRAMES, NULL},
    .limits = {.source_bytes = RENDER_SOURCE,
               .out_bytes = PARTS_BYTES,
               .memory_bytes = SPEECH_MEMORY,
               .cpu_s = 120,
               .wall_ms = 300000},
    .program = &ffmpeg,
    .warm = warm_frames,
    .render = extract_frames,
};
