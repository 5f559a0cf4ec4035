#!/bin/sh
# The process that holds keys can reach no renderer, and the one that renders can reach no network code: told from what each
# program is linked with. Usage: isolation.sh PENSTOCK PENSTOCK-WORKER, both with their symbols.
set -eu

proxy=$1 worker=$2 failed=

# fails PROGRAM WHAT PATTERN: a line of the program's symbols or libraries matches.
fails() {
  if { nm "$1" && readelf -d "$1" | grep NEEDED; } | grep -E "$3" >&2; then
    echo "$1 holds $2" >&2
    failed=1
  fi
}

nm "$worker" | grep -q ' renderer_list$' && nm "$worker" | grep -q ' extractor_list$' || { echo "$worker has no symbols" >&2 && exit 1; }
nm "$proxy" | grep -q ' main$' || { echo "$proxy has no symbols" >&2 && exit 1; }

fails "$proxy" "renderers or what they draw with" \
  ' (render_(docx|xlsx|pptx|pdf|chart|csv|ics|zip)|renderer_(list|find)|markdown_|xlsx_|zip_|ics_|office_|chart_|draw_(colour|write|picture)|page_(begin|blocks|table|text_layout)|md_parse|cairo_|pango_|FcInit)|\[lib(cairo|pango|md4c|fontconfig|freetype|harfbuzz|expat|xml2)'
fails "$proxy" "extractors or what they read with" \
  ' (extract_[a-z]+_ops|extractor_list|pdf_text_|archive_|xml_(read|parse)|markup_|program_run|zip_|XML_|htmlParse)|\[lib(zip|poppler|sndfile|pocketsphinx|av)'
fails "$proxy" "the spawner or the cage" ' (spawner_run|child_run|program_(prepare|layers)|sandbox_enter|seccomp_)|\[libseccomp'
fails "$worker" "network, keys or stores" ' (http_|tls_|dialer_|config_load|store_open|records_open|SSL_|event_base)|\[lib(ssl|crypto|event|sqlite3|curl|yaml)'

[ -z "$failed" ]
