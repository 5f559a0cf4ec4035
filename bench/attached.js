// What a picture in `attachments` costs: pairs of requests with the same picture, one of which attaches it to a consult and
// one of which is relayed as it is, turn about. Prints how much longer the first one takes (docs/PERFORMANCE.md).
//
//   ninja -C build/release && node bench/attached.js [PAIRS] [MIB]    default 100, 4
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { fileURLToPath } from 'node:url';

async function upstream() {
    const server = createServer((asked, response) => asked.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[]}'))).listen(0, '127.0.0.1');
    await once(server, 'listening');
    process.send(server.address().port);
    await once(process, 'disconnect');
    process.exit(0);
}

async function main(pairs, mib) {
    process.env.PENSTOCK ??= fileURLToPath(new URL('../build/release/penstock', import.meta.url));
    const { Penstock } = await import('../tests/e2e/penstock.js');
    const provider = fork(fileURLToPath(import.meta.url), ['upstream']), [port] = await once(provider, 'message');
    const penstock = await new Penstock().start(`http://127.0.0.1:${port}`, { log: 'info' });
    const picture = Buffer.concat([Buffer.from('/9j/4AAQSkZJRgABAQEASABIAAD', 'base64'), randomBytes(mib * 1048576)]).toString('base64');
    const body = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }], attachments: [{ name: 'a.jpg', data: picture, handling: 'native' }] }));
    const agent = new Agent({ keepAlive: true });
    const take = async (headers) => {
        const began = performance.now();
        const sent = request(`${penstock.url}/v1/chat/completions`, { method: 'POST', agent, headers: { 'content-type': 'application/json', 'content-length': body.length, ...headers } });
        sent.end(body);
        const [response] = await once(sent, 'response');
        for await (const _ of response);
        if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
        return performance.now() - began;
    };
    const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
    const attached = [], relayed = [];
    for (let i = -10; i < pairs; i++) {
        const order = i % 2 ? ['on', 'off'] : ['off', 'on'];
        for (const consult of order) {
            const ms = await take({ 'x-hw-consult': consult });
            if (i >= 0) (consult === 'on' ? attached : relayed).push(ms);
        }
    }
    console.log(`attached ${median(attached).toFixed(2)} ms, relayed ${median(relayed).toFixed(2)} ms; attaching adds ${median(attached.map((ms, i) => (ms - relayed[i]) / relayed[i])).toFixed(2)} x the time of relaying (median of ${pairs} pairs)`);
    agent.destroy();
    provider.disconnect();
    await penstock.stop();
}

if (process.argv[2] === 'upstream') await upstream();
else await main(Number(process.argv[2] ?? 100), Number(process.argv[3] ?? 4));
