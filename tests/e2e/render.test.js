// Documents and charts: what a client gets of good renderers, and what it gets when they are hostile.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { getEncoding } from 'js-tiktoken';
import { LoopbackUpstream, bodyOf } from './loopback-upstream.js';
import { Penstock } from './penstock.js';

const DEBUG = resolve(dirname(process.env.PENSTOCK ?? fileURLToPath(new URL('../../build/debug/penstock', import.meta.url))));

const directive = (name, content, more = {}) =>
    `<<<HW_ATTACHMENT\n${JSON.stringify({ filename: name, format: name.split('.').pop(), ...more })}\n---\n${content}\nHW_ATTACHMENT>>>\n`;

// A provider that answers with the user's own words.
class Echo extends LoopbackUpstream {
    streams = []; // of tests that say what comes when

    async answer(request, response) {
        const asked = JSON.parse((await bodyOf(request)).toString());
        this.last = asked;
        const content = asked.messages.at(-1).content;
        if (!asked.stream) {
            const message = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] };
            response.writeHead(200, { 'content-type': 'application/json' });
            response.end(JSON.stringify(message));
            return;
        }
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.flushHeaders();
        const script = this.streams.shift();
        if (script) {
            await script(response);
            return;
        }
        const event = (delta, finish_reason = null) =>
            response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
        for (let at = 0; at < content.length; at += 40) {
            event({ content: content.slice(at, at + 40) });
            await sleep(15);
        }
        event({}, 'stop');
        response.end('data: [DONE]\n\n');
    }
}

function together(worker, tests) {
    const all = {};
    before(async () => {
        if (worker) process.env.PENSTOCK_WORKER = worker;
        process.env.PENSTOCK_BRAND_FOOTER = 'Footer of the operator';
        process.env.PENSTOCK_BRAND_COLOUR = '#1f4e79';
        process.env.PENSTOCK_WORKERS = '1';
        all.upstream = await new Echo().start();
        all.penstock = await new Penstock().start(all.upstream.url);
        for (const name of ['WORKER', 'BRAND_FOOTER', 'BRAND_COLOUR', 'WORKERS']) delete process.env[`PENSTOCK_${name}`];
    });
    after(async () => {
        try {
            await all.penstock?.stop();
        } finally {
            await all.upstream?.stop();
        }
    });
    all.ask = async (content) => {
        const reply = await fetch(`${all.penstock.url}/v1/chat/completions`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: 'Bearer sk-e2e-render' },
            body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
        });
        assert.equal(reply.status, 200);
        return reply.json();
    };
    all.stream = async (content) => {
        const reply = await fetch(`${all.penstock.url}/v1/chat/completions`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: 'Bearer sk-e2e-render' },
            body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content }] }),
        });
        assert.equal(reply.status, 200);
        return (await reply.text()).split('\n').filter((line) => line.startsWith('data: ')).map((line) => line.slice(6));
    };
    all.download = async ({ id }) => {
        const reply = await fetch(`${all.penstock.url}/v1/files/${id}/content`, { headers: { authorization: 'Bearer sk-e2e-render' } });
        assert.equal(reply.status, 200);
        return Buffer.from(await reply.arrayBuffer());
    };
    all.metric = async (line) => {
        const text = await (await fetch(`${all.penstock.adminUrl}/metrics`)).text();
        const found = text.split('\n').find((one) => one.startsWith(`${line} `));
        assert.ok(found, `no metric ${line}`);
        return Number(found.split(' ').pop());
    };
    tests(all);
}

const CHART = '{"type":"bar","data":{"labels":["Q1","Q2"],"datasets":[{"label":"2026","data":[12,15]}]}}';
const TEXT = '# Report\n\nWords with **weight**, 你好 and שלום.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n';

