// Penstock as Google's Gen AI SDK sees it, unmodified: only its base URL points here.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { GoogleGenAI } from '@google/genai';
import { CALL, NativeUpstream, SIGNATURE } from './native-upstream.js';
import { Penstock } from './penstock.js';
import { CSV_FILE, TEXTS } from './upstream.js';

const KEY = 'e2e-caller';

describe('the Google Gen AI SDK through Penstock', { timeout: 120_000 }, () => {
    let upstream, penstock, client;
    before(async () => {
        upstream = await new NativeUpstream().start();
        penstock = await new Penstock().start(upstream.url);
        client = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: penstock.url } });
    });
    after(async () => {
        try {
            await penstock?.stop();
        } finally {
            await upstream?.stop();
        }
    });

    const ask = (model, more) => ({ model, contents: 'The totals, please.', ...more });
    const noMarkerIn = (value) => assert.doesNotMatch(JSON.stringify(value), /HW_ATTACHMENT/i);
    const chunksOf = async (request) => {
        const chunks = [];
        for await (const chunk of await client.models.generateContentStream(request)) chunks.push(chunk);
        return chunks;
    };
    const textOf = (chunks, index = 0) =>
        chunks
            .flatMap((c) => c.candidates?.filter((one) => (one.index ?? 0) === index) ?? [])
            .flatMap((c) => c.content?.parts?.filter((p) => !p.thought).map((p) => p.text ?? '') ?? [])
            .join('');
    // The SDK keeps what it knows of a reply; the report is looked for in the bytes, as a client would that wants it.
    const raw = async (model, verb) => {
        const reply = await fetch(`${penstock.url}/v1beta/models/${model}:${verb}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', 'x-goog-api-key': KEY },
            body: JSON.stringify({ contents: [{ parts: [{ text: 'The totals, please.' }] }] }),
        });
        const text = await reply.text();
        return /sse/.test(verb) ? text.split('\r\n\r\n').filter(Boolean).map((e) => JSON.parse(e.slice(6))) : JSON.parse(text);
    };
    const checkTotals = async (artifacts) => {
        assert.deepEqual(artifacts.map((a) => a.filename), ['totals.csv']);
        for (const request of [[artifacts[0].url], [`${penstock.url}/v1/files/${artifacts[0].id}/content`, { headers: { 'x-goog-api-key': KEY } }]]) {
            const bytes = Buffer.from(await (await fetch(...request)).arrayBuffer());
            assert.equal(bytes.toString(), CSV_FILE);
            assert.equal(artifacts[0].sha256, createHash('sha256').update(bytes).digest('hex'));
        }
    };

    it('streams the text without the directive, and the end as the provider said it', async () => {
        const chunks = await chunksOf(ask('file'));
        assert.equal(textOf(chunks), TEXTS.file.left);
        noMarkerIn(chunks);
        assert.equal(chunks.at(-1).candidates[0].finishReason, 'STOP');
        assert.equal(chunks.at(-1).candidates[0].content.parts.at(-1).thoughtSignature, SIGNATURE);
        assert.equal(chunks.at(-1).usageMetadata.totalTokenCount, 33);
    });

    it('names files in the text when links are asked for, as docs/GEMINI.md shows', async () => {
        const ai = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: penstock.url, headers: { 'X-HW-Links': 'markdown' } } });
        const reply = await ai.models.generateContent(ask('file'));
        const [, name, url] = reply.text.match(/\[([^\]]+)\]\((\S+\/v1\/files\/file-hw-\S+)\)/);
        assert.equal(name, 'totals.csv');
        assert.equal(await (await fetch(url)).text(), CSV_FILE);
    });

    it('reports the file in the chunk with the finish reason, in an event stream and in an array', async () => {
        for (const verb of ['streamGenerateContent?alt=sse', 'streamGenerateContent']) {
            const chunks = await raw('file', verb);
            assert.equal(textOf(chunks), TEXTS.file.left);
            const [last, ...others] = chunks.filter((c) => 'outbound_artifacts' in c);
            assert.deepEqual(others, []);
            assert.equal(last.candidates[0].finishReason, 'STOP');
            await checkTotals(last.outbound_artifacts);
        }
    });

    it('works with chats: the history holds the cleaned text', async () => {
        const chat = client.chats.create({ model: 'file' });
        let heard = '';
        for await (const chunk of await chat.sendMessageStream({ message: 'The totals, please.' })) heard += textOf([chunk]);
        assert.equal(heard, TEXTS.file.left);
        const history = chat.getHistory(true);
        assert.equal(history.length >= 2, true, 'the turn counts as valid');
        noMarkerIn(history);
        await chat.sendMessage({ message: 'And again.' });
        noMarkerIn(upstream.requests.at(-1).body.contents);
    });

    it('leaves thoughts, function calls and signatures alone', async () => {
        const thinking = await chunksOf(ask('thinking'));
        const thoughts = thinking.flatMap((c) => c.candidates[0].content?.parts?.filter((p) => p.thought) ?? []);
        assert.match(thoughts.map((p) => p.text).join(''), /<<<HW_ATTACHMENT\n\{"filename":"no\.csv"\}$/);
        assert.equal(textOf(thinking), TEXTS.file.left);
        const tools = await chunksOf(ask('tools'));
        const call = tools.flatMap((c) => c.candidates[0].content?.parts ?? []).find((p) => p.functionCall);
        assert.deepEqual({ name: call.functionCall.name, args: call.functionCall.args }, CALL);
        assert.equal(call.thoughtSignature, SIGNATURE);
    });

    it('keeps candidates apart', async () => {
        const chunks = await chunksOf(ask('two-candidates', { config: { candidateCount: 2 } }));
        assert.equal(textOf(chunks, 0), TEXTS.file.left);
        assert.equal(textOf(chunks, 1), TEXTS['two-files'].left);
        noMarkerIn(chunks);
    });

    it('believes no finish reason that stands in every chunk', async () => {
        const chunks = await chunksOf(ask('always-stop'));
        assert.equal(textOf(chunks), TEXTS.file.left);
        noMarkerIn(chunks);
    });

    it('cleans whole replies, also over several parts, and reports in them', async () => {
        const reply = await client.models.generateContent(ask('file'));
        assert.equal(reply.text, TEXTS.file.left);
        const several = await client.models.generateContent(ask('two-files'));
        assert.equal(several.text, TEXTS['two-files'].left);
        await checkTotals((await raw('file', 'generateContent')).outbound_artifacts);
        assert.match((await client.models.generateContent(ask('file-only'))).text, /totals\.csv/);
    });

    it('flags a directive that never ends, and leaves what only looks like a marker', async () => {
        const last = (await raw('unterminated', 'streamGenerateContent?alt=sse')).at(-1);
        assert.equal(last.flagForReview, true);
        assert.match(last.reason, /^unterminated: /);
        assert.equal(textOf(await chunksOf(ask('decoys'))), TEXTS.decoys.left);
    });

    it('adds the protocol as the last part of the system instruction', async () => {
        for (const systemInstruction of [undefined, 'House rules.']) {
            await client.models.generateContent(ask('decoys', { config: { systemInstruction } }));
            const { parts } = upstream.requests.at(-1).body.systemInstruction;
            assert.deepEqual(parts.slice(0, -1), systemInstruction ? [{ text: systemInstruction }] : []);
            assert.match(parts.at(-1).text, /<<<HW_ATTACHMENT/);
        }
        await client.models.generateContent(ask('decoys', { config: { responseMimeType: 'application/json' } }));
        assert.equal(upstream.requests.at(-1).body.systemInstruction, undefined);
    });

    it('closes the upstream request when the client aborts', async () => {
        const seen = upstream.closedEarly, abort = new AbortController();
        await assert.rejects(async () => {
            for await (const _ of await client.models.generateContentStream(ask('endless', { config: { abortSignal: abort.signal } }))) abort.abort();
        });
        for (let i = 0; i < 100 && upstream.closedEarly === seen; i++) await sleep(20);
        assert.equal(upstream.closedEarly, seen + 1);
    });

    it("raises the provider's error inside a stream, and Penstock's own as the API's", async () => {
        await assert.rejects(chunksOf(ask('overloaded')), (error) => /overloaded/.test(error.message));
        await assert.rejects(client.models.generateContent(ask('file', { config: { httpOptions: { extraBody: { hw: { colour: 'red' } } } } })), (error) => {
            assert.equal(error.status, 400);
            assert.match(error.message, /colour/);
            assert.match(error.message, /BAD_REQUEST/);
            return true;
        });
    });
});
