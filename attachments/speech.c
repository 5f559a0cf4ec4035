#include "attachments/speech.h"

#include <math.h>
#include <pocketsphinx.h>
#include <samplerate.h>
#include <sndfile.h>
#include <sphinxbase/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/xalloc.h"

enum {
    CHANNELS = 32,
    RATE_LEAST = 4000,
    RATE_MOST = 384000,
    BLOCK = 4096,            /* frames that are decoded at a time */
    FRAME = SPEECH_RATE / 50 /* samples that loudness is measured over: 20 ms */
};

#define MODEL SPEECH_MODELS "/en-us"

const char *const speech_folders[] = {MODEL, NULL};

bool speech_works(void)
{
    return access(MODEL "/en-us/mdef", R_OK) == 0 && access(MODEL "/en-us.lm.bin", R_OK) == 0 &&
           access(MODEL "/cmudict-en-us.dict", R_OK) == 0;
}

/* ---- decoding ---- */

/* A file in memory for libsndfile. */
struct memory_file {
    struct span bytes;
    sf_count_t at;
};

static sf_count_t memory_length(void *arg)
{
    return (sf_count_t)((struct memory_file *)arg)->bytes.n;
}

static sf_count_t memory_seek(sf_count_t to, int whence, void *arg)
{
    struct memory_file *m = arg;
    sf_count_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? m->at : memory_length(m), sum;
    if (__builtin_add_overflow(from, to, &sum) || sum < 0 || sum > memory_length(m))
        return -1;
    return m->at = sum;
}

static sf_count_t memory_read(void *to, sf_count_t n, void *arg)
{
    struct memory_file *m = arg;
    sf_count_t left = memory_length(m) - m->at;
    n = n < 0 ? 0 : n < left ? n : left;
    if (n)
        memcpy(to, m->bytes.p + m->at, (size_t)n);
    m->at += n;
    return n;
}

static sf_count_t memory_write(const void *from, sf_count_t n, void *arg)
{
    (void)from, (void)n, (void)arg;
    return 0;
}

static sf_count_t memory_tell(void *arg)
{
    return ((struct memory_file *)arg)->at;
}

/* The mean of a frame's channels. */
static void mix(const float *from, sf_count_t frames, int channels, float *to)
{
    for (sf_count_t i = 0; i < frames; i++) {
        float sum = 0;
        for (int c = 0; c < channels; c++)
            sum += from[i * channels + c];
        to[i] = isfinite(sum) ? sum / (float)channels : 0;
    }
}

static void add_samples(const float *from, long n, struct buf *pcm)
{
    short out[BLOCK];
    while (n > 0) {
        int part = n < BLOCK ? (int)n : BLOCK;
        src_float_to_short_array(from, out, part);
        buf_addn(pcm, out, (size_t)part * sizeof *out);
        from += part;
        n -= part;
    }
}

struct resampler {
    SRC_STATE *state;
    double ratio;
    float *out;
    long room;
};

/* -1: it failed. */
static int resample(struct resampler *r, const float *from, long n, bool last, struct buf *pcm)
{
    SRC_DATA d = {.data_in = from,
                  .data_out = r->out,
                  .input_frames = n,
                  .output_frames = r->room,
                  .end_of_input = last,
                  .src_ratio = r->ratio};
    do {
        if (src_process(r->state, &d))
            return -1;
        add_samples(r->out, d.output_frames_gen, pcm);
        d.data_in += d.input_frames_used;
        d.input_frames -= d.input_frames_used;
    } while (d.input_frames > 0 || (last && d.output_frames_gen > 0));
    return 0;
}

static enum render_status too_long(sf_count_t frames, int rate, unsigned longest,
                                   char sentence[RENDER_SENTENCE])
{
    char length[24] = "more", most[24];
    uint64_t seconds = frames > 0 ? (uint64_t)(frames / rate) : 0;
    speech_length(longest, most);
    if (seconds > longest && seconds < 100 * 3600) /* else it is a lie */
        speech_length(seconds, length);
    snprintf(sentence, RENDER_SENTENCE, "is %s long; at most %s can be transcribed offline: " SPEECH_ADVICE,
             strcmp(length, "more") ? length : "too", most);
    return RENDER_LIMIT;
}

/* The resampler keeps the last few samples of a recording to itself: three seconds would seem less. */
static void fill_up(sf_count_t frames, double ratio, struct buf *pcm)
{
    static const short silence[BLOCK];
    size_t wanted = (size_t)((double)frames * ratio + 0.5), have = pcm->n / sizeof(short);
    if (wanted > have && wanted - have <= BLOCK)
        buf_addn(pcm, silence, (wanted - have) * sizeof(short));
}

