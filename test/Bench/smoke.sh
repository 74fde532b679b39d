#!/usr/bin/env bash
# bench/run.sh on a tiny model, every part of it. Usage: smoke.sh build-folder
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
tiny=$root/examples/gpt2-tiny/config.json
export TESSERA_BENCH_NO_BUILD=1 TESSERA_BENCH_ANY_BUILD=1 PYTHONDONTWRITEBYTECODE=1
bash "$root/bench/run.sh" --build "$1" --model "$tiny" --large "$tiny" --large-mesh tp=2 --sizes 2x8 --mesh-size 2x8 \
  --rounds 1 --steps 2 --compile-runs 1 --no-peers --output "$out" >"$out/table"
for part in '2 x 8' 'tp=2' 'dp=2' 'compile large'; do
  grep -qF "$part" "$out/table" || { echo "the table lacks '$part':"; cat "$out/table"; exit 1; }
done
grep -q '"failed"' "$out"/*.json && { echo "a command failed:"; cat "$out/table"; exit 1; }
grep -q '</svg>' "$out"/*.svg
