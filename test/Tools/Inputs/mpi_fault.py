"""mpi_fault.py kill|stop|cut RANK FILE COMMAND...: runs COMMAND, an mpirun of 4 ranks. As soon as FILE has a line, kills a
rank, stops it, or closes its connections to the others. Prints what all have said, and how mpirun has ended."""
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time

from processes import process_with

how, rank, file, command = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
RANKS, PIDFD_GETFD = 4, 438


def process_of(rank):
    name = "PMI_RANK" if "mpirun.mpich" in command else "OMPI_COMM_WORLD_RANK"
    return process_with(TESSERA_TEST_RUN=file, **{name: str(rank)})


def connections_of(process):
    """Returns copies of its connections: what is done to a copy is done to the connection."""
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    handle = os.pidfd_open(process)
    copies = [syscall(PIDFD_GETFD, handle, int(number), 0) for number in os.listdir(f"/proc/{process}/fd")
              if os.readlink(f"/proc/{process}/fd/{number}").startswith("socket:")]
    connections = []
    for one in (socket.socket(fileno=copy) for copy in copies if copy >= 0):
        try:
            if one.family in (socket.AF_INET, socket.AF_INET6) and one.getpeername():
                connections.append(one)
        except OSError:  # it is not connected
            pass
    return connections


def cut(rank):
    """Does what a network does that breaks: all processes go on, and keep their connections to mpirun."""
    others = [process_of(other) for other in range(RANKS) if str(other) != rank]
    theirs = {one.getsockname() for other in others for one in connections_of(other)}
    for one in connections_of(process_of(rank)):
        if one.getpeername() in theirs:
            one.shutdown(socket.SHUT_RDWR)


# The variable tells this run from others.
run = subprocess.Popen(command, env={**os.environ, "TESSERA_TEST_RUN": file}, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True)
while run.poll() is None and not (os.path.exists(file) and os.path.getsize(file)):
    time.sleep(0.01)
if run.poll() is not None:
    sys.exit(run.communicate()[0] + "mpirun has ended too early")
if how == "cut":
    cut(rank)
else:
    os.kill(process_of(rank), signal.SIGKILL if how == "kill" else signal.SIGSTOP)
print(run.communicate(timeout=100)[0])
print("mpirun has ended with", "success" if run.returncode == 0 else "a failure")
