// A worker is killed under many streams: the others go on, it is replaced, and no file that was named is lost.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { Penstock } from './penstock.js';
import { SLOWNESS, ask, chunksOf, isAlive, serverOf, textOf, until, workersOf } from './processes.js';
import { Upstream, slowFile, slowText } from './upstream.js';

const STREAMS = 40;

describe('a worker that is killed under load', { timeout: 180_000 }, () => {
    let upstream, penstock, master, first;
    const all = new Set(); // every process there ever was
    const workers = () => {
        const pids = workersOf(master);
        pids.forEach((pid) => all.add(pid));
        return pids;
    };
    let replies, victim, survivor;
    const artifacts = [];

    before(async () => {
        upstream = await new Upstream().start();
        penstock = await new Penstock().start(upstream.url, { drain: '30s', more: 'workers: 2\n' });
        master = penstock.child.pid;
        all.add(master);
        first = workers();
    });
    after(async () => {
        try {
            if (penstock && isAlive(master)) await penstock.stop();
        } finally {
            await upstream?.stop();
        }
    });

    // Checks a reply that came whole; its files are checked later.
    const check = (reply) => {
        const chunks = chunksOf(reply.text);
        assert.ok(reply.text.endsWith('data: [DONE]\n\n'), reply.text.slice(-200));
        assert.equal(textOf(chunks), slowText(reply.tag).left);
        const [last] = chunks.filter((c) => c.outbound_artifacts);
        assert.deepEqual(last.outbound_artifacts.map((a) => a.filename), [`${reply.tag}.csv`]);
        assert.ok(!('flagForReview' in last));
        artifacts.push({ ...last.outbound_artifacts[0], content: `${slowFile(reply.tag).replaceAll('\n', '\r\n')}\r\n` });
    };

    it('leaves the streams of the others alone', async () => {
        assert.equal(first.length, 2);
        replies = await Promise.all(Array.from({ length: STREAMS }, (_, i) => ask(penstock, 'slow', `t${i}`, { stream: true })));
        for (const reply of replies) reply.worker = serverOf(penstock.port, reply.port, first);
        const loads = first.map((pid) => replies.filter((r) => r.worker === pid).length);
        assert.equal(loads[0] + loads[1], STREAMS, 'every stream has its worker');
        assert.ok(loads[0] && loads[1], 'both workers have streams');
        await until('all streams have begun', () => replies.every((r) => r.text.length > 0));
        [victim, survivor] = first;
        const open = replies.filter((r) => r.worker === victim && !r.text.includes('[DONE]'));
        process.kill(victim, 'SIGKILL');
        const killed = performance.now();
        const serving = await servedByANewOne();
        assert.ok(serving - killed < 1000 * SLOWNESS, `served again after ${Math.round(serving - killed)} ms`);
        await Promise.all(replies.map((r) => r.whole));
        for (const reply of replies.filter((r) => r.worker === survivor)) {
            assert.ok(reply.complete, `stream ${reply.tag} of the worker that lived`);
            check(reply);
        }
        const broken = open.filter((r) => !r.complete); // the last bytes of the others were on their way already
        assert.ok(broken.length > 0, 'the killed worker had open streams');
        for (const reply of open.filter((r) => r.complete)) check(reply);
        for (const reply of broken) {
            const events = reply.text.slice(0, reply.text.lastIndexOf('\n\n') + 2);
            assert.ok(slowText(reply.tag).left.startsWith(textOf(chunksOf(events))));
            assert.doesNotMatch(reply.text, /HW_ATT/);
        }
    });

    // When a process that was not there before has answered a request.
    const servedByANewOne = () =>
        until('a new worker serves', async () => {
            const fresh = workers().filter((pid) => !first.includes(pid));
            if (fresh.length === 0) return false;
            const ready = await fetch(`${penstock.adminUrl}/readyz`, { headers: { connection: 'close' } }); // none that the killed one still holds
            await ready.arrayBuffer();
            assert.equal(ready.status, 200);
            const tries = await Promise.all(Array.from({ length: 6 }, () => ask(penstock, 'slow', 'probe', { stream: true })));
            const served = tries.some((r) => r.status === 200 && fresh.includes(serverOf(penstock.port, r.port, fresh)));
            return served && performance.now();
        });

    it('is replaced, and both workers take requests', async () => {
        const now = workers();
        assert.equal(now.length, 2);
        assert.ok(now.includes(survivor) && !now.includes(victim));
        const again = await Promise.all(Array.from({ length: 12 }, (_, i) => ask(penstock, 'slow', `u${i}`, { stream: true })));
        await Promise.all(again.map((r) => r.whole));
        again.forEach(check);
        const metrics = await (await fetch(`${penstock.adminUrl}/metrics`)).text();
        assert.match(metrics, /^penstock_worker_restarts_total 1$/m);
        assert.match(metrics, /^penstock_open_streams 0$/m);
    });

    it('leaves every file that a reply has named', async () => {
        assert.ok(artifacts.length >= 12 + 1);
        for (const artifact of artifacts) {
            const reply = await fetch(artifact.url);
            assert.equal(reply.status, 200, artifact.filename);
            const bytes = Buffer.from(await reply.arrayBuffer());
            assert.equal(bytes.toString(), artifact.content);
            assert.equal(bytes.length, artifact.bytes);
            assert.equal(createHash('sha256').update(bytes).digest('hex'), artifact.sha256);
        }
    });

    it('leaves nothing behind after SIGTERM', async () => {
        workers();
        await penstock.stop(); // asserts status 0
        assert.deepEqual([...all].filter(isAlive), []);
    });
});
