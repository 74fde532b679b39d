"""Starts one of several processes, sends it SIGTERM while it waits for the others, and prints its output and exit
code."""
import os
import signal
import socket
import subprocess
import sys
import time

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
# The rendezvous is one port above.
process = subprocess.Popen(sys.argv[1:], env={**os.environ, "MASTER_PORT": str(port - 1)}, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
while process.poll() is None:
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            break
    time.sleep(0.01)
process.send_signal(signal.SIGTERM)
print(process.communicate()[0], end="")
print("exit code", process.returncode)
