// A scripted provider that answers Anthropic's Messages API, chosen by the request's `model`.
import { setTimeout as sleep } from 'node:timers/promises';
import { ARGUMENTS, pieces, TEXTS } from './upstream.js';
import { LoopbackUpstream, bodyOf } from './loopback-upstream.js';

export const SIGNATURE = 'RXhhbXBsZVNpZ25hdHVyZQ==';
const HEAD = { id: 'msg_e2e', type: 'message', role: 'assistant', model: 'scripted' };
const USAGE = { input_tokens: 11, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 };
const event = (value) => `event: ${value.type}\ndata: ${JSON.stringify(value).slice(0, -1)}   }\n\n`; // padded, as the real one is

const text = (written) => ({ type: 'text', text: written });
const thinking = { type: 'thinking', thinking: 'A marker: <<<HW_ATTACHMENT\n{"filename":"no.csv"}', signature: SIGNATURE };
const tool = { type: 'tool_use', id: 'toolu_e2e', name: 'weather', input: JSON.parse(ARGUMENTS) };

// The content of whole replies and of streams.
const CONTENT = { thinking: [thinking, text(TEXTS.file.written)], tools: [text(TEXTS['two-files'].written), tool] };
for (const [name, { written }] of Object.entries(TEXTS)) CONTENT[name] = [text(written)];

function* blockEvents(block, index) {
    const delta = (value) => event({ type: 'content_block_delta', index, delta: value });
    const empty = { text: { text: '' }, thinking: { thinking: '', signature: '' }, tool_use: { input: {} } }[block.type];
    yield event({ type: 'content_block_start', index, content_block: { ...block, ...empty } });
    yield 'event: ping\ndata: {"type": "ping"}\n\n';
    if (block.type === 'text') for (const piece of pieces(block.text)) yield delta({ type: 'text_delta', text: piece });
    if (block.type === 'thinking') {
        for (const piece of pieces(block.thinking)) yield delta({ type: 'thinking_delta', thinking: piece });
        yield delta({ type: 'signature_delta', signature: block.signature });
    }
    if (block.type === 'tool_use') for (const piece of pieces(ARGUMENTS)) yield delta({ type: 'input_json_delta', partial_json: piece });
    yield event({ type: 'content_block_stop', index });
}

const reasonOf = (content) => (content.some((b) => b.type === 'tool_use') ? 'tool_use' : 'end_turn');

function* streamOf(model) {
    yield event({ type: 'message_start', message: { ...HEAD, content: [], stop_reason: null, stop_sequence: null, usage: USAGE } });
    if (model === 'endless') for (let i = 0; i < 400; i++) yield* blockEvents(text(`word${i} `), i);
    if (model === 'overloaded') {
        yield* blockEvents(text('Some text'), 0);
        yield event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'req_e2e' });
        return;
    }
    const content = CONTENT[model] ?? [];
    for (const [index, block] of content.entries()) yield* blockEvents(block, index);
    yield event({ type: 'message_delta', delta: { stop_reason: reasonOf(content), stop_sequence: null }, usage: { output_tokens: 22 } });
    yield event({ type: 'message_stop' });
}

export class AnthropicUpstream extends LoopbackUpstream {
    requests = []; // {headers, body}
    closedEarly = 0; // clients that went away before the end

    async answer(request, response) {
        const body = JSON.parse((await bodyOf(request)).toString());
        this.requests.push({ headers: request.headers, body });
        if (!body.stream) {
            const content = CONTENT[body.model];
            response.writeHead(200, { 'content-type': 'application/json', 'request-id': 'req_e2e' });
            response.end(JSON.stringify({ ...HEAD, content, stop_reason: reasonOf(content), stop_sequence: null, usage: { ...USAGE, output_tokens: 22 } }));
            return;
        }
        response.on('close', () => (this.closedEarly += !response.writableFinished));
        response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'request-id': 'req_e2e' });
        for (const piece of streamOf(body.model)) {
            if (response.destroyed) return;
            response.write(piece);
            await sleep(body.model === 'endless' ? 5 : 0);
        }
        response.end();
    }
}
