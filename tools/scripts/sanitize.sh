#!/usr/bin/env bash
# Builds the runtime with Clang under sanitizers, runs its tests and trains compiled models on four ranks: asan
# (AddressSanitizer and UndefinedBehaviorSanitizer) and tsan (ThreadSanitizer). memcheck (Valgrind) does the same with
# the ordinary build, and finds what is used before it was written, in compiled models and libraries too. One line for
# each. Exit code 1 on a finding, whose report lies in runs/sanitize.
# Usage: sanitize.sh [asan|tsan|memcheck]...   (default: all)
set -euo pipefail
cd "$(dirname "$0")/../.."
known=(asan tsan memcheck)
presets=("$@")
[ $# -gt 0 ] || presets=("${known[@]}")
for preset in "${presets[@]}"; do
  if [[ " ${known[*]} " != *" $preset "* ]]; then
    echo "sanitize: there is no sanitizer '$preset'; usage: sanitize.sh [asan|tsan|memcheck]..." >&2
    exit 2
  fi
done

tools=/usr/lib/llvm-22/bin
if [ "${presets[*]}" != memcheck ]; then
  bash tools/scripts/require-clang.sh sanitize asan llvm-symbolizer || exit
fi
if [[ " ${presets[*]} " == *" memcheck "* ]] && ! command -v valgrind >/dev/null; then
  echo "sanitize: there is no valgrind; run as root: apt-get install valgrind" >&2
  exit 2
fi
if [ ! -x build/bin/tessera ]; then
  echo "sanitize: build/bin/tessera is missing, which compiles models; run: bash tools/scripts/build.sh --target tessera" >&2
  exit 2
fi

programs=(RuntimeTests RuntimeInternalTests RuntimeDeviceTests FaultTests FuzzReplayTests tessera-cpu-kernels-test)
# Valgrind has its own malloc, so none can be made to fail, and takes an hour for all sizes of kernels.
left_out=" FaultTests tessera-cpu-kernels-test "
# Collectives and messages between stages, in the background but for the last.
declare -A plans=(
  [dp]="--mesh dp=4 --micro-batches 2 --bucket-size 16KiB"
  [tp]="--mesh tp=4 --sequence-parallel"
  [dp-tp]="--mesh dp=2,tp=2 --zero 3"
  [cp]="--mesh cp=2,dp=2 --context-parallel ring"
  [pp]="--mesh pp=2,dp=2 --micro-batches 4 --schedule zero-bubble"
  [no-overlap]="--mesh pp=2,dp=2 --micro-batches 2 --no-overlap")
runs=$PWD/runs/sanitize
mkdir -p "$runs"
for name in serial "${!plans[@]}"; do
  read -ra flags <<<"${plans[$name]:-}"
  # For any CPU: Valgrind knows no AVX-512.
  build/bin/tessera compile test/Matrix/models/gpt2-tied.json --cpu x86-64 "${flags[@]}" -o "$runs/$name.tsr" >"$runs/compile.log" 2>&1 ||
    { cat "$runs/compile.log" >&2 && exit 1; }
done

export ASAN_SYMBOLIZER_PATH=$tools/llvm-symbolizer TSAN_SYMBOLIZER_PATH=$tools/llvm-symbolizer
export UBSAN_OPTIONS=print_stacktrace=1
# Runs a command; what it prints lies in a log with the given name.
run() {
  local name=$1 log=$runs/$preset/$1.log
  shift
  timeout 3600 "${checker[@]}" "$@" >"$log" 2>&1 && return
  echo "sanitize: $preset: $name FAILED (log: $log)"
  grep -m 1 -E 'runtime error|^SUMMARY|^==[0-9]+== [A-Z]|^\[  FAILED' "$log" || tail -n 3 "$log"
  failed=$((failed + 1))
}

code=0
builds=()
for program in "${programs[@]}" gpu-track gpu-steps; do builds+=(--target "$program"); done
for preset in "${presets[@]}"; do
  echo "sanitize: $preset: building"
  failed=0 start=$SECONDS bin=build-$preset/bin checker=()
  if [ "$preset" = memcheck ]; then
    bin=build/bin checker=(valgrind -q --error-exitcode=9 --trace-children=yes)
    bash tools/scripts/build.sh "${builds[@]}" release
  else
    bash tools/scripts/build.sh "${builds[@]}" "$preset"
  fi
  mkdir -p "$runs/$preset"
  for program in "${programs[@]}"; do
    [[ $preset = memcheck && $left_out = *" $program "* ]] || run "$program" "$bin/$program"
  done
  for name in "${!plans[@]}"; do
    run "training-$name" "$bin/gpu-track" "$runs/serial.tsr" "$runs/$name.tsr" 4 1e-4
    # With two threads of each rank; the last step is traced.
    run "threads-$name" "$bin/gpu-steps" "$runs/$name.tsr" 8 cpu "$runs/trace.json" <<<2
  done
  tests=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests\{0,1\}\..*/\1/p' "$runs/$preset"/*.log |
    awk '{ sum += $1 } END { print sum + 0 }')
  echo "sanitize: $preset: $tests tests and $((2 * ${#plans[@]})) trainings in $((SECONDS - start)) s, $failed programs failed"
  [ $failed -eq 0 ] || code=1
done
exit $code
