// The scripted provider alone, without Penstock: what the SDK gets from it is what the other tests start from.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import { ARGUMENTS, TEXTS, Upstream, pieces } from './upstream.js';

describe('scripted provider', () => {
    let upstream, client;
    before(async () => {
        upstream = await new Upstream().start();
        client = new OpenAI({ baseURL: `${upstream.url}/v1`, apiKey: 'sk-e2e', maxRetries: 0 });
    });
    after(() => upstream.stop());
    const ask = (model, more) => ({ model, messages: [{ role: 'user', content: 'hi' }], ...more });

    it('cuts texts without losing a character', () => {
        for (const { written } of Object.values(TEXTS)) assert.equal([...pieces(written)].join(''), written);
    });

    it('streams each text, directive and all', async () => {
        for (const [model, { written }] of Object.entries(TEXTS)) {
            const stream = await client.chat.completions.create(ask(model, { stream: true }));
            let text = '';
            for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
            assert.equal(text, written, model);
        }
    });

    it('answers whole', async () => {
        const reply = await client.chat.completions.create(ask('file'));
        assert.equal(reply.choices[0].message.content, TEXTS.file.written);
        assert.equal(reply.usage.total_tokens, 33);
    });

    it('calls a tool', async () => {
        const reply = await client.chat.completions.stream(ask('tools')).finalChatCompletion();
        assert.equal(reply.choices[0].message.tool_calls[0].function.arguments, ARGUMENTS);
        assert.equal(reply.choices[0].finish_reason, 'tool_calls');
    });

    it('notices that a client leaves', async () => {
        const before = upstream.closedEarly.length;
        const stream = await client.chat.completions.create(ask('endless', { stream: true }));
        for await (const chunk of stream) if (chunk.choices[0].delta.content === 'word2 ') break;
        for (let i = 0; i < 100 && upstream.closedEarly.length === before; i++) await new Promise((done) => setTimeout(done, 10));
        assert.equal(upstream.closedEarly.length, before + 1);
    });

    it('refuses', async () => {
        await assert.rejects(client.chat.completions.create(ask('limited')), (error) => error instanceof OpenAI.RateLimitError);
    });
});
