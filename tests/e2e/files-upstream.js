// A scripted provider of everything that Penstock itself asks of one: files APIs of four kinds, transcripts, an error sink. What it gets is kept.
import { setTimeout as sleep } from 'node:timers/promises';
import { LoopbackUpstream, bodyOf } from './loopback-upstream.js';

// Names and bodies of a multipart body's parts, the bodies as Buffers.
export function parts(request) {
    const boundary = Buffer.from(`--${/boundary=(.+)$/.exec(request.headers['content-type'])[1]}`);
    const found = [];
    for (let at = request.body.indexOf(boundary); ; ) {
        const next = request.body.indexOf(boundary, at + boundary.length);
        if (next < 0) return found;
        const part = request.body.subarray(at + boundary.length + 2, next - 2);
        const end = part.indexOf('\r\n\r\n');
        const head = part.subarray(0, end).toString();
        found.push({ name: /name="([^"]*)"/.exec(head)[1], filename: /filename="([^"]*)"/.exec(head)?.[1], head, body: part.subarray(end + 4) });
        at = next;
    }
}

const json = (value) => [200, { 'content-type': 'application/json' }, JSON.stringify(value)];

export class FilesUpstream extends LoopbackUpstream {
    requests = []; // {method, path, headers, body}
    files = new Map(); // id → bytes
    made = 0;
    delay = 0; // before an upload is answered
    refuse = null; // [status, body] of the next answers to uploads
    transcript = { text: 'hello' };
    sink = [200, ''];
    reply = null; // [status, headers, body] of the answer to a chat

    reset() {
        this.requests.splice(0);
        this.delay = 0;
        this.refuse = null;
        this.transcript = { text: 'hello' };
        this.sink = [200, ''];
        this.reply = null;
    }

    // Requests whose path fits.
    asked(method, path) {
        return this.requests.filter((one) => one.method === method && path.test(one.path));
    }

    get uploads() {
        return this.asked('POST', /files/);
    }

    get chats() {
        return this.asked('POST', /(completions|responses|messages|generateContent|api\/chat)$/);
    }

    async answer(request, response) {
        const [path] = request.url.split('?');
        const one = { method: request.method, path, url: request.url, headers: request.headers, body: await bodyOf(request) };
        this.requests.push(one);
        const [status, headers, body] = await this.#script(one);
        response.writeHead(status, headers).end(body);
    }

    #keep(bytes, prefix) {
        const id = `${prefix}${++this.made}`;
        this.files.set(id, bytes);
        return id;
    }

    async #script(one) {
        const { method, path } = one;
        const file = /\/(file[s_-][^/]*|files\/[^/]+)(\/content)?$/.exec(path);
        if (path.endsWith('/envelope/')) return [this.sink[0], {}, this.sink[1]];
        if (path.endsWith('/audio/transcriptions')) return Array.isArray(this.transcript) ? [this.transcript[0], {}, this.transcript[1]] : json(this.transcript);
        if (method === 'POST' && /files$/.test(path)) {
            await sleep(this.delay);
            if (this.refuse) return [this.refuse[0], { 'content-type': 'application/json' }, this.refuse[1]];
            if (path === '/upload/v1beta/files') return this.#gemini(one);
            return json({ id: this.#keep(parts(one).at(-1).body, 'file-'), object: 'file', status: 'processed' });
        }
        if (method === 'GET' && file) {
            const id = file[1].replace('files/', path.startsWith('/v1beta') ? 'files/' : '');
            if (!this.files.has(id)) return [404, {}, '{"error":{"message":"no such file"}}'];
            if (file[2]) return [200, { 'content-type': 'text/plain' }, JSON.stringify({ content: this.text?.(this.files.get(id)) ?? 'EXTRACTED' })];
            return json({ name: id, uri: `${this.url}/v1beta/${id}`, state: 'ACTIVE' });
        }
        if (method === 'DELETE') {
            const id = path.replace(/^.*\/v1(beta)?\//, '').replace(/^files\/(?=file-)/, '');
            return [this.files.delete(id) ? 200 : 404, {}, '{}'];
        }
        return this.reply ?? json({ choices: [] });
    }

    #gemini(one) {
        if (one.headers['x-goog-upload-command'] === 'start') return [200, { 'x-goog-upload-url': this.elsewhere ?? `${this.url}/upload/v1beta/files?upload_id=7` }, ''];
        const id = this.#keep(one.body, 'files/');
        return json({ file: { name: id, uri: `${this.url}/v1beta/${id}`, state: 'PROCESSING' } });
    }
}
