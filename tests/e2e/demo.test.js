// The two commands that need no client: `penstock demo` and `penstock extract`, as a person runs them.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const BINARY = resolve(process.env.PENSTOCK ?? fileURLToPath(new URL('../../build/debug/penstock', import.meta.url)));
let folder;

before(() => {
    folder = mkdtempSync(join(tmpdir(), 'penstock-demo-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const environment = (more) => {
    const inherited = Object.entries(process.env).filter(([name]) => !/_proxy$/i.test(name) && !/^(HW|PENSTOCK|OPENAI)_/.test(name));
    return { ...Object.fromEntries(inherited), ...more };
};

function start(args, { input = '', env = {} } = {}) {
    const child = spawn(BINARY, args, { cwd: folder, env: environment(env), stdio: ['pipe', 'pipe', 'pipe'] });
    const run = { child, out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text) => (run.out += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (run.err += text));
    child.stdin.on('error', () => {}).end(input);
    run.ended = once(child, 'close').then(([status, signal]) => Object.assign(run, { status, signal }));
    return run;
}

const run = (args, options) => start(args, options).ended;

// Processes whose command line names the directory: the demo's own and its children.
const alive = (name) =>
    readdirSync('/proc').filter((pid) => {
        try {
            return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(name);
        } catch {
            return false;
        }
    });

async function assertGone(name) {
    for (let i = 0; i < 100 && alive(name).length; i++) await sleep(50);
    assert.deepEqual(alive(name), []);
}

const events = (text) =>
    text
        .split('\n\n')
        .filter((block) => block.startsWith('data: {'))
        .map((block) => JSON.parse(block.slice(6)));
const textOf = (text) => events(text).map((event) => event.choices?.[0]?.delta?.content ?? '').join('');

test('demo: both sides, the files, nothing left behind', async () => {
    const out = join(folder, 'demo "é"');
    const { status, out: shown, err } = await run(['demo', '--out', out]);
    assert.equal(status, 0, err + shown);
    const provider = textOf(readFileSync(join(out, 'provider.sse'), 'utf8'));
    const client = readFileSync(join(out, 'client.sse'), 'utf8');
    assert.match(provider, /<<<HW_ATTACHMENT\n/);
    assert.doesNotMatch(client, /HW_ATTACHMENT|<<</i);
    assert.equal(textOf(client), provider.replace(/<<<HW_ATTACHMENT[^]*?HW_ATTACHMENT>>>\n/g, ''));
    assert.match(readFileSync(join(out, 'provider.request.json'), 'utf8'), /<<<HW_ATTACHMENT/);

    const artifacts = events(client).flatMap((event) => event.outbound_artifacts ?? []);
    assert.deepEqual(artifacts.map((a) => a.filename), ['q3-figures.csv', 'q3-summary.md']);
    const [consult] = readdirSync(join(out, 'state/orgs/default'));
    for (const { filename, sha256 } of artifacts) {
        for (const path of [join(out, 'downloads', filename), join(out, 'state/orgs/default', consult, 'outbound', filename)]) {
            assert.equal(createHash('sha256').update(readFileSync(path)).digest('hex'), sha256);
            assert.ok(shown.includes(path));
        }
    }
    assert.match(shown, /^region,revenue,\S+ +\|$/m); // on the left, nothing on the right
    assert.match(shown, /^ {4}\| North,182400,195100,161250,21150$/m);
    assert.doesNotMatch(shown, /FAILED|\x1b/);
    assert.doesNotMatch(readFileSync(join(out, 'penstock.log'), 'utf8'), /ERROR: \w+Sanitizer|runtime error/);
    await assertGone(out);
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'])
    test(`demo: ${signal} ends all its processes`, async () => {
        const out = join(folder, `demo-${signal}`);
        const demo = start(['demo', '--out', out]);
        while (!demo.out.includes('Here are') && demo.child.exitCode === null) await sleep(20);
        assert.ok(alive(out).length >= 3, demo.err);
        demo.child.kill(signal);
        await demo.ended;
        if (signal !== 'SIGKILL') assert.equal(demo.status, 130);
        await assertGone(out);
    });

test('demo: what is wrong is said in one sentence', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const port = String(server.address().port);
    const taken = await run(['demo', '--out', join(folder, 'taken'), '--port', port]);
    server.close();
    assert.equal(taken.status, 1);
    assert.match(taken.err, new RegExp(`port ${port}.*--port`));
    const keyless = await run(['demo', '--live', '--out', join(folder, 'keyless')]);
    assert.equal(keyless.status, 1);
    assert.match(keyless.err, /OPENAI_API_KEY/);
    writeFileSync(join(folder, 'file'), '');
    const unwritable = await run(['demo', '--out', join(folder, 'file')]);
    assert.equal(unwritable.status, 1);
    assert.match(unwritable.err, /^penstock demo: .*\n$/);
});

// Stands in for the real API.
async function live(name, answer) {
    const server = createServer((request, response) => {
        request.resume().on('end', () => answer(response, request.headers));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const env = { OPENAI_BASE_URL: `http://127.0.0.1:${server.address().port}/v1`, OPENAI_API_KEY: 'sk-secret-of-the-test' };
    const result = await run(['demo', '--live', '--out', join(folder, name)], { env });
    server.close();
    const log = readFileSync(join(folder, name, 'penstock.log'), 'utf8');
    assert.ok(!(log + result.out + result.err).includes(env.OPENAI_API_KEY));
    return result;
}

const chunk = (delta, finish_reason = null) =>
    `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const reply = (text) => (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const piece of text) response.write(chunk({ content: piece }));
    response.end(chunk({}, 'stop') + 'data: [DONE]\n\n');
};

test('demo --live: with a file, without one, and refused', async () => {
    let authorization;
    const good = await live('live', (response, headers) => {
        authorization = headers.authorization;
        reply('Here \x1b[31mit is.\n<<<HW_ATTACHMENT\n{"filename":"a b.csv"}\n---\nx\nHW_ATTACHMENT>>>\nDone.')(response);
    });
    assert.equal(good.status, 0, good.err + good.out);
    assert.equal(authorization, 'Bearer sk-secret-of-the-test');
    assert.match(good.out, /a b\.csv/);
    assert.doesNotMatch(good.out, /\x1b|HW_ATTACHMENT/);

    const fileless = await live('fileless', reply('I will not.'));
    assert.equal(fileless.status, 1);
    assert.match(fileless.err, /no file came/);

    const refused = await live('refused', (response) => {
        response.writeHead(401, { 'content-type': 'application/json' });
        response.end('{"error":{"message":"Incorrect \\u001b[31mkey."}}');
    });
    assert.equal(refused.status, 1);
    assert.match(refused.err, /status 401: Incorrect  \[31mkey\./);
});

test('extract: from standard input and from a file', async () => {
    const text = 'Here:\n\n<<<HW_ATTACHMENT\n{"filename":"q3.csv"}\n---\na,b\nHW_ATTACHMENT>>>\n\nBye é\n';
    const out = join(folder, 'extracted');
    const first = await run(['extract', '--out', out], { input: text });
    assert.equal(first.status, 0, first.err);
    assert.equal(first.out, 'Here:\n\n\nBye é\n');
    assert.match(first.err, /^wrote .*q3\.csv \(csv, \d+ bytes\)\n$/);
    writeFileSync(join(folder, 'reply.txt'), `${text}HW_ATTACHMENT>>>`);
    const second = await run(['extract', join(folder, 'reply.txt'), '--out', out]);
    assert.equal(second.status, 3);
    assert.match(second.err, /q3 \(2\)\.csv[^]*stray_marker: /);
    assert.ok(existsSync(join(out, 'q3 (2).csv')));
    assert.equal((await run(['extract', 'a', 'b'])).status, 2);
});

test('extract: a document finds the picture of its reply, whatever the disk calls that', async () => {
    const reply = [
        '<<<HW_ATTACHMENT\n{"filename":"sales.png"}\n---\n{"type":"bar","labels":["a"],"datasets":[{"label":"s","data":[1]}]}\nHW_ATTACHMENT>>>',
        '<<<HW_ATTACHMENT\n{"filename":"report.docx"}\n---\n# Report\n\n![Sales](Sales.PNG)\nHW_ATTACHMENT>>>',
    ].join('\n');
    const out = join(folder, 'twice');
    for (let i = 0; i < 2; i++) assert.equal((await run(['extract', '--out', out], { input: reply })).status, 0);
    const size = (name) => statSync(join(out, name)).size;
    assert.equal(size('report (2).docx'), size('report.docx'));
    assert.ok(size('report.docx') > size('sales.png'), 'the picture is in it');
});
