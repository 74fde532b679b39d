"""Reads TensorBoard's event files and compares their scalars with a log.

tensorboard_events.py DIRECTORY LOG.jsonl

Written from the formats of TFRecord files and protocol buffers; where the package tensorboard is installed it must read
the same.
"""
import glob
import json
import struct
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def check(data, checksum):
    crc = crc32c(data)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    assert masked == struct.unpack("<I", checksum)[0], data


def records(data):
    while data:
        check(data[:8], data[8:12])
        (length,) = struct.unpack("<Q", data[:8])
        event, data = data[12:12 + length], data[12 + length:]
        check(event, data[:4])
        yield event
        data = data[4:]


def varint(data):
    value = shift = 0
    while True:
        byte, data = data[0], data[1:]
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, data


def fields(message):
    while message:
        tag, message = varint(message)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, message = varint(message)
        elif kind == 2:
            length, message = varint(message)
            value, message = message[:length], message[length:]
        else:
            size, form = {1: (8, "<d"), 5: (4, "<f")}[kind]
            (value,), message = struct.unpack(form, message[:size]), message[size:]
        yield number, value


def scalars(directory):
    found = {}
    for path in sorted(glob.glob(directory + "/*tfevents*")):
        first, *events = [dict(fields(event)) for event in records(open(path, "rb").read())]
        assert first[3] == b"brain.Event:2", first
        for event in events:
            value = dict(fields(dict(fields(event[5]))[1]))
            found[value[1].decode(), event[2]] = value[2]
    return found


directory, log = sys.argv[1:]
found = scalars(directory)
wanted = {}
for line in map(json.loads, open(log)):
    group = "train/" if "loss" in line else "eval/"
    for name, value in line.items():
        if name not in ("step", "time", "eval_labels", "resumed"):
            wanted[group + name.removeprefix("eval_"), line["step"]] = struct.unpack("<f", struct.pack("<f", value))[0]
assert found == wanted, (sorted(found.items() ^ wanted.items()))
assert ("train/loss", 5) in found and ("eval/loss", 4) in found
try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError:
    sys.exit(0)
accumulator = EventAccumulator(directory)
accumulator.Reload()
assert {(tag, event.step) for tag in accumulator.Tags()["scalars"] for event in accumulator.Scalars(tag)} == set(found)
