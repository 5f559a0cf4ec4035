#!/usr/bin/env bash
# What each kind of attached document costs (docs/PERFORMANCE.md): builds the release, makes the sources, measures.
# Needs python3, ffmpeg and flite.
#
#   bench/convert.sh [TIMES]    default 30
set -euo pipefail
cd "$(dirname "$0")/.."

times=${1-30}
cmake --preset release -Wno-dev >/dev/null
ninja -C build/release penstock penstock-worker bench_render >/dev/null
sources=$(mktemp -d)
trap 'rm -rf "$sources"' EXIT

# About 50,000 characters of headings, paragraphs, a list and a table; 10,000 cells; the same as every kind.
python3 - "$sources" <<'END_PYTHON'
import json, sys, zipfile
folder = sys.argv[1]
words = "market price region total growth share order invoice customer report quarter margin".split()
text = lambda i, n: " ".join(words[(i * 7 + k * 5 + k // 3) % len(words)] for k in range(n))
table = [[f"column {k}" for k in range(5)]] + [[f"{text(i + k, 2)} {i}" for k in range(5)] for i in range(40)]
parts = [(f"Part {i}", [text(i + j, 70) for j in range(4)]) for i in range(20)]
cells = [[f"column {k}" for k in range(10)]] + [[f"{i * 10 + k}.5" if k % 2 else f"{text(i + k, 1)} {i}" for k in range(10)] for i in range(1000)]
open(f"{folder}/10,000-cells.csv", "w").write("\n".join(",".join(row) for row in cells) + "\n")
row = lambda r, tag: "<tr>" + "".join(f"<{tag}>{c}</{tag}>" for c in r) + "</tr>"
html = "".join(f"<h2>{h}</h2>" + "".join(f"<p>{p}</p>" for p in ps) for h, ps in parts) + "<table>" + row(table[0], "th") + "".join(row(r, "td") for r in table[1:]) + "</table>"
open(f"{folder}/text.html", "w").write(f"<!doctype html><html><head><title>t</title><style>p{{}}</style></head><body>{html}</body></html>")
rtf = "".join(rf"\pard\outlinelevel1 {h}\par" + "".join(rf"\pard\outlinelevel9 {p}\par" for p in ps) for h, ps in parts)
rtf += "".join(r"\trowd\cellx1\cellx2\cellx3\cellx4\cellx5\pard\intbl " + "".join(rf"{c}\cell " for c in r) + r"\row" for r in table)
open(f"{folder}/text.rtf", "w").write(r"{\rtf1\ansi " + rtf + "}")
markdown = "\n\n".join(f"## {h}\n\n" + "\n\n".join(ps) for h, ps in parts) + "\n\n" + "\n".join("| " + " | ".join(r) + " |" for r in [table[0], ["---"] * 5, *table[1:]])
slides = "\n\n".join(f"## {h}\n\n- {ps[0][:200]}\n- {ps[1][:200]}" for h, ps in parts)
directive = lambda name, content: f'<<<HW_ATTACHMENT\n{json.dumps({"filename": name, "format": name.split(".")[-1]})}\n---\n{content}\nHW_ATTACHMENT>>>\n'
sheet = "\n".join(",".join(r) for r in cells)
open(f"{folder}/reply.txt", "w").write(directive("text.docx", markdown) + directive("text.pdf", markdown) + directive("slides.pptx", slides) + directive("10,000-cells.xlsx", sheet))
content = "".join(f'<text:h text:outline-level="2">{h}</text:h>' + "".join(f"<text:p>{p}</text:p>" for p in ps) for h, ps in parts)
names = " ".join(f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in ("office", "text", "table"))
with zipfile.ZipFile(f"{folder}/text.odt", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("mimetype", "application/vnd.oasis.opendocument.text", zipfile.ZIP_STORED)
    z.writestr("content.xml", f'<?xml version="1.0"?><office:document-content {names} office:version="1.2"><office:body><office:text>{content}</office:text></office:body></office:document-content>')
    z.writestr("META-INF/manifest.xml", '<?xml version="1.0"?><m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><m:file-entry m:full-path="/" m:media-type="application/vnd.oasis.opendocument.text"/></m:manifest>')
with zipfile.ZipFile(f"{folder}/text.epub", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
    z.writestr("META-INF/container.xml", '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="b.opf" media-type="application/oebps-package+xml"/></rootfiles></container>')
    z.writestr("b.opf", '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>t</dc:title></metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>')
    z.writestr("a.xhtml", f'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body>{html}</body></html>')
END_PYTHON
build/release/penstock extract "$sources/reply.txt" --out "$sources" >/dev/null 2>&1
said='the quarterly report says that sales grew in every region and that the margin is better than it was a year ago'
flite -voice rms -t "$said and $said" -o "$sources/said.wav"
quiet=(ffmpeg -v error -y)
"${quiet[@]}" -i "$sources/said.wav" -t 10 -ar 16000 -ac 1 "$sources/10-s.wav"
"${quiet[@]}" -i "$sources/10-s.wav" "$sources/10-s.mp3"
"${quiet[@]}" -f lavfi -i testsrc=size=1280x720:rate=25:duration=10 -i "$sources/10-s.wav" -g 25 -pix_fmt yuv420p "$sources/10-s.mp4"

export PENSTOCK_WORKER=$PWD/build/release/penstock-worker
echo '| format | source | outcome | bytes | ms until the answer, mean | best | CPU ms, median | best | peak MiB |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- |'
for kind in pdf docx xlsx html csv rtf pptx odt epub; do
    for file in "$sources"/*."$kind"; do
        # A reader that this build does not have is left out.
        if [ -e "attachments/extract_$kind.c" ]; then build/release/bench_render -n "$times" "text:$kind" "$file"; fi
    done
done
build/release/bench_render -n "$((times / 5 + 1))" text:audio "$sources/10-s.wav" text:audio "$sources/10-s.mp3" text:video "$sources/10-s.mp4"
