#!/usr/bin/env bash
# usage: soak.sh HOURS | --minutes MINUTES; TESSERA: the program (default: build/bin/tessera)
# Three runs of four processes each train at the same time, again and again, and save every few steps. At random times a
# random process is stopped and continued (SIGSTOP, SIGCONT) or killed (SIGKILL); a run of which one was killed is
# resumed. Whenever a run has made all its steps, its last checkpoint must have the bits of an undisturbed run. No
# process may hang or be left over, no checkpoint be damaged, and no process that lives on may grow.
set -euo pipefail
cd "$(dirname "$0")/../.."
tessera=${TESSERA:-build/bin/tessera}
case ${1:-}:$# in
  --minutes:2) seconds=$(($2 * 60)) ;;
  [1-9]*:1) seconds=$(($1 * 3600)) ;;
  *) echo "soak: usage: soak.sh HOURS | --minutes MINUTES" >&2 && exit 2 ;;
esac
if [ ! -x "$tessera" ]; then
  echo "soak: there is no '$tessera'; build it with tools/scripts/build.sh, or set TESSERA" >&2 && exit 2
fi
steps=${STEPS:-400} patience=120 # seconds without a step after which a run counts as hung
timeout_ms=60000 # less than that: also of waiting for a process that was killed before it came to the rendezvous
warm_steps=30 growth_limit=16384 # KiB between these steps, with a save, and the end of a process

work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
"$tessera" compile examples/gpt2-tiny --mesh dp=2,tp=2 --seq-length 16 --batch 4 -o "$work/model.tsr" >/dev/null

