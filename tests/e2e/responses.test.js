// Penstock as the OpenAI SDK's Responses see it, unmodified: only its base URL points here.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import { Penstock } from './penstock.js';
import { ResponsesUpstream } from './responses-upstream.js';
import { ARGUMENTS, CSV_FILE, TEXTS } from './upstream.js';

describe("the OpenAI SDK's Responses through Penstock", { timeout: 120_000 }, () => {
    let upstream, penstock, client;
    before(async () => {
        upstream = await new ResponsesUpstream().start();
        penstock = await new Penstock().start(upstream.url);
        client = new OpenAI({ baseURL: `${penstock.url}/v1`, apiKey: 'sk-e2e-caller', maxRetries: 0, timeout: 20_000 });
    });
    after(async () => {
        try {
            await penstock?.stop();
        } finally {
            await upstream?.stop();
        }
    });

    const ask = (model, more) => ({ model, input: 'The totals, please.', ...more });
    const noMarkerIn = (value) => assert.doesNotMatch(JSON.stringify(value), /HW_ATTACHMENT/i);
    const collect = async (stream) => {
        const events = [];
        for await (const event of stream) events.push(event);
        return events;
    };
    const eventsOf = async (model, more) => collect(await client.responses.create(ask(model, { stream: true, ...more })));
    const textOf = (events) => events.filter((e) => e.type === 'response.output_text.delta').map((e) => e.delta).join('');
    const rising = (events) => events.every((e, i) => i === 0 || e.sequence_number > events[i - 1].sequence_number);

    const checkTotals = async (artifacts) => {
        assert.deepEqual(artifacts.map((a) => a.filename), ['totals.csv']);
        const bytes = Buffer.from(await (await client.files.content(artifacts[0].id)).arrayBuffer());
        assert.equal(bytes.toString(), CSV_FILE);
        assert.equal(artifacts[0].sha256, createHash('sha256').update(bytes).digest('hex'));
    };

    it('streams the text without the directive, says it again without, and reports in the last event', async () => {
        const events = await eventsOf('file');
        assert.equal(textOf(events), TEXTS.file.left);
        assert.ok(rising(events));
        noMarkerIn(events);
        const named = (type) => events.find((e) => e.type === type);
        assert.equal(named('response.output_text.done').text, TEXTS.file.left);
        assert.equal(named('response.content_part.done').part.text, TEXTS.file.left);
        assert.equal(named('response.output_item.done').item.content[0].text, TEXTS.file.left);
        const { response } = events.at(-1);
        assert.equal(events.at(-1).type, 'response.completed');
        assert.equal(response.output[0].content[0].text, TEXTS.file.left);
        await checkTotals(response.outbound_artifacts);
        const [note] = response.output[0].content[0].annotations;
        assert.equal(note.type, 'container_file_citation');
        assert.equal(note.filename, 'totals.csv');
        const fetched = await client.containers.files.content.retrieve(note.file_id, { container_id: note.container_id });
        assert.equal(await fetched.text(), CSV_FILE);
    });

    it('works with the helper: its events and the final reply', async () => {
        const run = client.responses.stream(ask('file'));
        let heard = '';
        run.on('response.output_text.delta', (event) => {
            heard += event.delta;
            assert.ok(TEXTS.file.left.startsWith(event.snapshot), JSON.stringify(event.snapshot));
        });
        const response = await run.finalResponse();
        assert.equal(heard, TEXTS.file.left);
        assert.equal(response.output_text, TEXTS.file.left);
        assert.equal(response.status, 'completed');
        assert.equal(response.usage.total_tokens, 33);
        noMarkerIn(response);
    });

    it('says which files are attached when nothing else would be left', async () => {
        const events = await eventsOf('file-only');
        assert.match(textOf(events), /totals\.csv/);
        assert.equal(events.at(-1).response.output[0].content[0].text, textOf(events));
        assert.ok(rising(events));
        noMarkerIn(events);
    });

    it('leaves reasoning, tool calls and refusals alone', async () => {
        const response = await client.responses.stream(ask('tools')).finalResponse();
        assert.match(response.output[0].summary[0].text, /<<<HW_ATTACHMENT\n\{"filename":"no\.csv"\}$/);
        assert.equal(response.output[1].content[0].text, TEXTS['two-files'].left);
        assert.equal(response.output[2].arguments, ARGUMENTS);
        assert.deepEqual(response.outbound_artifacts.map((a) => a.filename), ['a.csv', 'b.md']);
        const refused = await client.responses.stream(ask('refusal')).finalResponse();
        assert.equal(refused.output[0].content[0].refusal, 'No <<<HW_ATTACHMENT for you.');
    });

    it('moves citations with the text', async () => {
        for (const response of [await client.responses.stream(ask('cited')).finalResponse(), await client.responses.create(ask('cited'))]) {
            const { text, annotations } = response.output[0].content[0];
            const { start_index, end_index } = annotations.find((a) => a.type === 'url_citation');
            assert.equal([...text].slice(start_index, end_index).join(''), '[1]');
        }
    });

    it('cleans whole replies, and reports in them', async () => {
        const response = await client.responses.create(ask('file'));
        assert.equal(response.output_text, TEXTS.file.left);
        noMarkerIn(response);
        await checkTotals(response.outbound_artifacts);
    });

    it('flags a directive that never ends, and leaves what only looks like a marker', async () => {
        const { response } = (await eventsOf('unterminated')).at(-1);
        assert.equal(response.flagForReview, true);
        assert.match(response.reason, /^unterminated: /);
        const events = await eventsOf('decoys');
        assert.equal(textOf(events), TEXTS.decoys.left);
        assert.ok(!('outbound_artifacts' in events.at(-1).response));
    });

    it('adds the protocol to the instructions, and takes it out where they come back', async () => {
        for (const instructions of [undefined, null, '', 'House rules.']) {
            for (const event of await eventsOf('decoys', { instructions }))
                if (event.response) assert.equal(event.response.instructions, instructions ?? null);
            const { instructions: sent } = upstream.requests.at(-1).body;
            assert.ok(sent.startsWith(instructions ? `${instructions}\n\n` : ''));
            assert.match(sent, /<<<HW_ATTACHMENT/);
        }
    });

    it('gives a stored reply again with the files that it had', async () => {
        const first = await client.responses.create(ask('two-files'));
        const ids = (response) => response.outbound_artifacts.map((a) => a.id);
        for (const again of [
            await client.responses.retrieve('resp_two-files'),
            await client.responses.cancel('resp_two-files'),
            (await collect(await client.responses.retrieve('resp_two-files', { stream: true }))).at(-1).response,
        ]) {
            assert.equal(again.output[0].content[0].text, TEXTS['two-files'].left);
            assert.deepEqual(ids(again), ids(first));
            assert.equal(again.instructions, null);
            noMarkerIn(again);
        }
    });

    it('goes on inside of a stored stream wherever it was left', async () => {
        const all = await eventsOf('two-files');
        const last = all.at(-1).sequence_number;
        for (let after = 0; after < last; after += 3) {
            const rest = await collect(await client.responses.retrieve('resp_two-files', { stream: true, starting_after: after }));
            const seen = textOf(all.filter((e) => e.sequence_number <= after));
            assert.equal(seen + textOf(rest), TEXTS['two-files'].left, `after ${after}`);
            assert.ok(rising(rest) && rest[0].sequence_number > after);
            noMarkerIn(rest);
        }
    });

    it('closes the upstream request when the client aborts', async () => {
        const run = client.responses.stream(ask('endless'));
        const seen = upstream.closedEarly;
        run.on('response.output_text.delta', () => run.abort());
        await assert.rejects(run.finalResponse(), OpenAI.APIUserAbortError);
        for (let i = 0; i < 100 && upstream.closedEarly === seen; i++) await sleep(20);
        assert.equal(upstream.closedEarly, seen + 1);
    });

    it("raises the provider's error inside a stream, and Penstock's own as the API's", async () => {
        await assert.rejects(eventsOf('quota'), (error) => /quota/.test(error.message));
        await assert.rejects(client.responses.create(ask('file', { hw: { colour: 'red' } })), (error) => {
            assert.ok(error instanceof OpenAI.BadRequestError);
            assert.equal(error.code, 'BAD_REQUEST');
            assert.match(error.message, /colour/);
            return true;
        });
    });
});
