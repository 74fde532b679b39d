#!/usr/bin/env bash
# usage: gpu-run.sh; bench/gpu/run.py with stand-ins for the programs it starts. Nothing is measured: what is tested is
# that results are put together, and that what fails or has no time is said and the rest kept.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin"
cat >"$work/bin/gpu-limits" <<'EOF'
#!/bin/sh
echo '{"matmul_tflops": 800.0, "copy_gbytes_per_second": 4000.0}'
EOF
cat >"$work/bin/gpu-steps" <<'EOF'
#!/bin/sh
case $1 in *350m*) echo 'no such artifact' >&2; exit 1 ;; esac
echo '{"report": {"flops": 8e12, "tokens_per_step": 4096}, "model": {"batch": 4, "sequence": 1024}, "arena": {"bytes": 7}}'
second=0.02
[ "${TESSERA_CUDNN:-on}" = on ] || second=0.04
while read -r count; do
  printf '{"seconds": [%s' $second
  i=1; while [ $i -lt "$count" ]; do printf ', %s' $second; i=$((i + 1)); done
  echo ']}'
done
EOF
chmod +x "$work"/bin/*
python3 "$source/bench/gpu/run.py" "$work" "$work" "$work/out.json" 60 124m 350m >/dev/null
python3 "$source/bench/gpu/run.py" "$work" "$work" "$work/late.json" 1 124m >/dev/null && exit 1
python3 - "$work" <<'PY'
import json, sys
out, late = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("out", "late"))
assert out["limits"]["matmul_tflops"] == 800, out
tessera = out["models"]["124m"]["tessera"]
assert tessera["tokens_per_second"] == 204800 and tessera["tflops"] == 400, tessera
assert tessera["share_of_matmul_limit"] == 0.5 and tessera["memory_bytes"] == 7, tessera
without = out["models"]["124m"]["tessera without cuDNN"]
assert without["tokens_per_second"] == 102400, without
# There is no GPU, so PyTorch fails or is missing: said, and no ratio is made up.
assert all("error" in value for name, value in out["models"]["124m"].items() if name.startswith("pytorch")), out
assert "times_pytorch" not in out["models"]["124m"], out
assert out["models"]["350m"] == {"tessera": {"error": "no such artifact"}}, out
assert late["models"]["124m"] == {"tessera": {"error": "no time left"}}, late
PY