/* What it says of its length is not believed: it is counted. */
static enum render_status read_frames(SNDFILE *file, const SF_INFO *info, struct resampler *r,
                                      unsigned longest, struct buf *pcm, char sentence[RENDER_SENTENCE])
{
    float *frames = xmalloc((size_t)(BLOCK * info->channels) * sizeof *frames);
    float *mono = xmalloc(BLOCK * sizeof *mono);
    enum render_status status = RENDER_OK;
    sf_count_t read = 0;
    for (sf_count_t n = 1; n > 0 && status == RENDER_OK;) {
        n = sf_readf_float(file, frames, BLOCK);
        n = n < 0 ? 0 : n;
        read += n;
        mix(frames, n, info->channels, mono);
        if (resample(r, mono, (long)n, n == 0, pcm)) {
            snprintf(sentence, RENDER_SENTENCE, "could not be resampled.");
            status = RENDER_FAILED;
        } else if (pcm->n > (size_t)longest * SPEECH_RATE * sizeof(short) || buf_full(pcm)) {
            status = too_long(info->frames, info->samplerate, longest, sentence);
        }
    }
    if (status == RENDER_OK)
        fill_up(read, r->ratio, pcm);
    xfree(frames);
    xfree(mono);
    return status;
}

enum render_status speech_decode(struct span bytes, unsigned seconds, struct buf *pcm,
                                 char sentence[RENDER_SENTENCE])
{
    static const SF_VIRTUAL_IO io_table = {memory_length, memory_seek, memory_read, memory_write,
                                           memory_tell};
    SF_VIRTUAL_IO io = io_table;
    struct memory_file memory = {.bytes = bytes};
    SF_INFO info = {0};
    SNDFILE *file = sf_open_virtual(&io, SFM_READ, &info, &memory);
    enum render_status status = RENDER_INVALID;
    int failed = 0;
    if (!file || info.channels < 1 || info.channels > CHANNELS || info.samplerate < RATE_LEAST ||
        info.samplerate > RATE_MOST) {
        snprintf(sentence, RENDER_SENTENCE, "is damaged, or in an encoding of sound that cannot be read.");
    } else {
        struct resampler r = {.state = src_new(SRC_SINC_FASTEST, 1, &failed),
                              .ratio = (double)SPEECH_RATE / info.samplerate,
                              .room = BLOCK};
        r.out = xmalloc((size_t)r.room * sizeof *r.out);
        status = r.state ? read_frames(file, &info, &r, seconds, pcm, sentence) : RENDER_FAILED;
        if (r.state)
            src_delete(r.state);
        xfree(r.out);
    }
    if (file)
        sf_close(file);
    return status;
}

/* ---- encoding ---- */

static SF_INFO mp3_info(void)
{
    return (SF_INFO){
        .samplerate = SPEECH_RATE, .channels = 1, .format = SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III};
}

bool speech_encodes(void)
{
    SF_INFO info = mp3_info();
    return sf_format_check(&info) != 0;
}

/* A file in a buffer; its end is the buffer's. */
struct written_file {
    struct buf *out;
    size_t base, at;
};

static sf_count_t written_length(void *arg)
{
    const struct written_file *w = arg;
    return (sf_count_t)(w->out->n - w->base);
}

static sf_count_t written_seek(sf_count_t to, int whence, void *arg)
{
    struct written_file *w = arg;
    sf_count_t from = whence == SEEK_SET   ? 0
                      : whence == SEEK_CUR ? (sf_count_t)w->at
                                           : written_length(w),
               sum;
    if (__builtin_add_overflow(from, to, &sum) || sum < 0 || sum > written_length(w))
        return -1;
    w->at = (size_t)sum;
    return sum;
}

static sf_count_t written_read(void *to, sf_count_t n, void *arg)
{
    (void)to, (void)n, (void)arg;
    return 0;
}

/* The head is written once more at the end. */
static sf_count_t written_write(const void *from, sf_count_t n, void *arg)
{
    struct written_file *w = arg;
    size_t over = w->out->n - w->base - w->at, size = n < 0 ? 0 : (size_t)n;
    over = over < size ? over : size;
    if (over)
        memcpy(w->out->data + w->out->start + w->base + w->at, from, over);
    if (size > over && buf_addn(w->out, (const char *)from + over, size - over) < 0)
        return 0;
    w->at += size;
    return n;
}

static sf_count_t written_tell(void *arg)
{
    return (sf_count_t)((struct written_file *)arg)->at;
}

enum render_status speech_encode(struct span pcm, struct buf *mp3, char sentence[RENDER_SENTENCE])
{
    SF_VIRTUAL_IO io = {written_length, written_seek, written_read, written_write, written_tell};
    struct written_file to = {.out = mp3, .base = mp3->n};
    SF_INFO info = mp3_info();
    SNDFILE *file = sf_open_virtual(&io, SFM_WRITE, &info, &to);
    sf_count_t n = (sf_count_t)(pcm.n / sizeof(short));
    bool good = file && sf_write_short(file, (const short *)(const void *)pcm.p, n) == n;
    good = file && sf_close(file) == 0 && good && !buf_full(mp3);
    if (!good)
        snprintf(sentence, RENDER_SENTENCE, "could not be made into an MP3 for its transcription.");
    return good ? RENDER_OK : RENDER_FAILED;
}

