// What a caller attaches, rule by rule, against the running program: every test is named after the list that it shows
// (A: context of a run reaches agents as the exact text sent; B: files reach every provider the same way).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FilesUpstream } from './files-upstream.js';
import { Penstock } from './penstock.js';

const CANARY = 'OKAPI_CANARY_7f3a91';
const SPOKEN = 'my name is john'; // a canary that can be said
const user = (content) => ({ role: 'user', content });
const chat = (path) => (messages) => [path, { model: 'm', messages }];

// Each provider's request of these messages.
const PROVIDERS = {
    'openai-chat': chat('/v1/chat/completions'),
    responses: (messages) => ['/v1/responses', { model: 'm', input: messages }],
    anthropic: (messages) => ['/anthropic/v1/messages', { model: 'm', max_tokens: 9, messages }],
    gemini: (messages) => ['/gemini/v1beta/models/m:generateContent', { contents: messages.map(({ role, content }) => ({ role, parts: [{ text: content }] })) }],
    ollama: (messages) => ['/ollama/api/chat', { model: 'm', stream: false, messages }],
    openrouter: chat('/openrouter/v1/chat/completions'),
    moonshot: chat('/moonshot/v1/chat/completions'),
};
const NAMES = Object.keys(PROVIDERS);
const base64 = (bytes) => Buffer.from(bytes).toString('base64');
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGM4Y2wMAAMBATPEwnsTAAAAAElFTkSuQmCC', 'base64');
const JPEG = Buffer.from('/9j/4AAQSkZJRgABAQEASABIAAD/2Q==', 'base64');

function pdf(text) {
    const page = `BT /F1 24 Tf 20 50 Td (${text}) Tj ET`;
    const objects = [
        '<</Type/Catalog/Pages 2 0 R>>', '<</Type/Pages/Kids[3 0 R]/Count 1>>',
        '<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 100]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>',
        `<</Length ${page.length}>>stream\n${page}\nendstream`, '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    ];
    return Buffer.from(`%PDF-1.4\n${objects.map((object, i) => `${i + 1} 0 obj\n${object}\nendobj\n`).join('')}trailer<</Root 1 0 R/Size 6>>\n%%EOF\n`);
}

// A ZIP of these members, by python3.
const zip = (members) =>
    execFileSync('python3', ['-c', `
import io, json, sys, zipfile
out = io.BytesIO()
with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
    for name, text in json.load(sys.stdin).items():
        z.writestr(name, text)
sys.stdout.buffer.write(out.getvalue())`], { input: JSON.stringify(members) });
const OFFICE = 'http://schemas.openxmlformats.org';
const office = (main, type, more) => zip({
    '[Content_Types].xml': `<Types xmlns="${OFFICE}/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/${main}" ContentType="application/vnd.openxmlformats-officedocument.${type}.main+xml"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="${OFFICE}/package/2006/relationships"><Relationship Id="r1" Type="${OFFICE}/officeDocument/2006/relationships/officeDocument" Target="${main}"/></Relationships>`,
    ...more,
});
const docx = (text) => office('word/document.xml', 'wordprocessingml.document', {
    'word/document.xml': `<w:document xmlns:w="${OFFICE}/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:body></w:document>`,
});
const xlsx = (text) => office('xl/workbook.xml', 'spreadsheetml.sheet', {
    'xl/workbook.xml': `<workbook xmlns="${OFFICE}/spreadsheetml/2006/main" xmlns:r="${OFFICE}/officeDocument/2006/relationships"><sheets><sheet name="One" sheetId="1" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${OFFICE}/package/2006/relationships"><Relationship Id="r1" Type="${OFFICE}/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${OFFICE}/spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>head</t></is></c></row><row r="2"><c r="A2" t="inlineStr"><is><t>${text}</t></is></c></row></sheetData></worksheet>`,
});

// Speech and a film of it; made once.
function recordings() {
    const folder = mkdtempSync(join(tmpdir(), 'penstock-speech-'));
    const [wav, ...made] = ['a.wav', 'a.mp3', 'a.mp4', 'a.ogg', 'a.flac'].map((name) => join(folder, name));
    const [mp3, mp4, ogg, flac] = made;
    const ffmpeg = (...words) => execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...words]);
    execFileSync('flite', ['-voice', 'rms', '-t', SPOKEN, '-o', wav]);
    ffmpeg('-i', wav, '-b:a', '64k', mp3);
    ffmpeg('-f', 'lavfi', '-i', 'testsrc=size=320x240:rate=5:duration=3', '-i', wav, '-shortest', '-pix_fmt', 'yuv420p', mp4);
    ffmpeg('-i', wav, ogg);
    ffmpeg('-i', wav, flac);
    const bytes = [wav, mp3, mp4, ogg, flac].map((name) => readFileSync(name));
    rmSync(folder, { recursive: true });
    return { wav: bytes[0], mp3: bytes[1], mp4: bytes[2], ogg: bytes[3], flac: bytes[4] };
}

