// Threads: what the proxy writes into a thread's journal while an Expert and its Specialists talk through it, and
// what the admin listener and the export make of that.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { setTimeout as sleep } from 'node:timers/promises';
import { LoopbackUpstream, bodyOf } from './loopback-upstream.js';
import { BINARY, Penstock } from './penstock.js';
import { until, workersOf } from './processes.js';

const CANARY = 'CANARY-5d1f';
const sse = (value, event) => `${event ? `event: ${event}\n` : ''}data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta, finish_reason = null) => sse({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] });
const DONE = 'data: [DONE]\n\n';
const tool = (index, id, question) => ({ index, id, type: 'function', function: { name: 'consult', arguments: JSON.stringify({ question }) } });

// A provider of every API: answers by the last word of the user's text.
class Provider extends LoopbackUpstream {
    background = 'queued';
    open = new Set();

    async answer(request, response) {
        const body = (await bodyOf(request)).toString();
        const word = body.match(/#(\w+)/)?.[1] ?? 'answer';
        const send = (status, value) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
        const stream = (text) => {
            if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
            response.write(text);
        };
        this.lastBody = body;
        if (/\/responses\/resp_bg/.test(request.url)) return send(200, this.#stored(request.url.endsWith('/cancel')));
        switch (word) {
            case 'expert':
                stream(chunk({ role: 'assistant', reasoning_content: 'Three specialists should look.' }));
                stream(chunk({ tool_calls: [tool(0, 'call_A', 'Read the log'), tool(1, 'call_B', 'Check the budget'), tool(2, 'call_C', 'Draw it')] }));
                return response.end(chunk({}, 'tool_calls') + DONE);
            case 'good':
                stream(chunk({ role: 'assistant', content: 'The log says ' }));
                return response.end(chunk({ content: 'all is well.' }) + chunk({}, 'stop') + DONE);
            case 'quota':
                return send(429, { error: { message: 'You exceeded your current quota.', type: 'insufficient_quota', param: null, code: 'insufficient_quota' } });
            case 'packed': // although identity was asked for
                return response.writeHead(429, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify({ error: { message: 'No.', type: 'insufficient_quota', code: 'insufficient_quota' } })));
            case 'moved':
                return response.writeHead(302, { location: '/elsewhere' }).end();
            case 'slow':
                this.open.add(word);
                response.on('close', () => this.open.delete(word));
                return stream(chunk({ role: 'assistant', content: 'Drawing the first ' }));
            case 'silent':
                return undefined;
            case 'late':
                stream(chunk({ role: 'assistant', content: 'First, ' }));
                await sleep(200);
                return response.end(chunk({ content: 'and last.' }) + chunk({}, 'stop') + DONE);
            case 'told':
                stream(chunk({ role: 'assistant', content: 'All.' }) + chunk({}, 'stop'));
                await sleep(200);
                return response.end(DONE);
            case 'cut':
                stream(chunk({ role: 'assistant', content: 'Half a sen' }));
                await sleep(50);
                return response.destroy();
            case 'file':
                stream(chunk({ role: 'assistant', content: `Here:\n<<<HW_ATTACHMENT\n{"filename":"a.csv","format":"csv"}\n---\n${CANARY},1\nHW_ATTACHMENT>>>\nDone.` }));
                return response.end(chunk({}, 'stop') + DONE);
            case 'messages':
                stream(sse({ type: 'message_start', message: { id: 'm', content: [], usage: { output_tokens: 1 } } }, 'message_start'));
                stream(sse({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } }, 'content_block_start'));
                stream(sse({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Why?' } }, 'content_block_delta'));
                stream(sse({ type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } }, 'content_block_start'));
                stream(sse({ type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Because.' } }, 'content_block_delta'));
                stream(sse({ type: 'message_delta', delta: { stop_reason: 'max_tokens' } }, 'message_delta'));
                return response.end(sse({ type: 'message_stop' }, 'message_stop'));
            case 'overloaded':
                stream(sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Beca' } }, 'content_block_delta'));
                return response.end(sse({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'error'));
            case 'candidates':
                return send(200, { candidates: [{ content: { parts: [{ text: 'No.' }], role: 'model' }, finishReason: 'SAFETY', index: 0 }] });
            case 'ollama':
                return response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end(`${JSON.stringify({ message: { role: 'assistant', content: 'Hi', thinking: 'Hm' }, done: false })}\n${JSON.stringify({ message: { content: '' }, done: true, done_reason: 'stop' })}\n`);
            case 'response':
                return send(200, { id: 'resp_1', object: 'response', status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [{ type: 'message', content: [{ type: 'output_text', text: 'Half', annotations: [] }] }] });
            case 'torn':
                return response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"c","object":"chat.completion","choices":[{"index":0,"mess');
            case 'background':
                return send(200, { id: 'resp_bg', object: 'response', status: 'queued', output: [] });
            default:
                return send(200, { id: 'c', object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content: 'An answer.' }, finish_reason: 'stop' }] });
        }
    }

    #stored(cancel) {
        if (cancel) this.background = 'cancelled';
        const output = this.background === 'completed' ? [{ type: 'message', content: [{ type: 'output_text', text: 'At last.', annotations: [] }] }] : [];
        return { id: 'resp_bg', object: 'response', status: this.background, output };
    }
}

describe('threads', { timeout: 180_000 }, () => {
    let provider, penstock, folder;
    before(async () => {
        provider = await new Provider().start();
        folder = mkdtempSync(join(tmpdir(), 'penstock-threads-'));
        const others = [['anthropic', 'anthropic'], ['gemini', 'gemini'], ['ollama', 'ollama']].map(([name, dialect]) => `  - {name: ${name}, dialect: ${dialect}, base_url: "${provider.url}"}\n`);
        penstock = await new Penstock().start(provider.url, { providers: others.join(''), drain: '1s', more: 'workers: 2\n' });
    });
    after(async () => {
        await penstock?.stop();
        await provider?.stop();
        rmSync(folder, { recursive: true, force: true });
    });

    const says = (text) => [{ role: 'user', content: text }];
    const post = (path, body, headers = {}, options = {}) =>
        fetch(`${penstock.url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body), ...options });
    const chat = async (thread, messages, headers = {}, body = {}) => {
        const reply = await post('/v1/chat/completions', { model: 'm', messages, ...body }, { 'X-HW-Thread': thread, ...headers });
        return { status: reply.status, id: reply.headers.get('x-hw-consult-id'), text: await reply.text() };
    };
    const admin = async (path) => {
        const reply = await fetch(penstock.adminUrl + path);
        return { status: reply.status, type: reply.headers.get('content-type'), text: await reply.text() };
    };
    const file = (thread, org = 'default') => join(penstock.folder, 'state', 'orgs', org, 'threads', `${thread}.jsonl`);
    const journal = (thread, org) => (existsSync(file(thread, org)) ? readFileSync(file(thread, org), 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line)) : []);
    const line = (thread, ev, id) => journal(thread).findLast((l) => l.ev === ev && (!id || l.id === id));
    const ended = (thread, id) => until(`the end of ${id}`, () => line(thread, 'end', id));
    const metric = async (kind) => Number((await admin('/metrics')).text.match(new RegExp(`penstock_thread_interruptions_total\\{kind="${kind}"\\} (\\d+)`))[1]);
    // Times and ids of a run are told apart from what it says.
    const plain = (text, ids) => Object.entries(ids).reduce((t, [name, id]) => t.replaceAll(id, name), text).replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+Z)?)?/g, 'TIME').replace(/exported_at": "[^"]*"/, 'exported_at": "TIME"');

    const cancelled = async (thread, headers, text) => {
        const control = new AbortController();
        const reply = await post('/v1/chat/completions', { model: 'm', stream: true, messages: says(text) }, { 'X-HW-Thread': thread, ...headers }, { signal: control.signal });
        const id = reply.headers.get('x-hw-consult-id');
        await reply.body.getReader().read();
        return { id, leave: () => control.abort() };
    };

    let kinds;
    it('an Expert turn starts three Specialists: one completes, one is out of quota, one is cancelled', async () => {
        kinds = { limit_interrupted: await metric('limit_interrupted'), canceled: await metric('canceled') };
        const expert = await chat('t-1', says('Why did the run fail? #expert'), {}, { stream: true });
        assert.equal(expert.status, 200);
        const good = await chat('t-1', says('Read the log #good'), { 'X-HW-Parent': 'call_A', 'X-HW-Headline': 'Log reader' }, { stream: true });
        assert.match(good.text, /all is well/);
        // Records stand in the order of their lines, and another worker may write its own sooner.
        await ended('t-1', good.id);
        const quota = await chat('t-1', says('Check the budget #quota\nand more'), { 'X-HW-Parent': 'call_B' }, { stream: true });
        assert.equal(quota.status, 429);
        await ended('t-1', quota.id);
        const slow = await cancelled('t-1', { 'X-HW-Parent': 'call_C', 'X-HW-Headline': 'Drawer' }, 'Draw it #slow');
        await until('the begin line', () => line('t-1', 'begin', slow.id));
        assert.match((await admin('/threads/t-1')).text, /"cause":"running"/, 'it is still running');
        slow.leave();
        await ended('t-1', slow.id);

        const lines = journal('t-1');
        assert.deepEqual(lines[0], { ev: 'thread', thread: 't-1', author: 'default' });
        const [b, e] = [line('t-1', 'begin', expert.id), line('t-1', 'end', expert.id)];
        assert.deepEqual([b.role, b.query, b.model, b.provider], ['expert', 'Why did the run fail? #expert', 'm', 'openai']);
        assert.deepEqual(e.tool_calls.map((c) => [c.id, c.name, JSON.parse(c.arguments).question]), [['call_A', 'consult', 'Read the log'], ['call_B', 'consult', 'Check the budget'], ['call_C', 'consult', 'Draw it']]);
        assert.deepEqual([e.reasoning, e.end], ['Three specialists should look.', { cause: 'finish', http_status: 200, finish_reason: 'tool_calls' }]);
        assert.deepEqual(line('t-1', 'begin', quota.id).headline, 'Check the budget #quota');
        assert.deepEqual(line('t-1', 'end', quota.id).end, { cause: 'http_error', http_status: 429, error_type: 'insufficient_quota', error_code: 'insufficient_quota', error_message: 'You exceeded your current quota.' });
        assert.deepEqual([line('t-1', 'end', slow.id).text, line('t-1', 'end', slow.id).end], ['Drawing the first ', { cause: 'client_closed', http_status: 200 }]);
        assert.equal(line('t-1', 'end', good.id).text, 'The log says all is well.');
    });

    const turn = () => admin('/threads/t-1/conversation.md');
    const exportTo = (out) => execFileSync(BINARY, ['transcript', 'export', '--all', '--out', out, '--config', join(penstock.folder, 'penstock.yaml')], { encoding: 'utf8', stdio: 'pipe' });
    const files = (dir) => readdirSync(dir, { withFileTypes: true }).flatMap((f) => (f.isDirectory() ? files(join(dir, f.name)) : [join(dir, f.name)]));
    const exported = (name) => readFileSync(files(folder).find((path) => path.endsWith(`_t-1/${name}`)), 'utf8');
    const interruptions = () => JSON.parse(exported('thread.json')).interruptions;

    it('the conversation and the alerts', async () => {
        const page = await turn();
        assert.deepEqual([page.status, page.type], [200, 'text/markdown; charset=utf-8']);
        assert.equal(
            plain(page.text, {}),
            `# Why did the run fail? #expert

> Mode: consult | Author: default | Turns: 1 | Citations: 0

## Turn 1 — TIME UTC

### Query
Why did the run fail? #expert

### Answer
The log says all is well.
`,
        );
        exportTo(folder);
        assert.equal(plain(exported('conversation.md'), {}), plain(page.text, {}), 'the export says the same');
        assert.deepEqual(interruptions(), [
            { location: 'turn_0001/subagent', kind: 'limit_interrupted', headline: 'Check the budget #quota', status: 'WORKFLOW_AWAITING_NEXT_STEPS' },
            { location: 'turn_0001/subagent', kind: 'canceled', headline: 'Drawer', status: 'WORKFLOW_CANCELED' },
        ]);
        assert.equal(
            plain(exported('turns/turn_0001.md'), {}),
            `# Turn 1 — TIME UTC

## Query

Why did the run fail? #expert

## Rationale

> Three specialists should look.

## Work process (3 steps · WORKFLOW_COMPLETED)

### Step 1 · 🤖 Subagent: Log reader

**Prompt:**

> Read the log #good

**Subagent conclusion:**

The log says all is well.

### Step 2 · 🤖 Subagent: Check the budget #quota · ⏸ limit-interrupted (content stops at the interruption point)

**Prompt:**

> Check the budget #quota
> and more

### Step 3 · 🤖 Subagent: Drawer · ⛔ canceled

**Prompt:**

> Draw it #slow

**Subagent work:**

Drawing the first 

## Answer

The log says all is well.
`,
        );
        const raw = JSON.parse((await admin('/threads/t-1')).text);
        assert.equal(raw.entries.length, 1);
        assert.deepEqual(
            raw.background_entries.map((e) => e.blocks[0].workflow_block.status),
            ['WORKFLOW_COMPLETED', 'WORKFLOW_AWAITING_NEXT_STEPS', 'WORKFLOW_CANCELED'],
        );
        assert.equal(raw.background_entries[1].locked_reason, 'spending_limit_exceeded');
        const alerts = penstock.log().split('\n').filter((l) => l.includes('"thread.interrupted"')).map((l) => JSON.parse(l));
        assert.deepEqual(alerts.map((a) => [a.thread, a.kind]), [['t-1', 'limit_interrupted'], ['t-1', 'canceled']]);
        assert.equal(await metric('limit_interrupted'), kinds.limit_interrupted + 1);
        assert.equal(await metric('canceled'), kinds.canceled + 1);
    });

    it('a resumed turn clears the annotation; its notice is a turn of its own', async () => {
        const result = [...says('Why did the run fail? #expert'), { role: 'assistant', tool_calls: [] }, { role: 'tool', tool_call_id: 'call_B', content: 'The budget is used up.' }];
        const notice = await chat('t-1', result);
        await ended('t-1', notice.id);
        const begin = line('t-1', 'begin', notice.id);
        assert.deepEqual([begin.trigger, begin.query], ['subagent_result', '']);
        const again = await chat('t-1', says('Check the budget #good'), { 'X-HW-Parent': 'call_B' });
        await ended('t-1', again.id);
        const raw = JSON.parse((await admin('/threads/t-1')).text);
        assert.equal(raw.entries.length, 2);
        // Both runs of one call are there; the newer one is what a transcript draws of it.
        assert.equal(raw.background_entries.filter((e) => e.blocks[0].workflow_block.steps[0].id === 'call_B:workflow').length, 2);
        const other = await chat('t-other', says('Something else'));
        await ended('t-other', other.id);
        exportTo(folder);
        assert.deepEqual(interruptions(), [{ location: 'turn_0001/subagent', kind: 'canceled', headline: 'Drawer', status: 'WORKFLOW_CANCELED' }]);
        assert.doesNotMatch(exported('turns/turn_0001.md'), /⏸/);
        const last = await chat('t-1', says('Draw it again #good'), { 'X-HW-Parent': 'call_C' });
        await ended('t-1', last.id);
        const untouched = files(folder).filter((path) => path.includes('_t-other/')).map((path) => [path, statSync(path, { bigint: true }).mtimeNs]);
        exportTo(folder);
        assert.equal(interruptions(), undefined, 'nothing is left to say');
        assert.doesNotMatch((await turn()).text + exported('turns/turn_0001.md'), /⏸|⛔/);
        assert.ok(untouched.length > 3);
        for (const [path, time] of untouched) assert.equal(statSync(path, { bigint: true }).mtimeNs, time, path);
    });

    it('every API: what was said and how it ended', async () => {
        const rows = [
            ['/anthropic/v1/messages', { model: 'm', max_tokens: 9, stream: true, messages: says('#messages') }, { text: 'Because.', reasoning: 'Why?', end: { cause: 'finish', http_status: 200, finish_reason: 'max_tokens' } }],
            ['/anthropic/v1/messages', { model: 'm', max_tokens: 9, stream: true, messages: says('#overloaded') }, { text: 'Beca', end: { cause: 'stream_error', http_status: 200, error_type: 'overloaded_error', error_message: 'Overloaded' } }],
            ['/gemini/v1beta/models/g-1:generateContent', { contents: [{ parts: [{ text: '#candidates' }] }] }, { text: 'No.', end: { cause: 'finish', http_status: 200, finish_reason: 'SAFETY' } }],
            ['/ollama/api/chat', { model: 'm', messages: says('#ollama') }, { text: 'Hi', reasoning: 'Hm', end: { cause: 'finish', http_status: 200, finish_reason: 'stop' } }],
            ['/v1/responses', { model: 'm', input: '#response' }, { text: 'Half', end: { cause: 'finish', http_status: 200, finish_reason: 'max_output_tokens' } }],
            ['/v1/chat/completions', { model: 'm', messages: says('plain') }, { text: 'An answer.', end: { cause: 'finish', http_status: 200, finish_reason: 'stop' } }],
            ['/v1/chat/completions', { model: 'm', stream: true, messages: says('#cut') }, { text: 'Half a sen', end: { cause: 'upstream_closed', http_status: 200, error_code: 'UPSTREAM_INVALID' } }],
            ['/v1/chat/completions', { model: 'm', messages: says('#torn') }, { end: { cause: 'upstream_closed', http_status: 200 } }],
            ['/v1/chat/completions', { model: 'm', messages: says('#packed') }, { end: { cause: 'http_error', http_status: 429, error_type: 'insufficient_quota', error_code: 'insufficient_quota' } }],
            ['/v1/chat/completions', { model: 'm', messages: says('#moved') }, { end: { cause: 'upstream_closed', http_status: 302 } }],
            ['/down/v1/chat/completions', { model: 'm', messages: says('unreachable') }, { end: { cause: 'upstream_closed', error_code: 'UPSTREAM_UNREACHABLE' } }],
            ['/v1/chat/completions', { model: 'm', messages: says('bad'), attachments: [{ path: 'nowhere.txt' }] }, { end: { cause: 'http_error', http_status: 422, error_code: 'ATTACHMENT_NOT_FOUND' } }],
        ];
        for (const [i, [path, body, expected]] of rows.entries()) {
            const thread = `api-${i}`;
            const reply = await post(path, body, { 'X-HW-Thread': thread, 'X-HW-Turn': '7' }, { redirect: 'manual' });
            await reply.text().catch(() => {});
            await until(`the end of ${path} ${i}`, () => line(thread, 'end'));
            const { ev, id, at_us, ...said } = line(thread, 'end');
            delete said.end.error_message;
            delete expected.end.error_message;
            assert.deepEqual(said, expected, `row ${i}: ${path}`);
            const begin = line(thread, 'begin');
            assert.ok(begin.id === id && begin.at_us <= at_us && begin.turn === '7' && begin.query.length > 2, JSON.stringify(begin));
        }
    });

    it('a Specialist may name the request that started it', async () => {
        const expert = await chat('t-parent', says('Ask somebody'));
        const specialist = await chat('t-parent', says('Look here\nclosely #quota'), { 'X-HW-Parent': expert.id });
        await ended('t-parent', specialist.id);
        const begin = line('t-parent', 'begin', specialist.id);
        assert.deepEqual([begin.role, begin.parent, begin.headline], ['specialist', expert.id, 'Look here']);
        const raw = JSON.parse((await admin('/threads/t-parent')).text);
        assert.equal(raw.entries[0].blocks[0].workflow_block.steps[0].id, `consult_${specialist.id}:workflow`);
        assert.doesNotMatch((await admin('/threads/t-parent/conversation.md')).text, /unassigned/);
    });

    it('what is attached, and what becomes a file, never comes into the journal', async () => {
        const reply = await chat('t-files', says('Look at this #file'), {}, { stream: true, attachments: [{ type: 'log', content: `${CANARY} in a log` }, { data: Buffer.from(`${CANARY} in a file`).toString('base64'), name: 'notes.txt' }] });
        assert.equal(reply.status, 200);
        await ended('t-files', reply.id);
        assert.match(provider.lastBody, new RegExp(CANARY), 'the model has it');
        const text = readFileSync(file('t-files'), 'utf8');
        assert.doesNotMatch(text, new RegExp(CANARY));
        const [begin, end] = [line('t-files', 'begin'), line('t-files', 'end')];
        assert.equal(begin.query, 'Look at this #file');
        assert.deepEqual(begin.attachments.map((a) => a.type ?? a.name), ['log', 'notes.txt']);
        assert.deepEqual([end.text, end.artifacts[0].filename, end.artifacts[0].media_type], ['Here:\nDone.', 'a.csv', 'text/csv; charset=utf-8']);
        assert.doesNotMatch((await admin('/threads/t-files/conversation.md')).text, new RegExp(CANARY));
    });

    it('a reply that is made in the background runs until it is fetched', async () => {
        const made = await post('/v1/responses', { model: 'm', input: 'later #background', background: true }, { 'X-HW-Thread': 't-bg' });
        assert.equal((await made.json()).status, 'queued');
        const fetched = async (status) => {
            provider.background = status;
            const reply = await fetch(`${penstock.url}/v1/responses/resp_bg`, { headers: { 'X-HW-Thread': 't-bg' } });
            assert.equal((await reply.json()).status, status);
        };
        await until('it runs', () => line('t-bg', 'end')?.end.cause === 'running');
        await fetched('in_progress');
        await fetched('completed');
        await until('it ended', () => line('t-bg', 'end').end.cause === 'finish');
        assert.equal(line('t-bg', 'end').text, 'At last.');
        await fetched('completed');
        await (await admin('/threads?org=default')).text; // behind whatever that would have written
        assert.equal(journal('t-bg').filter((l) => l.ev === 'begin').length, 1);
        const raw = JSON.parse((await admin('/threads/t-bg')).text);
        assert.deepEqual(raw.entries.map((e) => [e.end.cause, e.text[0].content.answer]), [['finish', 'At last.']]);

        provider.background = 'queued';
        await (await post('/v1/responses', { model: 'm', input: 'never #background', background: true }, { 'X-HW-Thread': 't-bg2' })).text();
        await until('it runs', () => line('t-bg2', 'end'));
        await (await post('/v1/responses/resp_bg/cancel', {}, { 'X-HW-Thread': 't-bg2' })).text();
        await until('it is cancelled', () => line('t-bg2', 'end').end.cause === 'canceled');
    });

    it('organisations are apart; names that are no file names are hashed; the list has pages', async () => {
        const odd = 'ticket/42 – ünïcode';
        for (const [org, thread] of [['acme', 't-1'], ['acme', 't-2'], ['acme', 't-3']]) {
            const reply = await chat(thread, says('hello'), { 'X-HW-Org': org });
            await until('its end', () => journal(thread, org).find((l) => l.id === reply.id && l.ev === 'end'));
        }
        const hashed = await post('/v1/chat/completions', { model: 'm', messages: says('hello'), hw: { thread: odd, org: 'acme', headline: 'Ünï', trigger: 'cron' } });
        assert.equal(hashed.status, 200);
        await hashed.text();
        const list = await until('four threads', async () => {
            const all = JSON.parse((await admin('/threads?org=acme')).text);
            return all.data.length === 4 && all;
        });
        const name = list.data.map((t) => t.id).find((id) => /^[0-9a-f]{32}$/.test(id));
        assert.deepEqual([journal(name, 'acme')[1].headline, journal(name, 'acme')[1].trigger], ['Ünï', 'cron']);
        assert.equal(list.has_more, false);
        const pages = [];
        for (let after = ''; ; ) {
            const page = JSON.parse((await admin(`/threads?org=acme&limit=1${after}`)).text);
            pages.push(...page.data.map((t) => t.id));
            if (!page.has_more) break;
            after = `&after=${page.after}`;
        }
        assert.deepEqual(pages, list.data.map((t) => t.id));
        assert.equal(JSON.parse((await admin('/threads?org=nobody')).text).data.length, 0);
        assert.equal((await admin(`/threads/${encodeURIComponent(odd)}?org=acme`)).status, 200, 'by its own name');
        for (const bad of ['/threads?limit=0', '/threads?limit=x', '/threads?organisation=acme', '/threads/t-2?limit=1'])
            assert.equal((await admin(bad)).status, 400, bad);
        assert.equal((await admin('/threads/t-2')).status, 404);
        assert.equal((await admin('/threads/t-2?org=acme')).status, 200);
        const said = `/threads/${encodeURIComponent(odd)}?org=acme`;
        assert.equal((await admin(said)).text, (await admin(`/threads/${name}?org=acme`)).text);
        for (const bad of ['org=..', 'org=a%2fb', `org=${'x'.repeat(300)}`, 'limit=0', 'limit=1001', 'limit=x', 'after=x', 'after=1', 'before=1'])
            assert.equal((await admin(`/threads?${bad}`)).status, 400, bad);
        assert.equal((await admin('/threads/t-1?limit=1')).status, 400);
        for (const bad of ['/threads/a%2', '/threads/a%zz', `/threads/${'x'.repeat(257)}`]) assert.equal((await admin(bad)).status, 404, bad);
        for (const bad of ['/threads/../x', '/threads/t-2/raw', '/threadsx']) assert.equal((await admin(bad)).status, 404, bad);
        for (const bad of ['/threads/../x', '/threads/t-2/raw', '/threadsx', '/threads/%2', '/threads/%zz']) assert.equal((await admin(bad)).status, 404, bad);
        assert.equal((await post('/v1/chat/completions', { model: 'm', messages: says('x') }, { 'X-HW-Thread': 'x'.repeat(300) })).status, 400);
    });

    it('a thread that is far longer than its conversation can be read; one that is too long is for the export', async () => {
        const long = file('t-long', 'acme');
        const why = 'Thinking of it. '.repeat(64 * 1024); // 1 MiB
        const turn = (i) => [
            { ev: 'begin', id: `long-${i}`, role: 'expert', at_us: 2051319840000000 + i, query: `Ask ${i}` },
            { ev: 'end', id: `long-${i}`, at_us: 2051319840500000 + i, text: `Answer ${i}.`, reasoning: why, end: { cause: 'finish' } },
        ].map((line) => `${JSON.stringify(line)}\n`).join('');
        writeFileSync(long, Array.from({ length: 18 }, (_, i) => turn(i)).join(''));
        const raw = await admin('/threads/t-long?org=acme');
        assert.equal(raw.status, 200);
        assert.equal(JSON.parse(raw.text).entries.length, 18);
        appendFileSync(long, Array.from({ length: 16 }, (_, i) => turn(18 + i)).join(''));
        assert.equal((await admin('/threads/t-long?org=acme')).status, 413, 'as a document it is too long for a page');
        const page = await admin('/threads/t-long/conversation.md?org=acme');
        assert.equal(page.status, 200);
        assert.match(page.text, /## Turn 34 — 2035-01-02 03:04 UTC\n\n### Query\nAsk 33\n\n### Answer\nAnswer 33\.\n$/);
        truncateSync(long, 64 * 1024 * 1024 + 1);
        const refused = await admin('/threads/t-long/conversation.md?org=acme');
        assert.equal(refused.status, 413);
        assert.match(refused.text, /use penstock transcript export/);
        rmSync(long);
    });

    it('a worker that is killed leaves a consult without an end, and later lines are whole', async () => {
        const before = workersOf(penstock.child.pid);
        const slow = await cancelled('t-kill', {}, 'Draw #slow');
        await until('it began', () => line('t-kill', 'begin', slow.id));
        const { run } = line('t-kill', 'begin', slow.id);
        for (const pid of before) process.kill(pid, 'SIGKILL');
        await until('new workers serve', async () => workersOf(penstock.child.pid).some((pid) => !before.includes(pid)) && (await admin('/readyz').catch(() => ({}))).status === 200);
        const next = await until('an answer', () => chat('t-kill', says('And now?')).catch(() => null));
        await ended('t-kill', next.id);
        assert.equal(line('t-kill', 'end', slow.id), undefined);
        assert.notEqual(line('t-kill', 'begin', next.id).run, run);
        const raw = JSON.parse((await admin('/threads/t-kill')).text);
        assert.deepEqual(raw.entries.map((e) => [e.end?.cause, e.blocks[0].workflow_block.status]), [[undefined, 'WORKFLOW_AWAITING_NEXT_STEPS'], ['finish', 'WORKFLOW_COMPLETED']]);
    });

    it('what is no consult, or has no thread, is not recorded; nor is anything when that is switched off', async () => {
        const off = await chat('t-off', says('x'), { 'X-HW-Consult': 'off' });
        assert.equal(off.status, 200);
        await post('/v1/chat/completions', { model: 'm', messages: says('x') }).then((r) => r.text());
        const reload = async (more) => {
            const before = workersOf(penstock.child.pid);
            penstock.configure({ more: `workers: 1\n${more}` });
            penstock.child.kill('SIGHUP');
            await until('the new worker alone serves', () => {
                const now = workersOf(penstock.child.pid);
                return now.length === 1 && !before.includes(now[0]);
            });
        };
        await reload('enabled: false\n');
        assert.equal((await chat('t-off', says('x'))).id, null);
        await reload('threads: {record: false}\n');
        const reply = await chat('t-off', says('x'));
        assert.ok(reply.status === 200 && reply.id);
        await until('its record', async () => (await admin(`/consults?id=${reply.id}`)).text.includes(reply.id));
        assert.equal(existsSync(file('t-off')), false);
    });

    it('journals go when nothing was added to them for a while', async () => {
        assert.ok(existsSync(file('t-1')) && existsSync(file('t-2', 'acme')));
        await sleep(2200); // file times count in whole seconds here
        penstock.configure({ more: 'threads: {retention: 1s}\n' });
        penstock.child.kill('SIGHUP'); // new workers sweep as they start
        await until('they are gone', () => !existsSync(file('t-1')) && !existsSync(file('t-2', 'acme')));
        assert.equal((await admin('/threads/t-1')).status, 404);
        const reply = await chat('t-1', says('Hello again'));
        await ended('t-1', reply.id);
        assert.deepEqual(journal('t-1').map((l) => l.ev), ['thread', 'begin', 'end']);
    });

    it('a proxy that ends closes what runs, and says so', async () => {
        const slow = await cancelled('t-end', {}, 'Draw #slow');
        penstock.child.kill('SIGTERM');
        await until('the end', () => line('t-end', 'end', slow.id));
        assert.deepEqual(line('t-end', 'end', slow.id).end, { cause: 'proxy_shutdown', http_status: 200 });
    });
});

