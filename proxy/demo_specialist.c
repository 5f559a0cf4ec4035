#include "proxy/demo_specialist.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "net/http_parser.h"
#include "proxy/demo_io.h"

enum { REQUEST = 4 * 1024 * 1024, EVENT = 4096, IDLE_MS = 10000, READ = 16 * 1024 };

/* The pace of prose, and of what the client does not see. */
enum { PROSE_MS = 25, PROSE_MORE_MS = 16, DIRECTIVE_MS = 9 };

static const struct part {
    bool directive; /* with the line break behind it */
    const char *text;
} script[] = {
    {false, "Here are the third quarter's figures as a spreadsheet, region by region, with last year's "
            "beside them. The West carried the quarter; the North is the one to watch.\n\n"},
    {true, "<<<HW_ATTACHMENT\n"
           "{\"filename\":\"q3-figures.csv\",\"format\":\"csv\",\"title\":\"Q3 figures by region\"}\n"
           "---\n"
           "region,revenue,revenue_last_year,cost,profit\n"
           "North,182400,195100,161250,21150\n"
           "South,240310,221870,190020,50290\n"
           "East,205775,201340,168400,37375\n"
           "West,318960,261200,228130,90830\n"
           "Total,947445,879510,747800,199645\n"
           "HW_ATTACHMENT>>>\n"},
    {false, "And because the board will not open a spreadsheet, the same on one page:\n\n"},
    {true, "<<<HW_ATTACHMENT\n"
           "{\"filename\":\"q3-summary.md\",\"format\":\"md\",\"title\":\"Q3 summary\"}\n"
           "---\n"
           "# Q3 summary\n"
           "\n"
           "- Revenue 947,445, up **7.7 %** on last year.\n"
           "- West up 22 %; North down 6.5 %.\n"
           "- Profit 199,645, a margin of 21 %.\n"
           "\n"
           "**Next:** a plan for the North by the end of November.\n"
           "HW_ATTACHMENT>>>\n"},
    {false, "Both files are attached. Shall I break the North down by month?"},
};
enum { PARTS = sizeof script / sizeof script[0] };

const char *demo_specialist_question(void)
{
    return "Please put our Q3 figures into a spreadsheet, and give me one page for the board.";
}

void demo_specialist_expected(struct buf *out)
{
    for (size_t i = 0; i < PARTS; i++)
        if (!script[i].directive)
            buf_adds(out, script[i].text);
}

/* ---- the reply ---- */

