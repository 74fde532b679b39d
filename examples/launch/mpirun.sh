#!/usr/bin/env bash
# usage: mpirun.sh MODEL DATA [options of tessera train]; RANKS processes (default: 2), tp=RANKS or MESH, by Open MPI or
# MPICH. MPIRUN: the program (default: mpirun). Several hosts: HOSTFILE names them, one a line and that of rank 0 first.
# Ranks that end end all. Start it again with the same command: the run goes on with its newest checkpoint in RUN.
set -euo pipefail
model=$1 data=$2
shift 2
ranks=${RANKS:-2} mpirun=${MPIRUN:-mpirun}
# Only the processes of this run know the secret. Both launchers hand it on without showing it in an argument.
export TESSERA_SECRET=${TESSERA_SECRET:-$(openssl rand -hex 32)}
names=(TESSERA_SECRET)
if [ -n "${HOSTFILE:-}" ]; then
  # The host of rank 0, without its slots.
  export MASTER_ADDR=${MASTER_ADDR:-$(awk '!/^#/ && NF { sub(/:.*/, "", $1); print $1; exit }' "$HOSTFILE")}
  names+=(MASTER_ADDR)
fi
version=$("$mpirun" --version)
case $version in
*HYDRA*) # hands on the whole environment
  options=(${HOSTFILE:+-f "$HOSTFILE"})
  ;;
*) # Open MPI would bind each rank to a core, and its threads with it
  options=(--bind-to none ${HOSTFILE:+--hostfile "$HOSTFILE"})
  for name in "${names[@]}"; do options+=(-x "$name"); done
  ;;
esac
exec "$mpirun" "${options[@]}" -n "$ranks" \
  "${TESSERA:-build/bin/tessera}" train "$model" --mesh "${MESH:-tp=$ranks}" --data "$data" \
  --checkpoint-dir "${RUN:-runs/mpirun}" --save-every "${SAVE_EVERY:-100}" --resume-if-any "$@"
