// What every SDK must show of replies through Penstock, compared with what the same SDK shows of the same provider without Penstock.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { AnthropicUpstream } from './anthropic-upstream.js';
import { NativeUpstream } from './native-upstream.js';
import { Penstock } from './penstock.js';
import { ResponsesUpstream } from './responses-upstream.js';
import { ERRORS, left, providerLines, SampleUpstream, SAMPLES, written } from './samples.js';
import { CSV_FILE, TEXTS, Upstream } from './upstream.js';

export const KEY = 'sk-e2e-caller';
export const PROMPT = 'The totals, please.';

// By API: its scripted provider, and what is left of the text before a tool call there.
const APIS = {
    chat: { Scripted: Upstream, beforeTool: 'Looking.\n' },
    responses: { Scripted: ResponsesUpstream, beforeTool: TEXTS['two-files'].left },
    anthropic: { Scripted: AnthropicUpstream, beforeTool: TEXTS['two-files'].left },
    gemini: { Scripted: NativeUpstream, beforeTool: TEXTS.file.left },
    ollama: { Scripted: NativeUpstream, beforeTool: TEXTS.file.left },
};

const WHOLE = { depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity, breakLength: Infinity };

export function noMarkerIn(value) {
    const found = /.{0,200}(HW_ATTACHMENT|<<<|>>>).{0,200}/is.exec(inspect(value, WHOLE));
    assert.equal(found?.[0], undefined, 'a marker');
}

// The artifact's bytes, by its link and by its id.
export async function checkTotals(artifacts, url) {
    assert.deepEqual(artifacts?.map((a) => a.filename), ['totals.csv']);
    const [artifact] = artifacts;
    const byId = await fetch(`${url}/v1/files/${artifact.id}/content`, { headers: { authorization: `Bearer ${KEY}` } });
    for (const reply of [await fetch(artifact.url), byId]) {
        assert.equal(reply.status, 200);
        const bytes = Buffer.from(await reply.arrayBuffer());
        assert.equal(bytes.toString(), CSV_FILE);
        assert.equal(artifact.bytes, bytes.length);
        assert.equal(artifact.sha256, createHash('sha256').update(bytes).digest('hex'));
    }
}

// `leave` answers when the client has gone; `closed()` are the times at which the provider saw clients go.
export async function checkLeaving(leave, closed) {
    const before = closed().length;
    await leave();
    const gone = performance.now();
    while (closed().length === before && performance.now() - gone < 5000) await sleep(5);
    assert.equal(closed().length, before + 1, 'the provider was not left');
    assert.ok(closed().at(-1) - gone < 1000, `after ${closed().at(-1) - gone} ms`);
}

/*
 * An SDK for one API:
 *   stream(url, model)   reads a stream to its end: {text, finish, usage, tools, report, seen}. `tools` are the calls, `report` holds
 *                        outbound_artifacts, `seen` is everything that the client was given, events and final objects. Rejects for an error in the stream
 *   whole(url, model)    the same without streaming; only if the SDK can
 *   leave(url, model)    aborts a stream after three pieces of text
 *   without              samples that the SDK itself cannot read, and errors that it does not see
 */
export function sdkSuite(title, { api, stream, whole, leave, without = [] }) {
    describe(`${title} through Penstock, beside the provider itself`, { timeout: 120_000 }, () => {
        const { Scripted, beforeTool } = APIS[api];
        let scripted, samples, penstock;
        before(async () => {
            scripted = await new Scripted().start();
            samples = await new SampleUpstream().start();
            penstock = await new Penstock().start(scripted.url, { providers: providerLines(samples.url) });
        });
        after(async () => {
            try {
                await penstock?.stop();
            } finally {
                await scripted?.stop();
                await samples?.stop();
            }
        });

        // All but the text and the report is what the provider says.
        const checkRest = (got, direct) => {
            assert.deepEqual({ finish: got.finish, usage: got.usage, tools: got.tools }, { finish: direct.finish, usage: direct.usage, tools: direct.tools });
            assert.ok(got.finish);
        };
        const both = (read, provider, model) => Promise.all([read(provider ? `${penstock.url}/${provider}` : penstock.url, model), read(provider ? samples.url : scripted.url, model)]);
        const ways = Object.entries({ stream, whole }).filter(([, read]) => read);

        for (const [way, read] of ways) {
            for (const name of ['file', 'file-only', 'two-files']) {
                it(`${way}: ${name}`, async () => {
                    const [got, direct] = await both(read, undefined, name);
                    assert.equal(direct.text, TEXTS[name].written, 'without Penstock');
                    if (name === 'file-only') assert.match(got.text, /totals\.csv/);
                    else assert.equal(got.text, TEXTS[name].left);
                    noMarkerIn(got.seen);
                    checkRest(got, direct);
                    if (name === 'two-files') assert.deepEqual(got.report.outbound_artifacts.map((a) => a.filename), ['a.csv', 'b.md']);
                    else await checkTotals(got.report.outbound_artifacts, penstock.url);
                });
            }

            it(`${way}: a directive that never ends is flagged, and what only looks like a marker is left`, async () => {
                const [got, direct] = await both(read, undefined, 'unterminated');
                assert.equal(got.text.trimEnd(), TEXTS.unterminated.left.trimEnd());
                assert.equal(got.report.flagForReview, true);
                checkRest(got, direct);
                const [decoys] = await both(read, undefined, 'decoys');
                assert.equal(decoys.text, TEXTS.decoys.left);
                assert.equal(decoys.report, undefined);
            });

            it(`${way}: tool calls are left alone`, async () => {
                const [got, direct] = await both(read, undefined, 'tools');
                assert.equal(direct.tools.length, 1);
                checkRest(got, direct);
                // OpenAI's whole replies with a tool call have no text.
                assert.equal(got.text, api === 'chat' && way === 'whole' ? '' : beforeTool);
            });
        }

        for (const [name, { text, provider = 'samples', tools = 0 }] of Object.entries(SAMPLES[api])) {
            if (without.includes(name)) continue;
            it(`sample ${name}: as it is, and with a file`, async () => {
                const [plain, direct] = await both(stream, provider, name);
                // A refusal, which is no text of the answer, is text to some SDKs.
                if (text) assert.equal(direct.text, text, 'without Penstock');
                assert.equal(direct.tools.length, tools, 'without Penstock');
                assert.equal(plain.text, direct.text);
                assert.equal(plain.report, undefined);
                checkRest(plain, direct);
                if (!text) return;
                const [got, bare] = await both(stream, provider, `${name}.file`);
                assert.equal(bare.text, written(text), 'without Penstock');
                assert.equal(got.text, left(text));
                noMarkerIn(got.seen);
                checkRest(got, direct);
                await checkTotals(got.report.outbound_artifacts, penstock.url);
            });
        }

        for (const [name, provider] of Object.entries(ERRORS[api])) {
            it(`sample ${name}: the provider's error`, async () => {
                const fails = async (url) => {
                    try {
                        await stream(url, name);
                    } catch (error) {
                        return error.message;
                    }
                    return undefined;
                };
                const direct = await fails(samples.url);
                assert.equal(direct !== undefined, !without.includes(name), 'without Penstock');
                assert.equal(await fails(`${penstock.url}/${provider}`), direct);
            });
        }

        it('closes the provider\'s side within a second of the client leaving', async () => {
            const [name, { provider = 'samples' }] = Object.entries(SAMPLES[api])[0];
            await checkLeaving(() => leave(`${penstock.url}/${provider}`, `${name}.endless`), () => samples.closedEarly);
        });
    });
}
