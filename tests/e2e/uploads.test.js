// Files that go to a model by way of an upload, transcripts by a provider, and the error sink, against the running program.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FilesUpstream, parts } from './files-upstream.js';
import { Penstock } from './penstock.js';

const user = (content) => ({ role: 'user', content });
const APIS = {
    moonshot: (text) => ['/moonshot/v1/chat/completions', { model: 'm', messages: [user(text)] }],
    'openai-chat': (text) => ['/v1/chat/completions', { model: 'm', messages: [user(text)] }],
    'openai-responses': (text) => ['/v1/responses', { model: 'm', input: text }],
    'anthropic-messages': (text) => ['/anthropic/v1/messages', { model: 'm', max_tokens: 9, messages: [user(text)] }],
    gemini: (text) => ['/gemini/v1beta/models/m:generateContent', { contents: [{ role: 'user', parts: [{ text }] }] }],
};
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGM4Y2wMAAMBATPEwnsTAAAAAElFTkSuQmCC', 'base64');
let number = 0;
// No two are the same, so that no test finds another one's upload.
const pdf = (size = 0) => Buffer.from(`%PDF-1.4\n% ${++number} of ${process.pid}\n${'x'.repeat(size)}\n%%EOF\n`);
const native = (bytes, name) => ({ data: bytes.toString('base64'), name, handling: 'native' });

async function until(what, holds) {
    for (let i = 0; i < 400; i++) {
        const value = await holds();
        if (value) return value;
        await sleep(25);
    }
    assert.fail(`${what} did not come to pass`);
}

