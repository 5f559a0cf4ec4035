#!/usr/bin/env bash
# Starts Penstock in the foreground for a benchmark: one worker, every request a consult, the upstream from BENCH_MOCK_URL.
#   PRODUCT_CMD='exec bench/product.sh' PRODUCT_URL=http://127.0.0.1:19000 …/run.sh full
# PENSTOCK names the binary, PORT and ADMIN_PORT the ports (19000, 19001).
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
: "${BENCH_MOCK_URL:?the upstream, such as http://127.0.0.1:18080}"
penstock=${PENSTOCK:-$here/build/release/penstock}
dir=$(mktemp -d "${TMPDIR:-/tmp}/penstock-bench.XXXXXX")
cat >"$dir/penstock.yaml" <<YAML
state_dir: $dir/state
workers: 1
listen: [{address: "127.0.0.1:${PORT:-19000}"}]
admin: {address: "127.0.0.1:${ADMIN_PORT:-19001}"}
default_provider: openai
providers:
  - {name: openai, dialect: openai, base_url: "$BENCH_MOCK_URL"}
log: {level: warning}
YAML
exec "$penstock" serve --config "$dir/penstock.yaml"
