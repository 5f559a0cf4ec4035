// The providers' own SDKs, unmodified, with the sample streams, with a file and without: only their base URLs point here.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { Penstock } from './penstock.js';
import { left, providerLines, SampleUpstream } from './samples.js';
import { KEY, PROMPT, sdkSuite } from './sdk-suite.js';

const reportIn = (events) => events.map((event) => event.response?.object ? event.response : event).find((holder) => holder.outbound_artifacts);
const messages = [{ role: 'user', content: PROMPT }];

async function collect(stream) {
    const events = [];
    for await (const event of stream) events.push(event);
    return events;
}

// Reads until `said` is true of a third event, then calls `abort`.
async function leaveAfterThree(stream, said, abort) {
    let count = 0;
    try {
        for await (const event of stream) if (said(event) && ++count === 3) abort(stream);
    } catch (error) {
        if (count < 3) throw error;
    }
}

// ---- OpenAI's chat

const openai = (url) => new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY, maxRetries: 0, timeout: 20_000 });
const chat = (model, more) => ({ model, messages, stream_options: { include_usage: true }, ...more });
const contentText = (content) => (Array.isArray(content) ? content.map((part) => part.text ?? '').join('') : (content ?? ''));

function chatResult(chunks) {
    const choices = chunks.flatMap((chunk) => chunk.choices).filter((choice) => choice.index === 0);
    const calls = [];
    for (const { index, ...call } of choices.flatMap((choice) => choice.delta.tool_calls ?? [])) {
        calls[index] ??= { name: call.function.name, id: call.id, arguments: '' };
        calls[index].arguments += call.function.arguments;
    }
    return {
        text: choices.map((choice) => contentText(choice.delta.content)).join(''),
        finish: choices.map((choice) => choice.finish_reason).findLast(Boolean),
        usage: chunks.map((chunk) => chunk.usage ?? chunk.choices[0]?.usage).findLast(Boolean),
        tools: calls,
        report: reportIn(chunks),
        seen: chunks,
    };
}

const leaveChat = (url, model) =>
    openai(url)
        .chat.completions.create(chat(model, { stream: true }))
        .then((stream) => leaveAfterThree(stream, (chunk) => chunk.choices[0]?.delta.content, () => stream.controller.abort()));

sdkSuite('the OpenAI SDK', {
    api: 'chat',
    stream: async (url, model) => chatResult(await collect(await openai(url).chat.completions.create(chat(model, { stream: true })))),
    leave: leaveChat,
});

const messageResult = (reply, seen) => ({
    text: contentText(reply.choices[0].message.content),
    finish: reply.choices[0].finish_reason,
    usage: reply.usage,
    tools: reply.choices[0].message.tool_calls ?? [],
    report: reportIn([reply]),
    seen,
});

sdkSuite('the OpenAI SDK\'s helper', {
    api: 'chat',
    async stream(url, model) {
        const run = openai(url).chat.completions.stream(chat(model));
        const heard = [];
        for (const name of ['chunk', 'content', 'content.delta', 'content.done']) run.on(name, (...said) => heard.push(said));
        const reply = await run.finalChatCompletion();
        return messageResult(reply, [reply, heard, await run.finalContent(), await run.finalMessage(), run.messages]);
    },
    async whole(url, model) {
        const reply = await openai(url).chat.completions.create(chat(model, { stream_options: undefined }));
        return messageResult(reply, reply);
    },
    leave(url, model) {
        const run = openai(url).chat.completions.stream(chat(model));
        return leaveAfterThree(run, (chunk) => chunk.choices[0]?.delta.content, () => run.abort());
    },
    without: ['compat-content-array'],
});

// ---- OpenAI's Responses

const responseResult = (response, seen) => ({
    text: response.output_text ?? contentText(response.output.findLast((item) => item.type === 'message')?.content),
    finish: response.incomplete_details?.reason ?? response.status,
    usage: response.usage,
    tools: response.output.filter((item) => item.type === 'function_call').map(({ parsed_arguments, ...item }) => item),
    report: reportIn([response]),
    seen,
});

// The provider's own account of the error: the SDK's helper speaks of the missing end.
function failIfFailed(events) {
    for (const event of events) if (event.type === 'error' || event.type === 'response.failed') throw new Error(JSON.stringify(event.error ?? event.response.error));
}

sdkSuite("the OpenAI SDK's Responses", {
    api: 'responses',
    async stream(url, model) {
        const events = await collect(await openai(url).responses.create({ model, input: PROMPT, stream: true }));
        failIfFailed(events);
        const said = events.filter((event) => event.type === 'response.output_text.delta').map((event) => event.delta).join('');
        const result = responseResult(events.at(-1).response, events);
        assert.equal(result.text, said, 'the text at the end is the text on the way');
        return result;
    },
    leave: async (url, model) => {
        const stream = await openai(url).responses.create({ model, input: PROMPT, stream: true });
        return leaveAfterThree(stream, (event) => event.type === 'response.output_text.delta', () => stream.controller.abort());
    },
});