describe('uploads, transcripts, error sink', { timeout: 180_000 }, () => {
    let upstream, penstock;
    before(async () => {
        upstream = await new FilesUpstream().start();
        const provider = (name, rest) => `  - {name: ${name}, dialect: ${name.split('-')[0]}, base_url: "${upstream.url}"${rest}}\n`;
        penstock = await new Penstock().start(upstream.url, {
            timeouts: ', upload_ttl: 60s',
            providers: ['moonshot', 'anthropic', 'gemini', 'ollama', 'openrouter'].map((name) => provider(name, ', inline_size: 4KiB')).join('') + provider('openai-small', ', inline_size: 4KiB'),
            more: `transcription: {provider: openai, model: whisper-1}\nsentry_dsn: "${upstream.url.replace('//', '//public@')}/7"\n`,
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

    const ask = async (api, attachments, { key = 'key-a', more = {}, signal, small, headers = {} } = {}) => {
        let [path, body] = APIS[api]('q');
        if (small) path = `/openai-small${path}`;
        const reply = await fetch(penstock.url + path, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
            body: JSON.stringify({ ...body, ...more, attachments }),
            signal,
        });
        const text = await reply.text();
        return { status: reply.status, consult: reply.headers.get('x-hw-consult-id'), text, error: reply.ok ? undefined : JSON.parse(text).error };
    };
    const record = (consult) =>
        until(`the record of ${consult}`, async () => {
            const page = await (await fetch(`${penstock.adminUrl}/consults?id=${consult}`)).json();
            return page.data[0];
        });
    const metric = async (line) => Number(new RegExp(`^${line.replace(/[{}]/g, '\\$&')} (\\d+)$`, 'm').exec(await (await fetch(`${penstock.adminUrl}/metrics`)).text())?.[1] ?? 0);
    const sent = (which = -1) => JSON.parse(upstream.chats.at(which).body);

    it('a document is uploaded once, its text stands in the message, and later turns use the id again', async () => {
        const bytes = pdf();
        const first = await ask('moonshot', [native(bytes, 'inv.pdf')]);
        assert.equal(first.status, 200, first.text);
        const [upload] = upstream.uploads;
        assert.equal(upstream.uploads.length, 1);
        assert.equal(upload.headers.authorization, 'Bearer key-a');
        const form = parts(upload);
        assert.deepEqual([form[0].name, form[0].body.toString(), form[1].name, form[1].filename], ['purpose', 'file-extract', 'file', 'inv.pdf']);
        assert.match(form[1].head, /Content-Type: application\/pdf/);
        assert.deepEqual(form[1].body, bytes);
        assert.equal(sent().messages.at(-1).content, 'q\n\n{"content":"EXTRACTED"}');
        // The second round of a tool loop, and another turn.
        for (const messages of [[user('q'), { role: 'assistant', content: null, tool_calls: [] }, { role: 'tool', content: 'r', tool_call_id: 'c' }], [user('next')]]) {
            const again = await ask('moonshot', [native(bytes, 'inv.pdf')], { more: { messages } });
            assert.equal(again.status, 200);
            assert.ok(JSON.stringify(sent()).includes('EXTRACTED'));
            assert.equal((await record(again.consult)).attachments[0].upload, 'reused');
        }
        assert.equal(upstream.uploads.length, 1);
        assert.deepEqual((({ upload, handling, decision }) => ({ upload, handling, decision }))((await record(first.consult)).attachments[0]), { upload: 'new', handling: 'native', decision: 'passed' });
        assert.ok((await metric('penstock_uploads_total{provider="moonshot",outcome="reused"}')) >= 2);
    });

    it('requests at the same time share one upload; another key and other bytes have their own', async () => {
        const bytes = pdf();
        upstream.delay = 300;
        const all = await Promise.all([1, 2, 3, 4, 5].map(() => ask('moonshot', [native(bytes, 'a.pdf'), native(bytes, 'b.pdf')])));
        assert.deepEqual(all.map((one) => one.status), [200, 200, 200, 200, 200]);
        assert.equal(upstream.uploads.length, 1);
        await ask('moonshot', [native(bytes, 'a.pdf')], { key: 'key-b' });
        await ask('moonshot', [native(pdf(), 'a.pdf')]);
        assert.equal(upstream.uploads.length, 3);
    });

    it('ids outlive the process', async () => {
        const bytes = pdf();
        await ask('moonshot', [native(bytes, 'a.pdf')]);
        const workers = penstock.log().match(/"worker\.started"/g).length;
        penstock.child.kill('SIGHUP');
        await until('another worker', () => penstock.log().match(/"worker\.started"/g).length > workers);
        await until('the old one’s end', () => /worker\.draining/.test(penstock.log()));
        await sleep(200);
        assert.equal((await ask('moonshot', [native(bytes, 'a.pdf')])).status, 200);
        assert.equal(upstream.uploads.length, 1);
    });

    it('a file that is gone at the provider is uploaded again', async () => {
        const bytes = pdf();
        await ask('moonshot', [native(bytes, 'a.pdf')]);
        upstream.files.clear();
        assert.equal((await ask('moonshot', [native(bytes, 'a.pdf')])).status, 200);
        assert.equal(upstream.uploads.length, 2);
    });

    it('what does not come about fails the request by name, before the model is asked', async () => {
        const words = (message) => JSON.stringify({ error: { message } });
        const cases = [
            [401, words('bad key key-a'), 401, 'AUTH_ERROR', 'warning'],
            [403, words('no'), 403, 'FORBIDDEN', 'warning'],
            [429, words('slow down'), 429, 'RATE_LIMIT', 'warning'],
            [402, words('no money'), 402, 'RATE_LIMIT', 'warning'],
            [400, words('broken file'), 422, 'ATTACHMENT_INVALID', 'warning'],
            [413, '', 422, 'ATTACHMENT_INVALID', 'warning'],
            [404, words('not here'), 502, 'UPSTREAM_INVALID', 'error'],
            [500, words('oops'), 502, 'UPSTREAM_INVALID', 'error'],
            [200, '{}', 502, 'UPSTREAM_INVALID', 'error'],
            [200, '{"id":"file-x","status":"error"}', 422, 'ATTACHMENT_INVALID', 'warning'],
        ];
        for (const [status, body, want, code, level] of cases) {
            upstream.refuse = [status, body];
            const line = `penstock_errors_total{code="${code}",level="${level}",provider="moonshot"}`;
            const counted = await metric(line);
            const reply = await ask('moonshot', [native(pdf(), 'inv.pdf')]);
            assert.deepEqual([reply.status, reply.error.code], [want, code], `${status} ${body}`);
            assert.match(reply.error.message, /^attachments\[0\] \("inv\.pdf"\): moonshot/);
            assert.ok(!reply.error.message.includes('key-a'), reply.error.message);
            assert.equal(await metric(line), counted + 1);
            assert.equal((await record(reply.consult)).attachments[0].reason, code);
        }
        assert.equal(upstream.chats.length, 0);
        upstream.refuse = null;
        upstream.text = () => '';
        upstream.elsewhere = 'http://127.0.0.1:1/steal';
        const stolen = await ask('gemini', [native(pdf(5000), 'a.pdf')]);
        assert.equal(stolen.status, 502);
        assert.match(stolen.text, /address that is not its own/);
        delete upstream.elsewhere;
        delete upstream.text;
        // A claim that failed does not stand in the way of the next one.
        const bytes = pdf();
        upstream.refuse = [500, ''];
        assert.equal((await ask('moonshot', [native(bytes, 'a.pdf')])).status, 502);
        upstream.refuse = null;
        assert.equal((await ask('moonshot', [native(bytes, 'a.pdf')])).status, 200);
    });

    it('a client that leaves: no model is asked, and the upload serves the next one', async () => {
        const bytes = pdf();
        const gone = new AbortController();
        upstream.delay = 400;
        const asked = ask('moonshot', [native(bytes, 'a.pdf')], { signal: gone.signal }).catch((error) => error);
        await until('the upload', () => upstream.uploads.length);
        gone.abort();
        assert.equal((await asked).name, 'AbortError');
        await until('its end', () => upstream.made && penstock.log().match(/upload\.made/g));
        await sleep(500);
        assert.equal(upstream.chats.length, 0);
        assert.equal((await ask('moonshot', [native(bytes, 'a.pdf')])).status, 200);
        assert.equal(upstream.uploads.length, 1);
    });

    it('too large for the request: each provider’s files API, by id in exactly its shape, once', async () => {
        const big = pdf(6000);
        const shapes = {
            'openai-chat': (id) => [{ type: 'file', file: { file_id: id } }],
            'openai-responses': (id) => [{ type: 'input_file', file_id: id }],
            'anthropic-messages': (id) => [{ type: 'document', source: { type: 'file', file_id: id }, title: 'big.pdf' }],
            gemini: (id) => [{ fileData: { mimeType: 'application/pdf', fileUri: `${upstream.url}/v1beta/${id}` } }],
        };
        const content = { 'openai-responses': (b) => b.input[0].content, gemini: (b) => b.contents[0].parts };
        for (const api of Object.keys(shapes)) {
            upstream.reset();
            for (let turn = 0; turn < 2; turn++) {
                const reply = await ask(api, [native(big, 'big.pdf')], { small: api.startsWith('openai'), key: `key-${api}` });
                assert.equal(reply.status, 200, `${api}: ${reply.text}`);
                const said = (content[api] ?? ((b) => b.messages.at(-1).content))(sent());
                assert.deepEqual(said.slice(1), shapes[api]([...upstream.files.keys()].at(-1)), api);
                assert.ok(!upstream.chats.at(-1).body.includes(big.toString('base64').slice(0, 60)));
            }
            assert.equal(upstream.uploads.length, api === 'gemini' ? 2 : 1, api);
            assert.deepEqual([...upstream.files.values()].at(-1), big);
        }
        // Small files stay in the request, and so do those of a provider without such shapes.
        upstream.reset();
        await ask('openai-chat', [native(pdf(), 'a.pdf'), { data: PNG.toString('base64') }], { small: true });
        await ask('openai-chat', [native(big, 'big.pdf')]);
        assert.equal(upstream.uploads.length, 0);
        assert.ok(upstream.chats[1].body.includes(big.toString('base64')));
        // Pictures, each in its purpose.
        const picture = Buffer.concat([PNG, Buffer.alloc(6000, String(process.pid))]);
        await ask('openai-responses', [{ data: picture.toString('base64'), name: 'p' }], { small: true });
        assert.deepEqual(parts(upstream.uploads[0]).map((one) => one.filename ?? one.body.toString()).slice(0, 2), ['vision', 'created_at']);
        assert.equal(parts(upstream.uploads[0]).at(-1).filename, 'p.png');
        assert.equal(sent().input[0].content[1].type, 'input_image');
        await ask('moonshot', [{ data: picture.toString('base64'), name: 'p' }]);
        assert.match(sent().messages.at(-1).content[1].image_url.url, /^ms:\/\/file-\d+$/);
    });

    const WAV = () => {
        const samples = Buffer.alloc(1600 + 2 * ++number);
        const head = Buffer.alloc(44);
        head.write('RIFF', 0).toString();
        head.writeUInt32LE(36 + samples.length, 4);
        head.write('WAVEfmt ', 8);
        head.writeUInt32LE(16, 16);
        head.writeUInt16LE(1, 20);
        head.writeUInt16LE(1, 22);
        head.writeUInt32LE(16000, 24);
        head.writeUInt32LE(32000, 28);
        head.writeUInt16LE(2, 32);
        head.writeUInt16LE(16, 34);
        head.write('data', 36);
        head.writeUInt32LE(samples.length, 40);
        return Buffer.concat([head, samples]);
    };

    it('audio is transcribed by the configured provider, the same text for every API', async () => {
        const audio = WAV();
        upstream.transcript = { text: 'Hello there.', duration: 252.2, segments: [{ start: 0, text: ' Hello' }, { start: 12.5, text: ' there.' }] };
        for (const api of ['openai-chat', 'openai-responses']) {
            const reply = await ask(api, [{ data: audio.toString('base64'), name: 'talk.wav' }]);
            assert.equal(reply.status, 200, reply.text);
            assert.ok(JSON.stringify(sent()).includes('### Audio transcript (talk.wav, 4:12, whisper-1)\\n\\n[00:00:00] Hello\\n[00:00:12] there.'), api);
            assert.equal((await record(reply.consult)).attachments[0].decision, 'passed');
        }
        const [request] = upstream.asked('POST', /transcriptions$/);
        assert.equal(request.headers.authorization, 'Bearer key-a');
        assert.deepEqual(parts(request).map((one) => [one.name, one.filename ?? one.body.toString()]), [['model', 'whisper-1'], ['response_format', 'verbose_json'], ['file', 'talk.wav']]);
        assert.deepEqual(parts(request)[2].body, audio);
        // The caller's key of one provider goes to no other.
        const other = await ask('gemini', [{ data: audio.toString('base64') }]);
        assert.equal(other.status, 422);
        assert.match(other.text, /No API key is configured for openai/);
    });

    it('sound that is on no endpoint’s list becomes an MP3 first, in the cage', async () => {
        const folder = mkdtempSync(join(tmpdir(), 'penstock-sound-'));
        try {
            writeFileSync(join(folder, 'a.wav'), WAV());
            for (const name of ['a.ogg', 'a.flac', 'a.aiff']) {
                execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', '-i', join(folder, 'a.wav'), join(folder, name)]);
                upstream.reset();
                const reply = await ask('openai-chat', [{ data: readFileSync(join(folder, name)).toString('base64'), name }]);
                assert.equal(reply.status, 200, reply.text);
                const file = parts(upstream.asked('POST', /transcriptions$/)[0]).at(-1);
                assert.equal(file.filename, `${name}.mp3`);
                assert.match(file.head, /Content-Type: audio\/mpeg/);
                writeFileSync(join(folder, 'sent.mp3'), file.body);
                assert.match(execFileSync('ffprobe', ['-v', 'error', '-show_entries', 'stream=codec_name,sample_rate,channels', '-of', 'csv=p=0', join(folder, 'sent.mp3')]).toString(), /^mp3,16000,1/);
                assert.ok(JSON.stringify(sent()).includes(`### Audio transcript (${name}, whisper-1)\\n\\nhello`));
            }
            const broken = await ask('openai-chat', [{ data: Buffer.from('OggS\0\x02 no more than this').toString('base64'), name: 'x.ogg' }]);
            assert.deepEqual([broken.status, broken.error.code], [422, 'ATTACHMENT_INVALID'], broken.text);
            assert.match(broken.error.message, /^attachments\[0\] \("x\.ogg"\): it/);
        } finally {
            rmSync(folder, { recursive: true });
        }
    });

    it('the sound of a film is transcribed by the configured provider, its frames are taken here', async () => {
        const folder = mkdtempSync(join(tmpdir(), 'penstock-film-'));
        try {
            const ffmpeg = (...words) => execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...words]);
            ffmpeg('-f', 'lavfi', '-i', 'testsrc=size=320x240:rate=5:duration=3', '-f', 'lavfi', '-i', 'sine=duration=3', '-pix_fmt', 'yuv420p', join(folder, 'a.mp4'));
            ffmpeg('-f', 'lavfi', '-i', 'testsrc=size=320x240:rate=5:duration=3', '-pix_fmt', 'yuv420p', join(folder, 'silent.mp4'));
            ffmpeg('-f', 'lavfi', '-i', 'sine=duration=3', join(folder, 'a.aac'));
            const attach = (name) => ask('openai-chat', [{ data: readFileSync(join(folder, name)).toString('base64'), name }]);
            upstream.transcript = { text: 'Hello there.', duration: 3, segments: [{ start: 0, text: 'Hello there.' }] };
            const reply = await attach('a.mp4');
            assert.equal(reply.status, 200, reply.text);
            const body = JSON.stringify(sent());
            assert.ok(body.includes('### Video (a.mp4, video/mp4, 0:03, 320 x 240)') && body.includes('data:image/jpeg;base64,'), body.slice(0, 2000));
            assert.ok(body.includes('### Audio transcript (a.mp4, 0:03, whisper-1)\\n\\n[00:00:00] Hello there.'));
            assert.ok(!body.includes('pocketsphinx'));
            const file = parts(upstream.asked('POST', /transcriptions$/)[0]).at(-1);
            assert.equal(file.filename, 'a.mp4.mp3');
            writeFileSync(join(folder, 'sent.mp3'), file.body);
            assert.match(execFileSync('ffprobe', ['-v', 'error', '-show_entries', 'stream=codec_name', '-of', 'csv=p=0', join(folder, 'sent.mp3')]).toString(), /^mp3/);
            assert.equal((await record(reply.consult)).attachments[0].decision, 'passed');
            // Sound that only ffmpeg reads goes there as well; a film without sound asks nobody.
            upstream.reset();
            assert.equal((await attach('a.aac')).status, 200);
            assert.equal(upstream.asked('POST', /transcriptions$/).length, 1);
            upstream.reset();
            assert.equal((await attach('silent.mp4')).status, 200);
            assert.equal(upstream.asked('POST', /transcriptions$/).length, 0);
            assert.ok(JSON.stringify(sent()).includes('(no sound)'));
            upstream.transcript = [500, ''];
            const failed = await attach('a.mp4');
            assert.deepEqual([failed.status, failed.error.code], [502, 'UPSTREAM_INVALID'], failed.text);
            assert.match(failed.error.message, /^attachments\[0\] \(".+"\): openai/);
        } finally {
            rmSync(folder, { recursive: true });
        }
    });

    it('a transcript that does not come about fails the request by name', async () => {
        for (const [answer, status, code] of [[[500, ''], 502, 'UPSTREAM_INVALID'], [[400, '{"error":{"message":"corrupt audio"}}'], 422, 'ATTACHMENT_INVALID'], [[401, ''], 401, 'AUTH_ERROR'], [[200, 'no JSON'], 502, 'UPSTREAM_INVALID'],
            [[200, Buffer.from('{"text":"\xff\xfe"}', 'latin1')], 502, 'UPSTREAM_INVALID'], [[200, '{"text":"a\\u0000b"}'], 502, 'UPSTREAM_INVALID']]) {
            upstream.transcript = answer;
            const reply = await ask('openai-chat', [{ data: WAV().toString('base64') }]);
            assert.deepEqual([reply.status, reply.error.code], [status, code]);
            assert.match(reply.error.message, /^attachments\[0\]: openai/);
        }
        assert.equal(upstream.chats.length, 0);
        assert.ok((await metric('penstock_transcripts_total{provider="openai",outcome="failed"}')) >= 6);
    });

    it('errors go to the sink with their level and tag, without a word of a caller’s', async () => {
        const events = () => upstream.asked('POST', /^\/api\/7\/envelope\/$/).map((one) => JSON.parse(one.body.toString().split('\n')[2]));
        const refused = await ask('openai-chat', [{ type: 'log', content: 'CANARY_sink '.repeat(30_000) }]);
        assert.equal(refused.status, 400);
        upstream.refuse = [500, '{"error":{"message":"CANARY_sink"}}'];
        const failed = await ask('moonshot', [native(pdf(), 'CANARY_sink.pdf')], { key: 'sk-CANARY_sink_key' });
        assert.equal(failed.status, 502);
        await until('both events', () => events().length >= 2);
        const [warning, error] = [refused, failed].map(({ consult }) => events().find((one) => one.tags.consult === consult));
        assert.deepEqual([warning.level, warning.tags.penstock_error_type, warning.contexts.penstock_error.code, warning.contexts.penstock_error.total_characters], ['warning', 'ATTACHMENT_TOO_LARGE', 400, 360_000]);
        assert.deepEqual([error.level, error.tags.penstock_error_type, error.tags.provider, error.tags.api], ['error', 'UPSTREAM_INVALID', 'moonshot', 'openai-chat']);
        const [envelope] = upstream.asked('POST', /envelope/);
        assert.match(envelope.headers['x-sentry-auth'], /^Sentry sentry_version=7, sentry_client=penstock\/\S+, sentry_key=public$/);
        assert.equal(envelope.headers['content-type'], 'application/x-sentry-envelope');
        for (const one of upstream.asked('POST', /envelope/)) assert.ok(!one.body.includes('CANARY'));
        await until('the count', () => metric('penstock_sink_events_total{outcome="sent"}'));
    });

    it('a sink that fails is logged once, and delays nobody', async () => {
        upstream.sink = [500, ''];
        const before = (penstock.log().match(/"sentry\.failed"/g) ?? []).length;
        for (let i = 0; i < 3; i++) assert.equal((await ask('openai-chat', [{ data: '!' }])).status, 422);
        await until('three failures', async () => (await metric('penstock_sink_events_total{outcome="failed"}')) >= 3);
        assert.equal(penstock.log().match(/"sentry\.failed"/g).length, before + 1);
    });
});

describe('uploads that expire', { timeout: 60_000 }, () => {
    it('are made again, and deleted at the provider with the key that made them', async () => {
        const upstream = await new FilesUpstream().start();
        const penstock = await new Penstock().start(upstream.url, {
            timeouts: ', upload_ttl: 1s',
            providers: `  - {name: moonshot, dialect: moonshot, base_url: "${upstream.url}"}\n`,
        });
        try {
            const ask = (bytes, authorization) => fetch(`${penstock.url}/moonshot/v1/chat/completions`, {
                method: 'POST',
                headers: { 'content-type': 'application/json', authorization },
                body: JSON.stringify({ model: 'm', messages: [user('q')], attachments: [native(bytes, 'a.pdf')] }),
            }).then((reply) => reply.text());
            const bytes = pdf();
            await ask(bytes, 'Bearer one');
            assert.deepEqual([...upstream.files.keys()], ['file-1']);
            await until('the deletion', () => upstream.files.size === 0);
            const [deletion] = upstream.asked('DELETE', /^\/v1\/files\/file-1$/);
            assert.equal(deletion.headers.authorization, 'Bearer one');
            await ask(bytes, 'Bearer one');
            assert.equal(upstream.uploads.length, 2);
            const metrics = await (await fetch(`${penstock.adminUrl}/metrics`)).text();
            assert.match(metrics, /penstock_uploads_total\{provider="moonshot",outcome="deleted"\} 1/);
            // A process that ends leaves it to the next one that hears from the account.
            penstock.child.kill('SIGHUP');
            await sleep(2500);
            await ask(pdf(), 'Bearer two');
            const before = upstream.asked('DELETE', /./).length;
            await ask(pdf(), 'Bearer one');
            await until('the late deletion', () => !upstream.files.has('file-2'));
            assert.ok(upstream.asked('DELETE', /./).length >= before);
        } finally {
            await penstock.stop();
            await upstream.stop();
        }
    });
});
