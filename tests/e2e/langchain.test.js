// Penstock as LangChain sees it with OpenAI and Anthropic, unmodified: only their base URLs point here.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { AnthropicUpstream } from './anthropic-upstream.js';
import { Penstock } from './penstock.js';
import { KEY, noMarkerIn, PROMPT, sdkSuite } from './sdk-suite.js';
import { ARGUMENTS, TEXTS } from './upstream.js';

const tools = ['weather', 'get_tide'].map((name) => ({ name, description: 'e2e', schema: { type: 'object', properties: {} } }));

// Where a raw reply says what became of the files.
const reportIn = (replies) => replies.map((reply) => reply?.response ?? reply).find((holder) => holder?.outbound_artifacts);

// LangChain gives parts of a reply only; the others are read from a copy, with the fetch that its clients may be given.
function copying() {
    const copies = [];
    return {
        async fetch(...request) {
            const reply = await fetch(...request);
            copies.push(reply.clone().text());
            return reply;
        },
        async events() {
            const texts = await Promise.all(copies);
            return texts.flatMap((text) => (text.startsWith('{') ? [text] : text.split('\n').flatMap((line) => /^data: *(\{.*)/.exec(line)?.[1] ?? []))).map((json) => JSON.parse(json));
        },
    };
}

const finishOf = (message) => {
    const said = { ...message.additional_kwargs, ...message.response_metadata };
    return said.finish_reason ?? said.stop_reason ?? said.incomplete_details?.reason ?? said.status;
};

const resultOf = async (message, report, seen) => ({
    text: message.text,
    finish: finishOf(message),
    usage: message.usage_metadata,
    tools: message.tool_calls ?? [],
    report,
    seen,
});

const sdk = (api, connect) => ({
    api,
    async stream(url, model) {
        const copy = copying();
        const chunks = [];
        for await (const chunk of await connect(url, model, copy.fetch).bindTools(tools).stream(PROMPT)) chunks.push(chunk);
        const message = chunks.reduce((before, chunk) => before.concat(chunk));
        return resultOf(message, reportIn(await copy.events()), [chunks, message]);
    },
    async whole(url, model) {
        const copy = copying();
        const message = await connect(url, model, copy.fetch).bindTools(tools).invoke(PROMPT);
        return resultOf(message, reportIn(await copy.events()), message);
    },
    async leave(url, model) {
        const abort = new AbortController();
        let count = 0;
        try {
            for await (const chunk of await connect(url, model).stream(PROMPT, { signal: abort.signal })) if (chunk.text && ++count === 3) abort.abort();
        } catch (error) {
            if (!abort.signal.aborted) throw error;
        }
    },
});

const openai = (useResponsesApi) => (url, model, ownFetch) =>
    new ChatOpenAI({ model, apiKey: KEY, maxRetries: 0, useResponsesApi, configuration: { baseURL: `${url}/v1`, fetch: ownFetch } });
const anthropic = (url, model, ownFetch) => new ChatAnthropic({ model, apiKey: KEY, maxRetries: 0, maxTokens: 100, anthropicApiUrl: url, clientOptions: { fetch: ownFetch } });

sdkSuite("LangChain with OpenAI's chat", { ...sdk('chat', openai(false)), without: ['openai-chat-n2-logprobs', 'compat-content-array'] });
sdkSuite("LangChain with OpenAI's Responses", sdk('responses', openai(true)));
sdkSuite('LangChain with Anthropic', sdk('anthropic', anthropic));

describe('LangChain through Penstock', { timeout: 60_000 }, () => {
    let upstream, penstock;
    before(async () => {
        upstream = await new AnthropicUpstream().start();
        penstock = await new Penstock().start(upstream.url);
    });
    after(async () => {
        try {
            await penstock?.stop();
        } finally {
            await upstream?.stop();
        }
    });

    it('goes on after a tool call: what it sends back is what it was given', async () => {
        const model = anthropic(penstock.url, 'tools').bindTools(tools);
        const question = new HumanMessage(PROMPT);
        let answer;
        for await (const chunk of await model.stream([question])) answer = answer?.concat(chunk) ?? chunk;
        const { system } = upstream.requests.at(-1).body;
        await model.invoke([question, answer, new ToolMessage({ content: 'Rain.', tool_call_id: answer.tool_calls[0].id })]);
        const { body } = upstream.requests.at(-1);
        assert.deepEqual(body.system, system, 'the same system text in each turn');
        const [, said] = body.messages;
        assert.equal(said.content.map((block) => block.text ?? '').join(''), TEXTS['two-files'].left);
        const call = said.content.find((block) => block.type === 'tool_use');
        assert.deepEqual(typeof call.input === 'string' ? JSON.parse(call.input) : call.input, JSON.parse(ARGUMENTS));
        noMarkerIn(said.content.filter((block) => block !== call));
    });
});