sdkSuite("the OpenAI SDK's Responses helper", {
    api: 'responses',
    async stream(url, model) {
        const run = openai(url).responses.stream({ model, input: PROMPT });
        const events = await collect(run);
        failIfFailed(events);
        const response = await run.finalResponse();
        return responseResult(response, [response, events]);
    },
    async whole(url, model) {
        const response = await openai(url).responses.create({ model, input: PROMPT });
        return responseResult(response, response);
    },
    leave(url, model) {
        const run = openai(url).responses.stream({ model, input: PROMPT });
        return leaveAfterThree(run, (event) => event.type === 'response.output_text.delta', () => run.abort());
    },
});

// ---- Anthropic

const anthropic = (url) => new Anthropic({ baseURL: url, apiKey: KEY, maxRetries: 0, timeout: 20_000 });
const claude = (model) => ({ model, max_tokens: 100, messages });
const blocksResult = (message, report, seen) => ({
    text: message.content.map((block) => block.text ?? '').join(''),
    finish: message.stop_reason,
    usage: message.usage,
    tools: message.content.filter((block) => block.type === 'tool_use'),
    report,
    seen,
});

sdkSuite("the Anthropic SDK", {
    api: 'anthropic',
    async stream(url, model) {
        const run = anthropic(url).messages.stream(claude(model));
        const events = [], heard = [];
        for (const name of ['text', 'contentBlock', 'message', 'inputJson', 'citation']) run.on(name, (...said) => heard.push(structuredClone(said)));
        run.on('streamEvent', (event, snapshot) => events.push(structuredClone([event, snapshot])));
        const message = await run.finalMessage();
        return blocksResult(message, reportIn(events.map(([event]) => event)), [message, events, heard, run.messages, run.receivedMessages]);
    },
    async whole(url, model) {
        const message = await anthropic(url).messages.create(claude(model));
        return blocksResult(message, reportIn([message]), message);
    },
    leave(url, model) {
        const run = anthropic(url).messages.stream(claude(model));
        return leaveAfterThree(run, (event) => event.delta?.type === 'text_delta', () => run.abort());
    },
});

// ---- Google

const google = (url) => new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: url } });

