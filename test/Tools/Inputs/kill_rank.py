"""kill_rank.py VARIABLE RANK RUN COMMAND...: starts COMMAND, a launcher; once the folder RUN has a checkpoint, kills the
process whose VARIABLE is RANK; prints the output and the exit code of the launcher."""
import os
import signal
import subprocess
import sys
import time
import uuid

from processes import process_with

variable, rank, run, command = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
mark = uuid.uuid4().hex
launcher = subprocess.Popen(command, env={**os.environ, "KILL_RANK_MARK": mark}, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
while not os.path.isdir(run) or not any(name.startswith("step-") for name in os.listdir(run)):
    if launcher.poll() is not None:
        break
    time.sleep(0.01)
else:
    os.kill(process_with(KILL_RANK_MARK=mark, **{variable: rank}), signal.SIGKILL)
print(launcher.communicate()[0], end="")
print("exit code", launcher.returncode)