/* ---- stretches of speech ---- */

struct stretch {
    size_t from, to; /* samples */
};

static int compare_loudness(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Above it a frame is not silence: a few times of what the quiet tenth has, and more than the noise of a
 * good recording in any case. */
static float threshold_of(const float *loudness, size_t n)
{
    enum { LEAST = 60 };
    float *sorted = xmalloc(n * sizeof *sorted), middle, quiet;
    memcpy(sorted, loudness, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_loudness);
    quiet = sorted[n / 10] * 3;
    middle = sorted[n - 1 - n / 20] / 4; /* so that speech without a pause is not all silence */
    xfree(sorted);
    quiet = quiet < middle ? quiet : middle;
    return quiet > LEAST ? quiet : LEAST;
}

static float *measure_loudness(const short *p, size_t frames)
{
    float *loudness = xmalloc((frames + 1) * sizeof *loudness);
    for (size_t i = 0; i < frames; i++) {
        double sum = 0;
        for (size_t k = 0; k < FRAME; k++)
            sum += (double)p[i * FRAME + k] * p[i * FRAME + k];
        loudness[i] = (float)sqrt(sum / FRAME);
    }
    return loudness;
}

/*
 * The next stretch of speech from frame *at on: up to a pause, which needs to be the shorter the longer the
 * stretch is, and with a bit of silence on both sides. False: there is none.
 */
static bool next_stretch(const float *loudness, size_t frames, float threshold, size_t *at,
                         struct stretch *out)
{
    enum { LONG_PAUSE = 35, SHORT_PAUSE = 12, LONG = 600, LONGEST = 1500, MARGIN = 10 };
    size_t from = *at, quiet = 0, i;
    while (from < frames && loudness[from] < threshold)
        from++;
    if (from == frames)
        return false;
    for (i = from; i < frames && i - from < LONGEST; i++) {
        quiet = loudness[i] < threshold ? quiet + 1 : 0;
        if (quiet >= (i - from > LONG ? SHORT_PAUSE : LONG_PAUSE))
            break;
    }
    *at = i;
    size_t end = i - quiet + (quiet < MARGIN ? quiet : MARGIN);
    out->from = (from > MARGIN ? from - MARGIN : 0) * FRAME;
    out->to = (end < frames ? end : frames) * FRAME;
    return true;
}

/* ---- recognising ---- */

static ps_decoder_t *load_model(void)
{
    err_set_logfp(NULL);
    cmd_ln_t *config = cmd_ln_init(NULL, ps_args(), TRUE, "-hmm", MODEL "/en-us", "-lm",
                                   MODEL "/en-us.lm.bin", "-dict", MODEL "/cmudict-en-us.dict", NULL);
    ps_decoder_t *decoder = config ? ps_init(config) : NULL;
    cmd_ln_free_r(config);
    return decoder;
}

static void recognise_stretch(ps_decoder_t *decoder, const short *pcm, struct stretch s, struct buf *out)
{
    int score;
    char time_of[24];
    if (ps_start_utt(decoder) || ps_process_raw(decoder, pcm + s.from, s.to - s.from, FALSE, TRUE) < 0)
        return;
    ps_end_utt(decoder);
    const char *words = ps_get_hyp(decoder, &score);
    if (!words || !*words)
        return;
    speech_time(s.from / SPEECH_RATE, time_of);
    buf_printf(out, "[%s] %s\n", time_of, words);
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

enum render_status speech_recognise(struct span pcm, struct buf *out, char sentence[RENDER_SENTENCE])
{
    const short *samples = (const short *)(const void *)pcm.p;
    size_t n = pcm.n / sizeof *samples, frames = n / FRAME, at = 0;
    double most = cpu_seconds() + (double)n / SPEECH_RATE + SPEECH_CPU_EXTRA;
    enum render_status status = RENDER_OK;
    struct stretch s;
    ps_decoder_t *decoder = NULL;
    if (frames == 0)
        return RENDER_OK;
    float *loudness = measure_loudness(samples, frames), threshold = threshold_of(loudness, frames);
    while (status == RENDER_OK && next_stretch(loudness, frames, threshold, &at, &s)) {
        decoder = decoder ? decoder : load_model();
        if (!decoder) {
            snprintf(sentence, RENDER_SENTENCE,
                     "could not be transcribed: the recogniser's model cannot be read.");
            status = RENDER_FAILED;
            break;
        }
        recognise_stretch(decoder, samples, s, out);
        if (cpu_seconds() > most) {
            snprintf(sentence, RENDER_SENTENCE,
                     "took longer to transcribe offline than it is long: " SPEECH_ADVICE);
            status = RENDER_LIMIT;
        }
    }
    if (decoder)
        ps_free(decoder);
    xfree(loudness);
    return status;
}