struct answer {
    struct demo_io io;
    int fd, record; /* the socket, and the file of what is sent */
    int64_t created;
    unsigned tokens;
    char why[LIMIT_ERROR_TEXT];
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* How a tokenizer might cut: a blank goes with the word behind it, long words, numbers and runs of signs are
 * cut. */
static size_t token_length(const char *p)
{
    enum { LETTERS = 5, DIGITS = 3, SIGNS = 2 };
    size_t n = *p == ' ' ? 1 : 0, from = n;
    if (is_letter(p[n]))
        while (is_letter(p[n]) && n - from < LETTERS)
            n++;
    else if (is_digit(p[n]))
        while (is_digit(p[n]) && n - from < DIGITS)
            n++;
    else
        while (p[n] && p[n] != ' ' && !is_letter(p[n]) && !is_digit(p[n]) && n - from < SIGNS)
            n++;
    return n ? n : 1;
}

static int send_event(struct answer *a, struct span data)
{
    struct buf event, chunk;
    int failed = -1;
    buf_init(&event, EVENT);
    buf_init(&chunk, 2 * EVENT);
    buf_adds(&event, "data: ");
    buf_add(&event, data);
    buf_adds(&event, "\n\n");
    buf_printf(&chunk, "%zx\r\n", event.n);
    buf_add(&chunk, buf_span(&event));
    buf_adds(&chunk, "\r\n");
    if (!buf_full(&event) && !buf_full(&chunk) &&
        write(a->record, buf_span(&event).p, event.n) == (ssize_t)event.n)
        failed = demo_io_send(&a->io, a->fd, buf_span(&chunk), a->why);
    buf_free(&event);
    buf_free(&chunk);
    return failed;
}

static int send_choice(struct answer *a, const char *delta, const char *finish)
{
    struct buf data;
    buf_init(&data, EVENT);
    buf_printf(&data,
               "{\"id\":\"chatcmpl-demo\",\"object\":\"chat.completion.chunk\",\"created\":%lld,"
               "\"model\":\"specialist\",\"system_fingerprint\":\"fp_demo\",\"choices\":[{\"index\":0,"
               "\"delta\":%s,\"logprobs\":null,\"finish_reason\":%s}],\"usage\":null}",
               (long long)a->created, delta, finish);
    int failed = buf_full(&data) ? -1 : send_event(a, buf_span(&data));
    buf_free(&data);
    return failed;
}

static int send_token(struct answer *a, struct span token)
{
    struct buf delta;
    buf_init(&delta, EVENT / 2);
    buf_adds(&delta, "{\"content\":\"");
    int failed = json_escape(token, &delta);
    buf_adds(&delta, "\"}");
    if (!failed)
        failed = send_choice(a, buf_cstr(&delta), "null");
    buf_free(&delta);
    a->tokens++;
    return failed;
}

static int send_part(struct answer *a, const struct part *part)
{
    for (const char *p = part->text; *p;) {
        size_t n = token_length(p);
        int pause = part->directive ? DIRECTIVE_MS : PROSE_MS + (int)(a->tokens * 7 % PROSE_MORE_MS);
        if (send_token(a, span_of(p, n)) || !demo_io_pause(&a->io, pause))
            return -1;
        p += n;
    }
    return 0;
}

static int send_usage(struct answer *a, size_t asked)
{
    struct buf data;
    size_t prompt = asked / 4;
    buf_init(&data, EVENT);
    buf_printf(&data,
               "{\"id\":\"chatcmpl-demo\",\"object\":\"chat.completion.chunk\",\"created\":%lld,"
               "\"model\":\"specialist\",\"system_fingerprint\":\"fp_demo\",\"choices\":[],\"usage\":{"
               "\"prompt_tokens\":%zu,\"completion_tokens\":%u,\"total_tokens\":%zu}}",
               (long long)a->created, prompt, a->tokens, prompt + a->tokens);
    int failed = send_event(a, buf_span(&data));
    buf_free(&data);
    return failed;
}

static void send_reply(struct answer *a, size_t asked)
{
    static const char head[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
        "Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n"
        "x-request-id: req_demo\r\nopenai-version: 2020-10-01\r\n\r\n";
    if (demo_io_send(&a->io, a->fd, SPAN_LIT(head), a->why) ||
        send_choice(a, "{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null}", "null"))
        return;
    for (size_t i = 0; i < PARTS; i++)
        if (send_part(a, &script[i]))
            return;
    if (send_choice(a, "{}", "\"stop\"") || send_usage(a, asked) || send_event(a, SPAN_LIT("[DONE]")))
        return;
    if (demo_io_send(&a->io, a->fd, SPAN_LIT("0\r\n\r\n"), a->why))
        return;
}

/* Its end is that of the connection. */
static void send_not_found(struct answer *a)
{
    static const char reply[] = "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\n"
                                "Connection: close\r\n\r\n"
                                "{\"error\":{\"message\":\"The demo's Specialist only chats.\","
                                "\"type\":\"invalid_request_error\",\"code\":null}}";
    if (demo_io_send(&a->io, a->fd, SPAN_LIT(reply), a->why))
        return;
}

/* ---- the request ---- */

static void take_body(void *arg, struct span bytes)
{
    buf_add(arg, bytes);
}

/* Head and body of one request. -1: it was no request that can be read, or too large. `chat`: it asks for a
 * chat. */
static int read_request(struct answer *a, struct buf *body, bool *chat)
{
    static const struct http_body_sink sink = {.data = take_body};
    struct http_parser parser;
    struct http_head head;
    struct error e;
    struct buf in;
    enum http_progress progress = HTTP_INVALID;
    size_t scanned = 0, used = 0;
    ssize_t length = 0;
    http_parser_init(&parser, true);
    buf_init(&in, LIMIT_HTTP_HEAD + READ);
    while (length == 0 || progress == HTTP_MORE) {
        char *room = buf_reserve(&in, READ);
        ssize_t n = room ? demo_io_receive(&a->io, a->fd, room, READ, IDLE_MS, a->why) : -1;
        if (n <= 0)
            break;
        buf_commit(&in, (size_t)n);
        if (length == 0) {
            length = http_head_length(buf_span(&in), &scanned);
            if (length < 0)
                break;
            if (length == 0)
                continue;
            progress = http_parser_head(&parser, span_of(buf_span(&in).p, (size_t)length), false, &head, &e);
            *chat = progress != HTTP_INVALID && span_is(head.method, "POST") &&
                    span_ends(head.target, "/chat/completions");
            buf_consume(&in, (size_t)length);
        }
        if (progress == HTTP_MORE) {
            progress = http_parser_body(&parser, buf_span(&in), &sink, body, &used);
            buf_reset(&in);
        }
    }
    http_parser_finish(&parser);
    buf_free(&in);
    return progress == HTTP_DONE && !buf_full(body) ? 0 : -1;
}

static void serve(int fd, const char *dir)
{
    struct answer a = {.io = {.signals = -1}, .fd = fd, .record = -1, .created = clock_wall_ms() / 1000};
    char request[DEMO_PATH], stream[DEMO_PATH];
    struct buf body;
    bool chat = false;
    buf_init(&body, REQUEST);
    if (read_request(&a, &body, &chat))
        goto out;
    if (!chat) {
        send_not_found(&a);
        goto out;
    }
    if (demo_io_path(request, dir, DEMO_PROVIDER_REQUEST) ||
        demo_io_path(stream, dir, DEMO_PROVIDER_STREAM) || demo_io_write_file(request, buf_span(&body)))
        goto out;
    a.record = open(stream, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (a.record >= 0)
        send_reply(&a, body.n);
out:
    if (a.record >= 0)
        close(a.record);
    buf_free(&body);
    shutdown(fd, SHUT_WR);
}

void demo_specialist_run(int listener, const char *dir)
{
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0 && errno != EINTR && errno != ECONNABORTED)
            _exit(1);
        if (fd >= 0) {
            serve(fd, dir);
            close(fd);
        }
    }
}
