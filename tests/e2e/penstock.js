// Starts the Penstock binary with a configuration of its own on ports that the kernel chooses, and ends it by its pid.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const BINARY = resolve(process.env.PENSTOCK ?? fileURLToPath(new URL('../../build/debug/penstock', import.meta.url)));

export async function freePort() {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address();
    await new Promise((done) => server.close(done));
    return port;
}

const configuration = ({ folder, port, admin, upstream, closed, drain = '5s', timeouts = '', providers = '', more = '', secure = '', log = 'debug' }) => `state_dir: ${folder}/state
workspace_root: ${folder}/workspace
listen:
  - address: 127.0.0.1:${port}
${secure}admin: {address: "127.0.0.1:${admin}"}
public_url: http://127.0.0.1:${port}
default_provider: openai
providers:
  - {name: openai, dialect: openai, base_url: "${upstream}"}
  - {name: down, dialect: openai, base_url: "http://127.0.0.1:${closed}"}
${providers}timeouts: {drain: ${drain}${timeouts}}
log: {level: ${log}}
${more}`;

export class Penstock {
    // `settings`: drain, more `timeouts` (each with a comma before it), lines of more `providers` and of more listeners (`secure`), and `more` lines of configuration.
    async start(upstreamUrl, settings = {}) {
        this.folder = mkdtempSync(join(tmpdir(), 'penstock-e2e-'));
        this.logFile = join(this.folder, 'log');
        for (let attempt = 0; ; attempt++) {
            const [port, admin, closed] = [await freePort(), await freePort(), await freePort()];
            const file = join(this.folder, 'penstock.yaml');
            this.configure = (changed) =>
                writeFileSync(file, configuration({ folder: this.folder, port, admin, upstream: upstreamUrl, closed, ...settings, ...changed }));
            this.configure({});
            const environment = Object.entries(process.env).filter(([name]) => !/_proxy$/i.test(name) && !name.startsWith('HW_'));
            const log = openSync(this.logFile, 'w');
            this.child = spawn(BINARY, ['serve', '--config', file], {
                cwd: this.folder,
                env: Object.fromEntries(environment),
                stdio: ['ignore', log, log],
            });
            closeSync(log);
            this.exited = once(this.child, 'exit');
            this.exited.catch(() => {});
            this.port = port;
            this.url = `http://127.0.0.1:${port}`;
            this.adminUrl = `http://127.0.0.1:${admin}`;
            if (await this.#ready(20_000)) return this;
            await this.#end('SIGKILL', 5_000);
            // Between choosing a port and binding it another program may take it.
            assert.ok(/in use/i.test(this.log()) && attempt < 3, `${BINARY} did not get ready; its log:\n${this.log().slice(-2000)}`);
        }
    }

    log() {
        return readFileSync(this.logFile, 'utf8');
    }

    async #ready(ms) {
        const until = performance.now() + ms;
        while (performance.now() < until && this.child.exitCode === null && this.child.pid !== undefined) {
            const reply = await fetch(`${this.adminUrl}/readyz`).catch(() => null);
            await reply?.arrayBuffer();
            if (reply?.status === 200) return true;
            await sleep(20);
        }
        return false;
    }

    async #end(signal, ms) {
        if (this.child.pid === undefined || this.child.exitCode !== null || this.child.signalCode !== null) return true;
        this.child.kill(signal);
        return Promise.race([this.exited.then(() => true), sleep(ms, false, { ref: false })]);
    }

    // SIGTERM must end it with 0, and nothing may have been said by a sanitizer.
    async stop() {
        const ended = await this.#end('SIGTERM', 20_000);
        if (!ended) await this.#end('SIGKILL', 5_000);
        const log = this.log();
        rmSync(this.folder, { recursive: true, force: true });
        const said = log.match(/(ERROR|WARNING): \w+Sanitizer[^]{0,3000}|.*: runtime error: .*/);
        assert.equal(said?.[0], undefined, 'a sanitizer spoke');
        assert.ok(ended, 'still running 20 s after SIGTERM');
        assert.equal(this.child.exitCode, 0, `exit status; the log ends:\n${log.slice(-2000)}`);
    }
}
