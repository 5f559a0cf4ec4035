// A scripted provider: answers OpenAI's chat API from the scenarios below, chosen by the request's `model`.
import { setTimeout as sleep } from 'node:timers/promises';
import { LoopbackUpstream, bodyOf } from './loopback-upstream.js';

export const CSV = 'region,total\nnorth,12\nsouth,30';
// The file that is made of it: a line end by RFC 4180.
export const CSV_FILE = `${CSV.replaceAll('\n', '\r\n')}\r\n`;
const directive = (name, content) => `<<<HW_ATTACHMENT\n{"filename":"${name}","format":"${name.split('.').pop()}"}\n---\n${content}\nHW_ATTACHMENT>>>`;

// Reply texts, and what Penstock leaves of each.
export const TEXTS = {
    file: {
        written: `Here are the totals:\n\n${directive('totals.csv', CSV)}\n\nAsk for more.`,
        left: 'Here are the totals:\n\n\nAsk for more.',
    },
    'file-only': { written: directive('totals.csv', CSV) },
    'two-files': {
        written: `First\n${directive('a.csv', CSV)}\nthen\n${directive('b.md', '# Ünïcode 🙂\n\n---\n\ntext')}\nend`,
        left: 'First\nthen\nend',
    },
    unterminated: { written: 'Before <<<HW_ATTACHMENT\n{"format":"csv"}\n---\n1,2\n3,4', left: 'Before ' },
    decoys: { written: 'a << b, <<<HW_ATTACH is none, `<<<` neither; HW_ATTACHMENTS too', left: undefined },
};
TEXTS.decoys.left = TEXTS.decoys.written;

const USAGE = { prompt_tokens: 11, completion_tokens: 22, total_tokens: 33 };
const HEAD = { id: 'chatcmpl-e2e', object: 'chat.completion.chunk', created: 1790000000, model: 'scripted' };

const event = (value) => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta, finish_reason = null, index = 0) => event({ ...HEAD, choices: [{ index, delta, logprobs: null, finish_reason }] });
const DONE = 'data: [DONE]\n\n';

// In pieces of one to nine characters, so that markers fall apart in every place.
export function* pieces(text) {
    const characters = [...text];
    for (let at = 0, size = 0; at < characters.length; at += size) {
        size = 1 + ((at * 7 + 3) % 9);
        yield characters.slice(at, at + size).join('');
    }
}

function* textEvents(text, index = 0) {
    yield chunk({ role: 'assistant', content: '' }, null, index);
    for (const piece of pieces(text)) yield chunk({ content: piece }, null, index);
}

const WEATHER = { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } };
export const ARGUMENTS = '{"city":"Köln","note":"<b>HW</b>"}';

const wholeMessage = (message, finish_reason = 'stop') => ({
    id: HEAD.id,
    object: 'chat.completion',
    created: HEAD.created,
    model: HEAD.model,
    choices: [{ index: 0, message: { role: 'assistant', refusal: null, ...message }, logprobs: null, finish_reason }],
    usage: USAGE,
});

// Bytes that a parser and a printer would not give back: spacing, number spelling, escapes, unknown and repeated keys.
const VERBATIM = [
    ': a comment\n\n',
    'data: {"id":"x","object":"chat.completion.chunk","created":1.79e9,"big":12345678901234567890,"price":0.10,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n',
    'data:  { "choices" : [ { "index" : 0 , "delta" : { "content" : "Stra\\u00dfe \\/ caf\\u00e9" } , "finish_reason" : null } ] , "x" : 1, "x" : 2 }\n\n',
    'data: {"choices":[{"index":0,"delta":{"content":" und 🙂."},"finish_reason":null}],"vendor":{"deep":[1,2,{"a":null}]}}\n\n',
    'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    DONE,
];

