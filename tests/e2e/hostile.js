// Hostile documents, made anew for each run: [name, bytes, more]. `more.untouched`: goes as it is, `more.light`: is
// refused without a look inside.
import { randomBytes } from 'node:crypto';
import { constants, crc32, deflateRawSync, deflateSync } from 'node:zlib';

const MIB = 1 << 20;

// A file of an archive; what its headers say can be something else than what is there.
const packed = (name, content) => ({ name, data: deflateRawSync(content), size: Buffer.byteLength(content), crc: crc32(content), method: 8 });

function zip(files) {
    const parts = [], directory = [];
    let at = 0;
    for (const file of files) {
        const { name, data, size, crc, method, flags = 0 } = file;
        const shared = Buffer.alloc(26), title = Buffer.from(name);
        shared.writeUInt16LE(20, 0);
        shared.writeUInt16LE(flags, 2);
        shared.writeUInt16LE(method, 4);
        shared.writeUInt32LE(crc, 10);
        shared.writeUInt32LE(file.packedSize ?? data.length, 14);
        shared.writeUInt32LE(size, 18);
        shared.writeUInt16LE(title.length, 22);
        parts.push(Buffer.from('PK\x03\x04'), shared, title, data);
        const rest = Buffer.alloc(14);
        rest.writeUInt32LE(at, 10);
        directory.push(Buffer.from('PK\x01\x02\x14\0'), shared, rest, title);
        at += 30 + title.length + data.length;
    }
    const list = Buffer.concat(directory), end = Buffer.alloc(22);
    end.write('PK\x05\x06', 'latin1');
    end.writeUInt16LE(files.length, 8);
    end.writeUInt16LE(files.length, 10);
    end.writeUInt32LE(list.length, 12);
    end.writeUInt32LE(at, 16);
    return Buffer.concat([...parts, list, end]);
}

// A deflate stream of `head`, `mib` MiB of spaces, and `tail`.
function inflating(head, mib, tail) {
    const piece = (text) => deflateRawSync(text, { level: 9, finishFlush: constants.Z_FULL_FLUSH });
    const spaces = piece(Buffer.alloc(MIB, ' '));
    return Buffer.concat([piece(head), ...Array(mib).fill(spaces), deflateRawSync(tail)]);
}

