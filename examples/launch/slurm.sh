#!/usr/bin/env bash
#SBATCH --job-name=tessera
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=8
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
# usage: sbatch slurm.sh MODEL DATA [options of tessera train]; 16 ranks, tp=4 inside a host, or MESH.
# Slurm's SIGTERM before the time limit saves and stops with exit code 75; the job is then queued again and goes on with
# the newest checkpoint in RUN (default: runs/slurm). So it does, up to RESTARTS times (default: 3), after a rank was
# killed. Slurm itself queues it again if a host fails or the job is preempted.
#SBATCH --signal=TERM@120
set -euo pipefail
model=$1 data=$2
shift 2
# Only the processes of this run know the secret; srun hands the environment on.
export TESSERA_SECRET=${TESSERA_SECRET:-$(openssl rand -hex 32)}
code=0
# Ranks end by themselves when one has failed. To kill them at once could hit one that is saving.
srun --kill-on-bad-exit=0 --wait=120 "${TESSERA:-build/bin/tessera}" train "$model" --mesh "${MESH:-dp=4,tp=4}" \
  --data "$data" --device "${DEVICE:-cuda}" --checkpoint-dir "${RUN:-runs/slurm}" \
  --save-every "${SAVE_EVERY:-100}" --resume-if-any "$@" || code=$?
if ((code == 75)) || ((code > 128 && ${SLURM_RESTART_COUNT:-0} < ${RESTARTS:-3})); then
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
