// Penstock as Vercel's AI SDK sees it with its OpenAI, Anthropic and Google providers, unmodified: only their base URLs point here.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai';
import { Penstock } from './penstock.js';
import { KEY, noMarkerIn, PROMPT, sdkSuite } from './sdk-suite.js';
import { ARGUMENTS, Upstream } from './upstream.js';

globalThis.AI_SDK_LOG_WARNINGS = false;

const anyTool = tool({ description: 'e2e', inputSchema: jsonSchema({ type: 'object' }) });
const ask = (model) => ({ model, prompt: PROMPT, maxRetries: 0, maxOutputTokens: 100, tools: { weather: anyTool, get_tide: anyTool } });
const callsOf = (calls) => calls.map(({ toolCallId, toolName, input, invalid }) => ({ toolName, input, invalid, id: toolCallId }));
// Google's provider makes ids of its own where there is none.
const nameless = (calls) => calls.map(({ id, ...call }) => call);

// Where a raw event or a whole body says what became of the files.
const reportIn = (events) => events.map((event) => event?.response ?? event).find((holder) => holder?.outbound_artifacts);

const sdk = (api, connect) => ({
    api,
    async stream(url, model) {
        const result = streamText({ ...ask(connect(url)(model)), includeRawChunks: true, onError() {} });
        const parts = [];
        for await (const part of result.fullStream) {
            if (part.type === 'error') throw part.error instanceof Error ? part.error : new Error(JSON.stringify(part.error));
            parts.push(part);
        }
        const end = parts.at(-1);
        return {
            text: parts.filter((part) => part.type === 'text-delta').map((part) => part.text).join(''),
            finish: end.finishReason,
            usage: end.totalUsage,
            tools: nameless(callsOf(await result.toolCalls)),
            report: reportIn(parts.filter((part) => part.type === 'raw').map((part) => part.rawValue)),
            seen: [parts, await result.text, await result.steps, await result.response, await result.sources],
        };
    },
    async whole(url, model) {
        const result = await generateText(ask(connect(url)(model)));
        return {
            text: result.text,
            finish: result.finishReason,
            usage: result.totalUsage,
            tools: nameless(callsOf(result.toolCalls)),
            report: reportIn([result.response.body]),
            seen: [result.text, result.steps, result.response, result.sources],
        };
    },
    async leave(url, model) {
        const abort = new AbortController();
        let count = 0;
        for await (const part of streamText({ ...ask(connect(url)(model)), abortSignal: abort.signal }).fullStream)
            if (part.type === 'text-delta' && ++count === 3) return abort.abort();
    },
});

const openai = (url) => createOpenAI({ baseURL: `${url}/v1`, apiKey: KEY });
sdkSuite("the AI SDK with OpenAI's chat", { ...sdk('chat', (url) => openai(url).chat), without: ['openai-chat-n2-logprobs', 'compat-content-array', 'openrouter-error'] });
sdkSuite("the AI SDK with OpenAI's Responses", sdk('responses', (url) => openai(url).responses));
sdkSuite('the AI SDK with Anthropic', sdk('anthropic', (url) => createAnthropic({ baseURL: `${url}/v1`, apiKey: KEY })));
sdkSuite('the AI SDK with Google', { ...sdk('gemini', (url) => createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: KEY })), without: ['gemini-error'] });

describe('the AI SDK through Penstock', { timeout: 60_000 }, () => {
    let upstream, penstock;
    before(async () => {
        upstream = await new Upstream().start();
        penstock = await new Penstock().start(upstream.url);
    });
    after(async () => {
        try {
            await penstock?.stop();
        } finally {
            await upstream?.stop();
        }
    });
    const sent = (at) => JSON.parse(upstream.requests.at(at).body).messages;

    it('goes on after a tool call: what it sends back is what it was given', async () => {
        const asked = [];
        const weather = tool({ inputSchema: jsonSchema({ type: 'object' }), execute: (input) => asked.push(input) && 'Rain.' });
        const result = streamText({ ...ask(openai(penstock.url).chat('tools')), tools: { weather }, stopWhen: stepCountIs(2) });
        await result.consumeStream();
        assert.equal((await result.steps).length, 2);
        assert.deepEqual(asked[0], JSON.parse(ARGUMENTS));
        const [protocol, ...messages] = sent(-1);
        assert.deepEqual(protocol, sent(-2)[0], 'the same system text in each turn');
        assert.deepEqual(messages.map((message) => message.role), ['user', 'assistant', 'tool']);
        assert.equal(messages[1].content, 'Looking.\n');
        assert.deepEqual(JSON.parse(messages[1].tool_calls[0].function.arguments), JSON.parse(ARGUMENTS));
        noMarkerIn(messages.map(({ tool_calls, ...message }) => message));
    });

    it('is not told of the protocol when it wants an object', async () => {
        const output = Output.object({ schema: jsonSchema({ type: 'object', properties: { total: { type: 'number' } } }) });
        await assert.rejects(generateText({ ...ask(openai(penstock.url).chat('decoys')), tools: undefined, output }).then((result) => result.output), /object/i);
        noMarkerIn(sent(-1));
        assert.deepEqual(sent(-1).map((message) => message.role), ['user']);
    });
});
