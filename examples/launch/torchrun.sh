#!/usr/bin/env bash
# usage, on each host: TESSERA_SECRET=... HOSTS=2 HOST=0 MASTER=first-host torchrun.sh MODEL DATA [options of tessera train]
# The secret is the same on each host, e.g. of openssl rand -hex 32.
# One host: leave HOSTS, HOST and MASTER out. RANKS a host (default: 8), by default dp over hosts and pairs, tp=4 inside
# a host. If a rank fails, torchrun starts all again, up to RESTARTS times (default: 3); they go on with the newest
# checkpoint in RUN (default: runs/torchrun).
set -euo pipefail
model=$1 data=$2
shift 2
hosts=${HOSTS:-1} ranks=${RANKS:-8}
# Only the processes of this run know the secret; torchrun hands the environment on.
if ((hosts == 1)); then
  export TESSERA_SECRET=${TESSERA_SECRET-$(openssl rand -hex 32)}
fi
export TESSERA_SECRET=${TESSERA_SECRET:?set it on each host to the same, made with: openssl rand -hex 32}
exec torchrun --no-python --nnodes "$hosts" --node-rank "${HOST:-0}" --nproc-per-node "$ranks" \
  --max-restarts "${RESTARTS:-3}" --master-addr "${MASTER:-127.0.0.1}" --master-port "${MASTER_PORT:-29500}" \
  "${TESSERA:-build/bin/tessera}" train "$model" --mesh "${MESH:-dp=$((hosts * ranks / 4)),tp=4}" --data "$data" \
  --device "${DEVICE:-cuda}" --checkpoint-dir "${RUN:-runs/torchrun}" \
  --save-every "${SAVE_EVERY:-100}" --resume-if-any "$@"
