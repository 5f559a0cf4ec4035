// What callers attach, as the provider sees it: the numbers are those of the behaviours that each test is about.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Penstock } from './penstock.js';

const CANARY = 'OKAPI_CANARY_7f3a91';
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGM4Y2wMAAMBATPEwnsTAAAAAElFTkSuQmCC', 'base64');
const user = (content) => ({ role: 'user', content });

// Each API's smallest request with these words of a user, and its path.
const APIS = {
    'openai-chat': (text) => ['/v1/chat/completions', { model: 'm', messages: [user(text)] }],
    'openai-responses': (text) => ['/v1/responses', { model: 'm', input: text }],
    'anthropic-messages': (text) => ['/v1/messages', { model: 'm', max_tokens: 9, messages: [user(text)] }],
    gemini: (text) => ['/v1beta/models/m:generateContent', { contents: [{ role: 'user', parts: [{ text }] }] }],
    ollama: (text) => ['/api/chat', { model: 'm', stream: false, messages: [user(text)] }],
};

describe('attachments', { timeout: 120_000 }, () => {
    let upstream, penstock;
    const received = [];
    before(async () => {
        upstream = createServer(async (request, response) => {
            const parts = [];
            for await (const part of request) parts.push(part);
            received.push(Buffer.concat(parts).toString());
            response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"choices":[]}');
        }).listen(0, '127.0.0.1');
        await once(upstream, 'listening');
        penstock = await new Penstock().start(`http://127.0.0.1:${upstream.address().port}`);
    });
    after(async () => {
        try {
            await penstock?.stop();
        } finally {
            upstream?.close();
            upstream?.closeAllConnections();
        }
    });
    beforeEach(() => received.splice(0));

    const ask = async (api, text, more, headers = {}) => {
        const [path, body] = APIS[api](text);
        const reply = await fetch(penstock.url + path, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json', ...headers },
            body: JSON.stringify({ ...body, ...more }),
        });
        return { status: reply.status, consult: reply.headers.get('x-hw-consult-id'), text: await reply.text() };
    };
    const record = async (consult) => {
        for (let i = 0; i < 200; i++) {
            const page = await (await fetch(`${penstock.adminUrl}/consults`)).json();
            const found = page.data.find((one) => one.id === consult);
            if (found) return found;
            await sleep(20);
        }
        assert.fail(`no record of ${consult}`);
    };

    it('A.2, B.4: the same text reaches the model through every API', async () => {
        const attachments = [
            { type: 'log', content: CANARY },
            { data: Buffer.from(`${CANARY} in a file`).toString('base64'), name: 'a.txt' },
        ];
        const said = [];
        for (const api of Object.keys(APIS)) {
            assert.equal((await ask(api, 'why?', { attachments })).status, 200, api);
            const texts = [];
            JSON.parse(received.at(-1), (_, value) => (typeof value === 'string' && texts.push(value), value));
            const all = texts.join('\n');
            assert.ok(all.includes(`<run_logs>\n${CANARY}\n</run_logs>`), api);
            said.push(/<document[^]*<\/document>/.exec(all)[0]);
        }
        assert.deepEqual(said, said.map(() => `<document name="a.txt">\n${CANARY} in a file\n</document>`));
    });

    it('A.4: 249,900 characters arrive whole, and too many reach nobody', async () => {
        const whole = `HEAD${'x'.repeat(249_892)}TAIL`;
        await ask('openai-chat', 'q', { attachments: [{ type: 'log', content: whole }] });
        assert.ok(received.at(-1).includes(whole));
        received.splice(0);
        const refused = await ask('openai-chat', 'q', { attachments: [1, 2].map(() => ({ type: 'log', content: 'x'.repeat(125_001) })) });
        assert.equal(refused.status, 400);
        assert.equal(JSON.parse(refused.text).error.details.total_characters, 250_002);
        assert.deepEqual(received, []);
    });

    it('A.5, A.6: an error as an event under 200; the caller’s doing counts as a warning', async () => {
        const more = { stream: true, attachments: [{ type: 'log', content: CANARY.repeat(20_000) }] };
        const reply = await ask('openai-chat', 'q', more, { 'X-HW-Errors': 'event' });
        assert.equal(reply.status, 200);
        assert.match(reply.text, /^event: error\ndata: .*ATTACHMENT_TOO_LARGE/);
        const metrics = await (await fetch(`${penstock.adminUrl}/metrics`)).text();
        assert.match(metrics, /penstock_errors_total\{code="ATTACHMENT_TOO_LARGE",level="warning"/);
        assert.ok(!(metrics + reply.text + penstock.log()).includes(CANARY));
    });

    it('A.7: a parent’s attachments by type or name, byte for byte, and what it did not have is reported', async () => {
        const attachments = [{ type: 'log', content: 'é\n' }, { data: PNG.toString('base64'), name: 'shot' }, { type: 'odd', content: 'ODD' }];
        const { consult } = await ask('openai-chat', 'q', { attachments });
        const forward = async (names, org = 'default') =>
            ask('openai-chat', 'check', { hw: { forward: names } }, { 'X-HW-Parent': consult, 'X-HW-Org': org });
        const child = await forward(['shot', 'nowhere']);
        assert.ok(received.at(-1).includes(PNG.toString('base64')) && !received.at(-1).includes('run_logs'));
        assert.deepEqual((await record(child.consult)).attachments_not_passed, [{ name: 'nowhere', reason: 'not_in_parent' }]);
        await forward('log');
        assert.ok(received.at(-1).includes('<run_logs>\\né\\n\\n</run_logs>') && !received.at(-1).includes('image_url'));
        await forward('all', 'other');
        assert.ok(!/run_logs|image_url|forward/.test(received.at(-1)));
        assert.equal((await ask('openai-chat', 'q', { hw: { forward: 'all' } })).status, 400); // of whom?
    });

    it('A.8: nothing of it comes again in a later turn', async () => {
        await ask('openai-chat', 'q', { attachments: [{ type: 'log', content: CANARY }] });
        assert.ok(received.at(-1).includes(CANARY));
        await ask('openai-chat', 'why did this fail?', { attachments: [] });
        assert.ok(!received.at(-1).includes(CANARY));
        assert.equal(JSON.parse(received.at(-1)).messages.at(-1).content, 'why did this fail?');
    });

    it('B.2, B.5: a file is read once, from the organisation’s folder alone', async () => {
        const folder = join(penstock.folder, 'workspace', 'default');
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, 'dot.png'), PNG);
        const { consult } = await ask('openai-chat', 'look at dot.png', {});
        assert.ok(!received.at(-1).includes('image_url')); // words attach nothing
        const parent = await ask('openai-chat', 'q', { attachments: [{ path: 'dot.png' }] });
        assert.ok(received.at(-1).includes(`data:image/png;base64,${PNG.toString('base64')}`));
        rmSync(join(folder, 'dot.png'));
        await ask('openai-chat', 'q', { hw: { forward: ['dot.png'] } }, { 'X-HW-Parent': parent.consult });
        assert.ok(received.at(-1).includes(PNG.toString('base64')));
        assert.ok(consult && (await ask('openai-chat', 'q', { attachments: [{ path: '../x' }] })).text.includes('ATTACHMENT_FORBIDDEN_PATH'));
    });

    it('B.9: the record says what was attached, and what was refused and why, but holds no byte of it', async () => {
        const data = Buffer.from(CANARY);
        const sent = await ask('openai-chat', 'q', { attachments: [{ data: data.toString('base64'), name: 'memo' }] });
        const refused = await ask('openai-chat', 'q', { attachments: [{ data: 'JVBERi0xLjQK', name: 'x.pdf' }] });
        assert.equal(refused.status, 422);
        const [{ sha256, bytes, media_type, handling, decision }] = (await record(sent.consult)).attachments;
        assert.deepEqual({ sha256, bytes, media_type, handling, decision }, {
            sha256: createHash('sha256').update(data).digest('hex'), bytes: data.length, media_type: 'text/plain', handling: 'preprocess', decision: 'passed',
        });
        const [{ name, decision: no, reason }] = (await record(refused.consult)).attachments;
        assert.deepEqual({ name, no, reason }, { name: 'x.pdf', no: 'refused', reason: 'ATTACHMENT_UNSUPPORTED' });
        const page = await (await fetch(`${penstock.adminUrl}/consults`)).text();
        assert.ok(!page.includes(CANARY) && !penstock.log().includes(CANARY));
    });

    it('are listed as asked for, and a question that cannot be answered is refused by name', async () => {
        const ask = (query) => fetch(`${penstock.adminUrl}/consults?${query}`);
        const one = await (await ask('org=default&limit=1&before=9999999999999')).json();
        assert.equal(one.data.length, 1);
        for (const [query, name] of [['limit=0', 'limit'], ['limit=1001', 'limit'], ['limit=ten', 'limit'], ['before=-1', 'before'],
            ['before=99999999999999999999', 'before'], ['org=', 'org'], ['org=a%20b', 'org'], ['id=a/b', 'id'], ['orgs=x', 'only']]) {
            const reply = await ask(query);
            assert.equal(reply.status, 400, query);
            assert.match((await reply.json()).error, new RegExp(`^${name}\\b`), query);
        }
    });
});
