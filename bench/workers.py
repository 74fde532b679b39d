"""Starts the programs that are measured and asks them for repetitions in turns (protocol: Worker.h)."""
import json
import os
import statistics
import subprocess
import time


class Failed(Exception):
    pass


class Worker:
    """One measured program that stays alive between its turns."""

    def __init__(self, command, environment=None):
        self.command = [str(part) for part in command]
        self.seconds, self.processor, self.loads, self.vmhwm = [], [], [], 0
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env={**os.environ, **(environment or {})})
        self.ready = self._read()

    def _send(self, count):
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()

    def _read(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"{self.command[0]} ended early")
        return json.loads(line)

    def ask(self, count, keep=True):
        """Runs `count` repetitions; their times count only if `keep`."""
        self._send(count)
        answer = self._read()
        self.vmhwm = answer["vmhwm"]
        if keep:
            self.seconds += answer["seconds"]
            self.processor += answer["processor_seconds"]
            self.loads.append(os.getloadavg()[0])

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def result(self):
        return {**summary(self.seconds), "processor_median": statistics.median(self.processor),
                "processor_seconds": self.processor, "loads": self.loads, "vmhwm": self.vmhwm}


def summary(seconds):
    return {"median": statistics.median(seconds), "min": min(seconds), "seconds": seconds}


def busy_seconds():
    """Returns the seconds that all processors together have worked since the machine started, whoever for, and those
    that another machine took."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, *others = map(int, file.readline().split()[1:9])
    return (user + nice + system + sum(others)) / os.sysconf("SC_CLK_TCK")


def ask_quietly(worker, count, share, tries):
    """Repetitions of a turn in which all other work took at most this share of the processors, of several turns; else
    those of the quietest turn. Returns their seconds, and the share."""
    turns = []
    while len(turns) < tries:
        done = len(worker.seconds)
        start, busy = time.monotonic(), busy_seconds()
        worker.ask(count)
        others = busy_seconds() - busy - sum(worker.processor[done:])
        turns.append((max(others, 0.0) / (time.monotonic() - start) / os.cpu_count(), worker.seconds[done:]))
        if turns[-1][0] <= share:
            break
    found, seconds = min(turns)
    return seconds, found


def in_turns(workers, rounds, steps):
    """Measures all workers in turns, one more step before each turn to warm up."""
    for _ in range(rounds):
        for worker in workers.values():
            worker.ask(1, keep=False)
            worker.ask(steps)
    for worker in workers.values():
        worker.close()
    return {name: worker.result() for name, worker in workers.items()}


def timed_command(command):
    """Returns the seconds and peak memory (bytes) of one command, and what it wrote if it failed."""
    start = time.perf_counter()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        raise Failed(errors.strip().splitlines()[0] if errors.strip() else f"status {status}")
    return {"seconds": time.perf_counter() - start, "peak": usage.ru_maxrss * 1024,
            "processor_seconds": usage.ru_utime + usage.ru_stime}


def repeated_command(command, runs):
    all_runs = [timed_command(command) for _ in range(runs)]
    return {**summary([run["seconds"] for run in all_runs]), "peak": max(run["peak"] for run in all_runs),
            "processor_seconds": min(run["processor_seconds"] for run in all_runs)}
