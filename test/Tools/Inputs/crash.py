"""Starts the command of its arguments and crashes it between two passes.

The IR behind the first pass is a FIFO that nobody reads: the command waits there until it gets SIGSEGV.
"""
import os
import signal
import subprocess
import sys
import time

OPENS = ("2", "257")  # open and openat, on x86-64

directory, command = sys.argv[1], sys.argv[2:]
os.mkfifo(os.path.join(directory, "01-dist-distribute.mlir"))
process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def waits():
    with open(f"/proc/{process.pid}/syscall", encoding="ascii") as file:
        return file.read().split()[0] in OPENS


deadline = time.monotonic() + 60
while not (waits() and (time.sleep(0.2) or waits())):
    if time.monotonic() > deadline:
        process.kill()
        sys.exit("the command did not wait")
    time.sleep(0.01)
process.send_signal(signal.SIGSEGV)
print(process.communicate(timeout=60)[0], end="")
print("exit code", process.returncode)
