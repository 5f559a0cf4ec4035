// Penstock as the Anthropic SDK sees it, unmodified: only its base URL points here.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import Anthropic from '@anthropic-ai/sdk';
import { AnthropicUpstream, SIGNATURE } from './anthropic-upstream.js';
import { Penstock } from './penstock.js';
import { ARGUMENTS, CSV_FILE, TEXTS } from './upstream.js';

describe('the Anthropic SDK through Penstock', { timeout: 120_000 }, () => {
    let upstream, penstock, client;
    before(async () => {
        upstream = await new AnthropicUpstream().start();
        penstock = await new Penstock().start(upstream.url);
        client = new Anthropic({ baseURL: penstock.url, apiKey: 'sk-e2e-caller', maxRetries: 0, timeout: 20_000 });
    });
    after(async () => {
        try {
            await penstock?.stop();
        } finally {
            await upstream?.stop();
        }
    });

    const ask = (model, more) => ({ model, max_tokens: 100, messages: [{ role: 'user', content: 'The totals, please.' }], ...more });
    const noMarkerIn = (value) => assert.doesNotMatch(JSON.stringify(value), /HW_ATTACHMENT/i);
    const eventsOf = async (model) => {
        const events = [];
        for await (const event of await client.messages.create(ask(model, { stream: true }))) events.push(event);
        return events;
    };
    const reporting = (events) => events.filter((e) => 'outbound_artifacts' in e);

    const checkTotals = async (artifacts) => {
        assert.deepEqual(artifacts.map((a) => a.filename), ['totals.csv']);
        const bytes = Buffer.from(await (await client.beta.files.download(artifacts[0].id)).arrayBuffer());
        assert.equal(bytes.toString(), CSV_FILE);
        assert.equal(artifacts[0].sha256, createHash('sha256').update(bytes).digest('hex'));
        const told = await client.beta.files.retrieveMetadata(artifacts[0].id);
        assert.equal(told.type, 'file');
        assert.equal(told.filename, 'totals.csv');
        assert.equal(told.size_bytes, bytes.length);
    };

    it('streams the text without the directive, and the file in the event that ends the reply', async () => {
        const events = await eventsOf('file');
        const said = events.filter((e) => e.delta?.type === 'text_delta').map((e) => e.delta.text).join('');
        assert.equal(said, TEXTS.file.left);
        noMarkerIn(events);
        const [last, ...others] = reporting(events);
        assert.deepEqual(others, []);
        assert.equal(last.type, 'message_delta');
        assert.equal(last.delta.stop_reason, 'end_turn');
        assert.equal(events.at(-1).type, 'message_stop');
        await checkTotals(last.outbound_artifacts);
    });

    it('works with the helper: its events and the final message', async () => {
        const run = client.messages.stream(ask('file'));
        let heard = '';
        run.on('text', (delta, snapshot) => {
            heard += delta;
            assert.ok(TEXTS.file.left.startsWith(snapshot), JSON.stringify(snapshot));
        });
        const message = await run.finalMessage();
        assert.equal(heard, TEXTS.file.left);
        assert.deepEqual(message.content.map((b) => b.text), [TEXTS.file.left]);
        assert.equal(message.stop_reason, 'end_turn');
        assert.equal(message.usage.input_tokens, 11);
        assert.equal(message.usage.output_tokens, 22);
        noMarkerIn(message);
    });

    it('says which files are attached when nothing else would be left', async () => {
        const message = await client.messages.stream(ask('file-only')).finalMessage();
        assert.match(message.content[0].text, /totals\.csv/);
        noMarkerIn(message);
    });

    it('leaves thinking and its signature alone, so that the message can be sent back', async () => {
        const message = await client.messages.stream(ask('thinking', { thinking: { type: 'enabled', budget_tokens: 1024 } })).finalMessage();
        assert.equal(message.content[0].signature, SIGNATURE);
        assert.match(message.content[0].thinking, /<<<HW_ATTACHMENT\n\{"filename":"no\.csv"\}$/);
        assert.equal(message.content[1].text, TEXTS.file.left);
        const history = [ask('x').messages[0], { role: 'assistant', content: message.content }, { role: 'user', content: 'More.' }];
        const before = upstream.requests.at(-1).body.system;
        await client.messages.create(ask('decoys', { messages: [history[0], { ...history[1], content: [message.content[1]] }, history[2]] }));
        assert.deepEqual(upstream.requests.at(-1).body.system, before, 'the same system text in each turn');
        noMarkerIn(upstream.requests.at(-1).body.messages);
    });

    it('leaves tool calls alone', async () => {
        const message = await client.messages.stream(ask('tools')).finalMessage();
        assert.equal(message.content[0].text, TEXTS['two-files'].left);
        assert.deepEqual(message.content[1].input, JSON.parse(ARGUMENTS));
        assert.equal(message.content[1].id, 'toolu_e2e');
        assert.equal(message.stop_reason, 'tool_use');
    });

    it('cleans whole replies, and reports in them', async () => {
        const message = await client.messages.create(ask('file'));
        assert.equal(message.content[0].text, TEXTS.file.left);
        noMarkerIn({ ...message, outbound_artifacts: undefined });
        await checkTotals(message.outbound_artifacts);
        assert.equal(message.usage.output_tokens, 22);
    });

    it('flags a directive that never ends, and leaves what only looks like a marker', async () => {
        const [last] = reporting(await eventsOf('unterminated'));
        assert.equal(last.flagForReview, true);
        assert.match(last.reason, /^unterminated: /);
        const events = await eventsOf('decoys');
        assert.equal(events.filter((e) => e.delta?.type === 'text_delta').map((e) => e.delta.text).join(''), TEXTS.decoys.left);
        assert.deepEqual(reporting(events), []);
    });

    it('adds the protocol as the last block of the system text', async () => {
        const cached = { type: 'text', text: 'House rules.', cache_control: { type: 'ephemeral' } };
        for (const [system, kept] of [[undefined, []], ['House rules.', [{ type: 'text', text: 'House rules.' }]], [[cached], [cached]]]) {
            await client.messages.create(ask('decoys', { system }));
            const { system: sent } = upstream.requests.at(-1).body;
            assert.deepEqual(sent.slice(0, -1), kept);
            assert.deepEqual(Object.keys(sent.at(-1)), ['type', 'text']);
            assert.match(sent.at(-1).text, /<<<HW_ATTACHMENT/);
        }
    });

    it('closes the upstream request when the client aborts', async () => {
        const run = client.messages.stream(ask('endless'));
        const seen = upstream.closedEarly;
        run.on('text', () => run.abort());
        await assert.rejects(run.finalMessage(), Anthropic.APIUserAbortError);
        for (let i = 0; i < 100 && upstream.closedEarly === seen; i++) await sleep(20);
        assert.equal(upstream.closedEarly, seen + 1);
    });

    it("raises the provider's error inside a stream, and Penstock's own as the API's", async () => {
        await assert.rejects(client.messages.stream(ask('overloaded')).finalMessage(), (error) => /Overloaded/.test(error.message));
        await assert.rejects(client.messages.create(ask('file', { hw: { colour: 'red' } })), (error) => {
            assert.ok(error instanceof Anthropic.BadRequestError);
            assert.equal(error.error.error.type, 'invalid_request_error');
            assert.equal(error.error.error.code, 'BAD_REQUEST');
            assert.match(error.message, /colour/);
            return true;
        });
    });
});
