#!/usr/bin/env bash
#SBATCH --job-name=tessera
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=8
#SBATCH --time=04:00:00
# usage: sbatch slurm.sh MODEL DATA [options of tessera train]; 16 ranks, tp=4 inside a host.
# Slurm's SIGTERM before the time limit saves and stops with exit code 75; the job is then queued again and goes on.
#SBATCH --signal=TERM@120
set -euo pipefail
model=$1 data=$2
shift 2
# Only the processes of this run know the secret; srun hands the environment on.
export TESSERA_SECRET=${TESSERA_SECRET:-$(openssl rand -hex 32)}
code=0
srun --kill-on-bad-exit=1 "${TESSERA:-build/bin/tessera}" train "$model" --mesh dp=4,tp=4 --data "$data" --device cuda \
  --checkpoint-dir runs/slurm --resume-if-any "$@" || code=$?
[ "$code" -ne 75 ] || scontrol requeue "$SLURM_JOB_ID"
exit "$code"