describe('documents and charts', { timeout: 120_000 }, () => {
    together(undefined, (all) => {
        const kinds = [
            ['docx', TEXT, 'PK\x03\x04'],
            ['pptx', TEXT, 'PK\x03\x04'],
            ['xlsx', 'a,b\n1,2\n', 'PK\x03\x04'],
            ['pdf', TEXT, '%PDF-'],
            ['png', CHART, '\x89PNG'],
            ['svg', CHART, '<'],
            ['csv', 'a;b\n1;2', 'a,b\r\n1,2\r\n'],
            ['ics', '{"events":[{"summary":"x","start":"2026-07-01"}]}', 'BEGIN:VCALENDAR\r\n'],
            ['zip', '=== r.docx ===\n# R\n=== src/a.py ===\nprint(1)', 'PK\x03\x04'],
        ];
        for (const [format, source, magic] of kinds)
            it(`are made: ${format}`, async () => {
                const reply = await all.ask(`Here.\n${directive(`a.${format}`, source)}Bye.`);
                assert.equal(reply.agent_context?.flag_for_review ?? false, false, JSON.stringify(reply));
                const [artifact] = reply.outbound_artifacts;
                assert.equal(artifact.filename, `a.${format}`);
                const bytes = await all.download(artifact);
                assert.equal(bytes.subarray(0, magic.length).toString('latin1'), magic);
                assert.equal(bytes.length, artifact.bytes);
                assert.ok((await all.metric(`penstock_render_seconds_count{format="${format}"}`)) >= 1);
            });

        it('are offered in the protocol', async () => {
            await all.ask('Hello'); // no marker in it, so that the protocol is not there yet
            const said = all.upstream.last.messages[0].content;
            for (const [format] of kinds) assert.match(said, new RegExp(`\n- ([a-z]+, )*${format}(, [a-z]+)*: .`), format);
            assert.match(said, /\n- md, txt, html, json, yaml, xml, vcf, tsv, log, source code/);
        });

        it('are explained in at most 450 tokens', async () => {
            await all.ask('Hello');
            const said = all.upstream.last.messages[0].content;
            for (const encoding of ['o200k_base', 'cl100k_base']) {
                const tokens = getEncoding(encoding).encode(said, 'all').length;
                assert.ok(tokens > 100 && tokens <= 450, `${tokens} tokens in ${encoding}`);
            }
        });

        const REPORT = directive('r.pdf', '# R\n\n![Sales](sales.png)\n');
        const size = (reply) => reply.outbound_artifacts.find((a) => a.filename === 'r.pdf').bytes;

        it('wait for a picture of the same reply that they name, wherever it stands', async () => {
            const alone = await all.ask(REPORT);
            assert.equal(alone.flagForReview, true);
            assert.match(alone.reason, /^invalid_content: The file "r\.pdf" names a picture/);
            for (const text of [directive('sales.png', CHART) + REPORT, REPORT + directive('sales.png', CHART)]) {
                const both = await all.ask(text);
                assert.deepEqual(both.outbound_artifacts.map((a) => a.filename).sort(), ['r.pdf', 'sales.png']);
                assert.equal(both.flagForReview, undefined, both.reason);
                assert.ok(size(both) > size(alone) + 5000, `${size(both)} bytes with the picture, ${size(alone)} without`);
            }
        });

        it('wait for pictures while the reply streams, and no longer than that', async () => {
            const told = async (content) => {
                const events = (await all.stream(content)).filter((e) => e !== '[DONE]').map((e) => JSON.parse(e));
                return events.find((e) => e.outbound_artifacts);
            };
            const other = directive('q.docx', '![a](sales.png)\n\n![b](never.png)\n');
            const both = await told(`${REPORT}A.${other}B.${directive('sales.png', CHART)}C.`);
            assert.deepEqual(both.outbound_artifacts.map((a) => a.filename), ['r.pdf', 'q.docx', 'sales.png']);
            assert.match(both.reason, /^invalid_content: The file "q\.docx" names a picture [^;]*$/);
            const failed = await told(`${REPORT}A.${directive('sales.png', '{"type":"nonsense"}')}B.`);
            assert.deepEqual(failed.outbound_artifacts.map((a) => a.filename), ['r.pdf']);
        });

        it('are told apart from files that come as they are', async () => {
            const svg = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="1" height="1"/></svg>';
            const reply = await all.ask(directive('a.svg', svg));
            assert.equal((await all.download(reply.outbound_artifacts[0])).toString().trim(), svg);
        });

        it('are flagged with what the renderer says is wrong', async () => {
            const reply = await all.ask(directive('bad.png', '{"type":"nonsense"}'));
            assert.match(JSON.stringify(reply), /invalid_content/);
            assert.match(JSON.stringify(reply), /bad\.png/);
        });

        it('are not drawn twice for one organisation', async () => {
            const source = '# Twice\n';
            const ask = (org) =>
                fetch(`${all.penstock.url}/v1/chat/completions`, {
                    method: 'POST',
                    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-e2e-render', 'x-hw-org': org },
                    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: directive('t.docx', source) }] }),
                }).then((reply) => reply.json());
            const drawn = async () => all.metric('penstock_render_seconds_count{format="docx"}');
            const [one] = (await ask('one')).outbound_artifacts;
            const before = await drawn();
            const [again] = (await ask('one')).outbound_artifacts;
            assert.equal(await drawn(), before, 'drawn again');
            assert.equal(again.sha256, one.sha256);
            assert.notEqual(again.id, one.id);
            assert.ok((await all.metric('penstock_render_cache_hits_total')) >= 1);
            await ask('two');
            assert.equal(await drawn(), before + 1, 'another organisation got what was drawn for the first');
        });

        it('look as the configuration says', async () => {
            const reply = await all.ask(directive('b.docx', TEXT));
            const file = join(all.penstock.folder, 'b.docx');
            writeFileSync(file, await all.download(reply.outbound_artifacts[0]));
            const script = 'import sys,zipfile;z=zipfile.ZipFile(sys.argv[1]);print("".join(z.read(n).decode() for n in z.namelist() if n.endswith("xml")))';
            const xml = execFileSync('python3', ['-c', script, file], { encoding: 'utf8' });
            assert.match(xml, /Footer of the operator/);
            assert.match(xml, /1F4E79/i);
        });

        it('record the renderer and its version', async () => {
            await all.ask(directive('a.png', CHART));
            const root = join(all.penstock.folder, 'state', 'orgs');
            const manifests = readdirSync(root, { recursive: true }).filter((name) => name.endsWith('manifest.json'));
            const made = manifests.flatMap((name) => JSON.parse(readFileSync(join(root, name), 'utf8')).outbound);
            const chart = made.find((one) => one.filename === 'a.png');
            assert.match(chart.renderer, /^chart \S+$/);
        });
    });
});

