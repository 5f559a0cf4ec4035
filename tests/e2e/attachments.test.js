// What callers attach, as the provider sees it: the numbers are those of the behaviours that each test is about.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { BINARY, Penstock } from './penstock.js';
import { until } from './processes.js';

const CANARY = 'OKAPI_CANARY_7f3a91';
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGM4Y2wMAAMBATPEwnsTAAAAAElFTkSuQmCC', 'base64');
// A PDF of one page with these words on it; without words, with nothing that a reader could take for text.
const pdf = (text, more = '') => {
    const page = text ? `BT /F1 24 Tf 20 50 Td (${text}) Tj ET` : '0 0 9 9 re f';
    const objects = [
        '<</Type/Catalog/Pages 2 0 R>>', '<</Type/Pages/Kids[3 0 R]/Count 1>>',
        '<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>',
        `<</Length ${page.length}>>stream\n${page}\nendstream`, '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    ];
    const body = objects.map((object, i) => `${i + 1} 0 obj\n${object}\nendobj\n`).join('');
    return Buffer.from(`%PDF-1.4\n${body}${more}trailer<</Root 1 0 R/Size 6>>\n%%EOF\n`);
};
const attached = (name, data) => ({ name, data: data.toString('base64') });
const user = (content) => ({ role: 'user', content });

// Each API's smallest request with these words of a user, and its path.
const APIS = {
    'openai-chat': (text) => ['/v1/chat/completions', { model: 'm', messages: [user(text)] }],
    'openai-responses': (text) => ['/v1/responses', { model: 'm', input: text }],
    'anthropic-messages': (text) => ['/v1/messages', { model: 'm', max_tokens: 9, messages: [user(text)] }],
    gemini: (text) => ['/v1beta/models/m:generateContent', { contents: [{ role: 'user', parts: [{ text }] }] }],
    ollama: (text) => ['/api/chat', { model: 'm', stream: false, messages: [user(text)] }],
};

const childrenOf = (pid) => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
const workerOf = (master) => childrenOf(master).find((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'penstock-worker');

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

    it('two arrays of attachments, or two objects of ours, are refused: one of them would be lost', async () => {
        for (const [api, [path, body]] of Object.entries(APIS).map(([api, make]) => [api, make('q')]))
            for (const [key, value] of [['attachments', `[{"type":"log","content":"${CANARY}"}]`], ['hw', '{"org":"acme"}']]) {
                const reply = await fetch(penstock.url + path, { method: 'POST', body: `${JSON.stringify(body).slice(0, -1)},"${key}":${value},"${key}":${value}}` });
                assert.equal(reply.status, 400, api);
                assert.ok((await reply.text()).includes(`${key} is given more than once`), api);
            }
        assert.deepEqual(received, []);
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

    // Every text of the request that the provider got.
    const textsOf = (request) => {
        const texts = [];
        JSON.parse(request, (_, value) => (typeof value === 'string' && texts.push(value), value));
        return texts.join('\n');
    };

    it('B.3: a PDF becomes the same text for every API', async () => {
        for (const api of Object.keys(APIS)) {
            const sent = await ask(api, 'what is it?', { attachments: [attached('a.pdf', pdf(CANARY)), attached('b.pdf', pdf('and more'))] });
            assert.equal(sent.status, 200, api);
            const all = textsOf(received.at(-1));
            assert.ok(all.includes(`<document name="a.pdf">\n${CANARY}\n</document>`), api);
            assert.ok(all.indexOf(CANARY) < all.indexOf('<document name="b.pdf">\nand more\n</document>'), api);
            const [one] = (await record(sent.consult)).attachments;
            assert.deepEqual([one.handling, one.decision, one.converter, one.media_type], ['preprocess', 'passed', 'pdftotext 1', 'application/pdf']);
        }
        const metrics = await (await fetch(`${penstock.adminUrl}/metrics`)).text();
        assert.match(metrics, /penstock_convert_seconds_count\{format="pdf"\} \d\d/);
        assert.match(metrics, /penstock_conversions_total\{outcome="done"\} \d\d/);
        const page = await (await fetch(`${penstock.adminUrl}/consults`)).text();
        assert.ok(!(metrics + page + penstock.log()).includes(CANARY));
    });

    it('B.3: characters are counted after conversion; what was converted is forwarded as it was', async () => {
        const { consult } = await ask('openai-chat', 'q', { attachments: [attached('a.pdf', pdf('short'))] });
        await ask('openai-chat', 'q', { hw: { forward: 'all' } }, { 'X-HW-Parent': consult });
        assert.ok(textsOf(received.at(-1)).includes('<document name="a.pdf">\nshort\n</document>'));
        received.splice(0);
        const log = { type: 'log', content: 'x'.repeat(249_990) };
        const refused = await ask('openai-chat', 'q', { attachments: [log, attached('a.pdf', pdf('eleven more'))] });
        assert.equal(refused.status, 400);
        assert.equal(JSON.parse(refused.text).error.details.total_characters, 250_001);
        assert.deepEqual(received, []);
    });

    it('B.3: a document that cannot be read is refused by its place, with what to do', async () => {
        const refusals = [
            [pdf(''), /^attachments\[1\] \("bad\.pdf"\): it has no text layer.*handling: native/],
            [Buffer.from('%PDF-1.7\nnothing of the kind'), /^attachments\[1\] \("bad\.pdf"\): it is damaged.*handling: native/],
        ];
        for (const [data, message] of refusals) {
            const reply = await ask('openai-chat', 'q', { attachments: [attached('good.pdf', pdf('good')), attached('bad.pdf', data)] });
            assert.equal(reply.status, 422);
            const { code, message: said } = JSON.parse(reply.text).error;
            assert.equal(code, 'ATTACHMENT_INVALID');
            assert.match(said, message);
            const [good, bad] = (await record(reply.consult)).attachments;
            assert.deepEqual([good.decision, bad.decision, bad.reason], ['not_sent', 'refused', 'ATTACHMENT_INVALID']);
        }
        assert.deepEqual(received, []);
    });

    it('B.3: documents that are hard to read hold up nobody else, and leave no process behind', async () => {
        // A form that draws itself again and again, and structures without an end.
        const again = '9 0 obj\n<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</A 9 0 R>>>>/Length 9>>stream\n/A Do /A Do\nendstream\nendobj\n';
        const looping = pdf('x', again).toString('latin1').replace('<</Font', '<</XObject<</A 9 0 R>>/Font').replace(' ET', ' ET /A Do');
        const hostile = [Buffer.from(looping, 'latin1'), Buffer.from(`%PDF-1.4\n${'<<'.repeat(200_000)}`), Buffer.from(`%PDF-1.4\n${'['.repeat(3_000_000)}`), pdf('')];
        const slow = hostile.map((data, i) => ask('openai-chat', 'q', { attachments: [attached(`${i}.pdf`, data)] }));
        for (let i = 0; i < 20; i++) assert.equal((await ask('openai-chat', 'quick', {})).status, 200);
        for (const { status } of await Promise.all(slow)) assert.ok([200, 400, 422].includes(status), String(status));
        await until('the extractors to end', () => childrenOf(workerOf(penstock.child.pid)).length === 0);
    });

    it('B.3: a client that leaves takes its conversions along', async () => {
        const body = JSON.stringify({ ...APIS['openai-chat']('q')[1], attachments: Array.from({ length: 30 }, (_, i) => attached(`${i}.pdf`, pdf(`page ${i}`))) });
        const leaving = new AbortController();
        const asked = fetch(`${penstock.url}/v1/chat/completions`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body, signal: leaving.signal });
        await until('the extractors to begin', () => childrenOf(workerOf(penstock.child.pid)).length > 0);
        leaving.abort();
        await assert.rejects(asked);
        await until('the extractors to end', () => childrenOf(workerOf(penstock.child.pid)).length === 0);
        assert.equal((await ask('openai-chat', 'still there?', {})).status, 200);
    });

    it('penstock convert shows the same text, and says what would be refused', async () => {
        const folder = join(penstock.folder, 'convert');
        mkdirSync(folder);
        for (const [name, data] of [['a.pdf', pdf(CANARY)], ['scan.pdf', pdf('')], ['dot.png', PNG]]) writeFileSync(join(folder, name), data);
        const convert = async (...words) => {
            const child = spawn(BINARY, ['convert', ...words], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
            const [out, err] = await Promise.all([child.stdout, child.stderr].map(async (stream) => Buffer.concat(await stream.toArray()).toString()));
            return { status: child.exitCode ?? (await once(child, 'exit'))[0], out, err };
        };
        const shown = await convert('a.pdf', 'dot.png');
        assert.deepEqual([shown.status, shown.out], [0, `<document name="a.pdf">\n${CANARY}\n</document>\n`]);
        assert.match(shown.err, /^dot\.png: a PNG image \(image\/png\) goes to the model as it is/m);
        const mixed = await convert('--out', 'texts', 'scan.pdf', 'a.pdf');
        assert.equal(mixed.status, 3);
        assert.match(mixed.err, /^penstock convert: scan\.pdf: it has no text layer/m);
        assert.match(mixed.err, /^wrote texts\/a\.pdf\.md \(\d+ characters; converter and its version: \S.* \S+\)$/m);
        assert.equal(readFileSync(join(folder, 'texts', 'a.pdf.md'), 'utf8'), `${CANARY}\n`);
        const again = await convert('--out', 'texts', 'a.pdf');
        assert.equal(again.status, 1); // nothing is overwritten
        assert.match(again.err, /cannot write texts\/a\.pdf\.md: File exists/);
        const absent = await convert('nowhere.pdf');
        assert.deepEqual([absent.status, absent.out], [1, '']);
        assert.match(absent.err, /cannot read nowhere\.pdf: No such file/);
        writeFileSync(join(folder, 'empty'), '');
        const empty = await convert('empty');
        assert.equal(empty.status, 3);
        assert.match(empty.err, /^penstock convert: empty: it is empty\.$/m);
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
        assert.deepEqual({ name, no, reason }, { name: 'x.pdf', no: 'refused', reason: 'ATTACHMENT_INVALID' });
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

    it('a HEAD of any page has no body, which would be read as the next reply', async () => {
        const { hostname, port } = new URL(penstock.adminUrl);
        for (const page of ['/consults', '/consults?limit=0', '/threads', '/threads?limit=0', '/threads/none', '/metrics', '/nowhere']) {
            const socket = connect(Number(port), hostname);
            socket.write(`HEAD ${page} HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
            const said = Buffer.concat(await socket.toArray()).toString();
            assert.match(said, /^HTTP\/1\.1 \d{3} [^]*?\r\n\r\nHTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nok\n$/, page);
            assert.ok(!/\r\n\r\n[{#/]/.test(said), page);
        }
    });
});
