"""Starts the command of its arguments, interrupts it after its first step, prints its output and exit code."""
import signal
import subprocess
import sys

process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
for line in process.stdout:
    print(line, end="")
    if line.startswith("step"):
        process.send_signal(signal.SIGINT)
        break
print(process.stdout.read(), end="")
print("exit code", process.wait())
