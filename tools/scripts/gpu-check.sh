#!/usr/bin/env bash
# Everything that needs a GPU, in one call of at most ten minutes.
#   gpu-check.sh --carry   on a machine with the compiler: writes build-gpu/carry: artifacts, what builds need and, where
#                          nvcc is, the programs
#   gpu-check.sh           on one with a GPU, but no LLVM and no network: takes the programs that were carried or, where
#                          they do not load, builds them with nvcc and cmake; runs the device's tests, trains carried
#                          artifacts and continues texts beside the CPU's, runs compute-sanitizer, measures GPT-2 of four
#                          sizes beside PyTorch and the time of each op; writes result.json and logs into build-gpu/out.
#                          Where $OUT names a folder it gets the result and the logs, packed
#   gpu-check.sh tests     without the measurements; gpu-check.sh bench [MODEL...]: those alone (124m 350m 774m 1558m)
#   gpu-check.sh calibrate writes build-gpu/out/machine.toml and what it predicts for the steps of the bench
# Each check has a limit, and all together $SECONDS_AT_MOST (570): what has no time left is said to be skipped, what was
# measured before stays. What is built is kept for the next call. Exit code 0: every check ran and passed.
set -uo pipefail
cd "$(dirname "$0")/../.."
carry=$PWD/build-gpu/carry
build=$PWD/build-gpu/build
out=$PWD/build-gpu/out
tiny=examples/gpt2-tiny
most=${SECONDS_AT_MOST:-570}
# Sequences of a step: what fits 80 GiB without recomputation.
declare -A batches=([124m]=32 [350m]=16 [774m]=12 [1558m]=8)

compile() { # name options...
  local name=$1
  shift
  build/bin/tessera compile "$@" -o "$carry/artifacts/$name.tsr" || exit 1
}

compile_artifacts() {
  mkdir -p "$carry/artifacts"
  local precision mesh model
  for precision in f32 bf16; do
    for mesh in serial tp=2 dp=2,tp=2; do
      local plan=(--batch 4 --seq-length 64 --precision $precision)
      [ $mesh = serial ] || plan+=(--mesh $mesh)
      compile tiny-$precision-$mesh.cpu $tiny "${plan[@]}" --cpu x86-64-v3
      compile tiny-$precision-$mesh.cuda $tiny "${plan[@]}" --device cuda:sm_90
    done
  done
  for precision in f32 bf16; do
    for mesh in serial ep=2,tp=2; do
      local experts=(examples/mixtral-tiny --batch 4 --seq-length 64 --precision $precision)
      [ $mesh = serial ] || experts+=(--mesh $mesh)
      compile mixtral-$precision-$mesh.cpu "${experts[@]}" --cpu x86-64-v3
      compile mixtral-$precision-$mesh.cuda "${experts[@]}" --device cuda:sm_90
    done
  done
  # Biases by distance; keys that go around a ring; rows of experts in rounds.
  for plan in "t5-f32 examples/t5-tiny --precision f32" "t5-bf16 examples/t5-tiny --precision bf16 --mesh tp=2" \
    "ring-f32 $tiny --precision f32 --mesh cp=2 --context-parallel ring" \
    "ring-bf16 $tiny --precision bf16 --mesh cp=2 --context-parallel ring" \
    "rounds-f32 examples/mixtral-tiny --precision f32 --mesh ep=2,tp=2 --expert-buffer 1"; do
    read -r -a plan <<<"$plan"
    compile "${plan[0]}.cpu" "${plan[@]:1}" --batch 4 --seq-length 64 --cpu x86-64-v3
    compile "${plan[0]}.cuda" "${plan[@]:1}" --batch 4 --seq-length 64 --device cuda:sm_90
  done
  # Texts: long enough for several splits of a cache, grouped heads, heads that share places, experts, biases.
  local long=$carry/llama-long
  mkdir -p "$long"
  sed 's/"max_position_embeddings": 128/"max_position_embeddings": 1024/' examples/llama-tiny/config.json >"$long/config.json"
  for plan in "texts-gpt2-f32 $tiny --precision f32" "texts-gpt2-bf16 $tiny --precision bf16 --mesh tp=2" \
    "texts-llama-f32 $long --precision f32" \
    "texts-llama-bf16 examples/llama-tiny --precision bf16 --mesh dp=2,tp=2" \
    "texts-shared-f32 examples/llama-tiny --precision f32 --mesh tp=4" \
    "texts-top-f32 examples/llama-tiny --precision f32 --mesh tp=2 --candidates 40" \
    "texts-int8-bf16 examples/llama-tiny --precision bf16 --weights int8" \
    "texts-mixtral-f32 examples/mixtral-tiny --precision f32 --mesh ep=2" "texts-t5-f32 examples/t5-tiny --precision f32"; do
    read -r -a plan <<<"$plan"
    compile "${plan[0]}.cpu" "${plan[@]:1}" --programs generate --max-batch 4 --cpu x86-64-v3
    compile "${plan[0]}.cuda" "${plan[@]:1}" --programs generate --max-batch 4 --device cuda:sm_90
  done
  for model in "${!batches[@]}"; do
    compile bench-$model bench/configs/gpt2-$model/config.json --batch "${batches[$model]}" --seq-length 1024 \
      --precision bf16 --device cuda:sm_90
  done
  compile bench-1558m-batch16 bench/configs/gpt2-1558m/config.json --batch 16 --seq-length 1024 \
    --precision bf16 --device cuda:sm_90
  compile bench-124m-no-gemm-epilogues bench/configs/gpt2-124m/config.json --batch "${batches[124m]}" \
    --seq-length 1024 --precision bf16 --device cuda:sm_90 --no-gemm-epilogues
}

