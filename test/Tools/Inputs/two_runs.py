"""Starts a run of the command, then another one in the same directory; kills the first and tries again."""
import signal
import socket
import subprocess
import sys

directory, command = sys.argv[1], sys.argv[2:]
first = subprocess.Popen(command + ["--steps", "1000000"], stdout=subprocess.PIPE, text=True)
while not first.stdout.readline().startswith("step"):
    assert first.poll() is None, "the first run has ended"
second = subprocess.run(command + ["--steps", "2"], stderr=subprocess.PIPE, text=True)
first.send_signal(signal.SIGKILL)
first.communicate()
assert second.returncode == 1, second
for part in (f"error: '{directory}' is in use by another run (process {first.pid} of user '",
             f"' on host '{socket.gethostname()}', since 20", "; wait for its end, stop it, or save to another directory"):
    assert part in second.stderr, second.stderr
subprocess.run(command + ["--steps", "2"], check=True, stdout=subprocess.DEVNULL)
