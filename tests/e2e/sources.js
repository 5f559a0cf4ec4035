// Sixty Markdown sources, always the same, each with the words that must be found in whatever is made of it.

import { tests as examples } from 'commonmark-spec';

// A small generator of numbers (mulberry32), so that a fault can be found again.
function random(seed) {
    return () => {
        seed = (seed + 0x6d2b79f5) | 0;
        let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

const LATIN = 'alpha beta gamma delta epsilon zeta theta kappa lambda sigma'.split(' ');
const SCRIPTS = {
    latin: 'Zürich naïve façade œuvre straße Łódź',
    cyrillic: 'быстрая лиса прыгает через собаку',
    greek: 'γρήγορη αλεπού πηδά',
    hebrew: 'שלום עולם טקסט בעברית',
    arabic: 'مرحبا بالعالم نص عربي',
    cjk: '日本語 中文 测试 文字',
    devanagari: 'हिन्दी पाठ',
    mixed: 'Report דוח 報告 отчёт',
};

export function sources() {
    const next = random(7);
    const upTo = (n) => Math.floor(next() * n);
    const word = () => `${LATIN[upTo(LATIN.length)]}${upTo(1000)}`;
    const words = (n) => Array.from({ length: n }, word).join(' ');
    const all = [];
    const add = (name, source, expected) => all.push({ name: `${String(all.length).padStart(2, '0')}-${name}`, source, words: expected ?? source.match(/[a-z]+\d+/g) ?? [] });

    for (let i = 0; i < 12; i++)
        add('text', Array.from({ length: 1 + upTo(20) }, (_, k) => `${'#'.repeat(1 + upTo(6))} Heading ${word()}\n\n${words(5 + upTo(150))}. **${word()}** and *${word()}*, \`${word()}\`, [${word()}](https://example.org/${k}).`).join('\n\n'));
    for (let i = 0; i < 12; i++) {
        const columns = 1 + upTo(18);
        const row = (cell) => `| ${Array.from({ length: columns }, cell).join(' | ')} |`;
        add('table', [row(word), row(() => ['---', ':--', '--:', ':-:'][upTo(4)]), ...Array.from({ length: 1 + upTo(90) }, () => row(() => words(upTo(5))))].join('\n'));
    }
    for (let i = 0; i < 10; i++)
        add('list', Array.from({ length: 60 }, () => `${'  '.repeat(upTo(8))}${['- ', '1. ', '* ', '- [x] '][upTo(4)]}${words(1 + upTo(12))}`).join('\n'));
    for (const [name, text] of Object.entries(SCRIPTS))
        add(name, `# ${text}\n\n${`${text} `.repeat(40)}\n\n- ${text}\n\n| ${text} | x |\n| --- | --- |\n| ${text} | y |\n\n> ${text}\n`, text.split(' '));
    const broken = ['**', '*', '`', '[', '](', ')', '|', '\n', '> ', '- ', '```\n', '\\', ' ', '##', '~~', '\n\n', '1. ', '| --- |'];
    for (let i = 0; i < 10; i++)
        add('broken', Array.from({ length: 300 }, () => (next() < 0.3 ? ` ${word()} ` : broken[upTo(broken.length)])).join(''));
    for (let i = 0; i < 8; i++)
        add('code', `\`\`\`js\n${Array.from({ length: 90 }, () => `${' '.repeat(upTo(30))}${word()} = "${'z'.repeat(upTo(120))}";`).join('\n')}\n\`\`\`\n`);
    return all;
}

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"' };

// The examples of CommonMark's specification, a source for each of its sections. What CommonMark itself makes of them says
// the words. Left out: markup, which no document shows, and what would swallow the next example.
export function commonMark() {
    const sections = new Map();
    for (const { section, markdown, html } of examples) {
        const fences = markdown.match(/^[ >\-→\t]*(```+|~~~+)/gm) ?? [];
        if (/HTML|reference definitions/.test(section) || /<[a-z!?/][^>]*$|<!--|<\?|<[a-z]+[ >\n]/im.test(markdown) || fences.length % 2) continue;
        if (!sections.has(section)) sections.set(section, { source: `# ${section}\n`, words: [] });
        const one = sections.get(section);
        one.source += `\n\n***\n\n${markdown.replaceAll('→', '\t')}\n`;
        const text = html.replace(/<[^>]*>/g, ' ').replace(/&(amp|lt|gt|quot);/g, (_, name) => ENTITIES[name]);
        one.words.push(...(text.match(/[\p{L}\p{N}]{3,}/gu) ?? []));
    }
    return [...sections].map(([section, one]) => ({ name: section.replace(/\W+/g, '-').toLowerCase(), ...one }));
}