# Debian's headers and libraries that a GPU machine may lack.
copy_packages() {
  local prefix=$carry/prefix libraries=/usr/lib/x86_64-linux-gnu
  mkdir -p "$prefix/include" "$prefix/lib/cmake" "$prefix/share/cmake"
  cp -r /usr/include/oneapi /usr/include/dnnl* /usr/include/nlohmann /usr/include/gtest "$prefix/include/"
  cp /usr/include/xxhash.h /usr/include/xxh3.h "$prefix/include/"
  cp -L $libraries/libdnnl.so.2 $libraries/libOpenCL.so.1 $libraries/libgtest.a $libraries/libgtest_main.a "$prefix/lib/"
  ln -sf libdnnl.so.2 "$prefix/lib/libdnnl.so"
  cp -r /usr/share/cmake/nlohmann_json "$prefix/share/cmake/"
}

programs=(GpuTests tessera-attention-gpu-test gpu-track gpu-texts gpu-steps gpu-limits gpu-experts gpu-products)

# The runtime and its tests alone.
configure() { # options...
  local nvcc
  nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
  cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DTESSERA_BUILD_COMPILER=OFF -DTESSERA_CUDA=ON \
    -DCMAKE_CUDA_COMPILER="$nvcc" "$@"
}

# Built here: time on a machine with a GPU is dear.
copy_programs() {
  command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || return 0
  local launcher=()
  [ ! -x /usr/bin/ccache ] || launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=/usr/bin/ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=/usr/bin/ccache)
  configure "${launcher[@]}" >/dev/null || return 1
  cmake --build "$build" -j "$(nproc)" --target "${programs[@]}" tessera_cuda >/dev/null || return 1
  mkdir -p "$carry/programs/bin" "$carry/programs/lib"
  cp "${programs[@]/#/$build/bin/}" "$carry/programs/bin/"
  cp -a "$build"/lib/libtessera_runtime.so* "$build"/lib/libtessera_cuda.so "$carry/programs/lib/"
  strip "$carry"/programs/bin/* "$carry"/programs/lib/*.so*
}

# The compiler, which needs no LLVM beside it, for calibration.
copy_compiler() {
  local compiler=build/bin/tessera
  [ -x $compiler ] || return 0
  mkdir -p "$carry/compiler/bin" "$carry/compiler/lib"
  strip -o "$carry/compiler/bin/tessera" $compiler || return 1
  # Libraries that a GPU machine has itself, and those that are carried anyway, stay here.
  ldd $compiler | awk '$3 ~ /^\// {print $3}' | grep -v -E '/lib(c|m|stdc\+\+|gcc_s|dnnl|OpenCL|tessera_runtime)\.so' |
    xargs -I{} cp -L {} "$carry/compiler/lib/"
}

if [ "${1:-}" = --carry ]; then
  [ -x build/bin/tessera ] || { echo "gpu-check: build/bin/tessera is missing; run tools/scripts/quickstart.sh" >&2; exit 1; }
  rm -rf "$carry"
  compile_artifacts
  copy_packages || exit 1
  copy_programs || exit 1
  copy_compiler || exit 1
  # Packed, with a window over all programs, which share most of their code: what travels to the other machine may be
  # limited.
  (cd "$carry" && tar -cf - -- * | xz -T1 --lzma2=preset=6,dict=192MiB >../packed.tar.xz && rm -rf -- * && mv ../packed.tar.xz .) || exit 1
  echo "gpu-check: carry build-gpu/carry ($(du -sh "$carry" | cut -f1)) beside the sources"
  exit 0
fi

[ -d "$carry" ] || { echo "gpu-check: build-gpu/carry is missing; run gpu-check.sh --carry where the compiler is" >&2; exit 1; }
[ -d "$carry/prefix" ] || tar -C "$carry" -xJf "$carry/packed.tar.xz" || exit 1
rm -rf "$out"
mkdir -p "$out"
results=$out/results.tsv
: >"$results"
failures=0

check() { # name seconds command...
  local name=$1 limit=$2 start=$SECONDS code
  shift 2
  [ $((most - SECONDS)) -ge "$limit" ] || limit=$((most - SECONDS))
  if [ "$limit" -lt 5 ]; then
    printf '%s\tskipped\t0\n' "$name" >>"$results"
    failures=$((failures + 1))
    echo "gpu-check: $name was skipped, the $most s are over; run gpu-check.sh again with a part"
    return 1
  fi
  # A shell of its own: the command may be a function.
  timeout "$limit" bash -c '"$@"' check "$@" >"$out/$name.log" 2>&1
  code=$?
  printf '%s\t%s\t%s\n' "$name" "$code" "$((SECONDS - start))" >>"$results"
  [ $code -eq 0 ] || { failures=$((failures + 1)); echo "gpu-check: $name failed ($code)"; tail -n 15 "$out/$name.log"; }
  return $code
}

configure_here() {
  ln -sf libdnnl.so.2 "$carry/prefix/lib/libdnnl.so"
  configure -DCMAKE_PREFIX_PATH="$carry/prefix" -DCMAKE_BUILD_RPATH="$carry/prefix/lib" \
    -DCMAKE_EXE_LINKER_FLAGS="-Wl,-rpath-link,$carry/prefix/lib"
}

# Attention by Tessera's kernels, where cuDNN's is the rule.
track_own() { TESSERA_CUDNN=off track "$@"; }

track() { # found, tolerance, steps: beside the CPU's artifact
  "$build/bin/gpu-track" "$carry/artifacts/$1.cpu.tsr" "$carry/artifacts/$1.cuda.tsr" "${3:-50}" "$2"
}

texts() { # found, tolerance of a log-probability: beside the CPU's artifact
  "$build/bin/gpu-texts" "$carry/artifacts/$1.cpu.tsr" "$carry/artifacts/$1.cuda.tsr" "$2"
}

# This GPU as a cluster, and what is predicted for the benchmark's steps with it; GNU ld links.
calibrate() { # MODEL:SEQUENCES...
  [ -x "$carry/compiler/bin/tessera" ] || { echo "no compiler was carried"; return 1; }
  export LD_LIBRARY_PATH=$build/lib:$LD_LIBRARY_PATH:$carry/compiler/lib TESSERA_LINKER
  TESSERA_LINKER=$(command -v ld.lld || command -v ld)
  "$carry/compiler/bin/tessera" calibrate --device cuda -o "$out/machine.toml" || return 1
  local pair
  for pair in "$@"; do
    "$carry/compiler/bin/tessera" simulate "bench/configs/gpt2-${pair%:*}/config.json" --batch "${pair#*:}" \
      --seq-length 1024 --precision bf16 --device cuda:sm_90 --cluster "$out/machine.toml" || return 1
  done
}

export carry build out
export -f calibrate configure configure_here track track_own texts

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader >"$out/gpu.txt" 2>&1
# CUDA's libraries may be there only as Python's packages of them.
packaged=$(python3 -c 'import glob, site; print(":".join(g for s in site.getsitepackages() for g in glob.glob(s + "/nvidia/*/lib")))')
export LD_LIBRARY_PATH=$carry/prefix/lib:/usr/local/cuda/lib64${packaged:+:$packaged}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# Succeeds if programs that were carried find every library here.
can_run_carried() {
  [ -x "$carry/programs/bin/GpuTests" ] || return 1
  local missing
  missing=$(LD_LIBRARY_PATH=$carry/programs/lib:$LD_LIBRARY_PATH ldd "$carry"/programs/bin/* "$carry"/programs/lib/*.so 2>&1 | grep -E "not found|error")
  [ -z "$missing" ] || { echo "gpu-check: carried programs do not load here, so they are built: $missing"; return 1; }
  build=$carry/programs
  export LD_LIBRARY_PATH=$build/lib:$LD_LIBRARY_PATH
}

run_tests() {
  check device-tests 120 "$build/bin/GpuTests"
  check attention-tests 90 "$build/bin/tessera-attention-gpu-test"
  # Sums in another order: f32 drifts slowly, bf16 by its rounding.
  for name in f32-serial f32-tp=2 f32-dp=2,tp=2; do check "track-$name" 30 track "tiny-$name" 2e-3; done
  for name in bf16-serial bf16-tp=2 bf16-dp=2,tp=2; do check "track-$name" 30 track "tiny-$name" 3e-2; done
  for name in t5-f32 ring-f32 rounds-f32; do check "track-$name" 30 track "$name" 2e-3; done
  check track-ring-bf16 30 track ring-bf16 3e-2
  # After 50 steps the CPU's own losses of tp=2 and serial are 5e-2 apart (and near 0), after 20 they are 1e-2 apart.
  check track-t5-bf16 30 track t5-bf16 3e-2 20
  check track-own-attention 30 track_own tiny-bf16-serial 3e-2
  # In bf16 a tie of two experts falls the other way sooner or later, and losses part.
  for mesh in serial ep=2,tp=2; do
    check "track-mixtral-f32-$mesh" 30 track "mixtral-f32-$mesh" 2e-3
    check "track-mixtral-bf16-$mesh" 30 track "mixtral-bf16-$mesh" 3e-2 10
  done
  # Log-probabilities; texts may part where two tokens are as good as equally probable.
  for name in gpt2-f32 llama-f32 shared-f32 top-f32 mixtral-f32 t5-f32; do check "texts-$name" 30 texts "texts-$name" 1e-3; done
  for name in gpt2-bf16 llama-bf16 int8-bf16; do check "texts-$name" 30 texts "texts-$name" 1e-1; done
  check speed-experts 30 "$build/bin/gpu-experts"
  if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck; do
      check sanitizer-$tool 60 compute-sanitizer --tool $tool --error-exitcode 9 "$build/bin/gpu-track" \
        "$carry/artifacts/tiny-f32-serial.cpu.tsr" "$carry/artifacts/tiny-f32-serial.cuda.tsr" 1 2e-3
    done
  else
    echo "gpu-check: compute-sanitizer is missing; memcheck and racecheck were not run"
  fi
}

# Summarizes the results so far: the bench may be ended by its caller.
summarize() {
  python3 - "$out" <<'PY'
import json, os, sys
out = sys.argv[1]
rows = [line.rstrip("\n").split("\t") for line in open(f"{out}/results.tsv")]
checks = {name: {"exit_code": code if code == "skipped" else int(code), "seconds": int(seconds)}
          for name, code, seconds in rows}
for name in checks:
    if name.startswith(("track-", "texts-", "speed-")) and checks[name]["exit_code"] != "skipped":
        checks[name]["output"] = open(f"{out}/{name}.log").read()[-2000:]
result = {"gpu": open(f"{out}/gpu.txt").read().strip(), "checks": checks}
if "bench" in checks and os.path.exists(f"{out}/bench.json"):
    result["bench"] = json.load(open(f"{out}/bench.json"))
json.dump(result, open(f"{out}/result.json", "w"), indent=1)
PY
  [ -z "${OUT:-}" ] || { mkdir -p "$OUT" && cp "$out/result.json" $(ls "$out"/*.toml 2>/dev/null) "$OUT" && tar -C "$out" -czf "$OUT/logs.tar.gz" .; }
}

run_calibrate() {
  local pairs=() model
  for model in "${!batches[@]}"; do pairs+=("$model:${batches[$model]}"); done
  check calibrate 240 calibrate "${pairs[@]}"
}

# The last: it takes what time there is.
run_bench() { # MODEL...
  check bench $((most - SECONDS)) \
    python3 bench/gpu/run.py "$carry" "$build" "$out/bench.json" $((most - SECONDS - 10)) "$@"
}

part=${1:-all}
[ $# -eq 0 ] || shift
if can_run_carried ||
  { check configure 60 configure_here && check build 240 cmake --build "$build" -j "$(nproc)"; }; then
  case $part in
  tests) run_tests ;;
  calibrate) run_calibrate ;;
  bench) run_bench "$@" ;;
  *) run_tests; summarize; run_bench "$@" ;;
  esac
fi
summarize
echo "gpu-check: $(wc -l <"$results") checks, $failures failed; ${OUT:-$out}/result.json"
[ "$failures" -eq 0 ]
