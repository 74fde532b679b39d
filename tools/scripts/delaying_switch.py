#!/usr/bin/env python3
"""A network switch that delays frames, for kernels without netem; used by network-faults.sh.

usage: delaying_switch.py DELAY JITTER REORDERED NAMESPACE...

Makes a network device "tap0" in each network namespace and prints "ready"; then passes frames between them until it is
killed. A frame takes DELAY milliseconds, more or less by up to JITTER. Frames between two devices keep their order,
but a REORDERED share of them, in percent, is delivered at once. Needs root.
"""
import ctypes
import fcntl
import heapq
import itertools
import os
import random
import select
import struct
import sys
import time

NEW_NETWORK = 0x40000000  # CLONE_NEWNET
SET_INTERFACE = 0x400454CA  # TUNSETIFF
ETHERNET, BARE = 0x0002, 0x1000  # IFF_TAP, IFF_NO_PI
FRAME = 65536


def enter(namespace):
    if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), NEW_NETWORK) != 0:
        raise OSError(ctypes.get_errno(), f"cannot enter network namespace {namespace.name}")


def open_device(namespace):
    """Opens the end of a new tap0 in a namespace."""
    with open("/proc/self/ns/net") as own, open(f"/run/netns/{namespace}") as other:
        enter(other)
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(device, SET_INTERFACE, struct.pack("16sH22x", b"tap0", ETHERNET | BARE))
        enter(own)
    return device


class Switch:
    def __init__(self, devices, delay, jitter, reordered):
        self.devices, self.delay, self.jitter, self.reordered = devices, delay, jitter, reordered
        self.device_of = {}  # keyed by hardware address
        self.waiting = []  # (time, number, device, frame)
        self.numbers = itertools.count()
        self.last = {}  # when the last frame between two devices arrives

    def take(self, source):
        frame = os.read(source, FRAME)
        self.device_of[frame[6:12]] = source
        target = self.device_of.get(frame[:6])
        for device in [target] if target else [each for each in self.devices if each != source]:
            self.send(source, device, frame)

    def send(self, source, target, frame):
        now = time.monotonic()
        due = now
        if random.random() >= self.reordered:
            late = self.delay + random.uniform(-self.jitter, self.jitter)
            due = max(now + late, self.last.get((source, target), now))
            self.last[source, target] = due
        heapq.heappush(self.waiting, (due, next(self.numbers), target, frame))

    def deliver(self):
        """Delivers what is due; returns the seconds until more is."""
        while self.waiting:
            left = self.waiting[0][0] - time.monotonic()
            if left > 0:
                return left
            _, _, target, frame = heapq.heappop(self.waiting)
            try:
                os.write(target, frame)
            except OSError:  # a device that is down loses frames
                pass
        return None

    def run(self):
        poll = select.poll()
        for device in self.devices:
            poll.register(device, select.POLLIN)
        while True:
            left = self.deliver()
            for device, _ in poll.poll(None if left is None else max(left * 1000, 0.2)):
                try:
                    self.take(device)
                except BlockingIOError:
                    pass


def main():
    delay, jitter, reordered = (float(word) for word in sys.argv[1:4])
    devices = [open_device(namespace) for namespace in sys.argv[4:]]
    print("ready", flush=True)
    Switch(devices, delay / 1000, jitter / 1000, reordered / 100).run()


if __name__ == "__main__":
    main()
