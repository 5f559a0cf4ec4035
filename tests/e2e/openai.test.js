// Penstock as the OpenAI SDK sees it, unmodified: only its base URL points here.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import { Penstock } from './penstock.js';
import { ARGUMENTS, CSV_FILE, TEXTS, Upstream } from './upstream.js';

const KEY = 'sk-e2e-caller';

describe('the OpenAI SDK through Penstock', { timeout: 120_000 }, () => {
    let upstream, penstock, client;
    before(async () => {
        upstream = await new Upstream().start();
        penstock = await new Penstock().start(upstream.url);
        client = connect();
    });
    after(async () => {
        try {
            await penstock?.stop();
        } finally {
            await upstream?.stop();
        }
    });

    const connect = (path = '/v1', apiKey = KEY) => new OpenAI({ baseURL: penstock.url + path, apiKey, maxRetries: 0, timeout: 20_000 });
    const ask = (model, more) => ({ model, messages: [{ role: 'user', content: 'The totals, please.' }], ...more });
    const stream = async (model, more) => {
        const chunks = [];
        for await (const chunk of await client.chat.completions.create(ask(model, { stream: true, ...more }))) chunks.push(chunk);
        return chunks;
    };
    const textOf = (chunks, index = 0) =>
        chunks.flatMap((c) => c.choices).filter((c) => c.index === index).map((c) => c.delta.content ?? '').join('');
    const reporting = (chunks) => chunks.filter((c) => 'outbound_artifacts' in c);
    const noMarkerIn = (value) => assert.doesNotMatch(JSON.stringify(value), /HW_ATTACHMENT/i);
    const download = async (id, from = client) => Buffer.from(await (await from.files.content(id)).arrayBuffer());
    const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

    // What every reply with totals.csv must bring; answers the artifact.
    const checkTotals = async (artifacts) => {
        assert.equal(artifacts.length, 1);
        const [artifact] = artifacts;
        assert.match(artifact.id, /^file-hw-/);
        assert.equal(artifact.filename, 'totals.csv');
        assert.equal(artifact.format, 'csv');
        const bytes = await download(artifact.id);
        assert.equal(bytes.toString(), CSV_FILE);
        assert.equal(artifact.bytes, bytes.length);
        assert.equal(artifact.sha256, sha256(bytes));
        return artifact;
    };

    describe('streams', () => {
        it('carry the text without the directive, and the file in the chunk that ends the reply', async () => {
            const chunks = await stream('file', { stream_options: { include_usage: true } });
            assert.equal(textOf(chunks), TEXTS.file.left);
            noMarkerIn(chunks);
            const [last, ...others] = reporting(chunks);
            assert.deepEqual(others, []);
            assert.equal(last.choices[0].finish_reason, 'stop');
            assert.ok(!('flagForReview' in last));
            await checkTotals(last.outbound_artifacts);
            assert.deepEqual(chunks.at(-1).usage, { prompt_tokens: 11, completion_tokens: 22, total_tokens: 33 });
            assert.deepEqual(chunks.at(-1).choices, []);
        });

        it('never show a beginning of a marker on the way', async () => {
            let seen = '';
            for await (const chunk of await client.chat.completions.create(ask('file', { stream: true }))) {
                seen += chunk.choices[0]?.delta.content ?? '';
                assert.ok(TEXTS.file.left.startsWith(seen), JSON.stringify(seen));
            }
            assert.equal(seen, TEXTS.file.left);
        });

        it('work with the helper: finalChatCompletion, finalContent and its events', async () => {
            const run = client.chat.completions.stream(ask('file'));
            let heard = '';
            run.on('content', (delta) => (heard += delta));
            const reply = await run.finalChatCompletion();
            assert.equal(await run.finalContent(), TEXTS.file.left);
            assert.equal(heard, TEXTS.file.left);
            assert.equal(reply.choices[0].finish_reason, 'stop');
            assert.equal(reply.outbound_artifacts.length, 1);
            noMarkerIn(reply);
        });

        it('bring several files in their order', async () => {
            const chunks = await stream('two-files');
            assert.equal(textOf(chunks), TEXTS['two-files'].left);
            const [{ outbound_artifacts: artifacts }] = reporting(chunks);
            assert.deepEqual(artifacts.map((a) => a.filename), ['a.csv', 'b.md']);
            assert.equal((await download(artifacts[1].id)).toString(), '# Ünïcode 🙂\n\n---\n\ntext');
        });

        it('keep choices apart', async () => {
            const chunks = await stream('two-choices', { n: 2 });
            assert.equal(textOf(chunks, 0), TEXTS['two-files'].left);
            assert.equal(textOf(chunks, 1), TEXTS.file.left);
            const [last, ...others] = reporting(chunks);
            assert.deepEqual(others, []);
            assert.equal(last.choices[0].index, 0); // whose finish_reason came last
            assert.deepEqual(last.outbound_artifacts.map((a) => a.filename).sort(), ['a.csv', 'b.md', 'totals.csv']);
            noMarkerIn(chunks);
        });

        it('say which files are attached when nothing else would be left', async () => {
            const chunks = await stream('file-only');
            assert.match(textOf(chunks), /totals\.csv/);
            noMarkerIn(chunks);
            await checkTotals(reporting(chunks)[0].outbound_artifacts);
        });

        it('flag a directive that never ends', async () => {
            const chunks = await stream('unterminated');
            assert.equal(textOf(chunks), TEXTS.unterminated.left);
            const [last] = reporting(chunks);
            assert.equal(last.flagForReview, true);
            assert.match(last.reason, /^unterminated: /);
            assert.deepEqual(last.outbound_artifacts, []);
            assert.equal(last.choices[0].finish_reason, 'stop');
        });

        it('leave what only looks like a marker', async () => {
            const chunks = await stream('decoys');
            assert.equal(textOf(chunks), TEXTS.decoys.left);
            assert.deepEqual(reporting(chunks), []);
        });

        it('leave tool calls alone', async () => {
            const run = client.chat.completions.stream(ask('tools'));
            const reply = await run.finalChatCompletion();
            const [call] = reply.choices[0].message.tool_calls;
            assert.equal(call.id, 'call_1');
            assert.equal(call.function.name, 'weather');
            assert.equal(call.function.arguments, ARGUMENTS);
            assert.equal(reply.choices[0].finish_reason, 'tool_calls');
            assert.equal(reply.choices[0].message.content, 'Looking.\n');
            assert.deepEqual(reply.outbound_artifacts.map((a) => a.filename), ['plan.md']);
        });

        it('are the provider\'s bytes where there is no directive', async () => {
            const reply = await fetch(`${penstock.url}/v1/chat/completions`, {
                method: 'POST',
                headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
                body: JSON.stringify(ask('verbatim', { stream: true })),
            });
            const body = Buffer.from(await reply.arrayBuffer());
            assert.equal(body.toString(), upstream.sent.toString());
            assert.ok(body.equals(upstream.sent));
            assert.match(reply.headers.get('content-type'), /^text\/event-stream/);
            assert.equal(reply.headers.get('x-accel-buffering'), 'no');
            assert.equal(reply.headers.get('x-request-id'), 'req_e2e');
            assert.ok(reply.headers.get('x-hw-consult-id'));
        });

        it('close the provider\'s side within a second of the caller leaving', async () => {
            const before = upstream.closedEarly.length;
            const run = await client.chat.completions.create(ask('endless', { stream: true }));
            let count = 0;
            for await (const chunk of run) if (chunk.choices[0].delta.content && ++count === 3) break;
            const left = performance.now();
            while (upstream.closedEarly.length === before && performance.now() - left < 5000) await sleep(5);
            assert.equal(upstream.closedEarly.length, before + 1);
            assert.ok(upstream.closedEarly.at(-1) - left < 1000, `after ${upstream.closedEarly.at(-1) - left} ms`);
        });

        it('arrive while the provider still writes', async () => {
            const run = await client.chat.completions.create(ask('endless', { stream: true }));
            const times = [];
            for await (const chunk of run) if (chunk.choices[0].delta.content && times.push(performance.now()) === 20) break;
            assert.ok(times[19] - times[0] > 200, 'twenty tokens of 25 ms came in one burst');
        });
    });

    describe('whole replies', () => {
        it('carry the text without the directive, and the file', async () => {
            const reply = await client.chat.completions.create(ask('file'));
            assert.equal(reply.choices[0].message.content, TEXTS.file.left);
            assert.equal(reply.choices[0].finish_reason, 'stop');
            assert.equal(reply.usage.total_tokens, 33);
            noMarkerIn(reply);
            await checkTotals(reply.outbound_artifacts);
        });

        it('are the provider\'s bytes where there is no directive', async () => {
            const { data, response } = await client.chat.completions.create(ask('decoys')).withResponse();
            assert.equal(data.choices[0].message.content, TEXTS.decoys.left);
            assert.ok(!('outbound_artifacts' in data));
            assert.equal(Number(response.headers.get('content-length')), upstream.sent.length);
        });

        it('leave tool calls alone', async () => {
            const reply = await client.chat.completions.create(ask('tools'));
            assert.equal(reply.choices[0].message.tool_calls[0].function.arguments, ARGUMENTS);
            assert.equal(reply.choices[0].message.content, null);
        });
    });

    describe('files', () => {
        let artifact;
        before(async () => {
            artifact = (await client.chat.completions.create(ask('file'))).outbound_artifacts[0];
        });

        it('can be looked up', async () => {
            const file = await client.files.retrieve(artifact.id);
            assert.equal(file.id, artifact.id);
            assert.equal(file.object, 'file');
            assert.equal(file.filename, 'totals.csv');
            assert.equal(file.bytes, artifact.bytes);
        });

        it('can be fetched by their link without a key, as a download', async () => {
            assert.ok(artifact.url.startsWith(penstock.url));
            const reply = await fetch(artifact.url);
            assert.equal(reply.status, 200);
            assert.equal(await reply.text(), CSV_FILE);
            assert.match(reply.headers.get('content-disposition'), /^attachment/);
            assert.equal(reply.headers.get('x-content-type-options'), 'nosniff');
        });

        it('are not there for a link that was changed', async () => {
            const url = new URL(artifact.url);
            url.searchParams.set('expires', String(Number(url.searchParams.get('expires')) + 1));
            const reply = await fetch(url);
            await reply.arrayBuffer();
            assert.equal(reply.status, 404);
        });

        it('are not there for another key', async () => {
            await assert.rejects(connect('/v1', 'sk-e2e-stranger').files.content(artifact.id), OpenAI.NotFoundError);
            await assert.rejects(client.files.retrieve('file-hw-000000000000000000000000'), OpenAI.NotFoundError);
        });

        it('are found under the provider\'s own prefix too', async () => {
            assert.equal((await download(artifact.id, connect('/openai/v1'))).toString(), CSV_FILE);
        });

        it('can be removed', async () => {
            const { outbound_artifacts: [mine] } = await client.chat.completions.create(ask('file'));
            assert.equal((await client.files.delete(mine.id)).deleted, true);
            await assert.rejects(client.files.content(mine.id), OpenAI.NotFoundError);
        });
    });

    describe('requests', () => {
        const last = () => upstream.requests.at(-1);

        it('explain the protocol to the model in a message of its own', async () => {
            const messages = [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'Hi.' }];
            await client.chat.completions.create({ model: 'decoys', messages });
            const sent = JSON.parse(last().body).messages;
            assert.equal(sent.length, 3);
            assert.deepEqual([sent[0], sent[2]], messages);
            assert.equal(sent[1].role, 'system');
            assert.match(sent[1].content, /<<<HW_ATTACHMENT/);
        });

        it('keep what only Penstock reads to itself', async () => {
            await client.chat.completions.create({ ...ask('decoys'), hw: { thread: 't-1' } }, { headers: { 'X-HW-Org': 'acme' } });
            assert.ok(!('hw' in JSON.parse(last().body)));
            assert.deepEqual(Object.keys(last().headers).filter((name) => name.startsWith('x-hw-')), []);
            assert.equal(last().headers.authorization, `Bearer ${KEY}`);
        });

        it('are relayed as they are when switched off', async () => {
            const body = ask('file', { stream: true });
            const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', 'x-hw-consult': 'off' };
            const reply = await fetch(`${penstock.url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) });
            assert.ok(Buffer.from(await reply.arrayBuffer()).equals(upstream.sent));
            assert.equal(last().body, JSON.stringify(body));
        });

        it('to other paths pass through', async () => {
            const page = await client.models.list();
            assert.deepEqual(page.data.map((m) => m.id), ['scripted']);
            assert.equal(last().url, '/v1/models');
        });
    });

    describe('errors', () => {
        it('of Penstock\'s own have OpenAI\'s shape', async () => {
            await assert.rejects(connect('/down/v1').chat.completions.create(ask('file')), (error) => {
                assert.ok(error instanceof OpenAI.APIError);
                assert.equal(error.status, 502);
                assert.equal(error.code, 'UPSTREAM_UNREACHABLE');
                return true;
            });
        });

        it('in what the caller says are named', async () => {
            await assert.rejects(client.chat.completions.create({ ...ask('file'), hw: { thraed: 1 } }), (error) => {
                assert.ok(error instanceof OpenAI.BadRequestError);
                assert.equal(error.code, 'BAD_REQUEST');
                assert.match(error.message, /thraed/);
                return true;
            });
        });

        it('of the provider pass through', async () => {
            await assert.rejects(client.chat.completions.create(ask('limited')), (error) => {
                assert.ok(error instanceof OpenAI.RateLimitError);
                assert.equal(error.code, 'rate_limit_exceeded');
                assert.equal(error.headers.get('retry-after'), '7');
                return true;
            });
        });
    });
});
