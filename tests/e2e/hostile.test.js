// Documents that mean harm: each is converted within the caps or refused by name, and nobody else notices.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { hostile } from './hostile.js';
import { Penstock } from './penstock.js';
import { until, workersOf } from './processes.js';

const GROWTH = 48 << 20; // bytes of a proxy's worker, from after the first large request until after the last
const AT_A_TIME = 2;
const childrenOf = (pid) => {
    try {
        return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
    } catch {
        return []; // ended meanwhile
    }
};
const familyOf = (pid) => childrenOf(pid).flatMap((child) => [child, ...familyOf(child)]);
const memoryOf = (pid) => Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmRSS:\s+(\d+) kB/)[1]) * 1024;
const run = (program, ...args) => {
    const { status, error, stderr } = spawnSync(program, args);
    assert.equal(status, 0, `${program}: ${error ?? stderr}`);
};

// A reply whose next event is sent when the one before has arrived at the client.
class PingPong {
    turns = 0;
    async start(url) {
        const sent = request(`${url}/v1/chat/completions`, { method: 'POST', agent: false, headers: { 'content-type': 'application/json' } });
        sent.end(JSON.stringify({ model: 'pingpong', stream: true, messages: [{ role: 'user', content: 'go' }] }));
        const [response] = await once(sent, 'response');
        this.ended = new Promise((done) => response.on('close', () => done(response.complete)));
        sent.on('error', () => {});
        let rest = '';
        response.setEncoding('utf8');
        response.on('error', () => {});
        response.on('data', (text) => {
            const events = (rest + text).split('\n\n');
            rest = events.pop();
            for (const event of events) {
                if (event === 'data: [DONE]' || !event.includes('"content"')) continue;
                if (JSON.parse(event.slice(6)).choices[0].delta.content !== `turn ${this.turns} `) this.wrong ??= `turn ${this.turns}: ${event}`;
                this.turns++;
                this.next();
            }
        });
        this.next();
    }
    // The upstream's half.
    serve(response) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        this.response = response;
        response.flushHeaders();
    }
    next() {
        if (this.over) this.response.end('data: [DONE]\n\n');
        else this.response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: `turn ${this.turns} ` }, finish_reason: null }] })}\n\n`);
    }
    stop() {
        this.over = true;
        return this.ended;
    }
}

describe('hostile documents', { timeout: 240_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'penstock-hostile-'));
    const pingpong = new PingPong(), received = new Map();
    let upstream, penstock, media;
    before(async () => {
        const at = (name) => join(folder, name);
        run('ffmpeg', '-f', 'lavfi', '-i', 'testsrc=size=320x240:rate=25:duration=3', '-f', 'lavfi', '-i', 'sine=duration=3', '-pix_fmt', 'yuv420p', '-shortest', '-movflags', '+faststart', at('film.mp4'));
        run('ffmpeg', '-f', 'lavfi', '-i', 'sine=duration=2', at('song.mp3'));
        media = { film: readFileSync(at('film.mp4')), song: readFileSync(at('song.mp3')) };
        upstream = createServer(async (asked, response) => {
            const parts = [];
            for await (const part of asked) parts.push(part);
            const body = Buffer.concat(parts).toString(), { model } = JSON.parse(body);
            if (model === 'pingpong') return pingpong.serve(response);
            received.set(model, body);
            response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"choices":[]}');
        }).listen(0, '127.0.0.1');
        await once(upstream, 'listening');
        // What AddressSanitizer keeps of freed memory would hide how much the proxy keeps.
        process.env.ASAN_OPTIONS = [process.env.ASAN_OPTIONS, 'quarantine_size_mb=1', 'thread_local_quarantine_size_kb=64'].filter(Boolean).join(':');
        penstock = await new Penstock().start(`http://127.0.0.1:${upstream.address().port}`);
        await pingpong.start(penstock.url);
    });
    after(async () => {
        rmSync(folder, { recursive: true });
        pingpong.over = true;
        try {
            await penstock?.stop();
        } finally {
            upstream?.close();
            upstream?.closeAllConnections();
        }
    });

    // Answers how many turns the stream made between the request's last byte and the answer.
    const ask = async (body) => {
        const sent = request(`${penstock.url}/v1/chat/completions`, { method: 'POST', agent: false, headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } });
        let from;
        sent.end(body, () => (from = pingpong.turns));
        const [response] = await once(sent, 'response');
        const turns = pingpong.turns - (from ?? pingpong.turns);
        let text = '';
        for await (const part of response.setEncoding('utf8')) text += part;
        return { status: response.statusCode, text, turns };
    };

    it('are refused by name or converted, while another stream goes on', async () => {
        // The processes that stay: at its start the spawner has a child for a moment, with which it tries its cage.
        const family = childrenOf(penstock.child.pid).sort(), [worker] = workersOf(penstock.child.pid);
        // All made beforehand: meanwhile neither end of the stream would have its turn.
        const documents = [...hostile(media)].map(([name, data, more = {}]) => {
            const base64 = data.toString('base64');
            const body = Buffer.from(JSON.stringify({ model: name, messages: [{ role: 'user', content: 'read' }], attachments: [{ name, data: base64 }] }));
            return { name, body, more, needed: more.untouched && base64 };
        });
        assert.ok(documents.length >= 60, `${documents.length} documents`);
        const faults = [];
        let before;
        const check = ({ name, needed, more: { light, untouched } }, { status, text, turns }) => {
            const body = received.get(name);
            received.delete(name);
            if (status !== 200) {
                if (status !== 422 && status !== 400 && status !== 413) return `${status} ${text.slice(0, 300)}`;
                // The limit of all texts together has no attachment of its own: its details count.
                if (!/attachments\[0\]|"total_characters":\d+,"limit_characters":250000/.test(text) || !/ATTACHMENT_\w+/.test(text)) return `refused without a name: ${text.slice(0, 300)}`;
                if (body !== undefined) return 'refused, and sent all the same';
                if (untouched) return `a picture is refused: ${text.slice(0, 300)}`;
            } else if (body === undefined) return 'passed, and nothing was sent';
            else if (untouched && !body.includes(needed)) return 'not the bytes that were attached';
            else if (/root:[x*]?:0:0/.test(body)) return 'holds a file of the machine';
            else if (/\bhahahaha/.test(body)) return 'entities were expanded';
            if (!light && !untouched && turns < 1) return 'the other stream stood still';
        };
        const one = async () => {
            for (let document; (document = documents.shift()); ) {
                const { name, body } = document;
                const answer = await ask(body);
                const fault = check(document, answer);
                if (fault) faults.push(`${name}: ${fault}`);
                before ??= memoryOf(worker);
            }
        };
        await Promise.all(Array.from({ length: AT_A_TIME }, one));
        assert.deepEqual(faults, []);
        await until('no child is left', () => familyOf(penstock.child.pid).sort().join() === family.join());
        assert.ok(memoryOf(worker) - before < GROWTH, `the worker grew by ${(memoryOf(worker) - before) >> 20} MiB`);
        const turns = pingpong.turns;
        await until('the stream goes on', () => pingpong.turns > turns + 10);
        assert.ok(await pingpong.stop(), 'the stream did not come to its end');
        assert.equal(pingpong.wrong, undefined);
    });
});
