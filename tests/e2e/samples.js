// A provider that replays the sample streams of tests/data/streams/, chosen by the request's `model`:
//   NAME           the sample's bytes
//   NAME.file      with totals.csv written into its text, behind the first character
//   NAME.endless   its beginning, and then its first piece of text for ten seconds
import { readFileSync } from 'node:fs';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { pieces, TEXTS } from './upstream.js';
import { LoopbackUpstream, bodyOf } from './loopback-upstream.js';

// By API: the answer's text in each, how many tools it calls, and the provider's name in Penstock's configuration.
export const SAMPLES = {
    chat: {
        'openai-chat': { text: 'The tide turns at noon.' },
        'openai-chat-tools': { text: 'Let me check.', tools: 1 },
        'openai-chat-n2-logprobs': { text: 'Rain today.' },
        'openai-chat-refusal': { text: '' },
        azure: { text: 'The tide turns at noon.', provider: 'azure' },
        openrouter: { text: 'The tide turns at noon.', provider: 'openrouter' },
        moonshot: { text: 'The tide turns at noon.', provider: 'moonshot' },
        vllm: { text: 'The tide turns at noon.', provider: 'vllm' },
        llamacpp: { text: 'The tide turns at noon.', provider: 'llamacpp' },
        'compat-content-array': { text: 'The tide turns at noon.', provider: 'mistral' },
    },
    responses: {
        'openai-responses': { text: 'The tide turns at noon.' },
        'openai-responses-incomplete': { text: 'The tide turns' },
    },
    anthropic: {
        anthropic: { text: 'The tide turns at noon.', provider: 'anthropic' },
        'anthropic-tools-citations': { text: 'Tables say: high water at noon', provider: 'anthropic', tools: 1 },
        'anthropic-max-tokens': { text: 'The tide turns', provider: 'anthropic' },
    },
    gemini: {
        gemini: { text: 'The tide turns at noon.', provider: 'gemini' },
        'gemini-tools': { text: 'Let me check.', provider: 'gemini', tools: 1 },
        'gemini-blocked': { text: '', provider: 'gemini' },
    },
    ollama: {
        'ollama-chat': { text: 'The tide turns at noon.', provider: 'ollama' },
        'ollama-chat-thinking-tools': { text: 'Let me check.', provider: 'ollama', tools: 1 },
    },
};

// Streams that end in an error, and the provider that sends it.
export const ERRORS = {
    chat: { 'openai-chat-error': 'samples', 'openrouter-error': 'openrouter', 'vllm-error': 'vllm' },
    responses: { 'openai-responses-error': 'samples' },
    anthropic: { 'anthropic-error': 'anthropic' },
    gemini: { 'gemini-error': 'gemini' },
    ollama: {},
};

const INSERTED = `\n${TEXTS['file-only'].written}\n`;
export const written = (text) => text.slice(0, 1) + INSERTED + text.slice(1);
export const left = (text) => `${text.slice(0, 1)}\n${text.slice(1)}`;

export const providerLines = (url) =>
    ['azure', 'openrouter', 'moonshot', 'vllm', 'llamacpp', 'mistral', 'anthropic', 'gemini', 'ollama', 'samples']
        .map((name) => `  - {name: ${name}, dialect: ${name === 'samples' ? 'openai' : name}, base_url: "${url}"}\n`)
        .join('');

// Where an event holds text of the answer: the object and its key.
function place(event) {
    const delta = event.choices?.[0]?.delta;
    if (Array.isArray(delta?.content)) return at(delta.content.find((part) => part.type === 'text'), 'text');
    if (event.type === 'response.output_text.delta') return [event, 'delta'];
    if (event.delta?.type === 'text_delta') return [event.delta, 'text'];
    const part = event.candidates?.[0].content?.parts.find((p) => p.text && !p.thought);
    return at(delta, 'content') ?? at(part, 'text') ?? at(event.message, 'content') ?? at(event, 'response');
}

const at = (holder, key) => (typeof holder?.[key] === 'string' && holder[key] ? [holder, key] : undefined);

const parsed = (bytes) => {
    const json = /\{.*\}/s.exec(bytes)?.[0];
    return json ? JSON.parse(json) : {};
};

// The event with another text, in bytes.
function withText(bytes, text) {
    const event = parsed(bytes);
    const [holder, key] = place(event);
    holder[key] = text;
    const logprobs = event.choices?.[0].logprobs;
    if (logprobs?.content) logprobs.content = [{ token: text, logprob: -0.5, bytes: [...Buffer.from(text)], top_logprobs: [] }];
    return bytes.replace(/\{.*\}/s, () => JSON.stringify(event));
}

// What repeats the text, counts in it or counts events follows what was inserted.
function follow(value, text) {
    if (typeof value === 'string') return value === text ? written(text) : value;
    if (value === null || typeof value !== 'object') return value;
    for (const [key, inner] of Object.entries(value)) value[key] = /^(start|end)_index$/.test(key) ? inner + INSERTED.length : follow(inner, text);
    return value;
}

const load = (name) => {
    const lines = name.startsWith('ollama');
    const text = readFileSync(new URL(`../data/streams/${name}.${lines ? 'ndjson' : 'sse'}`, import.meta.url), 'utf8');
    return text.split(lines ? /(?<=\n)/ : /(?<=\n\r?\n)/);
};

function withFile(name) {
    const events = load(name);
    const first = events.findIndex((bytes) => place(parsed(bytes)));
    const said = place(parsed(events[first])).reduce((holder, key) => holder[key]);
    const all = [...events.slice(0, first), ...[...pieces(written(said))].map((piece) => withText(events[first], piece)), ...events.slice(first + 1)];
    const { text } = SAMPLES.responses[name] ?? {};
    if (!text) return all;
    return all.map((bytes, number) => bytes.replace(/\{.*\}/s, (json) => JSON.stringify({ ...follow(JSON.parse(json), text), sequence_number: number })));
}

function* bytesOf(name, variant) {
    if (variant === 'endless') {
        const events = load(name);
        const first = events.findIndex((bytes) => place(parsed(bytes)));
        yield* events.slice(0, first);
        for (let i = 0; i < 400; i++) yield withText(events[first], `word${i} `);
        return;
    }
    // Google's SDK sees an error only in a read of its own.
    if (name.endsWith('-error')) {
        yield* load(name);
        return;
    }
    // Cut where it happens to be: in the middle of lines, and of what ends them.
    const bytes = Buffer.from((variant === 'file' ? withFile(name) : load(name)).join(''));
    for (let from = 0; from < bytes.length; from += 97) yield bytes.subarray(from, from + 97);
}

export class SampleUpstream extends LoopbackUpstream {
    closedEarly = []; // when a client went away before the end: performance.now()

    async answer(request, response) {
        const body = await bodyOf(request);
        const model = /\/models\/(.*):/.exec(request.url)?.[1] ?? JSON.parse(body.toString()).model;
        const [name, variant] = model.split('.');
        response.on('close', () => {
            if (!response.writableFinished) this.closedEarly.push(performance.now());
        });
        response.writeHead(200, { 'content-type': name.startsWith('ollama') ? 'application/x-ndjson' : 'text/event-stream', 'x-request-id': 'req_e2e' });
        const pause = { endless: 25 }[variant] ?? (name.endsWith('-error') ? 10 : 0);
        for (const bytes of bytesOf(name, variant)) {
            if (response.destroyed) return;
            response.write(bytes);
            await (pause ? sleep(pause) : turn());
        }
        response.end();
    }
}
