// Penstock as Ollama's client sees it, unmodified: only its host points here.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ollama } from 'ollama';
import { CALL, NativeUpstream } from './native-upstream.js';
import { Penstock } from './penstock.js';
import { CSV_FILE, TEXTS } from './upstream.js';

const PROMPT = 'The totals, please.';

describe("Ollama's client through Penstock", { timeout: 120_000 }, () => {
    let upstream, penstock, client;
    before(async () => {
        upstream = await new NativeUpstream().start();
        penstock = await new Penstock().start(upstream.url);
        client = new Ollama({ host: penstock.url });
    });
    after(async () => {
        try {
            await penstock?.stop();
        } finally {
            await upstream?.stop();
        }
    });

    const chat = (model, more) => client.chat({ model, messages: [{ role: 'user', content: PROMPT }], ...more });
    const noMarkerIn = (value) => assert.doesNotMatch(JSON.stringify(value), /HW_ATTACHMENT/i);
    const linesOf = async (stream) => {
        const lines = [];
        for await (const line of await stream) lines.push(line);
        return lines;
    };
    const textOf = (lines) => lines.map((l) => l.message?.content ?? l.response).join('');
    const checkTotals = async (artifacts) => {
        assert.deepEqual(artifacts.map((a) => a.filename), ['totals.csv']);
        const bytes = Buffer.from(await (await fetch(artifacts[0].url)).arrayBuffer());
        assert.equal(bytes.toString(), CSV_FILE);
        assert.equal(artifacts[0].sha256, createHash('sha256').update(bytes).digest('hex'));
    };

    it('streams a chat without the directive, and the file in the line that is done', async () => {
        const lines = await linesOf(chat('file', { stream: true }));
        assert.equal(textOf(lines), TEXTS.file.left);
        noMarkerIn(lines);
        const [last, ...others] = lines.filter((l) => 'outbound_artifacts' in l);
        assert.deepEqual(others, []);
        assert.equal(last, lines.at(-1));
        assert.equal(last.done, true);
        assert.equal(last.eval_count, 22);
        await checkTotals(last.outbound_artifacts);
    });

    it('streams a generation, whose token numbers pass', async () => {
        const lines = await linesOf(client.generate({ model: 'file', prompt: PROMPT, stream: true }));
        assert.equal(textOf(lines), TEXTS.file.left);
        assert.deepEqual(lines.at(-1).context, [1, 2, 3]);
        await checkTotals(lines.at(-1).outbound_artifacts);
    });

    it('cleans whole replies', async () => {
        const reply = await chat('file');
        assert.equal(reply.message.content, TEXTS.file.left);
        await checkTotals(reply.outbound_artifacts);
        const generated = await client.generate({ model: 'two-files', prompt: PROMPT });
        assert.equal(generated.response, TEXTS['two-files'].left);
        assert.equal(generated.outbound_artifacts.length, 2);
        assert.match((await chat('file-only')).message.content, /totals\.csv/);
    });

    it('leaves thinking and tool calls alone', async () => {
        const thinking = await linesOf(chat('thinking', { stream: true }));
        assert.match(thinking.map((l) => l.message.thinking ?? '').join(''), /<<<HW_ATTACHMENT\n\{"filename":"no\.csv"\}$/);
        assert.equal(textOf(thinking), TEXTS.file.left);
        const tools = await linesOf(chat('tools', { stream: true }));
        assert.deepEqual(tools.find((l) => l.message.tool_calls).message.tool_calls[0].function, { name: CALL.name, arguments: CALL.args });
        assert.equal(textOf(tools), TEXTS.file.left);
    });

    it('flags a directive that never ends, and leaves what only looks like a marker', async () => {
        const last = (await linesOf(chat('unterminated', { stream: true }))).at(-1);
        assert.equal(last.flagForReview, true);
        assert.match(last.reason, /^unterminated: /);
        assert.equal(textOf(await linesOf(chat('decoys', { stream: true }))), TEXTS.decoys.left);
    });

    it('adds the protocol behind the system text', async () => {
        await chat('decoys');
        assert.deepEqual(upstream.requests.at(-1).body.messages.map((m) => m.role), ['system', 'user']);
        await client.chat({ model: 'decoys', messages: [{ role: 'system', content: 'House rules.' }, { role: 'user', content: PROMPT }] });
        const [first, second] = upstream.requests.at(-1).body.messages;
        assert.equal(first.content, 'House rules.');
        assert.match(second.content, /<<<HW_ATTACHMENT/);
        await client.generate({ model: 'decoys', prompt: PROMPT, system: 'House rules.' });
        assert.match(upstream.requests.at(-1).body.system, /^House rules\.\n\n# [^]*<<<HW_ATTACHMENT/);
        await chat('decoys', { format: 'json' });
        assert.deepEqual(upstream.requests.at(-1).body.messages.map((m) => m.role), ['user']);
    });

    it('closes the upstream request when the client aborts', async () => {
        const seen = upstream.closedEarly;
        const stream = await chat('endless', { stream: true });
        await assert.rejects(async () => {
            for await (const _ of stream) stream.abort();
        });
        for (let i = 0; i < 100 && upstream.closedEarly === seen; i++) await sleep(20);
        assert.equal(upstream.closedEarly, seen + 1);
    });

    it("raises the provider's error inside a stream, and Penstock's own as the API's", async () => {
        await assert.rejects(linesOf(chat('failing', { stream: true })), /the runner has stopped/);
        await assert.rejects(chat('file', { hw: { colour: 'red' } }), (error) => {
            assert.equal(error.status_code, 400);
            assert.match(error.message, /colour/);
            return true;
        });
    });
});
