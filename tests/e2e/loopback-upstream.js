// What every scripted upstream is: a server on a port of loopback that the kernel chose. Whoever extends it says how a request is answered.
import { createServer } from 'node:http';
import { once } from 'node:events';

export class LoopbackUpstream {
    // An error of `answer` ends the connection, so that a broken script shows as a reset and not as a stall.
    async start() {
        this.server = createServer((request, response) => this.answer(request, response).catch((error) => response.destroy(error)));
        this.server.listen(0, '127.0.0.1');
        await once(this.server, 'listening');
        this.url = `http://127.0.0.1:${this.server.address().port}`;
        return this;
    }

    stop() {
        this.server.closeAllConnections();
        return new Promise((done) => this.server.close(done));
    }
}

export async function bodyOf(request) {
    const parts = [];
    for await (const part of request) parts.push(part);
    return Buffer.concat(parts);
}