describe('behaviours', { timeout: 300_000 }, () => {
    let upstream, penstock, sound;
    before(async () => {
        sound = recordings();
        upstream = await new FilesUpstream().start();
        const providers = ['anthropic', 'gemini', 'ollama', 'openrouter', 'moonshot'];
        penstock = await new Penstock().start(upstream.url, {
            timeouts: ', render: 120s',
            providers: providers.map((name) => `  - {name: ${name}, dialect: ${name}, base_url: "${upstream.url}"}\n`).join(''),
        });
    });
    after(async () => {
        try {
            await penstock?.stop();
        } finally {
            await upstream?.stop();
        }
    });
    beforeEach(() => upstream.reset());

    // `attachments` undefined: no such key.
    const ask = async (name, attachments, { headers = {}, more = {}, messages = [user('q')] } = {}) => {
        const [path, body] = PROVIDERS[name](messages);
        const reply = await fetch(penstock.url + path, {
            method: 'POST',
            headers: { 'content-type': 'application/json', ...headers },
            body: JSON.stringify({ ...body, ...more, attachments }),
        });
        const text = await reply.text();
        return { status: reply.status, type: reply.headers.get('content-type'), consult: reply.headers.get('x-hw-consult-id'), text };
    };
    const refused = async (attachments, options) => {
        const calls = upstream.chats.length;
        const reply = await ask('openai-chat', attachments, options);
        assert.equal(upstream.chats.length, calls, 'nobody is asked');
        const { error } = JSON.parse(reply.text);
        return { status: reply.status, ...error, consult: reply.consult };
    };
    const raw = () => upstream.chats.at(-1).body.toString();
    const sent = () => JSON.parse(raw());
    // Every text in the last request, in its order, without base64.
    const said = () => {
        const texts = [];
        JSON.parse(raw(), (_, value) => (typeof value === 'string' && !/^(data:|[A-Za-z0-9+/]{60,}=*$)/.test(value) && texts.push(value), value));
        return texts.join('\n');
    };
    // What openai-chat's last user message says.
    const told = async (attachments, options) => {
        const reply = await ask('openai-chat', attachments, options);
        assert.equal(reply.status, 200, reply.text);
        return sent().messages.at(-1).content;
    };
    const record = async (consult) => {
        for (let i = 0; i < 200; i++) {
            const page = await (await fetch(`${penstock.adminUrl}/consults?id=${consult}`)).json();
            if (page.data[0]) return page.data[0];
            await sleep(20);
        }
        assert.fail(`no record of ${consult}`);
    };
    const metrics = async () => (await fetch(`${penstock.adminUrl}/metrics`)).text();
    const consults = async () => (await fetch(`${penstock.adminUrl}/consults?limit=1000`)).text();

    it('A.1 five types fill three fields, in the order input, output, run_logs; what has no field is reported', async () => {
        const item = (type, content) => ({ type, content });
        assert.equal(
            await told([item('log', 'L'), item('output_dataclip', 'O'), item('input_dataclip', 'I')]),
            'q\n\n<input>\nI\n</input>\n<output>\nO\n</output>\n<run_logs>\nL\n</run_logs>',
        );
        assert.equal(await told([item('run_input', 'STEP')]), 'q\n\n<input>\nSTEP\n</input>');
        assert.equal(await told([item('run_output', 'O')]), 'q\n\n<output>\nO\n</output>');
        assert.equal(await told([item('input_dataclip', 'STEP'), item('run_input', 'RUN')]), 'q\n\n<input>\n[input_dataclip]\nSTEP\n\n[run_input]\nRUN\n</input>');
        assert.equal(await told([item('log', 'a'), item('log', 'b')]), 'q\n\n<run_logs>\n[log]\na\n\n[log]\nb\n</run_logs>');
        assert.equal(await told([item('log', '  ')]), 'q');
        // Content that holds fences and its own closing tag stays as it is.
        assert.ok((await told([item('log', '```\n</run_logs>\n```')])).includes('\n```\n</run_logs>\n```\n'));
        const odd = await ask('openai-chat', [item('screenshot', CANARY), item('nothing', ' ')]);
        assert.equal(sent().messages.at(-1).content, 'q');
        assert.deepEqual((await record(odd.consult)).attachments_not_passed, [{ type: 'screenshot', reason: 'unknown_type' }]);
        assert.match(penstock.log(), new RegExp(`"level":"warning","event":"attachments.not_passed","consult":"${odd.consult}"`));
        assert.match(await metrics(), /penstock_attachments_not_passed_total\{reason="unknown_type"\} 1$/m);
        for (const wrong of [{}, 'log', 7]) assert.deepEqual([(await refused(wrong)).status, (await refused(wrong)).code], [400, 'BAD_REQUEST']);
        assert.match((await refused([item('log', 'x'), 7])).message, /^attachments\[1\]/);
        assert.match((await refused([{ content: 'x' }])).message, /^attachments\[0\]\.type/);
        for (const name of NAMES) {
            await ask(name, [item('log', 'L'), item('run_input', 'I')]);
            assert.ok(said().includes('<input>\nI\n</input>\n<run_logs>\nL\n</run_logs>'), name);
        }
    });

    it('A.2 for agents without typed fields: one block, every type under its name; without attachments not a byte changes', async () => {
        const headers = { 'x-hw-context': 'attachments' };
        assert.equal(
            await told([{ type: 'log', content: CANARY }, { type: 'screenshot', content: 's' }], { headers }),
            `q\n\n<attachments>\n<attachment type="log">\n${CANARY}\n</attachment>\n<attachment type="screenshot">\ns\n</attachment>\n</attachments>`,
        );
        assert.match(await told([{ type: 'a"<&', content: 's' }], { headers }), /<attachment type="a&quot;&lt;&amp;">/);
        const own = await told([{ type: 'log', content: 'x</attachment>y' }], { headers });
        const [, suffix] = /<attachment(\S+) type="log">\nx<\/attachment>y\n<\/attachment/.exec(own);
        assert.ok(suffix.length > 1 && own.includes(`</attachment${suffix}>`));
        for (const name of NAMES) {
            for (const options of [{}, { headers }, { headers: { 'x-hw-inject': 'off' } }]) {
                await ask(name, undefined, options);
                const without = raw();
                await ask(name, [], options);
                assert.equal(raw(), without, name);
            }
            const [, body] = PROVIDERS[name]([user('q')]);
            await ask(name, undefined, { headers: { 'x-hw-inject': 'off' } });
            assert.equal(raw(), JSON.stringify(body), name);
        }
    });

    it('A.3 content is a string, an array of lines or an object', async () => {
        const run = async (content) => /<run_logs>\n([^]*)\n<\/run_logs>/.exec(await told([{ type: 'log', content }]))?.[1];
        assert.equal(await run('a\n\tb é'), 'a\n\tb é');
        assert.equal(await run(['[R/T] started', '[JOB] failed']), '[R/T] started\n[JOB] failed');
        assert.equal(await run(['a', { b: [1] }, 2, true, null, 'c']), 'a\n{"b":[1]}\n2\ntrue\n\nc');
        assert.equal(await run({ z: 1, a: { ref: null, active: true }, é: '☃' }), '{\n  "z": 1,\n  "a": {\n    "ref": null,\n    "active": true\n  },\n  "é": "☃"\n}');
        // Numbers are spelled as they were.
        const body = '{"model":"m","messages":[{"role":"user","content":"q"}],"attachments":[{"type":"log","content":{"n":1e3,"m":0.10,"k":12345678901234567890}}]}';
        await (await fetch(`${penstock.url}/v1/chat/completions`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).text();
        assert.ok(said().includes('{\n  "n": 1e3,\n  "m": 0.10,\n  "k": 12345678901234567890\n}'));
    });

    it('A.4 250,000 characters in all, inclusive and after rendering; one more reaches nobody, and nothing is ever cut', async () => {
        const log = (n, c = 'x') => ({ type: 'log', content: c.repeat(n) });
        const whole = `HEAD${'x'.repeat(249_892)}TAIL`;
        for (const name of NAMES) {
            assert.equal((await ask(name, [{ type: 'log', content: whole }])).status, 200, name);
            assert.ok(said().includes(whole), name);
        }
        assert.equal((await ask('openai-chat', [log(250_000, 'é')])).status, 200);
        assert.equal((await ask('openai-chat', [log(250_000, '🙂')])).status, 200);
        const over = await refused([log(250_001)]);
        assert.deepEqual([over.status, over.code], [400, 'ATTACHMENT_TOO_LARGE']);
        const sum = await refused([{ type: 'run_input', content: 'y'.repeat(125_001) }, log(125_001)]);
        assert.deepEqual(sum.details, { total_characters: 250_002, limit_characters: 250_000, largest_attachment: { type: 'run_input', characters: 125_001 } });
        const large = await refused([log(610_002), { type: 'unknown', content: 'z'.repeat(2_428) }]);
        assert.deepEqual(large.details, { total_characters: 612_430, limit_characters: 250_000, largest_attachment: { type: 'log', characters: 610_002 } });
        assert.match(large.message, /612,430.*250,000|250,000.*612,430/);
        assert.match(large.message, /log/);
        assert.match(large.message, /excerpt/i);
        assert.ok(!large.message.includes('xxx'));
    });

    it('A.5 an error has the API’s shape and its own status, or comes as an event under 200', async () => {
        const attachments = [{ type: 'log', content: 'x'.repeat(250_001) }];
        for (const name of NAMES) {
            const reply = await ask(name, attachments);
            assert.equal(reply.status, 400, name);
            assert.match(reply.type, /^application\/json/);
            const { error } = JSON.parse(reply.text);
            assert.ok(JSON.stringify(error ?? reply.text).length && reply.text.includes('ATTACHMENT_TOO_LARGE') && reply.text.includes('"total_characters":250001'), `${name}: ${reply.text}`);
        }
        const event = await ask('openai-chat', attachments, { headers: { 'x-hw-errors': 'event' }, more: { stream: true } });
        assert.equal(event.status, 200);
        assert.match(event.type, /^text\/event-stream/);
        const [, data] = /^event: error\ndata: (.*)\n\n/.exec(event.text);
        assert.ok(data.includes('ATTACHMENT_TOO_LARGE') && JSON.parse(data));
        assert.equal(upstream.chats.length, 0);
    });

    it('A.6 the caller’s doing is a warning; a provider that refuses our own key is an error', async () => {
        await ask('openai-chat', [{ type: 'log', content: CANARY.repeat(20_000) }]);
        assert.match(await metrics(), /penstock_errors_total\{code="ATTACHMENT_TOO_LARGE",level="warning",provider="openai"\}/);
        const key = join(penstock.folder, 'own-key');
        writeFileSync(key, 'own-key-of-penstock\n');
        const ours = await new Penstock().start(upstream.url, {
            providers: `  - {name: ours, dialect: openai, base_url: "${upstream.url}", api_key: "file:${key}"}\n`,
            more: `tenancy: keys\norganisations: [{name: acme, key_sha256: ["${createHash('sha256').update('caller').digest('hex')}"]}]\nsentry_dsn: "${upstream.url.replace('//', '//public@')}/7"\n`,
        });
        try {
            const levels = [];
            for (const [status, code] of [[401, 'AUTH_ERROR'], [403, 'FORBIDDEN'], [429, 'RATE_LIMIT'], [402, 'RATE_LIMIT']]) {
                upstream.reply = [status, { 'retry-after': '7' }, `{"error":{"message":"${CANARY}"}}`];
                const reply = await fetch(`${ours.url}/ours/v1/chat/completions`, { method: 'POST', headers: { authorization: 'Bearer caller' }, body: JSON.stringify({ model: 'm', messages: [user('q')] }) });
                assert.equal(reply.status, status); // and the provider's own words go through
                assert.equal(reply.headers.get('retry-after'), '7');
                assert.ok((await reply.text()).includes(CANARY));
                levels.push(new RegExp(`penstock_errors_total\\{code="${code}",level="error",provider="ours"\\} \\d`).test(await (await fetch(`${ours.adminUrl}/metrics`)).text()));
            }
            assert.deepEqual(levels, [true, true, true, true]);
            const unknown = await fetch(`${ours.url}/ours/v1/chat/completions`, { method: 'POST', headers: { authorization: 'Bearer nobody' }, body: '{}' });
            assert.equal(unknown.status, 401);
            assert.match(await (await fetch(`${ours.adminUrl}/metrics`)).text(), /penstock_errors_total\{code="AUTH_ERROR",level="warning"/);
            for (let i = 0; upstream.asked('POST', /envelope/).length < 5 && i < 200; i++) await sleep(20);
            const events = upstream.asked('POST', /envelope/).map((one) => JSON.parse(one.body.toString().split('\n')[2]));
            assert.deepEqual(events.map(({ level, tags, contexts }) => [level, tags.penstock_error_type, contexts.penstock_error.code]).sort(), [
                ['error', 'AUTH_ERROR', 401], ['error', 'FORBIDDEN', 403], ['error', 'RATE_LIMIT', 402], ['error', 'RATE_LIMIT', 429], ['warning', 'AUTH_ERROR', 401],
            ]);
            assert.ok(!JSON.stringify(events).includes(CANARY) && !ours.log().includes(CANARY) && !ours.log().includes('own-key-of-penstock'));
        } finally {
            await ours.stop();
        }
        assert.ok(!(await metrics()).includes(CANARY) && !penstock.log().includes(CANARY));
    });

    it('A.7 a Specialist gets what its call names, byte for byte, and nothing else', async () => {
        const attachments = [{ type: 'log', content: 'é\n1' }, { type: 'input_dataclip', content: { n: 1 } }, { type: 'log', content: '2' }, { data: base64(PNG), name: 'shot' }];
        const { consult } = await ask('openai-chat', attachments);
        const child = (forward, name = 'openai-chat', headers = {}) => ask(name, undefined, { headers: { 'x-hw-parent': consult, ...headers }, more: { hw: { forward } } });
        const got = async (...words) => ((await child(...words)).status === 200 ? sent().messages.at(-1).content : undefined);
        assert.equal(await got(['log']), 'q\n\n<run_logs>\n[log]\né\n1\n\n[log]\n2\n</run_logs>');
        assert.equal(await got('log'), 'q\n\n<run_logs>\n[log]\né\n1\n\n[log]\n2\n</run_logs>');
        assert.equal(await got([]), 'q');
        assert.ok(!JSON.stringify(await got(['input_dataclip', 'shot'])).includes('run_logs') && raw().includes(base64(PNG)));
        for (const name of NAMES) {
            assert.equal((await child('all', name)).status, 200, name);
            assert.ok(said().includes('é\n1\n\n[log]\n2') && raw().includes(base64(PNG)) && !raw().includes('"hw"'), name);
        }
        const absent = await child(['nowhere', 'log']);
        assert.deepEqual((await record(absent.consult)).attachments_not_passed, [{ name: 'nowhere', reason: 'not_in_parent' }]);
        assert.equal(await got('all', 'openai-chat', { 'x-hw-org': 'other' }), 'q');
        const [one, two] = await Promise.all([child(['shot']), child(['log'])]);
        assert.deepEqual([(await record(one.consult)).attachments.length, (await record(two.consult)).attachments.length], [1, 2]);
    });

    it('A.8 attachments belong to their turn: history holds the words alone', async () => {
        for (const name of NAMES) {
            await ask(name, [{ type: 'log', content: CANARY }, { data: base64(CANARY), name: 'a.txt' }], { messages: [user('why did this fail?')], headers: { 'x-hw-thread': 't' } });
            assert.equal(said().split(CANARY).length, 3, name);
            const history = [user('why did this fail?'), { role: name === 'gemini' ? 'model' : 'assistant', content: 'Because.' }, user('and now?')];
            await ask(name, undefined, { messages: history, headers: { 'x-hw-thread': 't' } });
            assert.ok(!raw().includes(CANARY) && !raw().includes('attachments'), name);
            assert.ok(raw().includes('why did this fail?"'), name);
            await ask(name, [{ type: 'log', content: 'again' }], { messages: history });
            assert.ok(raw().indexOf('again') > raw().indexOf('and now?') && raw().includes('why did this fail?"'), name);
        }
    });

    it('B.1 only what is declared is attached, in one form, and wrong forms are refused with the reason', async () => {
        mkdirSync(join(penstock.folder, 'workspace', 'default'), { recursive: true });
        writeFileSync(join(penstock.folder, 'workspace', 'default', 'login.png'), PNG);
        await ask('openai-chat', undefined, { messages: [user('look at login.png')] });
        assert.ok(!raw().includes('image_url'));
        const cases = [
            [{ path: 'login.png', data: base64(PNG) }, /^attachments\[0\]: exactly one/],
            [{ name: 'a' }, /^attachments\[0\] \("a"\): exactly one/],
            [{ path: 'login.png', handling: 'raw' }, /^attachments\[0\]\.handling/],
            [{ path: 'login.png', type: 'image/png' }, /^attachments\[0\]\.type: .*bytes/],
            [{ path: 'login.png', media_type: 'image/png' }, /^attachments\[0\]\.media_type: there is no such field/],
            [{ path: 'login.png', mime_type: 'image/png' }, /^attachments\[0\]\.mime_type/],
            [{ url: 'http://127.0.0.1/x.png' }, /^attachments\[0\]\.url: addresses are not fetched, since/],
            [{ stream: 'x' }, /^attachments\[0\]\.stream: a stream cannot be read twice/],
            [{ data: 'aG*k' }, /^attachments\[0\]\.data: it is not base64/],
            [{ data: 'aGVsb' }, /base64/],
            [{ data: 'aA==aA==' }, /base64/],
            [{ data: 'data:text/plain;base64,aGk=' }, /states a media type/],
        ];
        for (const [attachment, message] of cases) {
            const reply = await refused([attachment]);
            assert.equal(reply.status, 422, JSON.stringify(attachment));
            assert.equal(reply.code, 'ATTACHMENT_INVALID');
            assert.match(reply.message, message);
        }
        // By path or by data, the provider gets the same bytes; names are derived where there is none.
        await ask('openai-chat', [{ path: 'login.png' }]);
        const first = raw();
        await ask('openai-chat', [{ data: base64(PNG), name: 'login.png' }]);
        assert.equal(raw(), first);
        const named = await ask('openai-chat', [{ path: 'login.png' }, { data: base64(PNG) }]);
        assert.deepEqual((await record(named.consult)).attachments.map(({ name }) => name), ['login.png', 'attachment-2']);
    });

    it('B.2 paths stay in the organisation’s folder, sizes under the ceiling, and bytes say what a file is', async () => {
        const folder = join(penstock.folder, 'workspace', 'default');
        mkdirSync(join(folder, 'sub'), { recursive: true });
        writeFileSync(join(folder, 'b.png'), PNG);
        writeFileSync(join(folder, 'report.pdf'), PNG);
        writeFileSync(join(folder, 'shot.png'), 'only words');
        writeFileSync(join(penstock.folder, 'outside.png'), PNG);
        writeFileSync(join(folder, 'large.png'), Buffer.concat([PNG, Buffer.alloc(20 * 1024 * 1024)]));
        for (const [link, to] of [['out.png', '../../outside.png'], ['etc.png', '/etc/hostname'], ['in.png', 'b.png'], ['up', '..']]) symlinkSync(to, join(folder, link));
        execFileSync('mkfifo', [join(folder, 'pipe')]);
        for (const path of ['../x.png', 'a/../../x.png', 'sub/../b.png', '/etc/hostname', 'out.png', 'etc.png', 'up/default/b.png', 'sub', 'pipe', '.']) {
            const reply = await refused([{ path }]);
            assert.equal(reply.status, 422, path);
            assert.equal(reply.code, 'ATTACHMENT_FORBIDDEN_PATH', `${path}: ${reply.message}`);
            assert.match(reply.message, /^attachments\[0\]\.path \(".+"\): it/);
        }
        for (const path of ['', 'a\0b']) assert.equal((await refused([{ path }])).status, 422);
        assert.equal((await refused([{ path: 'nothing.png' }])).code, 'ATTACHMENT_NOT_FOUND');
        assert.equal((await ask('openai-chat', [{ path: 'in.png' }])).status, 200);
        const large = await refused([{ path: 'large.png' }]);
        assert.deepEqual([large.status, large.code], [400, 'ATTACHMENT_TOO_LARGE']);
        assert.match(large.message, /20971589 bytes; at most 20971520/);
        for (const name of NAMES) {
            await ask(name, [{ path: 'report.pdf' }, { path: 'shot.png' }]);
            assert.ok(raw().includes(base64(PNG)) && said().includes('<document name="shot.png">\nonly words\n</document>'), name);
        }
    });

    it('B.3 the media type is told from the bytes, once, and recorded', async () => {
        const kinds = {
            'image/png': PNG, 'image/jpeg': JPEG, 'image/gif': 'GIF89a\x01\x00\x01\x00\x00\x00\x00;', 'image/webp': 'RIFF\x1a\x00\x00\x00WEBPVP8L',
            'application/pdf': pdf('x'), 'audio/wav': sound.wav, 'audio/mpeg': sound.mp3, 'audio/ogg': sound.ogg, 'audio/flac': sound.flac, 'video/mp4': sound.mp4, 'text/plain': 'words\n',
        };
        for (const [type, bytes] of Object.entries(kinds)) {
            const data = (typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes).toString('base64');
            const reply = await ask('gemini', [{ data, name: 'liar.docx', handling: 'native' }]);
            assert.equal(reply.status, 200, `${type}: ${reply.text}`);
            assert.equal((await record(reply.consult)).attachments[0].media_type, type);
            assert.ok(raw().includes(data), type);
        }
        for (const [type, bytes] of [['application/vnd.openxmlformats-officedocument.wordprocessingml.document', docx('x')], ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', xlsx('x')], ['application/zip', zip({ a: 'b' })]]) {
            const reply = await refused([{ data: base64(bytes), handling: 'native' }]);
            assert.equal(reply.code, 'ATTACHMENT_UNSUPPORTED');
            assert.equal(reply.details.media_type, type);
        }
        assert.match((await refused([{ data: '' }])).message, /empty/);
    });

    it('B.4 images go untouched in each provider’s shape; what has no shape is refused by name', async () => {
        const data = base64(JPEG);
        const url = { url: `data:image/jpeg;base64,${data}` };
        const shapes = {
            'openai-chat': { type: 'image_url', image_url: url },
            responses: { type: 'input_image', image_url: url.url },
            anthropic: { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data } },
            gemini: { inlineData: { mimeType: 'image/jpeg', data } },
            openrouter: { type: 'image_url', image_url: url },
            moonshot: { type: 'image_url', image_url: url },
        };
        const lastOf = { responses: (b) => b.input.at(-1).content, gemini: (b) => b.contents.at(-1).parts };
        for (const name of NAMES) {
            await ask(name, [{ data }]);
            if (name === 'ollama') assert.deepEqual([sent().messages.at(-1).images, sent().messages.at(-1).content], [[data], 'q']);
            else assert.deepEqual((lastOf[name] ?? ((b) => b.messages.at(-1).content))(sent()).at(-1), shapes[name], name);
        }
        // The default: the same text everywhere. Native: each one's own shape, or a refusal.
        const document = { data: base64(pdf(CANARY)), name: 'a.pdf' };
        for (const name of NAMES) {
            assert.equal((await ask(name, [document])).status, 200, name);
            assert.ok(said().includes(`<document name="a.pdf">\n${CANARY}\n</document>`), name);
        }
        const file = `data:application/pdf;base64,${document.data}`;
        const natives = {
            'openai-chat': { type: 'file', file: { filename: 'a.pdf', file_data: file } },
            responses: { type: 'input_file', filename: 'a.pdf', file_data: file },
            anthropic: { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: document.data }, title: 'a.pdf' },
            gemini: { inlineData: { mimeType: 'application/pdf', data: document.data } },
            openrouter: { type: 'file', file: { filename: 'a.pdf', file_data: file } },
        };
        for (const name of Object.keys(natives)) {
            await ask(name, [{ ...document, handling: 'native' }]);
            assert.deepEqual((lastOf[name] ?? ((b) => b.messages.at(-1).content))(sent()).at(-1), natives[name], name);
        }
        const none = await ask('ollama', [{ ...document, handling: 'native' }]);
        assert.equal(none.status, 422);
        assert.match(none.text, /ollama cannot carry application\/pdf/);
        assert.ok(none.text.includes('ATTACHMENT_UNSUPPORTED'));
        // What a refusal advises is what works.
        assert.match(none.text, /Leave handling: native out, so that its text is sent/);
        const archive = { data: Buffer.from(`PK\x05\x06${'\0'.repeat(18)}`).toString('base64'), name: 'a.zip' };
        const zip = await ask('ollama', [archive]);
        assert.equal(zip.status, 422);
        assert.match(zip.text, /this provider does not take it with handling: native either/);
        assert.match((await ask('ollama', [{ ...archive, handling: 'native' }])).text, /Attach its content as text/);
        // An upload first, once over a tool loop of two rounds.
        for (let round = 0; round < 2; round++) await ask('moonshot', [{ ...document, handling: 'native' }]);
        assert.equal(upstream.uploads.length, 1);
        assert.ok(said().includes('EXTRACTED'));
        // No table of models: a provider's own error goes through as it is.
        upstream.reply = [404, { 'x-request-id': 'r7' }, '{"error":{"message":"no vision","type":"x"}}'];
        const own = await ask('openai-chat', [{ data }]);
        assert.deepEqual([own.status, own.text], [404, '{"error":{"message":"no vision","type":"x"}}']);
        // Without a transcriber audio is neither sent raw nor dropped.
        const bare = await refused([{ data: base64('#!AMR\n\x3c\x91\x17'), name: 'x.amr' }]);
        assert.ok(['ATTACHMENT_UNSUPPORTED', 'ATTACHMENT_INVALID'].includes(bare.code), bare.message);
    });

    it('B.5 an attachment stands in its own request alone, and is read once', async () => {
        const folder = join(penstock.folder, 'workspace', 'default');
        mkdirSync(folder, { recursive: true });
        const path = 'once.png';
        for (const name of NAMES) {
            writeFileSync(join(folder, path), PNG);
            const parent = await ask(name, [{ path }]);
            assert.equal(raw().split(base64(PNG)).length, 2, name);
            await ask(name, undefined, { headers: { 'x-hw-parent': parent.consult } });
            assert.ok(!raw().includes(base64(PNG)), name);
            // The next round of a loop has the bytes that were read, whatever became of the file.
            writeFileSync(join(folder, path), JPEG);
            await ask(name, undefined, { headers: { 'x-hw-parent': parent.consult }, more: { hw: { forward: [path] } } });
            assert.ok(raw().includes(base64(PNG)) && !raw().includes(base64(JPEG)), name);
            rmSync(join(folder, path));
            await ask(name, undefined, { headers: { 'x-hw-parent': parent.consult }, more: { hw: { forward: 'all' } } });
            assert.ok(raw().includes(base64(PNG)), name);
        }
    });

    it('B.9 the record names what was attached and what was refused, and holds no byte of it', async () => {
        const bytes = pdf(`${CANARY} nine`);
        const reply = await ask('gemini', [{ data: base64(bytes), name: 'a.pdf', handling: 'native' }, { data: base64(CANARY), name: 'b' }, { type: 'log', content: CANARY }]);
        const entries = (await record(reply.consult)).attachments.map(({ name, type, media_type, bytes, sha256, handling, decision }) => [name ?? type, media_type, bytes, sha256, handling, decision]);
        const digest = (b) => createHash('sha256').update(b).digest('hex');
        assert.deepEqual(entries, [
            ['a.pdf', 'application/pdf', bytes.length, digest(bytes), 'native', 'passed'],
            ['b', 'text/plain', CANARY.length, digest(CANARY), 'preprocess', 'passed'],
            ['log', 'text/plain', CANARY.length, digest(CANARY), undefined, 'passed'],
        ]);
        const no = await refused([{ data: base64(bytes), name: 'ok.pdf' }, { data: base64('\x7fELF\x02\x01\x01'), name: 'bad' }]);
        const [ok, bad] = (await record(no.consult)).attachments;
        assert.deepEqual([ok.decision, bad.decision, bad.reason, bad.bytes, bad.sha256.length], ['not_sent', 'refused', 'ATTACHMENT_UNSUPPORTED', 7, 64]);
        const moonshot = await ask('moonshot', [{ data: base64(bytes), name: 'a.pdf', handling: 'native' }]);
        assert.equal((await record(moonshot.consult)).attachments[0].upload, 'new');
        assert.ok(!(await consults()).includes(CANARY));
    });

    it('a canary in a log, a PDF, a docx, an xlsx, an mp3 and an mp4 reaches every provider as the same text, and is nowhere else', async () => {
        const attachments = [
            { type: 'log', content: `log ${CANARY}` },
            { data: base64(pdf(`pdf ${CANARY}`)), name: 'a.pdf' },
            { data: base64(docx(`docx ${CANARY}`)), name: 'a.docx' },
            { data: base64(xlsx(`xlsx ${CANARY}`)), name: 'a.xlsx' },
            { data: base64(sound.mp3), name: 'a.mp3' },
            { data: base64(sound.mp4), name: 'a.mp4' },
        ];
        const texts = new Set();
        const frames = new Set();
        for (const name of NAMES) {
            const reply = await ask(name, attachments, { headers: { 'x-hw-thread': 'canary' } });
            assert.equal(reply.status, 200, `${name}: ${reply.text}`);
            const all = said();
            for (const what of ['log', 'pdf', 'docx', 'xlsx']) assert.ok(all.includes(`${what} ${CANARY}`), `${name}: ${what}`);
            const documents = all.match(/<document name="[^"]*">[^]*?<\/document>/g);
            assert.ok(documents.find((one) => one.includes('name="a.mp3"')).includes(SPOKEN), `${name}: mp3`);
            assert.ok(documents.some((one) => one.includes('name="a.mp4"') && one.includes(SPOKEN)), `${name}: mp4`);
            texts.add([...documents, /<run_logs>[^]*<\/run_logs>/.exec(all)[0]].join('\n'));
            frames.add(createHash('sha256').update((raw().match(/\/9j\/[A-Za-z0-9+/=]{200,}/g) ?? []).join()).digest('hex'));
            await ask(name, undefined, { messages: [user('q'), { role: name === 'gemini' ? 'model' : 'assistant', content: 'a' }, user('next')], headers: { 'x-hw-thread': 'canary' } });
            assert.ok(!raw().includes(CANARY) && !said().includes(SPOKEN), name);
        }
        assert.equal(texts.size, 1, [...texts].join('\n---\n').slice(0, 4000));
        assert.equal(frames.size, 1);
        for (const where of [await metrics(), await consults(), penstock.log()]) assert.ok(!where.includes(CANARY) && !where.includes(SPOKEN));
    });
});
