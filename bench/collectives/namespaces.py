"""namespaces.py PROGRAM [--hosts H] [--ranks R]: what all-reduces of H hosts with R ranks each send, and their time.

Each host is a network namespace on a bridge; as root. Bytes are those that the hosts' interfaces have sent, by the
formula 2 (1 - 1/H) times the data of a rank. Times are ratios to the direct exchange, with links of --rate.
"""
import argparse
import os
import statistics
import subprocess

parser = argparse.ArgumentParser()
parser.add_argument("program", help="host-traffic of this build")
parser.add_argument("--hosts", type=int, default=2)
parser.add_argument("--ranks", type=int, default=2, help="of each host")
parser.add_argument("--bytes", type=int, default=1 << 24)
parser.add_argument("--rate", default="", help="of each link, for tc: 1gbit")
parser.add_argument("--turns", type=int, default=5)
options = parser.parse_args()
prefix = f"tsr{os.getpid()}"
hosts = [f"{prefix}h{host}" for host in range(options.hosts)]


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def connect():
    """Makes a namespace for each host and a bridge between them."""
    ip("netns", "add", f"{prefix}b")
    ip("-n", f"{prefix}b", "link", "add", "bridge0", "type", "bridge")
    ip("-n", f"{prefix}b", "link", "set", "bridge0", "up")
    for number, host in enumerate(hosts):
        ip("netns", "add", host)
        ip("-n", host, "link", "set", "lo", "up")
        ip("-n", host, "link", "add", "eth0", "type", "veth", "peer", "name", f"port{number}", "netns", f"{prefix}b")
        ip("-n", host, "address", "add", f"10.77.0.{number + 1}/24", "dev", "eth0")
        ip("-n", host, "link", "set", "eth0", "up")
        ip("-n", f"{prefix}b", "link", "set", f"port{number}", "master", "bridge0", "up")
        if options.rate:
            subprocess.run(["ip", "netns", "exec", host, "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate",
                            options.rate, "burst", "256k", "latency", "50ms"], check=True)


def sent(host):
    shown = subprocess.run(["ip", "netns", "exec", host, "cat", "/sys/class/net/eth0/statistics/tx_bytes"],
                           stdout=subprocess.PIPE, check=True, text=True)
    return int(shown.stdout)


def reduce(dtype, way, runs):
    """Returns the seconds of an all-reduce, and the bytes that a host has sent in it."""
    before = sum(map(sent, hosts))
    world = options.hosts * options.ranks
    port = 20000 + os.getpid() % 20000
    started = [subprocess.Popen(["ip", "netns", "exec", hosts[rank // options.ranks], options.program, str(rank),
                                 str(world), f"10.77.0.1:{port}", str(options.bytes), dtype, way, str(runs)],
                                stdout=subprocess.PIPE, text=True) for rank in range(world)]
    texts = [process.communicate()[0] for process in started]
    if any(process.returncode for process in started):
        raise SystemExit("a rank has failed")
    return float(texts[0]), (sum(map(sent, hosts)) - before) / options.hosts / runs


try:
    connect()
    formula = 2 * (1 - 1 / options.hosts)
    for dtype in ("f32", "bf16"):
        times, bytes_sent = {"hosts": [], "direct": []}, {}
        for turn in range(options.turns):
            for way in times:
                seconds, bytes_sent[way] = reduce(dtype, way, 3)
                times[way].append(seconds)
        medians = {way: statistics.median(values) for way, values in times.items()}
        print(f"{options.hosts} hosts x {options.ranks} ranks, {options.bytes} bytes of {dtype}: a host sends "
              f"{bytes_sent['hosts'] / options.bytes / formula:.3f} x 2(1 - 1/H) B "
              f"(direct {bytes_sent['direct'] / options.bytes / formula:.3f}); "
              f"{medians['hosts'] * 1e3:.1f} ms, {medians['hosts'] / medians['direct']:.2f} of the direct exchange")
finally:
    for name in [*hosts, f"{prefix}b"]:
        subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)
