// Films, recordings, tables and pages that callers attach, as each API's provider sees them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { Penstock } from './penstock.js';

const SAID = 'my name is john and i live in london';
const user = (content) => ({ role: 'user', content });
// Each API's smallest request, its path, and where the base64 of pictures stands in what the provider gets.
const APIS = {
    'openai-chat': ['/v1/chat/completions', { model: 'm', messages: [user('look')] }, /data:image\/jpeg;base64,([A-Za-z0-9+/=]+)/g],
    'openai-responses': ['/v1/responses', { model: 'm', input: 'look' }, /data:image\/jpeg;base64,([A-Za-z0-9+/=]+)/g],
    'anthropic-messages': ['/v1/messages', { model: 'm', max_tokens: 9, messages: [user('look')] }, /"data":"([A-Za-z0-9+/=]+)"/g],
    gemini: ['/v1beta/models/m:generateContent', { contents: [{ role: 'user', parts: [{ text: 'look' }] }] }, /"data":"([A-Za-z0-9+/=]+)"/g],
    ollama: ['/api/chat', { model: 'm', stream: false, messages: [user('look')] }, /"([A-Za-z0-9+/=]{200,})"/g],
};

const run = (program, ...args) => {
    const { status, error, stderr } = spawnSync(program, args);
    assert.equal(status, 0, `${program}: ${error ?? stderr}`);
};

describe('films and recordings', { timeout: 240_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'media-'));
    const received = [];
    let upstream, penstock;
    const made = (name) => readFileSync(join(folder, name));
    before(async () => {
        const at = (name) => join(folder, name);
        run('flite', '-voice', 'rms', '-t', SAID, '-o', at('said.wav'));
        run('ffmpeg', '-i', at('said.wav'), at('said.mp3'));
        run('ffmpeg', '-i', at('said.wav'), at('said.m4a'));
        run('ffmpeg', '-f', 'lavfi', '-i', 'testsrc=size=1280x720:rate=25:duration=20', '-i', at('said.wav'), '-g', '25', '-pix_fmt', 'yuv420p', at('film.mp4'));
        upstream = createServer(async (request, response) => {
            const parts = [];
            for await (const part of request) parts.push(part);
            received.push(Buffer.concat(parts).toString());
            response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"choices":[]}');
        }).listen(0, '127.0.0.1');
        await once(upstream, 'listening');
        penstock = await new Penstock().start(`http://127.0.0.1:${upstream.address().port}`, { drain: '5s, render: 3m' });
    });
    after(async () => {
        rmSync(folder, { recursive: true });
        try {
            await penstock?.stop();
        } finally {
            upstream?.close();
            upstream?.closeAllConnections();
        }
    });
    beforeEach(() => received.splice(0));

    const ask = async (api, name, data) => {
        const [path, body] = APIS[api];
        const reply = await fetch(penstock.url + path, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify({ ...body, attachments: [{ name, data: data.toString('base64') }] }),
        });
        return { status: reply.status, text: await reply.text() };
    };

    for (const api of Object.keys(APIS)) {
        it(`${api}: a film is eight frames, each after its time, and what is said`, async () => {
            const reply = await ask(api, 'film.mp4', made('film.mp4'));
            assert.equal(reply.status, 200, reply.text);
            const [body] = received;
            const frames = [...body.matchAll(APIS[api][2])].map((found) => Buffer.from(found[1], 'base64'));
            assert.equal(frames.length, 8);
            for (const frame of frames) assert.equal(frame.subarray(0, 3).toString('hex'), 'ffd8ff');
            assert.match(body, /### Video \(film\.mp4, video\/mp4, 0:20, 1280 x 720\)/);
            assert.deepEqual(body.match(/Frame at 00:00:\d\d:/g).map((line) => Number(line.slice(-3, -1))), [1, 4, 6, 9, 11, 14, 16, 19]);
            assert.ok(body.includes(`[00:00:00] ${SAID}`));
            assert.ok(body.indexOf('Frame at 00:00:19:') < body.indexOf(SAID));
        });
        it(`${api}: tables and pages are Markdown`, async () => {
            const files = { 'a.csv': 'k;v\nCANARY;1,5\n', 'a.html': '<h1>T</h1><p>CANARY<script>x</script>', 'a.rtf': '{\\rtf1 {\\b CANARY}}' };
            const texts = { 'a.csv': '| CANARY | 1,5 |', 'a.html': '# T\\n\\nCANARY', 'a.rtf': '**CANARY**' };
            for (const [name, source] of Object.entries(files)) {
                const reply = await ask(api, name, Buffer.from(source));
                assert.equal(reply.status, 200, reply.text);
                assert.ok(received.pop().includes(texts[name]), name);
            }
        });
    }

    it('a recording is what is said in it', async () => {
        for (const name of ['said.mp3', 'said.m4a', 'said.wav']) {
            const reply = await ask('openai-chat', name, made(name));
            assert.equal(reply.status, 200, reply.text);
            const body = received.pop();
            assert.ok(body.includes(`### Audio transcript (${name}, 0:02, pocketsphinx)`), body);
            assert.ok(body.includes('(offline recogniser, English only, may be wrong)'));
            assert.ok(body.includes(`[00:00:00] ${SAID}`), body);
        }
    });
    it('a film that was cut off is refused instead of being shortened', async () => {
        run('ffmpeg', '-i', join(folder, 'film.mp4'), '-c', 'copy', '-movflags', '+faststart', join(folder, 'early.mp4'));
        run('ffmpeg', '-i', join(folder, 'film.mp4'), '-c', 'copy', join(folder, 'film.mkv'));
        for (const name of ['early.mp4', 'film.mkv']) {
            const film = made(name);
            assert.equal((await ask('openai-chat', name, film)).status, 200);
            const reply = await ask('openai-chat', name, film.subarray(0, film.length >> 1));
            assert.equal(reply.status, 422, reply.text);
            assert.match(reply.text, new RegExp(`attachments\\[0\\] \\(\\\\"${name}\\\\"\\): it is cut off`));
        }
    });
    it('what claims to be a film or a recording and is none is refused by name', async () => {
        const film = made('film.mp4');
        const broken = Buffer.concat([film.subarray(0, 64), Buffer.alloc(4096, 0x41)]);
        for (const [name, data] of Object.entries({ 'broken.mp4': broken, 'broken.mp3': Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\0'), Buffer.alloc(999, 7)]) })) {
            const reply = await ask('openai-chat', name, data);
            assert.equal(reply.status, 422, reply.text);
            assert.match(reply.text, new RegExp(`attachments\\[0\\] \\(\\\\"${name}\\\\"\\): it .*ATTACHMENT_INVALID`));
        }
        assert.equal(received.length, 0);
    });
});
