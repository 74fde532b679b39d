#!/usr/bin/env bash
# usage: gpu-run.sh; bench/gpu/run.py with stand-ins for the programs it starts. Nothing is measured: what is tested is
# that results are put together, and that what fails or has no time is said and the rest kept.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/artifacts"
touch "$work/artifacts/bench-124m.tsr" "$work/artifacts/bench-124m-no-gemm-epilogues.tsr"
cat >"$work/bin/gpu-limits" <<'EOF'
#!/bin/sh
echo '{"matmul_tflops": 800.0, "copy_gbytes_per_second": 4000.0}'
EOF
cat >"$work/bin/gpu-steps" <<'EOF'
#!/bin/sh
case $1 in *350m*) echo 'no such artifact' >&2; exit 1 ;; esac
echo '{"report": {"flops": 8e12, "tokens_per_step": 4096}, "model": {"batch": 4, "sequence": 1024}, "arena": {"bytes": 7},' \
  '"ops": [{"op": "launch", "kernel": "kernel_0_add", "bytes": 200000},' \
  '{"op": "gemm", "phase": "forward", "name": "h.0.mlp", "flops": 8e9},' \
  '{"op": "gemm", "phase": "forward", "name": "h.1.mlp", "flops": 8e9}]}'
if [ -n "$4" ]; then # a launch of 50 us, then two products of 20 us each, 10 us of nothing between them
  cat >"$4" <<'TRACE'
{"traceEvents": [{"name": "process_name", "ph": "M", "pid": 0},
 {"ph": "X", "pid": 0, "ts": 0, "dur": 50, "args": {"op": 0}}, {"ph": "X", "pid": 0, "ts": 50, "dur": 20, "args": {"op": 1}},
 {"ph": "X", "pid": 0, "ts": 80, "dur": 20, "args": {"op": 2}}, {"ph": "X", "pid": 1, "ts": 0, "dur": 9, "args": {"op": 0}}]}
TRACE
fi
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
ops = out["models"]["124m"]["ops"]
kernel, product = ops.pop("ops")
assert ops == {"step_microseconds": 100, "share_of_products_and_attention": 0.4, "share_of_kernels": 0.5,
               "kernels_share_of_copy_limit": 0.001}, ops
assert kernel == {"what": "kernel_0_add", "calls": 1, "microseconds": 50, "share_of_step": 0.5, "gbytes_per_second": 4.0,
                  "share_of_copy_limit": 0.001}, kernel
assert product == {"what": "gemm forward h.*.mlp", "calls": 2, "microseconds": 40, "share_of_step": 0.4, "tflops": 400.0,
                   "share_of_matmul_limit": 0.5}, product
variant = out["models"]["124m"]["tessera no-gemm-epilogues"]
assert variant == tessera, variant
# There is no GPU, so PyTorch fails or is missing: said, and no ratio is made up.
assert all("error" in value for name, value in out["models"]["124m"].items() if name.startswith("pytorch")), out
assert "times_pytorch" not in out["models"]["124m"], out
assert out["models"]["350m"] == {"tessera": {"error": "no such artifact"}}, out
assert late["models"]["124m"] == {"tessera": {"error": "no time left"}}, late
PY