// The SDK keeps what it knows of a chunk; the bytes that it keeps too hold the rest.
async function rawReport(url, model, verb) {
    const reply = await fetch(`${url}/v1beta/models/${model}:${verb}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
        body: JSON.stringify({ contents: [{ parts: [{ text: PROMPT }] }] }),
    });
    const chunks = (await reply.text()).split('\n').flatMap((line) => /^(?:data: *)?(\{"candidates.*)/.exec(line)?.[1] ?? []);
    return reportIn(chunks.map((json) => JSON.parse(json)));
}

async function geminiResult(url, model, verb, chunks, seen) {
    const candidates = chunks.flatMap((chunk) => chunk.candidates ?? []);
    const parts = candidates.flatMap((candidate) => candidate.content?.parts ?? []);
    return {
        text: parts.filter((part) => !part.thought).map((part) => part.text ?? '').join(''),
        finish: candidates.map((candidate) => candidate.finishReason).findLast(Boolean) ?? chunks.at(-1).promptFeedback.blockReason,
        usage: chunks.at(-1).usageMetadata,
        tools: parts.filter((part) => part.functionCall),
        report: await rawReport(url, model, verb),
        seen,
    };
}

const gemini = {
    api: 'gemini',
    async stream(url, model) {
        const chunks = await collect(await google(url).models.generateContentStream({ model, contents: PROMPT }));
        return geminiResult(url, model, 'streamGenerateContent?alt=sse', chunks, chunks);
    },
    async whole(url, model) {
        const reply = await google(url).models.generateContent({ model, contents: PROMPT });
        return geminiResult(url, model, 'generateContent', [reply], reply);
    },
    async leave(url, model) {
        const abort = new AbortController();
        const stream = await google(url).models.generateContentStream({ model, contents: PROMPT, config: { abortSignal: abort.signal } });
        return leaveAfterThree(stream, (chunk) => chunk.candidates?.[0].content?.parts?.some((part) => part.text), () => abort.abort());
    },
};
sdkSuite('the Google Gen AI SDK', gemini);

sdkSuite("the Google Gen AI SDK's chats", {
    ...gemini,
    async stream(url, model) {
        const talk = google(url).chats.create({ model });
        const chunks = await collect(await talk.sendMessageStream({ message: PROMPT }));
        return geminiResult(url, model, 'streamGenerateContent?alt=sse', chunks, [chunks, talk.getHistory()]);
    },
    async whole(url, model) {
        const talk = google(url).chats.create({ model });
        const reply = await talk.sendMessage({ message: PROMPT });
        return geminiResult(url, model, 'generateContent', [reply], [reply, talk.getHistory()]);
    },
});

// ---- Ollama

// Its client has no place for a key of its own, but takes headers; it knows no prefix behind the host.
const ollama = (url) => new Ollama({ host: url, headers: { authorization: `Bearer ${KEY}` } });
const lineResult = (lines) => ({
    text: lines.map((line) => line.message.content).join(''),
    finish: lines.at(-1).done_reason,
    usage: lines.at(-1).eval_count,
    tools: lines.flatMap((line) => line.message.tool_calls ?? []),
    report: reportIn(lines),
    seen: lines,
});

sdkSuite("Ollama's client", {
    api: 'ollama',
    stream: async (url, model) => lineResult(await collect(await ollama(url).chat({ model, messages, stream: true }))),
    whole: async (url, model) => lineResult([await ollama(url).chat({ model, messages })]),
    async leave(url, model) {
        const stream = await ollama(url).chat({ model, messages, stream: true });
        return leaveAfterThree(stream, (line) => line.message.content, () => stream.abort());
    },
});

// ---- What only one API has

describe('samples through Penstock', { timeout: 60_000 }, () => {
    let samples, penstock;
    before(async () => {
        samples = await new SampleUpstream().start();
        penstock = await new Penstock().start(samples.url, { providers: providerLines(samples.url) });
    });
    after(async () => {
        try {
            await penstock?.stop();
        } finally {
            await samples?.stop();
        }
    });

    it('log probabilities tell of what is left of the text, and of each choice', async () => {
        const chunks = await collect(await openai(penstock.url).chat.completions.create(chat('openai-chat-n2-logprobs.file', { stream: true, n: 2, logprobs: true })));
        const choices = (index) => chunks.flatMap((chunk) => chunk.choices).filter((choice) => choice.index === index);
        const textOf = (index) => choices(index).map((choice) => choice.delta.content ?? '').join('');
        const tokensOf = (index) => choices(index).flatMap((choice) => choice.logprobs?.content ?? []).map((one) => one.token);
        assert.equal(textOf(0), left('Rain today.'));
        assert.equal(textOf(1), 'Snow later.');
        // The first token held the beginning of a marker, behind the text's first character.
        assert.deepEqual(tokensOf(0), ['ain', ' today', '.']);
        assert.deepEqual(tokensOf(1), ['Snow', ' later', '.']);
    });

    it('citations point to the same words', async () => {
        const response = await openai(penstock.url).responses.stream({ model: 'openai-responses.file', input: PROMPT }).finalResponse();
        const { text, annotations } = response.output[1].content[0];
        const { start_index, end_index } = annotations.find((one) => one.type === 'url_citation');
        assert.equal(text.slice(start_index, end_index), 'tide');
        const message = await anthropic(penstock.url).messages.stream(claude('anthropic-tools-citations.file')).finalMessage();
        assert.equal(message.content[1].citations[0].encrypted_index, 'RXhhbXBsZQ==');
    });

    it('reasoning is the provider\'s', async () => {
        const message = await anthropic(penstock.url).messages.stream(claude('anthropic.file')).finalMessage();
        assert.deepEqual(message.content[0], { type: 'thinking', thinking: 'Looking up the tide.', signature: 'RXhhbXBsZVNpZ25hdHVyZQ==' });
        for (const [name, key] of [['openrouter', 'reasoning'], ['moonshot', 'reasoning_content'], ['vllm', 'reasoning'], ['llamacpp', 'reasoning_content']]) {
            const chunks = await collect(await openai(`${penstock.url}/${name}`).chat.completions.create(chat(`${name}.file`, { stream: true })));
            assert.equal(chunks.map((chunk) => chunk.choices[0]?.delta[key] ?? '').join(''), 'Looking up the tide.', name);
        }
    });

    it('Ollama generates', async () => {
        const lines = await collect(await ollama(penstock.url).generate({ model: 'ollama-generate.file', prompt: PROMPT, stream: true }));
        assert.equal(lines.map((line) => line.response).join(''), left('The tide turns'));
        assert.equal(lines.at(-1).done_reason, 'length');
        assert.deepEqual(lines.at(-1).context, [1, 2, 3]);
        assert.deepEqual(lines.at(-1).outbound_artifacts.map((a) => a.filename), ['totals.csv']);
        await assert.rejects(async () => collect(await ollama(penstock.url).generate({ model: 'ollama-error', prompt: PROMPT, stream: true })), /an error was encountered/);
    });
});
