"""requeue.py SIGNAL RUN OUTPUT COMMAND...: COMMAND submits a batch job whose checkpoints are in RUN, and prints its
number. Once there is a checkpoint, sends SIGNAL to its ranks (TERM, as before the time limit), or kills rank 1 (KILL).
Prints its OUTPUT when it has ended after it was queued again, and how."""
import os
import signal
import subprocess
import sys
import time

from processes import process_with

how, run, output, command = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]


def ask(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, text=True).stdout.strip()


def field(name):
    words = ask("scontrol", "show", "job", job).split()
    return next(word.split("=", 1)[1] for word in words if word.startswith(name + "="))


job = ask(*command)
while not os.path.isdir(run) or not any(name.startswith("step-") for name in os.listdir(run)):
    if field("JobState") not in ("PENDING", "CONFIGURING", "RUNNING"):
        break
    time.sleep(0.01)
else:
    if how == "TERM":
        ask("scancel", "--signal=TERM", job)
    else:
        os.kill(process_with(SLURM_CONF=os.environ["SLURM_CONF"], SLURM_JOB_ID=job, SLURM_PROCID=1), signal.SIGKILL)
# A job that is to be queued again is said to have failed for a moment.
patience, is_hurried = time.monotonic() + 120, False
while field("JobState") != "COMPLETED" and time.monotonic() < patience:
    if field("JobState") == "PENDING" and not is_hurried:
        # A host takes a job again in a later second; Slurm waits until its credential has expired.
        ask("scontrol", "update", "JobId=" + job, "StartTime=now+2")
        is_hurried = True
    time.sleep(0.1)
with open(output) as file:
    print(file.read(), end="")
print(field("JobState"), "after", field("Restarts"), "restarts")
