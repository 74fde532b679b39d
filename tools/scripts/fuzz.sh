#!/usr/bin/env bash
# Fuzzes what reads files and messages of strangers, each target for an equal share of MINUTES, under AddressSanitizer
# and UndefinedBehaviorSanitizer; then prints how many lines of each parser the committed corpus covers. Exit code 1 on
# a finding, whose input lies in runs/fuzz/findings/TARGET, and where a corpus covers too little of a parser.
# Usage: fuzz.sh MINUTES [TARGET...]   (targets: test/Fuzz/*/Targets.def)
set -euo pipefail
cd "$(dirname "$0")/../.."
least=90 # percent of the lines of a parser
declare -A folder parsers
known=()
for table in test/Fuzz/*/Targets.def; do
  while IFS=, read -r name files; do
    known+=("$name")
    folder[$name]=$(dirname "$table")
    parsers[$name]=${files//,/}
  done < <(sed -n 's/^FUZZ_TARGET(\(.*\))$/\1/p' "$table")
done

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
bash tools/scripts/require-clang.sh fuzz fuzzer llvm-cov || exit
builds=()
for target in "${targets[@]}"; do builds+=(--target "Fuzz$target"); done
echo "fuzz: building"
bash tools/scripts/build.sh "${builds[@]}" fuzz

# New inputs that reach more are kept in runs/fuzz/corpus, for the next time.
runs=$PWD/runs/fuzz
seconds=$((minutes * 60 / ${#targets[@]}))
[ $seconds -gt 0 ] || seconds=1
export UBSAN_OPTIONS=print_stacktrace=1
# LLVM's arenas poison what they have not handed out, and its libraries, which are not instrumented, hand it out.
export ASAN_OPTIONS=allow_user_poisoning=0
code=0
for target in "${targets[@]}"; do
  found=$runs/findings/$target log=$runs/$target.log corpus=${folder[$target]}/corpus/$target
  mkdir -p "$found" "$runs/corpus/$target"
  status=0
  LLVM_PROFILE_FILE=/dev/null "build-fuzz/bin/Fuzz$target" -max_total_time=$seconds -timeout=25 -rss_limit_mb=2048 \
    -dict="${folder[$target]}/$target.dict" -artifact_prefix="$found/" -print_final_stats=1 \
    "$runs/corpus/$target" "$corpus" >"$log" 2>&1 || status=$?
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  echo "fuzz: $target: ${executions:-?} executions in $seconds s"
  if [ $status -ne 0 ]; then
    code=1
    grep -m 1 -E 'runtime error|^SUMMARY|does not hold|ERROR: libFuzzer' "$log" || tail -n 3 "$log"
    echo "fuzz: $target: FOUND something (log: $log); its inputs are in $found; once mended, add them to $corpus"
  fi
done

echo "fuzz: lines that the committed corpora cover:"
for target in "${targets[@]}"; do
  profile=$runs/$target.profdata
  if ! LLVM_PROFILE_FILE=$runs/$target.profraw "build-fuzz/bin/Fuzz$target" -runs=0 -timeout=25 -rss_limit_mb=2048 \
    "${folder[$target]}/corpus/$target" >"$runs/$target.replay.log" 2>&1; then
    code=1
    echo "  $target: its corpus holds a finding (log: $runs/$target.replay.log)"
    continue
  fi
  $tools/llvm-profdata merge -o "$profile" "$runs/$target.profraw"
  read -ra files <<<"${parsers[$target]}"
  $tools/llvm-cov export -summary-only -instr-profile="$profile" "build-fuzz/bin/Fuzz$target" "${files[@]/#/$PWD/}" \
    >"$runs/$target.json" 2>/dev/null
  python3 - "$runs/$target.json" "$PWD/" $least <<'END' || code=1
import json, sys
path, root, least = sys.argv[1], sys.argv[2], int(sys.argv[3])
files = [file for file in json.load(open(path))["data"][0]["files"] if file["filename"].endswith(".cpp")]
few = False
for file in files:
    lines, name = file["summary"]["lines"], file["filename"].replace(root, "")
    short = 100 * lines["covered"] < least * lines["count"]
    few = few or short
    note = f": FEWER than {least} %, add inputs that reach the rest" if short else ""
    print(f"  {lines['covered']:4} of {lines['count']:4} ({lines['percent']:5.1f} %)  {name}{note}")
if not files:
    sys.exit("  no file of the target's parsers was compiled")
sys.exit(few)
END
done
exit $code
