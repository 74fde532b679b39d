#!/usr/bin/env bash
# Fuzzes what reads files and messages of strangers, each target for an equal share of MINUTES, under AddressSanitizer
# and UndefinedBehaviorSanitizer; prints executions and covered lines of each parser. Exit code 1 on a finding, whose
# input lies in runs/fuzz/findings/TARGET.
# Usage: fuzz.sh MINUTES [TARGET...]   (targets: test/Fuzz/Runtime/Targets.def)
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=test/Fuzz/Runtime
mapfile -t known < <(sed -n 's/^FUZZ_TARGET(\(.*\))$/\1/p' $folder/Targets.def)

usage() {
  echo "fuzz: $1; usage: fuzz.sh MINUTES [TARGET...], targets are ${known[*]}" >&2
  exit 2
}
[[ ${1:-} =~ ^[0-9]{1,6}$ && 10#$1 -gt 0 ]] || usage "MINUTES is '${1:-}', expected a whole number above 0"
minutes=$((10#$1))
shift
targets=("$@")
[ $# -gt 0 ] || targets=("${known[@]}")
for target in "${targets[@]}"; do
  [[ " ${known[*]} " == *" $target "* ]] || usage "there is no target '$target'"
done

tools=/usr/lib/llvm-22/bin
for file in /usr/bin/clang++-22 $tools/../lib/clang/22/lib/linux/libclang_rt.fuzzer-x86_64.a $tools/llvm-cov; do
  if [ ! -e "$file" ]; then
    echo "fuzz: $file is missing; run as root: apt-get install --no-install-recommends clang-22 libclang-rt-22-dev llvm-22" >&2
    exit 2
  fi
done
builds=()
for target in "${targets[@]}"; do builds+=(--target "Fuzz$target"); done
echo "fuzz: building"
bash tools/scripts/build.sh "${builds[@]}" fuzz

# New inputs that reach more are kept in runs/fuzz/corpus, for the next time.
runs=$PWD/runs/fuzz
seconds=$((minutes * 60 / ${#targets[@]}))
[ $seconds -gt 0 ] || seconds=1
export UBSAN_OPTIONS=print_stacktrace=1
code=0
for target in "${targets[@]}"; do
  found=$runs/findings/$target log=$runs/$target.log
  mkdir -p "$found" "$runs/corpus/$target"
  status=0
  LLVM_PROFILE_FILE=$runs/$target.profraw "build-fuzz/bin/Fuzz$target" -max_total_time=$seconds -timeout=25 \
    -rss_limit_mb=2048 -dict=$folder/$target.dict -artifact_prefix="$found/" -print_final_stats=1 \
    "$runs/corpus/$target" "$folder/corpus/$target" >"$log" 2>&1 || status=$?
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  echo "fuzz: $target: ${executions:-?} executions in $seconds s"
  if [ $status -ne 0 ]; then
    code=1
    grep -m 1 -E 'runtime error|^SUMMARY|does not hold|ERROR: libFuzzer' "$log" || tail -n 3 "$log"
    echo "fuzz: $target: FOUND something (log: $log); its inputs are in $found; once mended, add them to $folder/corpus/$target"
  fi
done

# Covered lines of the parsers that a target reaches at all.
for target in "${targets[@]}"; do
  [ -s "$runs/$target.profraw" ] || continue
  $tools/llvm-profdata merge -o "$runs/$target.profdata" "$runs/$target.profraw"
  echo "fuzz: covered lines, $target:"
  $tools/llvm-cov export -summary-only -instr-profile="$runs/$target.profdata" "build-fuzz/bin/Fuzz$target" \
    $PWD/runtime >"$runs/$target.json" 2>/dev/null
  python3 - "$runs/$target.json" "$PWD/" <<'END'
import json, sys
for file in json.load(open(sys.argv[1]))["data"][0]["files"]:
    lines = file["summary"]["lines"]
    if lines["covered"]:
        print(f"  {lines['covered']:4} of {lines['count']:4} ({lines['percent']:3.0f} %)  {file['filename'].replace(sys.argv[2], '')}")
END
done
exit $code
