// A scripted provider that answers Gemini's and Ollama's own APIs, chosen by the model.
import { setTimeout as sleep } from 'node:timers/promises';
import { pieces, TEXTS } from './upstream.js';
import { LoopbackUpstream, bodyOf } from './loopback-upstream.js';

export const SIGNATURE = 'RXhhbXBsZVNpZ25hdHVyZQ==';
export const CALL = { name: 'weather', args: { city: 'Köln', note: '<b>HW_ATTACHMENT>>></b>' } };
const THOUGHT = 'A marker: <<<HW_ATTACHMENT\n{"filename":"no.csv"}';

// ---- Gemini

const USAGE = { promptTokenCount: 11, candidatesTokenCount: 22, totalTokenCount: 33 };
const candidate = (parts, more, index = 0) => ({ content: { parts, role: 'model' }, ...more, index });
const chunk = (candidates) => ({ candidates, usageMetadata: USAGE, modelVersion: 'scripted', responseId: 'r-e2e' });

function* geminiChunks(model) {
    if (model === 'thinking') for (const text of pieces(THOUGHT)) yield chunk([candidate([{ text, thought: true }])]);
    if (model === 'endless') for (let i = 0; i < 400; i++) yield chunk([candidate([{ text: `word${i} ` }])]);
    if (model === 'two-candidates') {
        const others = [...pieces(TEXTS['two-files'].written)].entries();
        for (const text of pieces(TEXTS.file.written)) {
            const other = others.next();
            yield chunk([candidate([{ text }]), ...(other.done ? [] : [candidate([{ text: other.value[1] }], {}, 1)])]);
        }
        for (const [, text] of others) yield chunk([candidate([{ text }], {}, 1)]);
        yield chunk([{ finishReason: 'STOP', index: 1 }]);
        yield chunk([{ finishReason: 'STOP', index: 0 }]);
        return;
    }
    const { written } = TEXTS[model] ?? TEXTS.file;
    const always = model === 'always-stop' ? { finishReason: 'STOP' } : {}; // as older models do
    for (const text of pieces(written)) yield chunk([candidate([{ text }], always)]);
    if (model === 'overloaded') {
        yield { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } };
        return;
    }
    if (model === 'tools') yield chunk([candidate([{ functionCall: CALL, thoughtSignature: SIGNATURE }])]);
    yield chunk([candidate([{ text: '', thoughtSignature: SIGNATURE }], { finishReason: 'STOP' })]);
}

const geminiWhole = (model) => {
    const { written } = TEXTS[model] ?? TEXTS.file;
    const parts = model === 'two-files' ? [...pieces(written)].map((text) => ({ text })) : [{ text: written }];
    if (model === 'tools') parts.unshift({ text: THOUGHT, thought: true });
    if (model === 'tools') parts.push({ functionCall: CALL, thoughtSignature: SIGNATURE });
    return chunk([candidate(parts, { finishReason: 'STOP' })]);
};

function gemini(url, body, response) {
    const [, model, verb] = /models\/(.*):(\w+)$/.exec(url.pathname);
    if (verb === 'generateContent') return { type: 'application/json; charset=UTF-8', pieces: [JSON.stringify(geminiWhole(model))] };
    const chunks = geminiChunks(model);
    if (url.searchParams.get('alt') === 'sse') {
        return {
            type: 'text/event-stream',
            *pieces() {
                for (const one of chunks)
                    yield one.error ? `${JSON.stringify(one, null, 2)}\n` : `data: ${JSON.stringify(one)}\r\n\r\n`;
            },
        };
    }
    return {
        type: 'application/json; charset=UTF-8',
        *pieces() {
            let before = '[';
            for (const one of chunks) {
                yield before + JSON.stringify(one, null, 2);
                before = '\n,\r\n';
            }
            yield '\n]\n';
        },
    };
}

// ---- Ollama

const escaped = (value) => JSON.stringify(value).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`); // as Go does

function* ollamaLines(model, chat) {
    const head = { model, created_at: '2026-11-01T10:00:00.123456Z' };
    const line = (said, more) => escaped({ ...head, ...(chat ? { message: { role: 'assistant', ...said } } : { response: said.content, thinking: said.thinking }), done: false, ...more }) + '\n';
    if (model === 'thinking') for (const thinking of pieces(THOUGHT)) yield line({ content: '', thinking });
    if (model === 'endless') for (let i = 0; i < 400; i++) yield line({ content: `word${i} ` });
    for (const content of pieces((TEXTS[model] ?? TEXTS.file).written)) yield line({ content });
    if (model === 'failing') {
        yield escaped({ error: 'the runner has stopped' }) + '\n';
        return;
    }
    if (model === 'tools') yield line({ content: '', tool_calls: [{ function: { name: CALL.name, arguments: CALL.args } }] });
    yield line({ content: '' }, { done: true, done_reason: 'stop', eval_count: 22, ...(chat ? {} : { context: [1, 2, 3] }) });
}

function ollama(url, body) {
    const chat = url.pathname.endsWith('/api/chat');
    if (body.stream ?? true) return { type: 'application/x-ndjson', pieces: ollamaLines(body.model, chat) };
    const said = { content: (TEXTS[body.model] ?? TEXTS.file).written };
    if (body.model === 'tools') said.tool_calls = [{ function: { name: CALL.name, arguments: CALL.args } }];
    const whole = { model: body.model, ...(chat ? { message: { role: 'assistant', ...said } } : { response: said.content }), done: true, done_reason: 'stop', eval_count: 22 };
    return { type: 'application/json; charset=utf-8', pieces: [escaped(whole)] };
}

// ----

export class NativeUpstream extends LoopbackUpstream {
    requests = []; // {path, body}
    closedEarly = 0; // clients that went away before the end

    async answer(request, response) {
        const body = JSON.parse((await bodyOf(request)).toString());
        const url = new URL(request.url, this.url);
        this.requests.push({ path: url.pathname, body });
        const reply = url.pathname.startsWith('/api/') ? ollama(url, body) : gemini(url, body);
        response.on('close', () => (this.closedEarly += !response.writableFinished));
        response.writeHead(200, { 'content-type': reply.type });
        for (const piece of typeof reply.pieces === 'function' ? reply.pieces() : reply.pieces) {
            if (response.destroyed) return;
            response.write(piece);
            await sleep(/endless/.test(piece) || url.pathname.includes('endless') || body.model === 'endless' ? 5 : 0);
        }
        response.end();
    }
}