const XML = '<?xml version="1.0" encoding="UTF-8"?>';
const types = (...overrides) => packed('[Content_Types].xml', `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${overrides.map(([part, type]) => `<Override PartName="${part}" ContentType="application/vnd.openxmlformats-officedocument.${type}+xml"/>`).join('')}</Types>`);
const relations = (name, ...targets) => packed(name, `${XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${targets.map(([type, target], i) => `<Relationship Id="rId${i + 1}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/>`).join('')}</Relationships>`);
const around = [types(['/word/document.xml', 'wordprocessingml.document.main']), relations('_rels/.rels', ['officeDocument', 'word/document.xml'])];
const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const documentOf = (body, dtd = '') => `${XML}${dtd}<w:document ${W}><w:body>${body}</w:body></w:document>`;
const paragraph = (text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
const docx = (body, dtd, ...more) => zip([...around, packed('word/document.xml', documentOf(body, dtd)), ...more]);

const book = [
    types(['/xl/workbook.xml', 'spreadsheetml.sheet.main'], ['/xl/worksheets/sheet1.xml', 'spreadsheetml.worksheet']),
    relations('_rels/.rels', ['officeDocument', 'xl/workbook.xml']),
    relations('xl/_rels/workbook.xml.rels', ['worksheet', 'worksheets/sheet1.xml'], ['sharedStrings', 'sharedStrings.xml']),
];
const S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const workbook = packed('xl/workbook.xml', `${XML}<workbook ${S} xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="A" sheetId="1" r:id="rId1"/></sheets></workbook>`);
const xlsx = (rows, dtd = '', ...more) => zip([...book, workbook, packed('xl/worksheets/sheet1.xml', `${XML}${dtd}<worksheet ${S}><sheetData>${rows}</sheetData></worksheet>`), ...more]);
const cell = (where, text) => `<row r="${where.replace(/\D/g, '')}"><c r="${where}" t="inlineStr"><is><t>${text}</t></is></c></row>`;

const laughs = `<!DOCTYPE x [<!ENTITY a0 "ha">${Array.from({ length: 30 }, (_, i) => `<!ENTITY a${i + 1} "&a${i};&a${i};&a${i};&a${i};&a${i};&a${i};&a${i};&a${i};&a${i};&a${i};">`).join('')}]>`;
const external = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>';
const nested = (open, close, times, inside = 'x') => open.repeat(times) + inside + close.repeat(times);

function pdf(objects, more = '') {
    const bodies = objects.map((object, i) => Buffer.concat([Buffer.from(`${i + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n')]));
    return Buffer.concat([Buffer.from('%PDF-1.4\n'), ...bodies, Buffer.from(`trailer<</Root 1 0 R/Size ${objects.length + 1}${more}>>\n%%EOF\n`)]);
}
const page = '<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>';
const font = '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>';
const stream = (data, more = '') => Buffer.concat([Buffer.from(`<<${more}/Length ${data.length}>>stream\n`), Buffer.from(data), Buffer.from('\nendstream')]);
const pages = (kids, count = 1) => `<</Type/Pages/Kids[${kids}]/Count ${count}>>`;
const catalog = '<</Type/Catalog/Pages 2 0 R>>';
const whole = pdf([catalog, pages('3 0 R'), page, stream('BT /F1 24 Tf 20 50 Td (some words) Tj ET'), font]);

function png(width, height, data) {
    const piece = (type, content) => {
        const body = Buffer.concat([Buffer.from(type), content]), ends = [Buffer.alloc(4), Buffer.alloc(4)];
        ends[0].writeUInt32BE(content.length);
        ends[1].writeUInt32BE(crc32(body));
        return Buffer.concat([ends[0], body, ends[1]]);
    };
    const head = Buffer.alloc(13);
    head.writeUInt32BE(width, 0);
    head.writeUInt32BE(height, 4);
    head[8] = 8;
    return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), piece('IHDR', head), piece('IDAT', data), piece('IEND', Buffer.alloc(0))]);
}

function wav(claimed, samples) {
    const head = Buffer.alloc(44);
    head.write('RIFF', 0);
    head.writeUInt32LE(claimed, 4);
    head.write('WAVEfmt ', 8);
    head.writeUInt32LE(16, 16);
    head.writeUInt16LE(1, 20);
    head.writeUInt16LE(1, 22);
    head.writeUInt32LE(16000, 24);
    head.writeUInt32LE(32000, 28);
    head.writeUInt16LE(2, 32);
    head.writeUInt16LE(16, 34);
    head.write('data', 36);
    head.writeUInt32LE(claimed, 40);
    return Buffer.concat([head, Buffer.alloc(samples * 2)]);
}

const box = (type, content, size = content.length + 8) => {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(size);
    head.write(type, 4);
    return Buffer.concat([head, content]);
};
const ftyp = box('ftyp', Buffer.from('isom\0\0\x02\0isomiso2avc1mp41'));
const u32 = (...numbers) => Buffer.concat(numbers.map((n) => { const b = Buffer.alloc(4); b.writeUInt32BE(n >>> 0); return b; }));
const mvhd = box('mvhd', Buffer.concat([u32(0, 0, 0, 1, 0xffffffff), Buffer.alloc(80)]));

// A compound file: the head, and one directory with an entry of that name.
function compound(name) {
    const file = Buffer.alloc(512 * 3, 0xff), title = Buffer.from(`${name}\0`, 'utf16le');
    file.fill(0, 0, 76);
    Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(file);
    file.writeUInt16LE(0x3e, 24); file.writeUInt16LE(3, 26); file.writeUInt16LE(0xfffe, 28); file.writeUInt16LE(9, 30); file.writeUInt16LE(6, 32);
    file.writeUInt32LE(1, 44); file.writeUInt32LE(1, 48); file.writeUInt32LE(4096, 56); file.writeUInt32LE(0xfffffffe, 60); file.writeUInt32LE(0xfffffffe, 68);
    file.writeUInt32LE(0, 76); file.writeUInt32LE(0xfffffffd, 512); file.writeUInt32LE(1, 516); // the second sector's chain is a loop
    file.fill(0, 1024);
    Buffer.from('Root Entry\0', 'utf16le').copy(file, 1024);
    file.writeUInt16LE(22, 1024 + 64); file[1024 + 66] = 5; file.fill(0xff, 1024 + 68, 1024 + 76); file.writeUInt32LE(1, 1024 + 76);
    title.copy(file, 1152);
    file.writeUInt16LE(title.length, 1152 + 64); file[1152 + 66] = 2; file.fill(0xff, 1152 + 68, 1152 + 80);
    return file;
}

// `film` is an mp4, `song` an mp3, both sound.
export function* hostile({ film, song }) {
    const bomb = (size, mib) => zip([...around, { name: 'word/document.xml', data: inflating(`${XML}<w:document ${W}><w:body>`, mib, '</w:body></w:document>'), size, crc: 0, method: 8 }]);
    yield ['ten-gib.docx', bomb(0xfffffff0, 10240)];
    yield ['lying-size.docx', bomb(1000, 400)];
    yield ['200-mib.docx', bomb(200 * MIB + 200, 200)];
    yield ['bomb.xlsx', zip([...book, workbook, { name: 'xl/worksheets/sheet1.xml', data: inflating(`${XML}<worksheet ${S}><sheetData>`, 2000, '</sheetData></worksheet>'), size: 2000 * MIB, crc: 0, method: 8 }])];
    yield ['lying-packed-size.docx', zip([...around, { ...packed('word/document.xml', documentOf(paragraph('x'))), packedSize: 0x7fffffff }])];
    let inner = packed('0.txt', Buffer.alloc(MIB));
    for (let i = 0; i < 30; i++) inner = packed(`${i}.zip`, zip(Array(3).fill(inner).map((file, k) => ({ ...file, name: `${k}${file.name}` }))));
    yield ['nested.zip', zip([inner]), { light: true }];
    yield ['nested.docx', zip([...around, packed('word/document.xml', documentOf(paragraph('in it'))), { ...inner, name: 'word/embeddings/a.zip' }])];
    yield ['many.docx', zip(around.concat(Array.from({ length: 60000 }, (_, i) => ({ ...around[0], name: `word/${i}.xml` }))))];
    yield ['many.zip', zip(Array.from({ length: 60000 }, (_, i) => ({ ...around[0], name: `word/${i}.xml` })).concat(around)), { light: true }];
    yield ['external.docx', docx(paragraph('&e;'), external)];
    yield ['laughs.docx', docx(paragraph('&a30;'), laughs)];
    yield ['remote-dtd.docx', docx(paragraph('x'), '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">')];
    yield ['external.xlsx', xlsx(cell('A1', '&e;'), external)];
    yield ['laughs.xlsx', xlsx(cell('A1', '&a30;'), laughs)];
    yield ['laughs.svg', Buffer.from(`${XML}${laughs}<svg xmlns="http://www.w3.org/2000/svg"><text>&a30;</text></svg>`)];
    yield ['deep.docx', docx(nested('<w:tbl><w:tr><w:tc>', '</w:tc></w:tr></w:tbl>', 67000, paragraph('x')))];
    yield ['deep.xlsx', xlsx(nested('<x>', '</x>', 200000))];
    yield ['deep.html', Buffer.from(`<!doctype html><html><body>${nested('<div>', '</div>', 200000)}`)];
    yield ['open.html', Buffer.from(`<!doctype html><html><body>${'<div>'.repeat(MIB / 5)}`)];
    yield ['tables.html', Buffer.from(`<!doctype html><html><body>${'<table><tr><td colspan=999999999 rowspan=999999999>x'.repeat(9000)}`)];
    yield ['deep-svg.docx', docx(paragraph('x'), '', packed('word/media/image1.svg', `<svg xmlns="http://www.w3.org/2000/svg">${nested('<g>', '</g>', 200000)}</svg>`))];
    yield ['wide.docx', docx(`<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="999999999"/></w:tcPr>${paragraph('a')}</w:tc></w:tr><w:tr><w:tc>${paragraph('b')}</w:tc></w:tr></w:tbl>`)];
    yield ['last-cell.xlsx', xlsx(cell('A1', 'first') + cell('XFD1048576', 'last'))];
    yield ['merged.xlsx', zip([...book, workbook, packed('xl/worksheets/sheet1.xml', `${XML}<worksheet ${S}><sheetData>${cell('A1', 'x')}</sheetData><mergeCells count="1"><mergeCell ref="A1:XFD1048576"/></mergeCells></worksheet>`)])];
    yield ['strings.xlsx', xlsx('<row r="1"><c r="A1" t="s"><v>4294967295</v></c><c r="B1" t="s"><v>-1</v></c></row>', '', packed('xl/sharedStrings.xml', `${XML}<sst ${S} count="4294967295" uniqueCount="4294967295"><si><t>a</t></si></sst>`))];
    yield ['million.docx', docx('<w:p><w:r><w:t>a</w:t></w:r></w:p>'.repeat(1_000_000))];
    yield ['duplicates.docx', docx(paragraph('first'), '', packed('word/document.xml', documentOf(paragraph('second'))))];
    yield ['names.docx', docx(paragraph('x'), '', packed(`word/${'n'.repeat(65000)}`, 'x'))];
    yield ['upwards.docx', docx(paragraph('x'), '', packed('../../../etc/cron.d/x', 'x'))];
    yield ['locked.docx', zip([...around, { ...packed('word/document.xml', documentOf(paragraph('x'))), flags: 1 }])];
    yield ['cut.docx', docx(paragraph('x')).subarray(0, -30)];
    yield ['package.docx', compound('EncryptedPackage')];
    yield ['loop.doc', compound('WordDocument')];
    yield ['cut.pdf', whole.subarray(0, 150)];
    yield ['noise.pdf', Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(MIB)])];
    yield ['locked.pdf', pdf([catalog, pages('3 0 R'), page, stream('BT (x) Tj ET'), font, `<</Filter/Standard/V 2/R 3/Length 128/P -4/O<${'61'.repeat(32)}>/U<${'62'.repeat(32)}>>>`], '/Encrypt 6 0 R/ID[<00><00>]')];
    yield ['loop.pdf', pdf([catalog, '<</Type/Pages/Parent 2 0 R/Kids[2 0 R 2 0 R 3 0 R]/Count 99>>', page, stream('BT /F1 9 Tf (x) Tj ET'), font])];
    yield ['count.pdf', pdf([catalog, pages('3 0 R', 2147483647), page, stream('BT /F1 9 Tf (x) Tj ET'), font])];
    yield ['100-mib.pdf', pdf([catalog, pages('3 0 R'), page, stream(deflateSync(Buffer.alloc(100 * MIB, ' ')), '/Filter/FlateDecode'), font])];
    yield ['words.pdf', pdf([catalog, pages('3 0 R'), page, stream(deflateSync(`BT /F1 9 Tf ${'(words) Tj '.repeat(9_000_000)} ET`), '/Filter/FlateDecode'), font])];
    yield ['deep.pdf', pdf([catalog, pages('3 0 R'), page, stream('BT (x) Tj ET'), nested('[', ']', 200000)])];
    yield ['large.png', png(30000, 30000, deflateSync(Buffer.alloc(100 * MIB))), { untouched: true }];
    yield ['lying.png', png(0xffffffff, 0xffffffff, Buffer.alloc(8)), { untouched: true }];
    yield ['endless.mp4', Buffer.concat([ftyp, box('mdat', randomBytes(MIB), 0)])];
    yield ['long.mp4', Buffer.concat([ftyp, box('moov', mvhd), box('mdat', randomBytes(MIB), 0x7fffffff)])];
    yield ['deep.mp4', Buffer.concat([ftyp, ...Array(20000).fill(u32(0x7fffffff, 0x6d6f6f76)), mvhd])];
    const claims = Buffer.from(film);
    for (const type of ['mvhd', 'mdhd', 'tkhd'])
        for (let at = claims.indexOf(type); at >= 0; at = claims.indexOf(type, at + 4)) claims.writeUInt32BE(0x7fffffff, at + (type === 'tkhd' ? 24 : 20));
    yield ['claims.mp4', claims];
    yield ['cut.mp4', film.subarray(0, film.length >> 1)];
    yield ['lengths.mp3', Buffer.concat([Buffer.from('ID3\x04\0\0\x7f\x7f\x7f\x7f', 'latin1'), song])];
    yield ['noise.mp3', Buffer.concat([song.subarray(0, 2000), randomBytes(MIB / 2)])];
    yield ['four-gib.wav', wav(0xffffffff, 16000)];
    yield ['nothing.wav', wav(0, 0)];
    yield ['a.rar', Buffer.concat([Buffer.from('Rar!\x1a\x07\x01\0', 'latin1'), randomBytes(999)]), { light: true }];
    yield ['a.7z', Buffer.concat([Buffer.from('377abcaf271c0004', 'hex'), randomBytes(999)]), { light: true }];
    yield ['a.exe', Buffer.concat([Buffer.from('MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0', 'latin1'), Buffer.alloc(44), u32(0x80000000), randomBytes(999)]), { light: true }];
    yield ['exe.pdf', Buffer.concat([Buffer.from('\x7fELF\x02\x01\x01', 'latin1'), randomBytes(999)]), { light: true }];
    yield ['columns.csv', Buffer.from(`${'a,'.repeat(1_000_000)}a\n1\n`)];
    yield ['quote.csv', Buffer.from(`a,b\n"${'x""'.repeat(MIB)}`)];
    yield ['half.txt', Buffer.concat([Buffer.from('fffe', 'hex'), Buffer.from('words '.repeat(20), 'utf16le'), Buffer.from('3dd8', 'hex')])];
    yield ['odd.txt', Buffer.concat([Buffer.from('fffe', 'hex'), Buffer.from('words '.repeat(20), 'utf16le'), Buffer.from('41', 'hex')])];
    yield ['deep.rtf', Buffer.from(`{\\rtf1 ${nested('{', '}', 500000)}}`)];
    yield ['bin.rtf', Buffer.from('{\\rtf1 a\\bin2147483647 xyz}')];
    yield ['minus.rtf', Buffer.from('{\\rtf1 a\\bin-2147483648 \\u-99999999999 \\uc999999999 \\u65 xyz}')];
    const stored = (name, text) => ({ ...packed(name, text), data: Buffer.from(text), method: 0 });
    yield ['laughs.odt', zip([stored('mimetype', 'application/vnd.oasis.opendocument.text'), packed('content.xml', `${XML}${laughs}<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0">&a30;</office:document-content>`)])];
    yield ['bomb.epub', zip([stored('mimetype', 'application/epub+zip'), { name: 'META-INF/container.xml', data: inflating(XML, 400, '<container/>'), size: 100, crc: 0, method: 8 }])];
    yield ['deep.pptx', zip([types(['/ppt/presentation.xml', 'presentationml.presentation.main']), relations('_rels/.rels', ['officeDocument', 'ppt/presentation.xml']), packed('ppt/presentation.xml', nested('<p:x xmlns:p="p">', '</p:x>', 200000))])];
}
