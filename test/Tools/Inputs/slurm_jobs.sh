#!/usr/bin/env bash
# slurm_jobs.sh FOLDER SCRIPT MODEL DATA: jobs of the SCRIPT that are queued again, and one of its own.
set -euo pipefail
folder=$1 script=$2 model=$3 data=$4
here=$(dirname "$0")
# Both wait at the same time until they start again.
for how in TERM KILL; do
  SAVE_EVERY=1 RUN=$folder/$how python3 "$here/requeue.py" "$how" "$folder/$how" "$folder/$how.out" \
    sbatch --parsable --output "$folder/$how.out" --nodes 2 --ntasks-per-node 1 --gpus-per-node 0 \
    "$script" "$model" "$data" --steps 60 --keep 3 >"$folder/$how.log" &
done
cat >"$folder/own.sh" <<'JOB'
#!/usr/bin/env bash
echo "in the script"
tessera train "$1" --mesh tp=2 --data "$2" --steps 1
echo "in a step"
srun tessera train "$1" --mesh tp=4 --data "$2" --steps 1 2>&1
# The two hosts are one machine, on which Open MPI would mix up their shared memory.
export OMPI_MCA_btl=tcp,self
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
for mpirun in mpirun.openmpi mpirun.mpich; do
  echo "$mpirun in the script"
  ! command -v "$mpirun" >/dev/null || "$mpirun" -n 4 tessera train "$1" --mesh dp=2,tp=2 --data "$2" --steps 1
done
JOB
sbatch --quiet --wait --output "$folder/own.out" --nodes 2 --ntasks-per-node 1 "$folder/own.sh" "$model" "$data" || true
cat "$folder/own.out"
wait
for how in TERM KILL; do
  echo "job $how"
  cat "$folder/$how.log"
done
