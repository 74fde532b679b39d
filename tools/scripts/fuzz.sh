#!/usr/bin/env bash
# Fuzzes what reads files and messages of strangers for MINUTES, under AddressSanitizer and UndefinedBehaviorSanitizer: the
# targets of test/Fuzz, which take bytes and changed JSON, and Commands, which runs whole commands on changed files. JOBS
# targets run at a time (default: one for each processor); each has an equal share of the time, whose length --inputs
# extends until that many inputs have been tried in all. Prints a table, and how many lines of each parser the committed
# corpus covers. Exit code 1 on a finding, whose input lies in runs/fuzz/findings/TARGET, and where a corpus covers too
# little of a parser. With --tessera, Commands runs that program in place of one that it builds with both sanitizers.
# Usage: fuzz.sh [--jobs JOBS] [--inputs COUNT] [--tessera PROGRAM] [--no-coverage] MINUTES [TARGET...]
# (targets: test/Fuzz/*/Targets.def)
set -euo pipefail
cd "$(dirname "$0")/../.."
least=90 # percent of the lines of a parser
rounds=6 # at most, until --inputs are reached
declare -A folder parsers
known=()
for table in test/Fuzz/*/Targets.def; do
  while IFS=, read -r name files; do
    known+=("$name")
    folder[$name]=$(dirname "$table")
    parsers[$name]=${files//,/}
  done < <(sed -n 's/^FUZZ_TARGET(\(.*\))$/\1/p' "$table")
done
known+=(Commands)

usage() {
  echo "fuzz: $1; usage: fuzz.sh [--jobs JOBS] [--inputs COUNT] [--tessera PROGRAM] [--no-coverage] MINUTES [TARGET...]," \
    "targets are ${known[*]}" >&2
  exit 2
}
number() { # NAME VALUE: VALUE as a number
  [[ $2 =~ ^[0-9]{1,9}$ && 10#$2 -gt 0 ]] || usage "$1 is '$2', expected a whole number above 0"
  echo $((10#$2))
}
jobs=$(nproc) wanted=0 coverage=1 tessera=
while [[ ${1:-} == --* ]]; do
  case $1 in
    --jobs)
      jobs=$(number --jobs "${2:-}")
      shift 2
      ;;
    --inputs)
      wanted=$(number --inputs "${2:-}")
      shift 2
      ;;
    --tessera)
      [ -x "${2:-}" ] || usage "--tessera is '${2:-}', which is no program"
      tessera=$2
      shift 2
      ;;
    --no-coverage)
      coverage=
      shift
      ;;
    *) usage "there is no option '$1'" ;;
  esac
done
minutes=$(number MINUTES "${1:-}")
shift
targets=("$@")
[ $# -gt 0 ] || targets=("${known[@]}")
for target in "${targets[@]}"; do
  [[ " ${known[*]} " == *" $target "* ]] || usage "there is no target '$target'"
done

tools=/usr/lib/llvm-22/bin
bash tools/scripts/require-clang.sh fuzz fuzzer llvm-cov || exit
builds=()
for target in "${targets[@]}"; do
  case $target in
    Commands) [ "$tessera" ] || builds+=(--target tessera) ;;
    *) builds+=(--target "Fuzz$target") ;;
  esac
done
if [ ${#builds[@]} -gt 0 ]; then
  echo "fuzz: building"
  bash tools/scripts/build.sh "${builds[@]}" fuzz
fi

# New inputs that reach more are kept in runs/fuzz/corpus, for the next time.
runs=$PWD/runs/fuzz
mkdir -p "$runs/counts"
export UBSAN_OPTIONS=print_stacktrace=1
# LLVM's arenas poison what they have not handed out, and its libraries, which are not instrumented, hand it out.
export ASAN_OPTIONS=allow_user_poisoning=0

# Runs a target for some seconds; adds a line "INPUTS SECONDS" to its counts. 0 unless it has found something.
fuzz() {
  local target=$1 seconds=$2 found=$runs/findings/$1 log=$runs/$1.log inputs status=0 begin=$SECONDS
  mkdir -p "$found"
  if [ "$target" = Commands ]; then
    python3 tools/scripts/fuzz-commands.py --tessera "${tessera:-build-fuzz/bin/tessera}" --seconds "$seconds" --findings "$found" \
      --seed "$((round + ${FUZZ_SEED:-0}))" >"$log" 2>&1 || status=$?
    inputs=$(sed -n 's/^fuzz-commands: \([0-9]*\) runs.*/\1/p' "$log")
  else
    mkdir -p "$runs/corpus/$target"
    LLVM_PROFILE_FILE=/dev/null "build-fuzz/bin/Fuzz$target" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=2048 \
      -dict="${folder[$target]}/$target.dict" -artifact_prefix="$found/" -print_final_stats=1 ${FUZZ_SEED:+-seed=$FUZZ_SEED} \
      "$runs/corpus/$target" "${folder[$target]}/corpus/$target" >"$log" 2>&1 || status=$?
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  fi
  echo "${inputs:-0} $((SECONDS - begin))" >>"$runs/counts/$target"
  [ $status -eq 0 ] && return
  echo finding >>"$runs/counts/$target.findings"
  grep -m 1 -E 'runtime error|^SUMMARY|does not hold|ERROR: libFuzzer|^finding' "$log" || tail -n 3 "$log"
  echo "fuzz: $target: FOUND something (log: $log); its inputs are in $found; once mended, add them to its corpus"
}

# Runs all targets, JOBS at a time, each for some seconds.
run_round() {
  local target
  for target in "${targets[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
    fuzz "$target" "$1" &
  done
  wait
}

total() {
  local sum=0 inputs
  for target in "${targets[@]}"; do
    while read -r inputs _; do sum=$((sum + inputs)); done <"$runs/counts/$target"
  done
  echo $sum
}

for target in "${targets[@]}"; do rm -f "$runs/counts/$target" "$runs/counts/$target.findings"; done
seconds=$((minutes * 60 * jobs / ${#targets[@]}))
[ $seconds -gt 0 ] || seconds=1
[ $seconds -le $((minutes * 60)) ] || seconds=$((minutes * 60))
round=1
run_round $seconds
while [ "$(total)" -lt "$wanted" ] && [ $round -lt $rounds ]; do
  round=$((round + 1))
  run_round $seconds
done

code=0
echo "| target | inputs | seconds | findings |"
echo "|---|---|---|---|"
for target in "${targets[@]}"; do
  findings=none
  [ ! -e "$runs/counts/$target.findings" ] || { findings="$(wc -l <"$runs/counts/$target.findings")" && code=1; }
  awk -v target="$target" -v findings="$findings" '{ inputs += $1; seconds += $2 }
    END { printf "| %s | %d | %d | %s |\n", target, inputs, seconds, findings }' "$runs/counts/$target"
done
echo "fuzz: $(total) inputs at commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
[ "$(total)" -ge "$wanted" ] || { echo "fuzz: fewer than --inputs $wanted; give more MINUTES" && code=1; }
[ "$coverage" ] || exit $code

echo "fuzz: lines that the committed corpora cover:"
for target in "${targets[@]}"; do
  [ "$target" != Commands ] || continue
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
