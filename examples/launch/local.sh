#!/usr/bin/env bash
# usage: local.sh MODEL DATA [options of tessera train]; two processes of this machine, tp=2.
set -euo pipefail
model=$1 data=$2
shift 2
tessera=${TESSERA:-build/bin/tessera}
export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=${MASTER_PORT:-29500}
RANK=1 "$tessera" train "$model" --mesh tp=2 --data "$data" "$@" &
RANK=0 "$tessera" train "$model" --mesh tp=2 --data "$data" "$@"
wait $!
