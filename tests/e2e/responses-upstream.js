// A scripted provider that answers OpenAI's Responses API, chosen by the request's `model`, and keeps what it said.
import { setTimeout as sleep } from 'node:timers/promises';
import { ARGUMENTS, pieces, TEXTS } from './upstream.js';
import { LoopbackUpstream, bodyOf } from './loopback-upstream.js';

const USAGE = { input_tokens: 11, output_tokens: 22, total_tokens: 33, input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 5 } };
const REASONING = { id: 'rs_e2e', type: 'reasoning', summary: [{ type: 'summary_text', text: 'A marker: <<<HW_ATTACHMENT\n{"filename":"no.csv"}' }] };
const TOOL = { id: 'fc_e2e', type: 'function_call', status: 'completed', call_id: 'call_e2e', name: 'weather', arguments: ARGUMENTS };

const text = (written, annotations = []) => ({ type: 'output_text', text: written, annotations, logprobs: [] });
const message = (id, ...content) => ({ id, type: 'message', status: 'completed', role: 'assistant', content });

// The output of whole replies and of streams.
const OUTPUT = {
    tools: [REASONING, message('msg_1', text(TEXTS['two-files'].written)), TOOL],
    cited: [message('msg_1', text(`${TEXTS.file.written} [1]`, [citation(`${TEXTS.file.written} `.length)]))],
    refusal: [message('msg_1', { type: 'refusal', refusal: 'No <<<HW_ATTACHMENT for you.' })],
};
for (const [name, { written }] of Object.entries(TEXTS)) OUTPUT[name] = [message('msg_1', text(written))];

function citation(at) {
    return { type: 'url_citation', start_index: at, end_index: at + 3, title: 'Source', url: 'https://example.org/' };
}

class Stream {
    number = 0;
    constructor(body) {
        this.body = body;
    }

    event(type, more) {
        return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.number++, ...more })}\n\n`;
    }

    response(status, output) {
        return wholeOf(this.body, status, output);
    }

    *part(part, place) {
        const empty = part.type === 'refusal' ? { ...part, refusal: '' } : { ...part, text: '', annotations: [] };
        yield this.event('response.content_part.added', { ...place, part: empty });
        if (part.type === 'refusal') {
            for (const delta of pieces(part.refusal)) yield this.event('response.refusal.delta', { ...place, delta });
            yield this.event('response.refusal.done', { ...place, refusal: part.refusal });
        } else {
            for (const delta of pieces(part.text)) yield this.event('response.output_text.delta', { ...place, delta, logprobs: [], obfuscation: 'xyz' });
            for (const [annotation_index, annotation] of part.annotations.entries())
                yield this.event('response.output_text.annotation.added', { ...place, annotation_index, annotation });
            yield this.event('response.output_text.done', { ...place, text: part.text, logprobs: [] });
        }
        yield this.event('response.content_part.done', { ...place, part });
    }

    *item(item, output_index) {
        yield this.event('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', content: item.content && [], summary: item.summary && [], arguments: item.arguments && '' } });
        for (const [content_index, part] of (item.content ?? []).entries()) yield* this.part(part, { item_id: item.id, output_index, content_index });
        for (const delta of pieces(item.arguments ?? '')) yield this.event('response.function_call_arguments.delta', { item_id: item.id, output_index, delta });
        if (item.arguments) yield this.event('response.function_call_arguments.done', { item_id: item.id, output_index, arguments: item.arguments });
        yield this.event('response.output_item.done', { output_index, item });
    }

    *all() {
        const { model } = this.body;
        const output = OUTPUT[model] ?? [];
        yield this.event('response.created', { response: this.response('in_progress', []) });
        yield this.event('response.in_progress', { response: this.response('in_progress', []) });
        if (model === 'endless') for (let i = 0; i < 400; i++) yield* this.item(message(`msg_${i}`, text(`word${i} `)), i);
        if (model === 'quota') {
            const error = { type: 'insufficient_quota', code: 'insufficient_quota', message: 'You exceeded your current quota.', param: null };
            yield this.event('error', { error });
            yield this.event('response.failed', { response: { ...this.response('failed', []), error } });
            return;
        }
        for (const [index, item] of output.entries()) yield* this.item(item, index);
        yield this.event('response.completed', { response: this.response('completed', output) });
    }
}

function wholeOf(body, status, output) {
    return {
        id: `resp_${body.model}`,
        object: 'response',
        created_at: 1790000000,
        status,
        error: null,
        incomplete_details: null,
        instructions: body.instructions ?? null,
        model: 'scripted',
        output,
        parallel_tool_calls: true,
        tools: [],
        tool_choice: 'auto',
        usage: status === 'completed' ? USAGE : null,
        metadata: {},
    };
}

export class ResponsesUpstream extends LoopbackUpstream {
    requests = []; // {method, url, headers, body}
    closedEarly = 0; // clients that went away before the end
    kept = new Map(); // request bodies by the reply's id

    async answer(request, response) {
        const url = new URL(request.url, 'http://upstream');
        const id = url.pathname.split('/')[3];
        const sent = await bodyOf(request);
        const body = id ? this.kept.get(id) : JSON.parse(sent.toString());
        this.requests.push({ method: request.method, url: request.url, headers: request.headers, body });
        if (!id) this.kept.set(`resp_${body.model}`, body);
        const after = Number(url.searchParams.get('starting_after') ?? -1);
        if (!(id ? url.searchParams.get('stream') === 'true' : body.stream)) {
            response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'req_e2e' });
            response.end(JSON.stringify(wholeOf(body, 'completed', OUTPUT[body.model])));
            return;
        }
        response.on('close', () => (this.closedEarly += !response.writableFinished));
        response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': 'req_e2e' });
        const stream = new Stream(body);
        for (const piece of stream.all()) {
            if (response.destroyed) return;
            if (stream.number - 1 > after) response.write(piece);
            await sleep(body.model === 'endless' ? 5 : 0);
        }
        response.end();
    }
}
