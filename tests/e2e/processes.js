// Penstock's processes, and which of them serves a connection.
import { existsSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

// Times that a rule gives are multiplied by this on machines that are slow or busy.
export const SLOWNESS = Number(process.env.E2E_SLOWNESS ?? 1);

// The proxy's workers; the process that draws documents is none of them.
export function workersOf(master) {
    const children = readFileSync(`/proc/${master}/task/${master}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
    return children.filter((pid) => {
        try {
            return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() !== 'penstock-worker';
        } catch {
            return false; // ended meanwhile
        }
    });
}

export function isAlive(pid) {
    if (!existsSync(`/proc/${pid}/stat`)) return false;
    try {
        return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
        return false;
    }
}

export async function until(what, test, ms = 20_000) {
    const end = performance.now() + ms * Math.max(1, SLOWNESS);
    while (performance.now() < end) {
        const value = await test();
        if (value) return value;
        await sleep(10);
    }
    throw new Error(`${what}: not within ${ms} ms`);
}

// Which of the processes holds the server's end of the connection from the client's port; undefined: none.
export function serverOf(port, clientPort, pids) {
    const hex = (n) => n.toString(16).toUpperCase().padStart(4, '0');
    const line = readFileSync('/proc/net/tcp', 'utf8')
        .split('\n')
        .map((one) => one.trim().split(/\s+/))
        .find((one) => one[1]?.endsWith(`:${hex(port)}`) && one[2]?.endsWith(`:${hex(clientPort)}`));
    return pids.find((pid) => {
        try {
            return readdirSync(`/proc/${pid}/fd`).some((fd) => {
                try {
                    return readlinkSync(`/proc/${pid}/fd/${fd}`) === `socket:[${line?.[9]}]`;
                } catch {
                    return false; // closed meanwhile
                }
            });
        } catch {
            return false; // ended meanwhile
        }
    });
}

// A chat request on a connection of its own. Answers when the reply's head is there; `whole` gives the body, and
// whether it came to its end.
export function ask(penstock, model, tag, more = {}) {
    return new Promise((resolve, reject) => {
        const body = JSON.stringify({ model, messages: [{ role: 'user', content: tag }], ...more });
        const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-e2e', 'content-length': Buffer.byteLength(body) };
        const sent = request(`${penstock.url}/v1/chat/completions`, { method: 'POST', headers, agent: false, timeout: 60_000 });
        sent.on('timeout', () => sent.destroy(new Error('no answer within 60 s')));
        sent.on('error', reject);
        sent.on('response', (response) => {
            const reply = { tag, status: response.statusCode, port: response.socket.localPort, text: '', complete: false };
            response.setEncoding('utf8');
            response.on('data', (text) => (reply.text += text));
            response.on('error', () => {});
            reply.whole = new Promise((done) => response.on('close', () => {
                reply.complete = response.complete;
                done(reply);
            }));
            resolve(reply);
        });
        sent.end(body);
    });
}

export const chunksOf = (text) =>
    text
        .split('\n\n')
        .filter((one) => one.startsWith('data: {'))
        .map((one) => JSON.parse(one.slice(6)));
export const textOf = (chunks) => chunks.flatMap((c) => c.choices ?? []).map((c) => c.delta?.content ?? '').join('');
