// What it costs that a reply is kept for its thread: user instructions that Penstock executes for one relayed event, of
// every API and kind, without and with X-HW-Thread. The upstream sends an event when the client has got the one before it,
// so that each is a read of its own. Counted are the worker's event loop, and the worker with all its threads, of which one
// writes the journal when the reply is over.
//
//   ninja -C build/release penstock bench_events && node bench/recording.js [SAMPLE…]    prints a table
//
// valgrind's callgrind counts; each figure is the difference between a long reply and a short one, the median of ROUNDS
// (1). Where memory lies changes it by some 20 instructions; bench_events, which has the samples and counts the reply filter
// alone, is exact to a few. BUILD names another build.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const SHORT = 200, LONG = 1200, ROUNDS = Number(process.env.ROUNDS ?? 1);
const ROUND = [[SHORT], [LONG], [SHORT, 'short'], [LONG, 'long']];
const RUNS = [[SHORT], [SHORT, 'warm'], ...Array.from({ length: ROUNDS }, () => ROUND).flat()];
const build = resolve(process.env.BUILD ?? fileURLToPath(new URL('../build/release', import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), 'recording-'));
const counted = join(folder, 'penstock');
process.env.PENSTOCK = counted;
const { Penstock } = await import('../tests/e2e/penstock.js');

const APIS = [
    ['openai-chat', '/v1/chat/completions', { model: 'm', stream: true, messages: [{ role: 'user', content: 'x' }] }],
    ['openai-responses', '/v1/responses', { model: 'm', stream: true, input: 'x' }],
    ['anthropic-messages', '/anthropic/v1/messages', { model: 'm', stream: true, max_tokens: 1, messages: [{ role: 'user', content: 'x' }] }],
    ['gemini', '/gemini/v1beta/models/m:streamGenerateContent?alt=sse', { contents: [{ parts: [{ text: 'x' }] }] }],
    ['ollama', '/ollama/api/chat', { model: 'm', messages: [{ role: 'user', content: 'x' }] }],
];

let events, next, penstock;
const upstream = createServer(async (asked, response) => {
    for await (const _ of asked);
    const sent = events;
    response.socket.setNoDelay(true);
    response.writeHead(200, { 'content-type': sent[0].startsWith('{') ? 'application/x-ndjson' : 'text/event-stream' });
    for (const event of sent) {
        const got = new Promise((done) => (next = done));
        response.write(event);
        await got;
    }
    response.end();
}).listen(0, '127.0.0.1');
await once(upstream, 'listening');

// The worker's counts from each consult's begin to the next one's, in the order of the consults; all else is removed.
function counts() {
    const dumps = readdirSync(folder).map((name) => name.match(/^counted\.\d+\.(\d+)(-01)?$/)).filter(Boolean);
    const parts = dumps.map(([name, part]) => [Number(part), Number(readFileSync(join(folder, name), 'utf8').match(/^totals: (\d+)/m)[1])]);
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    return parts.sort(([a], [b]) => a - b).map(([, count]) => count).slice(1);
}

async function relay([, path, body], headers) {
    const asked = request(`${penstock.url}${path}`, { method: 'POST', agent: false, headers: { 'content-type': 'application/json', ...headers } });
    asked.end(JSON.stringify(body));
    const [response] = await once(asked, 'response');
    if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`);
    // An event may come in two reads, but each ends in a line end.
    for await (const bytes of response) if (bytes.at(-1) === 10) next();
}

const names = process.argv.length > 2 ? process.argv.slice(2) : execFileSync(join(build, 'bench_events'), { encoding: 'utf8' }).trim().split('\n');
const others = ['anthropic', 'gemini', 'ollama'].map((name) => `  - {name: ${name}, dialect: ${name}, base_url: "http://127.0.0.1:${upstream.address().port}"}\n`);

// Of each sample: an event's instructions, and those on top of them when it is recorded.
async function measure(threads) {
    const options = `--tool=callgrind --separate-threads=${threads} --dump-before=store_new_consult_id --callgrind-out-file=${folder}/counted.%p`;
    writeFileSync(counted, `#!/bin/sh\nexec valgrind -q ${options} ${build}/penstock "$@"\n`, { mode: 0o755 });
    penstock = await new Penstock().start(`http://127.0.0.1:${upstream.address().port}`, { providers: others.join(''), more: 'workers: 1\n' });
    try {
        // The first two only touch everything once; the last consult ends the count of the one before it.
        for (const [sample, n, thread] of [...names.flatMap((sample) => RUNS.map((run) => [sample, ...run])), [names[0], 1]]) {
            const api = APIS.findLast(([name]) => sample.startsWith(name));
            const printed = execFileSync(join(build, 'bench_events'), [sample, n, 'print'], { encoding: 'utf8' });
            events = printed.match(api[0] === 'ollama' ? /[^]*?\n/g : /[^]*?(?:\n\n|\r\n\r\n)/g);
            await relay(api, thread ? { 'X-HW-Thread': thread } : {});
            await sleep(300); // the record, and the journal's last line
        }
    } finally {
        await penstock.stop();
    }
    const all = counts();
    const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
    return names.map((_, i) => {
        const own = all.slice(i * RUNS.length + 2, (i + 1) * RUNS.length), rounds = own.flatMap((_, k) => (k % ROUND.length ? [] : [own.slice(k, k + ROUND.length)]));
        const plain = median(rounds.map(([short, long]) => (long - short) / (LONG - SHORT)));
        return [plain, median(rounds.map(([, , short, long]) => (long - short) / (LONG - SHORT))) - plain];
    });
}

try {
    const loop = await measure('yes'), all = await measure('no');
    console.log('| event | instructions of the loop | more when recorded | | with the journal | |\n| --- | --- | --- | --- | --- | --- |');
    const share = ([plain, more]) => `${Math.round(more)} | ${((more / plain) * 100).toFixed(1)} %`;
    for (const [i, name] of names.entries()) console.log(`| ${name} | ${Math.round(loop[i][0])} | ${share(loop[i])} | ${share(all[i])} |`);
} finally {
    upstream.close();
    upstream.closeAllConnections();
    rmSync(folder, { recursive: true });
}
