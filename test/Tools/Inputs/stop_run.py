"""Starts a run, stops it in some way, and prints its output and exit code.

    stop_run.py SIGNAL WHEN COMMAND...        sends SIGNAL after a line that begins with WHEN, or once the file WHEN exists
    stop_run.py close WHEN COMMAND...         closes the standard output of the run then, as `head` does
    stop_run.py close-errors WHEN COMMAND...  closes its standard error
    stop_run.py overwrite=FILE WHEN COMMAND.. fills FILE with bytes 255 then
    stop_run.py remove=FOLDER WHEN COMMAND... removes FOLDER then, and sends SIGTERM once an error names it
    stop_run.py rank=R:SIGNAL WHEN COMMAND... starts two processes, of which rank R gets it; WHEN is of rank 0
"""
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

how, when, command = sys.argv[1], sys.argv[2], sys.argv[3:]


def environments():
    if not how.startswith("rank="):
        return [None]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return [{**os.environ, "RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": "2",
             "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port - 1)} for rank in range(2)]


processes = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
             for environment in environments()]
outputs = [[] for _ in processes]
errors = [[] for _ in processes]


def drain(stream, lines):
    for line in stream:
        lines.append(line)


readers = [threading.Thread(target=drain, args=(process.stderr, lines), daemon=True)
           for process, lines in zip(processes, errors) if how != "close-errors"]
readers += [threading.Thread(target=drain, args=(process.stdout, lines), daemon=True)
            for process, lines in list(zip(processes, outputs))[1:]]
for reader in readers:
    reader.start()


def act():
    if how == "close":
        processes[0].stdout.close()
    elif how == "close-errors":
        processes[0].stderr.close()
    elif how.startswith("overwrite="):
        size = os.path.getsize(how[10:])
        with open(how[10:], "r+b") as file:
            file.write(b"\xff" * size)
    elif how.startswith("remove="):
        folder = how[7:]
        os.rename(folder, folder + ".gone")  # at once, although the run may be writing into it
        shutil.rmtree(folder + ".gone")
        while processes[0].poll() is None and not any(f"{folder}' is gone" in line for line in errors[0]):
            time.sleep(0.01)
        processes[0].send_signal(signal.SIGTERM)
    else:
        rank, name = how[5:].split(":") if how.startswith("rank=") else ("0", how)
        processes[int(rank)].send_signal(getattr(signal, name))


if "/" in when:
    while not os.path.exists(when) and processes[0].poll() is None:
        time.sleep(0.01)
    act()
else:
    for line in processes[0].stdout:
        outputs[0].append(line)
        if line.startswith(when):
            act()
            break
if not processes[0].stdout.closed:
    drain(processes[0].stdout, outputs[0])
for process in processes:
    process.wait()
for reader in readers:
    reader.join()
for rank, process in enumerate(processes):
    print("".join(outputs[rank]), end="")
    print("".join(errors[rank]), end="")
    print("exit code", process.returncode)