# launch RUN ATTEMPT: its four processes, which resume what is there; sets `members`.
launch() {
  local resume=()
  [ -z "$(ls -d "$work/$1"/step-* 2>/dev/null)" ] || resume=(--resume)
  members=()
  : >"$work/$1.log"
  for rank in 0 1 2 3; do
    RANK=$rank WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + $$ % 10000 + 10 * ${1#run})) \
      "$tessera" train "$work/model.tsr" --data README.md --steps "$steps" --threads 1 --timeout-ms "$timeout_ms" \
      --rendezvous-timeout-ms "$timeout_ms" --log "$work/$1.log" --save-every 20 --checkpoint-dir "$work/$1" "${resume[@]}" >"$work/$1.$rank" 2>&1 &
    members+=($!)
  done
}

memory_of() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$1/status" 2>/dev/null || true; }
note() { echo "$1" >>"$work/$run.notes"; }

# Describes a run that hangs: for each process, its state, processor time and what it wrote last.
describe_hang() {
  local rank process
  echo "soak: $run hangs after $made of $steps steps:"
  for rank in 0 1 2 3; do
    process=${members[rank]}
    echo "rank $rank: $(sed -n 's/^State:\s*//p' "/proc/$process/status" 2>/dev/null || echo ended)," \
      "$(awk '{ print $14 + $15 }' "/proc/$process/stat" 2>/dev/null || echo 0) ticks of processor time"
    cat /proc/"$process"/task/*/wchan 2>/dev/null | xargs echo "  its threads wait in" || true
    tail -n 3 "$work/$run.$rank" | sed 's/^/  /'
  done
}

# One disturbance of the run; false once all its processes have ended.
disturb() {
  local alive=() process
  for process in "${members[@]}"; do
    if kill -0 "$process" 2>/dev/null; then alive+=("$process"); fi
  done
  [ ${#alive[@]} -gt 0 ] || return 1
  process=${alive[RANDOM % ${#alive[@]}]}
  if ((RANDOM % 4 == 0)); then
    kill -KILL "$process" 2>/dev/null && note SIGKILL
  else
    kill -STOP "$process" 2>/dev/null && note SIGSTOP || return 0
    sleep "0.$((RANDOM % 9 + 1))"
    kill -CONT "$process" 2>/dev/null || true
  fi
}

# Waits for the ends of all members, disturbed at random times until `end`, and notes memory and exit codes.
accompany() {
  local since=$SECONDS next=$((SECONDS + RANDOM % 8 + 2)) made=0 alive process now rank
  declare -A warm last
  while :; do
    alive=0 now=$(wc -l <"$work/$run.log")
    if [ "$now" != "$made" ]; then made=$now since=$SECONDS; fi
    for rank in 0 1 2 3; do
      process=${members[rank]}
      kill -0 "$process" 2>/dev/null || continue
      alive=1 now=$(memory_of "$process")
      [ -n "$now" ] || continue
      last[$rank]=$now
      if [ -z "${warm[$rank]:-}" ] && ((made >= warm_steps)); then warm[$rank]=$now; fi
    done
    ((alive)) || break
    if ((SECONDS - since > patience)); then
      note "hang of $run"
      describe_hang >>"$work/$run.hangs"
      kill -KILL "${members[@]}" 2>/dev/null || true
    elif ((SECONDS >= next && SECONDS < end)); then
      disturb || true
      next=$((SECONDS + RANDOM % 8 + 2))
    fi
    sleep 0.2
  done
  for rank in "${!warm[@]}"; do note "memory ${warm[$rank]} ${last[$rank]}"; done
  for process in "${members[@]}"; do
    local code=0
    wait "$process" 2>/dev/null || code=$?
    case $code in 0 | 1 | 137) ;; *) note "unexpected exit code $code" ;; esac
  done
}

judge_checkpoint() {
  if diff -r "$work/undisturbed/$last_step" "$work/$run/$last_step" >/dev/null; then
    note finished
  else
    note "damaged: the last checkpoint has other bits"
  fi
  rm -rf "${work:?}/$run"
}

# soak_run RUN: trains from the beginning to the end until the time is over.
soak_run() {
  run=$1 RANDOM=${1#run}
  trap 'kill -KILL "${members[@]}" 2>/dev/null; exit 1' TERM
  while ((SECONDS < end)); do
    launch "$run"
    note attempt
    accompany
    grep -hE "is torn|is altered|damaged|NaN" "$work/$run".[0-3] >>"$work/$run.notes" || true
    [ ! -d "$work/$run/$last_step" ] || judge_checkpoint
  done
}

end=0 run=undisturbed last_step=$(printf 'step-%08d' "$steps")
launch run0
run=run0
accompany
mv "$work/run0" "$work/undisturbed"
rm "$work/run0.notes"
if [ ! -d "$work/undisturbed/$last_step" ]; then
  echo "soak: the undisturbed run failed" >&2 && tail -n 3 "$work"/run0.? >&2 && exit 1
fi
echo "soak: undisturbed run of $steps steps done, disturbing three runs of four processes for $seconds s"

end=$((SECONDS + seconds))
for run in run1 run2 run3; do soak_run "$run" 2>"$work/$run.shell" & done # bash writes there who was killed
wait
orphans=$(grep -lsa "${work}[/]model" /proc/[0-9]*/cmdline | wc -l || true)

notes() { cat "$work"/run?.notes | grep -c "$1" || true; }
echo "soak: $(notes attempt) starts, $(notes finished) whole trainings with the bits of the undisturbed one"
echo "soak: $(notes SIGSTOP) SIGSTOP, $(notes SIGKILL) SIGKILL, $(notes hang) hangs, $orphans orphans," \
  "$(notes 'damaged\|torn\|altered') damaged checkpoints, $(notes unexpected) unexpected exit codes"
cat "$work"/run?.hangs 2>/dev/null || true
cat "$work"/run?.notes | awk -v limit=$growth_limit '
  $1 == "memory" { grown = $3 - $2; if (!count++ || grown > most) { most = grown; warm = $2; end = $3 } }
  END { printf "soak: memory of %d processes, of the one that grew most: ", count
        printf "%d KiB after warm-up, %d KiB at the end\n", warm, end
        exit count == 0 || most > limit }' ||
  { echo "soak: memory is not known, or grows by more than $growth_limit KiB" && exit 1; }
[ "$(notes 'hang\|damaged\|torn\|altered\|unexpected')" = 0 ] && [ "$orphans" = 0 ] && [ "$(notes finished)" != 0 ]
