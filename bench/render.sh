#!/usr/bin/env bash
# What each kind of document costs (docs/PERFORMANCE.md): builds the release, makes the sources, measures.
#
#   bench/render.sh [TIMES]    default 50
set -euo pipefail
cd "$(dirname "$0")/.."

times=${1-50}
cmake --preset release -Wno-dev >/dev/null
ninja -C build/release penstock-worker bench_render >/dev/null
sources=$(mktemp -d)
trap 'rm -rf "$sources"' EXIT

python3 - "$sources" <<'END'
import json, re, sys
folder = sys.argv[1]
reply = open("docs/gallery/reply.txt").read()
for meta, content in re.findall(r"<<<HW_ATTACHMENT\n(.*?)\n---\n(.*?)\nHW_ATTACHMENT>>>", reply, re.S):
    name = json.loads(meta)["filename"]
    open(f"{folder}/{name}.source", "w").write(content)
latin = open(f"{folder}/report.pdf.source").read().split("## In other scripts")[0]
page = "".join(c for c in latin if c < "\u0250")
open(f"{folder}/two-pages-latin", "w").write(page + "\n\n" + page.replace("# Q", "## Q"))
open(f"{folder}/pages", "w").write("\n\n".join(f"# Part {i}\n\n{page}" for i in range(50)))
row = lambda i: ",".join(f"{i * 10 + k}.5" if k % 2 else f"word {i % 97} {k}" for k in range(10))
open(f"{folder}/200,000-cells", "w").write("\n".join([",".join(f"column {k}" for k in range(10))] + [row(i) for i in range(20000)]))
open(f"{folder}/nothing", "w").write("{}")
END

export PENSTOCK_WORKER=$PWD/build/release/penstock-worker
echo '| format | source | outcome | bytes | ms until the answer, mean | best | CPU ms, median | best | peak MiB |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- |'
build/release/bench_render -n "$times" png "$sources/nothing" docx "$sources/two-pages-latin" docx "$sources/report.docx.source" \
  pptx "$sources/board.pptx.source" xlsx "$sources/ledger.xlsx.source" pdf "$sources/two-pages-latin" pdf "$sources/report.pdf.source" \
  png "$sources/sales.png.source" svg "$sources/tickets.svg.source"
build/release/bench_render -n "$((times / 10 + 1))" xlsx "$sources/200,000-cells" docx "$sources/pages" pdf "$sources/pages"
