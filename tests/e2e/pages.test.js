// PDF and charts, made by the command line and read by other programs: pdftotext, qpdf, pdffonts.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';
import { sources } from './sources.js';

const BINARY = process.env.PENSTOCK ?? fileURLToPath(new URL('../../build/debug/penstock', import.meta.url));
const directive = (filename, content, more = {}) =>
    `<<<HW_ATTACHMENT\n${JSON.stringify({ filename, format: filename.split('.').pop(), ...more })}\n---\n${content}\nHW_ATTACHMENT>>>\n`;
const missing = ['pdftotext', 'pdffonts', 'pdfinfo', 'qpdf'].filter((tool) => spawnSync(tool, ['--version']).error);

describe('pages and charts', { skip: missing.length ? `not installed: ${missing.join(', ')}` : false }, () => {
    let folder, run = 0;
    before(() => (folder = mkdtempSync(join(tmpdir(), 'penstock-pages-'))));
    after(() => rmSync(folder, { recursive: true, force: true }));

    // Renders the directives of a reply; answers the folder with the files.
    function extract(text) {
        const out = join(folder, String(++run));
        writeFileSync(`${out}.txt`, text);
        execFileSync(BINARY, ['extract', `${out}.txt`, '--out', out], { stdio: ['ignore', 'ignore', 'ignore'] });
        return out;
    }
    const tool = (name, ...args) => execFileSync(name, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

    function checkPdf(file) {
        tool('qpdf', '--check', file);
        const fonts = tool('pdffonts', file).split('\n').slice(2).filter(Boolean);
        assert.ok(fonts.length > 0, 'no font');
        for (const font of fonts) assert.match(font, / yes yes (yes|no) +\d+ +\d+$/, `not embedded as a subset: ${font}`);
        // Nothing reaches beyond the sheet's margins by more than the slant of a letter.
        for (const [, x0, , x1, y1] of tool('pdftotext', '-bbox', file, '-').matchAll(/xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)"/g))
            assert.ok(x0 > 40 && x1 < 556 && y1 < 830, `off the page: ${x0} ${x1} ${y1}`);
        return tool('pdftotext', file, '-');
    }

    it('keeps every word of sixty sources on the page', { timeout: 300_000 }, () => {
        const all = sources();
        assert.equal(all.length, 60);
        for (let i = 0; i < all.length; i += 15) {
            const some = all.slice(i, i + 15);
            const out = extract(some.map(({ name, source }) => directive(`${name}.pdf`, source)).join('\n'));
            for (const { name, words } of some) {
                // Lines are broken anywhere in a long word, and text from right to left may come in either order.
                const text = checkPdf(join(out, `${name}.pdf`)).replace(/[^\p{L}\p{M}\p{N}]/gu, '');
                const back = [...text].reverse().join('');
                const lost = words.filter((word) => !text.includes(word) && !back.includes(word));
                assert.deepEqual(lost, [], name);
            }
        }
    });

    it('says what a document is: title, author, outline, structure, links', () => {
        const out = extract(directive('a.pdf', '# One\n\n[x](https://example.org/)\n\n## Two\n\n| A | B |\n| - | - |\n| 1 | 2 |\n', { title: 'The title', author: 'Ann', page_size: 'letter' }));
        const info = tool('pdfinfo', join(out, 'a.pdf'));
        for (const line of [/Title: +The title/, /Author: +Ann/, /Tagged: +yes/, /Page size: +612 x 792/, /JavaScript: +no/]) assert.match(info, line);
        const structure = tool('pdfinfo', '-struct-text', join(out, 'a.pdf'));
        for (const part of ['H1', 'H2', 'Table', 'TR', 'TH', 'TD', 'Link']) assert.match(structure, new RegExp(`^ *${part}\\b`, 'm'));
        assert.match(readFileSync(join(out, 'a.pdf'), 'latin1'), /\/URI \(https:\/\/example\.org\/\)/);
    });

    it('draws a picture of the same reply and a chart in place', () => {
        const chart = '{"type":"bar","labels":["a","b"],"data":[1,2]}';
        const out = extract(directive('plot.png', chart) + directive('b.pdf', `Before.\n\n![plot](plot.png)\n\n\`\`\`chart\n${chart}\n\`\`\`\n\nBehind.\n`));
        const text = checkPdf(join(out, 'b.pdf'));
        assert.match(text, /Before[^]*Behind/);
        assert.match(readFileSync(join(out, 'b.pdf'), 'latin1'), /\/Width 1600/);
        assert.doesNotMatch(text, /datasets|"type"/);
    });

    // Red, green and blue of all pixels of a PNG with eight bits a sample and no interlacing.
    function pixels(file) {
        const bytes = readFileSync(file), parts = [];
        let width, height, samples;
        for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at)) {
            const data = bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at));
            const type = bytes.toString('latin1', at + 4, at + 8);
            if (type === 'IHDR') [width, height, samples] = [data.readUInt32BE(0), data.readUInt32BE(4), data[9] === 6 ? 4 : 3];
            if (type === 'IDAT') parts.push(data);
        }
        const raw = inflateSync(Buffer.concat(parts)), line = width * samples, out = Buffer.alloc(line * height);
        for (let y = 0; y < height; y++)
            for (let x = 0; x < line; x++) {
                const a = x >= samples ? out[y * line + x - samples] : 0, b = y ? out[(y - 1) * line + x] : 0;
                const c = x >= samples && y ? out[(y - 1) * line + x - samples] : 0, p = a + b - c;
                const paeth = Math.abs(p - a) <= Math.abs(p - b) && Math.abs(p - a) <= Math.abs(p - c) ? a : Math.abs(p - b) <= Math.abs(p - c) ? b : c;
                out[y * line + x] = raw[y * (line + 1) + 1 + x] + [0, a, b, (a + b) >> 1, paeth][raw[y * (line + 1)]];
            }
        return { width, height, count: (r, g, b) => { let n = 0; for (let i = 0; i < out.length; i += samples) n += out[i] === r && out[i + 1] === g && out[i + 2] === b; return n; } };
    }

    it('draws charts whose areas are the values', () => {
        const out = extract(
            directive('bars.png', '{"type":"bar","labels":["a","b"],"datasets":[{"label":"one","data":[30,30]},{"label":"two","data":[10,10]}]}') +
            directive('pie.png', 'kind,share\na,75\nb,25\n', { chart: 'pie', width: 600, height: 400 }) +
            directive('line.svg', '{"type":"line","labels":["2026-01-01","2026-02-01"],"data":[1,2]}'));
        const bars = pixels(join(out, 'bars.png')), pie = pixels(join(out, 'pie.png'));
        assert.deepEqual([bars.width, bars.height, pie.width, pie.height], [1600, 960, 1200, 800]);
        const ratio = bars.count(0, 0x72, 0xb2) / bars.count(0xe6, 0x9f, 0);
        assert.ok(ratio > 2.8 && ratio < 3.2, `bars: ${ratio}`);
        const share = pie.count(0, 0x72, 0xb2) / pie.count(0xe6, 0x9f, 0);
        assert.ok(share > 2.8 && share < 3.2, `pie: ${share}`);
        assert.match(readFileSync(join(out, 'line.svg'), 'utf8'), /^<\?xml[^]*<svg[^]*<\/svg>\s*$/);
    });

    it('get a picture that a later block of the same text makes', () => {
        const chart = directive('sales.png', '{"type":"bar","data":{"A":1,"B":2}}');
        const out = extract(directive('r.pdf', '# R\n\n![Sales](sales.png)\n') + chart);
        assert.match(tool('pdfimages', '-list', join(out, 'r.pdf')), /image/);
        const lost = spawnSync(BINARY, ['extract', '--out', join(folder, String(++run))], {
            input: directive('q.pdf', '![Sales](never.png)\n'), encoding: 'utf8',
        });
        assert.equal(lost.status, 3);
        assert.match(lost.stderr, /wrote .*q\.pdf/);
        assert.match(lost.stderr, /invalid_content: The file "q\.pdf" names a picture/);
    });
});
