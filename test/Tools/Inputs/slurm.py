"""slurm.py COMMAND...: runs COMMAND beside a cluster of Slurm that ends with it, and ends with its exit code. The cluster
has two hosts, host0 and host1, which both are this machine; their daemons listen on free ports. Nobody resolves these
names, so give MASTER_ADDR. Needs root."""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PATH = os.environ["PATH"] + os.pathsep + "/usr/sbin"
HOSTS = ["host0", "host1"]
CONFIGURATION = """
ClusterName=test
SlurmctldHost={machine}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
MailProg=/bin/true
SchedulerParameters=batch_sched_delay=0,sched_min_interval=1000,sched_interval=1,bf_interval=1
NodeName=host[0-1] NodeHostname={machine} NodeAddr=127.0.0.1 Port=[{ports[1]},{ports[2]}] CPUs={cores}
PartitionName=all Nodes=host[0-1] Default=YES State=UP OverSubscribe=FORCE:3
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def start(folder):
    """Returns the daemons."""
    os.mkdir(os.path.join(folder, "state"))
    key = os.path.join(folder, "key")
    with open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
        file.write(os.urandom(1024))
    configuration = os.path.join(folder, "slurm.conf")
    with open(configuration, "w") as file:
        file.write(CONFIGURATION.format(folder=folder, machine=socket.gethostname().split(".")[0],
                                        ports=free_ports(3), cores=os.cpu_count()))
    os.environ["SLURM_CONF"] = configuration
    munge = ["munged", "--foreground", "--force", "--key-file", key]
    for option in ("socket", "pid-file", "log-file", "seed-file"):
        munge += ["--" + option, os.path.join(folder, option.replace("socket", "munge"))]
    commands = [munge, ["slurmctld", "-D", "-f", configuration]]
    commands += [["slurmd", "-D", "-f", configuration, "-N", host] for host in HOSTS]
    daemons = []
    for command in commands:
        with open(os.path.join(folder, command[0] + "-output"), "a") as output:
            program = shutil.which(command[0], path=PATH)
            daemons.append(subprocess.Popen([program] + command[1:], stdout=output, stderr=output,
                                            stdin=subprocess.DEVNULL))
        while command is munge and not os.path.exists(os.path.join(folder, "munge")) and daemons[0].poll() is None:
            time.sleep(0.01)
    return daemons


def await_hosts(daemons):
    """Returns false if one of the daemons has ended."""
    while True:
        states = subprocess.run(["sinfo", "-h", "-N", "-o", "%T"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                text=True).stdout.split()
        if states == ["idle"] * len(HOSTS):
            return True
        if any(daemon.poll() is not None for daemon in daemons):
            return False
        time.sleep(0.05)


def main(command):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        daemons = start(folder)
        try:
            if not await_hosts(daemons):
                for name in sorted(os.listdir(folder)):
                    if name.endswith(("log", "-output", "log-file")):
                        print(name, open(os.path.join(folder, name)).read(), file=sys.stderr)
                return 1
            code = subprocess.run(command).returncode
            subprocess.run(["scancel", "--full", "--signal=KILL", "--user=root"], stderr=subprocess.DEVNULL)
            while subprocess.run(["squeue", "-h"], stdout=subprocess.PIPE).stdout:
                subprocess.run(["scancel", "--user=root"], stderr=subprocess.DEVNULL)
                time.sleep(0.05)
            return code
        finally:
            for daemon in reversed(daemons):
                daemon.send_signal(signal.SIGTERM)
            for daemon in daemons:
                daemon.wait()


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
sys.exit(main(sys.argv[1:]))
