"""Starts the command of its arguments and crashes it between two passes.

The IR after the first pass is a FIFO that nobody reads: the thread that runs the passes waits there until it gets SIGSEGV.
"""
import ctypes
import os
import signal
import subprocess
import sys
import time

OPENS = ("2", "257")  # open and openat, on x86-64
TGKILL = 234

directory, command = sys.argv[1], sys.argv[2:]
os.mkfifo(os.path.join(directory, "02-dist-distribute.mlir"))
process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def waiting_thread():
    for thread in os.listdir(f"/proc/{process.pid}/task"):
        with open(f"/proc/{process.pid}/task/{thread}/syscall", encoding="ascii") as file:
            if file.read().split()[0] in OPENS:
                return int(thread)
    return None


deadline = time.monotonic() + 900
while not (waiting_thread() and (time.sleep(0.2) or waiting_thread())):
    if time.monotonic() > deadline:
        process.kill()
        sys.exit("the command did not wait")
    time.sleep(0.01)
ctypes.CDLL(None).syscall(TGKILL, process.pid, waiting_thread(), int(signal.SIGSEGV))
print(process.communicate(timeout=900)[0], end="")
print("exit code", process.returncode)
