// Ending and reloading while streams run.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { get } from 'node:https';
import { connect } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { BINARY, freePort, Penstock } from './penstock.js';
import { ask, chunksOf, isAlive, textOf, until, workersOf } from './processes.js';
import { Upstream, slowText } from './upstream.js';

const count = (text, what) => text.split(what).length - 1;

describe('while streams run', { timeout: 180_000 }, () => {
    let upstream, penstock;
    before(async () => {
        upstream = await new Upstream().start();
    });
    afterEach(async () => {
        if (penstock && isAlive(penstock.child.pid)) await penstock.stop();
        penstock = undefined;
    });
    after(() => upstream?.stop());

    const start = async (more) => {
        penstock = await new Penstock().start(upstream.url, { drain: '60s', more });
    };
    const startStream = async (tag) => {
        const reply = await ask(penstock, 'slow', tag, { stream: true });
        await until('the stream has begun', () => reply.text.length > 0);
        return reply;
    };
    const check = (reply, left) => {
        const chunks = chunksOf(reply.text);
        assert.ok(reply.complete);
        assert.ok(reply.text.endsWith('data: [DONE]\n\n'));
        assert.equal(textOf(chunks), left);
        assert.deepEqual(chunks.flatMap((c) => c.outbound_artifacts ?? []).map((a) => a.filename), [`${reply.tag}.csv`]);
    };
    const connecting = (port) =>
        new Promise((resolve) => {
            const socket = connect(port, '127.0.0.1');
            socket.on('connect', () => socket.destroy(resolve('connected')));
            socket.on('error', (error) => resolve(error.code));
        });
    const content = async () => {
        const reply = await (await ask(penstock, 'file', 'now')).whole;
        assert.equal(reply.status, 200);
        return JSON.parse(reply.text).choices[0].message.content;
    };
    const reload = async (changed) => {
        const before = count(penstock.log(), '"reloaded"');
        penstock.configure(changed);
        penstock.child.kill('SIGHUP');
        await until('reloaded', () => count(penstock.log(), '"reloaded"') > before);
    };

    for (const workers of [1, 2])
        it(`SIGTERM refuses new connections and lets the stream finish (workers: ${workers})`, async () => {
            await start(`workers: ${workers}\n`);
            const pids = [penstock.child.pid, ...workersOf(penstock.child.pid)];
            assert.equal(pids.length, 1 + workers);
            const reply = await startStream('last');
            penstock.child.kill('SIGTERM');
            await until('new connections are refused', async () => (await connecting(penstock.port)) === 'ECONNREFUSED');
            assert.ok(!reply.text.includes('[DONE]'), 'the stream still runs');
            await reply.whole;
            check(reply, slowText('last').left);
            await penstock.stop(); // ended already, with 0
            assert.deepEqual(pids.filter(isAlive), []);
        });

    it('a second server on the same port is refused, although workers share it', async () => {
        await start('workers: 2\n');
        const options = ['--listen', `127.0.0.1:${penstock.port}`, '--admin', '127.0.0.1:0', '--state-dir', `${penstock.folder}/second`];
        const second = spawnSync(BINARY, ['serve', ...options], { encoding: 'utf8', timeout: 20_000 });
        assert.equal(second.status, 1);
        assert.match(second.stderr, new RegExp(`cannot listen on 127.0.0.1:${penstock.port}: Address already in use`));
        assert.match(await content(), /^Here are the totals/);
    });

    it('SIGTERM closes what is idle and ends at once when nothing runs', async () => {
        await start('');
        const socket = connect(penstock.port, '127.0.0.1');
        await new Promise((done) => socket.on('connect', done));
        const closed = new Promise((done) => socket.on('close', done));
        await content(); // so that the other connection has been taken, too
        await penstock.stop(); // in far less than the drain time
        await closed;
    });

    for (const signal of ['SIGHUP', 'SIGTERM'])
        it(`a request on a connection that was opened before ${signal} is answered`, async () => {
            await start('');
            const socket = connect(penstock.port, '127.0.0.1').setNoDelay();
            await new Promise((done) => socket.on('connect', done));
            await content(); // so that the connection has been taken
            let text = '';
            socket.on('data', (piece) => (text += piece));
            const closed = new Promise((done) => socket.on('close', done));
            penstock.child.kill(signal);
            await until('the worker drains', () => penstock.log().includes('"worker.draining"'));
            socket.write('GET /v1/files/file-hw-none HTTP/1.1\r\nHost: penstock\r\n\r\n');
            await closed;
            assert.match(text, /^HTTP\/1\.1 404 /);
            assert.match(text, /^connection: close\r$/im);
        });

    it('a bad configuration changes nothing', async () => {
        await start('');
        const workers = workersOf(penstock.child.pid);
        const reply = await startStream('old');
        for (const [i, more] of ['colour: red\n', 'workers: many\n', 'listen: [\n'].entries()) {
            penstock.configure({ more });
            penstock.child.kill('SIGHUP');
            await until('refused', () => count(penstock.log(), '"reload.refused"') === i + 1);
            assert.match(await content(), /^Here are the totals/);
            assert.deepEqual(workersOf(penstock.child.pid), workers);
        }
        await reply.whole;
        check(reply, slowText('old').left);
        assert.equal(count(penstock.log(), '"reloaded"'), 0);
    });

    for (const workers of [1, 3])
        it(`workers that cannot start with a new configuration change nothing (workers: ${workers})`, async () => {
            await start('');
            const old = workersOf(penstock.child.pid);
            const reply = await startStream('old');
            // What only a worker opens, and cannot any more.
            const lock = `${penstock.folder}/state/threads.lock`;
            rmSync(lock);
            mkdirSync(lock);
            penstock.configure({ more: `workers: ${workers}\nlinks: markdown\n` });
            penstock.child.kill('SIGHUP');
            await until('refused', () => penstock.log().includes('"reload.refused"'));
            assert.match(penstock.log(), /"threads\.open"/);
            assert.equal(count(penstock.log(), '"reloaded"'), 0);
            assert.deepEqual(workersOf(penstock.child.pid), old);
            for (let i = 0; i < 8; i++) assert.doesNotMatch(await content(), /\]\(http/);
            await reply.whole;
            check(reply, slowText('old').left);
            rmdirSync(lock);
            await reload({ more: `workers: ${workers}\nlinks: markdown\n` });
            await until('the new settings apply', async () => /\]\(http/.test(await content()));
        });

    it('certificates that do not work change nothing, and a worker that is replaced meanwhile has the old ones', async () => {
        const made = (name) => ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-keyout', `${name}.key`, '-out', `${name}.pem`];
        await start('');
        const port = await freePort();
        const inFolder = (name) => `${penstock.folder}/${name}`;
        for (const name of ['live', 'next']) execFileSync('openssl', made(inFolder(name)), { stdio: 'ignore' });
        const secure = { secure: `  - {address: "127.0.0.1:${port}", tls: {certificate: ${inFolder('live.pem')}, key: ${inFolder('live.key')}}}\n` };
        const answers = () =>
            new Promise((resolve) => {
                get(`https://127.0.0.1:${port}/healthz`, { rejectUnauthorized: false, agent: false }, (reply) => resolve(reply.resume().statusCode)).on('error', (error) => resolve(error.code));
            });
        await reload(secure);
        await until('TLS answers', async () => typeof (await answers()) === 'number');
        // As in the middle of a renewal: the certificate is new, the key is not.
        copyFileSync(inFolder('next.pem'), inFolder('live.pem'));
        penstock.child.kill('SIGHUP');
        await until('refused', () => penstock.log().includes('"reload.refused"'));
        assert.match(penstock.log(), /:\d+: listen\[1\]\.tls\.key [^"]*live\.key: does not belong to the certificate/);
        const [worker] = workersOf(penstock.child.pid);
        process.kill(worker, 'SIGKILL');
        await until('another worker', () => workersOf(penstock.child.pid).some((pid) => pid !== worker));
        await until('TLS answers again', async () => typeof (await answers()) === 'number');
        copyFileSync(inFolder('next.key'), inFolder('live.key'));
        await reload(secure);
        await until('TLS answers', async () => typeof (await answers()) === 'number');
    });

    it('a good configuration is for new requests; an old stream finishes under the old one', async () => {
        await start('');
        assert.doesNotMatch(await content(), /\]\(http/);
        const old = workersOf(penstock.child.pid);
        const reply = await startStream('old');
        await reload({ more: 'links: markdown\n' });
        await until('the new settings apply', async () => /\]\(http/.test(await content()));
        for (let i = 0; i < 10; i++) assert.match(await content(), /\[totals\.csv\]\(http/);
        assert.ok(!reply.text.includes('[DONE]'), 'the old stream still runs');
        await reply.whole;
        check(reply, slowText('old').left);
        await until('the old worker has gone', () => !old.some(isAlive));
    });

    it('workers may become fewer and more', async () => {
        await start('workers: 3\n');
        for (const workers of [1, 2]) {
            const reply = await startStream('old');
            await reload({ more: `workers: ${workers}\n` });
            const all = await Promise.all(Array.from({ length: 30 }, content)); // none of them goes where nobody listens
            assert.equal(all.length, 30);
            await reply.whole;
            check(reply, slowText('old').left);
            await until('the old workers have gone', () => workersOf(penstock.child.pid).length === workers);
        }
    });
});