describe('hostile renderers', { timeout: 120_000 }, () => {
    together(join(DEBUG, 'hostile-worker'), (all) => {
        const make = (title) => all.ask(`Here.\n${directive('a.docx', 'the source', { title })}Bye.`);
        const flagged = (reply, reason) => {
            assert.ok(JSON.stringify(reply).includes(reason), JSON.stringify(reply));
            assert.equal(reply.outbound_artifacts.length, 0);
        };

        it('that crash, lie or hand over something else cost their own file', async () => {
            for (const title of ['crash', 'exit', 'lie-bytes', 'lie-twice', 'failed', 'echo']) flagged(await make(title), 'render_failed');
            // The operator's log says why, but neither the file's name nor what the renderer said.
            const failed = all.penstock.log().split('\n').filter((line) => line.includes('"directive.failed"')).map((line) => JSON.parse(line));
            for (const line of failed) assert.ok(line.cause, JSON.stringify(line));
            assert.ok(failed.some((line) => line.cause === 'its renderer ended before its time') && failed.some((line) => /says that it cannot/.test(line.cause)), JSON.stringify(failed));
            assert.ok(!failed.some((line) => JSON.stringify(line).includes('a.docx')));
            flagged(await make('too-long'), 'too_large');
            flagged(await make('invalid'), 'invalid_content');
        });

        it('that loop are flagged, and nobody else waits', async () => {
            let ended = 0;
            const looping = ['spin', 'sleep', 'spin', 'sleep', 'sleep', 'sleep'].map((title) => make(title).finally(() => ended++));
            const running = async () => (await all.metric('penstock_render_queue')) > 0;
            while (!(await running())) await sleep(10);
            // Another stream meanwhile: each event is sent when the one before it has arrived, and all of them arrive while
            // documents loop.
            const upstream = new Promise((arrived) => all.upstream.streams.push(arrived));
            const reply = await fetch(`${all.penstock.url}/v1/chat/completions`, {
                method: 'POST',
                headers: { 'content-type': 'application/json', authorization: 'Bearer sk-e2e-render' },
                body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
            });
            const [writer, reader] = [await upstream, reply.body.pipeThrough(new TextDecoderStream()).getReader()];
            for (let i = 0; i < 30; i++) {
                writer.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content: `event${i} ` }, finish_reason: null }] })}\n\n`);
                for (let text = ''; !text.includes(`event${i} `); ) text += (await reader.read()).value;
            }
            assert.equal(ended, 0, 'the stream had to wait for documents');
            const whole = await all.ask(`Here.\n${directive('a.csv', 'a,b\n1,2')}`);
            assert.equal(whole.outbound_artifacts.length, 1);
            assert.ok(ended < looping.length, 'a reply with a file had to wait for all documents');
            writer.end('data: [DONE]\n\n');
            while (!(await reader.read()).done);
            for (const one of await Promise.all(looping)) flagged(one, 'render_timeout');
        });

        it('whose spawner dies are there again', async () => {
            const children = (pid) => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
            const spawner = () => children(all.penstock.child.pid).find((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('hostile'));
            const before = spawner();
            process.kill(Number(before), 'SIGKILL');
            flagged(await make('invalid'), 'invalid_content');
            assert.notEqual(spawner(), before);
            assert.ok((await all.metric('penstock_renderer_restarts_total')) >= 1);
        });
    });
});
