"""launch.py torchrun|slurm N [--kill RANK FILE | --end-all] COMMAND...: starts N processes as the launcher would;
prints their outputs, rank by rank, and exit codes. --kill ends one without warning as soon as FILE exists; --end-all
tells all to stop as soon as one has ended, as launchers do when one has failed."""
import os
import signal
import socket
import subprocess
import sys
import time

launcher, count, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
killed, ends_all = None, command[0] == "--end-all"
if ends_all:
    command = command[1:]
if command[0] == "--kill":
    killed, awaited, command = int(command[1]), command[2], command[3:]
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]


def environment(rank):
    if launcher == "slurm":
        own = {"SLURM_PROCID": rank, "SLURM_NTASKS": count, "SLURM_LOCALID": rank, "SLURM_STEP_NODELIST": "localhost"}
    else:
        own = {"RANK": rank, "WORLD_SIZE": count, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": count,
               "MASTER_ADDR": "127.0.0.1"}
    # One below: the rendezvous is one port above.
    own["MASTER_PORT"] = port - 1
    return {**os.environ, **{name: str(value) for name, value in own.items()}}


processes = [subprocess.Popen(command, env=environment(rank), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
             for rank in range(count)]
if killed is not None:
    while not os.path.exists(awaited) and processes[killed].poll() is None:
        time.sleep(0.01)
    processes[killed].send_signal(signal.SIGKILL)
if ends_all:
    while all(process.poll() is None for process in processes):
        time.sleep(0.01)
    for process in processes:
        process.send_signal(signal.SIGTERM)
for rank, process in enumerate(processes):
    output = process.communicate(timeout=900)[0]
    print(output, end="")
    print("rank", rank, "exit code", process.returncode)
