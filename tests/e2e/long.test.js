// Requests too long for the event loop: they are read and composed elsewhere, and go upstream as short ones do.
import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { Penstock } from './penstock.js';
import { until } from './processes.js';

const LONG = 3 * 1024 * 1024;
const REPLY = JSON.stringify({ id: 'c', object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content: 'Read.' }, finish_reason: 'stop' }] });

describe('long requests', () => {
    let upstream, penstock, received;

    before(async () => {
        upstream = createServer(async (asked, response) => {
            const parts = [];
            for await (const part of asked) parts.push(part);
            received.push(Buffer.concat(parts).toString());
            response.writeHead(200, { 'content-type': 'application/json' }).end(REPLY);
        }).listen(0, '127.0.0.1');
        await once(upstream, 'listening');
        penstock = await new Penstock().start(`http://127.0.0.1:${upstream.address().port}`);
    });
    after(async () => {
        await penstock.stop();
        upstream.close();
        upstream.closeAllConnections();
    });

    const start = (body, headers = {}, length = Buffer.byteLength(body)) =>
        request(`${penstock.url}/v1/chat/completions`, { method: 'POST', headers: { 'content-type': 'application/json', ...(length === null ? {} : { 'content-length': length }), ...headers } });
    const ask = async (body, headers, length) => {
        received = [];
        const sent = start(body, headers, length);
        sent.end(body);
        const [response] = await once(sent, 'response');
        let text = '';
        for await (const piece of response.setEncoding('utf8')) text += piece;
        return { status: response.statusCode, text };
    };
    const words = (n = LONG) => 'Grüße "\\ 😀 '.repeat(Math.ceil(n / 16));
    const conversation = (more = '') => `{ "model":"m",${more}  "messages" : [{"role":"user","content":${JSON.stringify(words())}}] , "x": 1.50e+3}`;

    it('a conversation keeps every byte beside the protocol', async () => {
        for (const length of [undefined, null]) {
            const body = conversation();
            assert.equal((await ask(body, {}, length)).status, 200);
            const at = body.indexOf('[{"role":"user"') + 1;
            assert.equal(received.length, 1);
            assert.equal(received[0].slice(0, at), body.slice(0, at));
            assert.ok(received[0].endsWith(body.slice(at)), 'what stood behind the protocol');
            assert.match(received[0].slice(at, received[0].length - body.length + at), /^\{"role":"system","content":".*HW_ATTACHMENT.*"\},$/s);
        }
    });

    it('with injection off, not a byte differs, and hw is taken out', async () => {
        const body = conversation();
        assert.equal((await ask(body, { 'x-hw-inject': 'off' })).status, 200);
        assert.equal(received[0], body);
        assert.equal((await ask(conversation('"hw":{"inject":"off"},'))).status, 200);
        assert.equal(received[0], body.replace('  "messages"', '"messages"'), 'it goes with the blank behind it');
    });

    it('what is no JSON passes as it is', async () => {
        const body = words();
        assert.equal((await ask(body)).status, 200);
        assert.equal(received[0], body);
    });

    it('a wrong hw and a wrong attachment are named', async () => {
        const wrong = await ask(conversation('"hw":7,'));
        assert.equal(wrong.status, 400);
        assert.match(wrong.text, /hw must be an object/);
        const large = await ask(conversation(`"hw":{"headline":"${'x'.repeat(300_000)}"},`));
        assert.equal(large.status, 400);
        assert.match(large.text, /hw has 3000\d\d bytes/);
        const attached = await ask(conversation('"attachments":[{"url":"http://x"}],'));
        assert.equal(attached.status, 422);
        assert.match(attached.text, /attachments\[0\]\.url/);
        assert.deepEqual(received, []);
    });

    it('its words are in its thread, as those of a short one', async () => {
        assert.equal((await ask(conversation(), { 'x-hw-thread': 'long-1' })).status, 200);
        const raw = await until('the journal', async () => {
            const page = await fetch(`${penstock.adminUrl}/threads/long-1`);
            const text = await page.text();
            return page.status === 200 && text.includes('Read.') && text;
        });
        assert.ok(raw.includes(JSON.stringify(words())), 'the query');
    });

    it('a client that leaves in the middle of it takes nothing along', async () => {
        received = [];
        const sent = start(conversation());
        sent.on('error', () => {});
        sent.end(conversation(), () => sent.destroy());
        await new Promise((done) => sent.on('close', done));
        assert.equal((await ask(conversation())).status, 200);
    });
});
