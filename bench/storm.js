// What hostile documents cost everybody else: streams relayed by Penstock and streams straight from the upstream, at the
// same time, in turns: quiet; while the same requests are relayed unread (X-HW-Consult: off), which is what their bytes
// cost; and in a storm of hostile documents. Prints a table (docs/PERFORMANCE.md).
//
//   ninja -C build/release && node bench/storm.js [ROUNDS] [SECONDS] [MIB]    default 5, 5, documents of any size
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const STREAMS = 10, PAUSE = 20, AT_A_TIME = 2;
const post = (url, body, agent, headers = {}) => {
    const sent = request(`${url}/v1/chat/completions`, { method: 'POST', agent, headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers } });
    sent.end(body);
    return once(sent, 'response');
};

// A process of its own sends the documents and is the upstream that gets them, so that the streams' own clients and upstream
// never wait for a body of many MiB; it says how many were answered.
async function storm(folder, most) {
    const { hostile } = await import('../tests/e2e/hostile.js');
    const media = { film: readFileSync(join(folder, 'film.mp4')), song: readFileSync(join(folder, 'song.mp3')) };
    const bodies = [...hostile(media)].filter(([, data]) => data.length <= most * 1048576).map(([name, data]) => JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }], attachments: [{ name, data: data.toString('base64') }] })).map((body) => Buffer.from(body));
    let on = false, headers, answered = 0, at = 0;
    const agent = new Agent({ keepAlive: true });
    const upstream = createServer((asked, response) => asked.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[]}'))).listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    process.send(upstream.address().port);
    const [url] = await once(process, 'message');
    const one = async () => {
        while (on) {
            const [response] = await post(url, bodies[at++ % bodies.length], agent, headers);
            for await (const _ of response);
            answered++;
        }
    };
    let running = [];
    process.on('message', async (wanted) => {
        if (wanted === 'end') process.exit(0);
        on = wanted !== 'off';
        headers = { 'x-hw-consult': wanted === 'bytes' ? 'off' : 'on' };
        if (on) running = Array.from({ length: AT_A_TIME }, one);
        else await Promise.all(running);
        process.send(answered);
        answered = 0;
    });
    process.send('ready');
}

async function main(rounds, seconds, most) {
    process.env.PENSTOCK ??= fileURLToPath(new URL('../build/release/penstock', import.meta.url));
    const { Penstock } = await import('../tests/e2e/penstock.js');
    const folder = mkdtempSync(join(tmpdir(), 'storm-')), ffmpeg = (...args) => spawnSync('ffmpeg', args);
    ffmpeg('-f', 'lavfi', '-i', 'testsrc=size=320x240:rate=25:duration=3', '-f', 'lavfi', '-i', 'sine=duration=3', '-pix_fmt', 'yuv420p', '-shortest', '-movflags', '+faststart', join(folder, 'film.mp4'));
    ffmpeg('-f', 'lavfi', '-i', 'sine=duration=2', join(folder, 'song.mp3'));
    let streaming = true, samples;
    const upstream = createServer(async (asked, response) => {
        for await (const _ of asked);
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        while (streaming) {
            response.write(`data: {"choices":[{"index":0,"delta":{"content":"${performance.now()} "},"finish_reason":null}]}\n\n`);
            await sleep(PAUSE);
        }
        response.end('data: [DONE]\n\n');
    }).listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const sender = fork(fileURLToPath(import.meta.url), ['storm', folder, most]), [port] = await once(sender, 'message');
    const providers = `  - {name: documents, dialect: openai, prefix: /documents, base_url: "http://127.0.0.1:${port}"}\n`;
    const direct = `http://127.0.0.1:${upstream.address().port}`, penstock = await new Penstock().start(direct, { providers, log: 'info' });
    const listen = async (url, kind) => {
        const [response] = await post(url, JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'x' }] }), false);
        for await (const text of response.setEncoding('utf8')) {
            const now = performance.now();
            for (const [, sent] of text.matchAll(/"content":"([\d.]+) "/g)) samples?.[kind].push(now - sent);
        }
    };
    const streams = Array.from({ length: STREAMS }, () => [listen(penstock.url, 'relayed'), listen(direct, 'direct')]).flat();
    sender.send(`${penstock.url}/documents`);
    await once(sender, 'message');
    const at = (values, part) => values.sort((a, b) => a - b)[Math.floor(values.length * part)];
    const found = { quiet: [], bytes: [], storm: [] }, states = Object.keys(found);
    console.log('| round | | requests | relayed p50 ms | p99 | direct p50 | p99 |\n| --- | --- | --- | --- | --- | --- | --- |');
    for (let round = 0; round < rounds; round++)
        for (const state of states.map((_, i) => states[(i + round) % states.length])) {
            if (state !== 'quiet') {
                sender.send(state);
                await once(sender, 'message');
            }
            await sleep(500);
            samples = { relayed: [], direct: [] };
            await sleep(seconds * 1000);
            const { relayed, direct } = samples;
            samples = undefined;
            let documents = 0;
            if (state !== 'quiet') {
                sender.send('off');
                [documents] = await once(sender, 'message');
            }
            const row = [at(relayed, 0.5), at(relayed, 0.99), at(direct, 0.5), at(direct, 0.99)];
            found[state].push(row);
            console.log(`| ${round} | ${state} | ${documents} | ${row.map((n) => n.toFixed(2)).join(' | ')} |`);
        }
    const median = (values) => at(values, 0.5);
    const ratio = (i, than) => median(found.storm.map((row, k) => row[i] / found[than][k][i])).toFixed(2);
    for (const than of ['quiet', 'bytes']) console.log(`storm / ${than}, median of the rounds: relayed p50 ${ratio(0, than)}, p99 ${ratio(1, than)}; direct p50 ${ratio(2, than)}, p99 ${ratio(3, than)}`);
    streaming = false;
    sender.send('end');
    await Promise.all(streams);
    await penstock.stop();
    upstream.close();
    upstream.closeAllConnections();
    rmSync(folder, { recursive: true });
}

if (process.argv[2] === 'storm') await storm(process.argv[3], Number(process.argv[4]));
else await main(Number(process.argv[2] ?? 5), Number(process.argv[3] ?? 5), Number(process.argv[4] ?? 64));