// Takes seconds, and is different for each `tag`, which is what the request's last message says.
export const slowFile = (tag) => Array.from({ length: 16 }, (_, i) => `${tag},${i}`).join('\n');
export const slowText = (tag) => ({
    written: `For ${tag}:\n${directive(`${tag}.csv`, slowFile(tag))}\nThat is all for ${tag}.`,
    left: `For ${tag}:\nThat is all for ${tag}.`,
});

const SCENARIOS = {
    slow: {
        *stream(request) {
            yield* textEvents(slowText(request.messages.at(-1).content).written);
            yield chunk({}, 'stop');
            yield DONE;
        },
        pause: 40,
    },
    verbatim: { stream: () => VERBATIM },
    tools: {
        *stream() {
            yield* textEvents(`Looking.\n${directive('plan.md', 'ask')}\n`);
            yield chunk({ tool_calls: [WEATHER] });
            for (const piece of pieces(ARGUMENTS)) yield chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] });
            yield chunk({}, 'tool_calls');
            yield DONE;
        },
        json: () => wholeMessage({ content: null, tool_calls: [{ ...WEATHER, index: undefined, function: { name: 'weather', arguments: ARGUMENTS } }] }, 'tool_calls'),
    },
    'two-choices': {
        *stream() {
            const other = textEvents(TEXTS.file.written, 1);
            for (const one of textEvents(TEXTS['two-files'].written, 0)) {
                yield one;
                const next = other.next();
                if (!next.done) yield next.value;
            }
            yield* other;
            yield chunk({}, 'stop', 1);
            yield chunk({}, 'stop', 0);
            yield DONE;
        },
    },
    endless: {
        *stream() {
            for (let i = 0; i < 400; i++) yield chunk({ content: `word${i} ` });
            yield chunk({}, 'length');
            yield DONE;
        },
        pause: 25,
    },
    limited: { status: 429, headers: { 'retry-after': '7', 'x-request-id': 'req_e2e' }, json: () => ({ error: { message: 'slow down', type: 'requests', param: null, code: 'rate_limit_exceeded' } }) },
};

for (const [name, { written }] of Object.entries(TEXTS)) {
    SCENARIOS[name] = {
        *stream(request) {
            yield* textEvents(written);
            yield chunk({}, 'stop');
            if (request.stream_options?.include_usage) yield event({ ...HEAD, choices: [], usage: USAGE });
            yield DONE;
        },
        json: () => wholeMessage({ content: written }),
    };
}

export class Upstream extends LoopbackUpstream {
    requests = []; // {method, url, headers, body}
    sent = Buffer.alloc(0); // body bytes of the last reply
    closedEarly = []; // when a client went away before the end: performance.now()

    async answer(request, response) {
        const body = (await bodyOf(request)).toString();
        this.requests.push({ method: request.method, url: request.url, headers: request.headers, body });
        if (!request.url.endsWith('/chat/completions')) {
            const list = `{"object":"list", "data":[{"id":"scripted","object":"model","created":1,"owned_by":"e2e"}]}`;
            this.#whole(response, request.url.endsWith('/models') ? 200 : 404, {}, list);
            return;
        }
        const asked = JSON.parse(body);
        const scenario = SCENARIOS[asked.model];
        if (!asked.stream || !scenario.stream) {
            this.#whole(response, scenario.status ?? 200, scenario.headers ?? {}, JSON.stringify(scenario.json(asked)));
            return;
        }
        let gone = false;
        response.on('close', () => {
            gone = true;
            if (!response.writableFinished) this.closedEarly.push(performance.now());
        });
        this.sent = Buffer.alloc(0);
        response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_e2e' });
        for (const text of scenario.stream(asked)) {
            if (gone) return;
            this.sent = Buffer.concat([this.sent, Buffer.from(text)]);
            response.write(text);
            await sleep(scenario.pause ?? 0);
        }
        response.end();
    }

    #whole(response, status, headers, text) {
        this.sent = Buffer.from(text);
        response.writeHead(status, { 'content-type': 'application/json', 'content-length': this.sent.length, ...headers });
        response.end(this.sent);
    }
}