describe('threads whose streams end otherwise', { timeout: 120_000 }, () => {
    let provider, penstock;
    before(async () => {
        provider = await new Provider().start();
        penstock = await new Penstock().start(provider.url, { drain: '1s, idle: 400ms, first_byte: 400ms, drain_time: 10s', more: 'disconnect: drain\n' });
    });
    after(async () => {
        await penstock?.stop();
        await provider?.stop();
    });

    const consult = (thread, word, options = {}, body = { stream: true }) =>
        fetch(`${penstock.url}/v1/chat/completions`, { method: 'POST', headers: { 'X-HW-Thread': thread }, body: JSON.stringify({ model: 'm', ...body, messages: [{ role: 'user', content: `#${word}` }] }), ...options });
    const end = (thread) =>
        until(`the end in ${thread}`, () => {
            const file = join(penstock.folder, 'state', 'orgs', 'default', 'threads', `${thread}.jsonl`);
            return existsSync(file) && readFileSync(file, 'utf8').split('\n').filter((l) => l.startsWith('{"ev":"end"')).map((l) => JSON.parse(l)).at(-1);
        });

    it('a provider that falls silent', async () => {
        const reply = await consult('t-idle', 'slow');
        await reply.text().catch(() => {});
        const { text, end: how } = await end('t-idle');
        assert.deepEqual([text, how.cause, how.http_status, how.error_code], ['Drawing the first ', 'upstream_timeout', 200, 'UPSTREAM_TIMEOUT']);
    });

    it('a provider that never answers', async () => {
        const reply = await consult('t-silent', 'silent', {}, {});
        assert.equal(reply.status, 504);
        const { end: how } = await end('t-silent');
        assert.deepEqual([how.cause, how.http_status, how.error_code], ['upstream_timeout', undefined, 'UPSTREAM_TIMEOUT']);
    });

    it('a client that leaves while the reply is read on', async () => {
        const control = new AbortController();
        const reply = await consult('t-drain', 'late', { signal: control.signal });
        await reply.body.getReader().read();
        control.abort();
        const { text, end: how } = await end('t-drain');
        assert.deepEqual([text, how], ['First, and last.', { cause: 'client_closed', http_status: 200 }]);
    });

    it('a client that leaves when the reply has already said why it ends', async () => {
        const control = new AbortController();
        const reply = await consult('t-told', 'told', { signal: control.signal });
        const reader = reply.body.getReader();
        for (let text = ''; !text.includes('"stop"'); ) text += Buffer.from((await reader.read()).value);
        control.abort();
        const { end: how } = await end('t-told');
        assert.deepEqual(how, { cause: 'finish', http_status: 200, finish_reason: 'stop' });
    });
});
