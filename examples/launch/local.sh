#!/usr/bin/env bash
# usage: local.sh MODEL DATA [options of tessera train]; RANKS processes of this machine (default: 2), tp=RANKS.
# When one fails, this says which and how, and ends the others at once. Exit code 75: they were told to stop.
set -euo pipefail
model=$1 data=$2
shift 2
ranks=${RANKS:-2}
tessera=${TESSERA:-build/bin/tessera}
export WORLD_SIZE=$ranks MASTER_ADDR=127.0.0.1 MASTER_PORT=${MASTER_PORT:-29500}
# Only these processes know the secret: one of another run cannot take a place in this one. It is in no argument, as
# anybody on this machine can read those.
export TESSERA_SECRET=${TESSERA_SECRET-$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')}

declare -A running # rank by process
for ((rank = 0; rank < ranks; ++rank)); do
  RANK=$rank "$tessera" train "$model" --mesh "tp=$ranks" --data "$data" "$@" &
  running[$!]=$rank
done
stop() { kill "${!running[@]}" 2>/dev/null || true; }
trap stop INT TERM # one is enough to save and stop all

failed=0 stopped=0
while ((${#running[@]})); do
  sleep 0.1
  for process in "${!running[@]}"; do
    kill -0 "$process" 2>/dev/null && continue
    code=0
    wait "$process" || code=$?
    rank=${running[$process]}
    unset "running[$process]"
    if ((code == 0 || failed)); then
      continue
    elif ((code == 75)); then
      stopped=75
      continue
    elif ((code > 128)); then
      echo "local.sh: rank $rank was ended by SIG$(kill -l $((code - 128)))" >&2
    else
      echo "local.sh: rank $rank ended with exit code $code" >&2
    fi
    failed=1
    stop
  done
done
exit $((failed ? failed : stopped))
