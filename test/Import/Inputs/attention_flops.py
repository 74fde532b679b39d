"""Prints the flops of each kind of attention in an artifact, every number once.

    attention_flops.py model.tsr
"""
import json
import struct
import sys

HEADER = struct.Struct("<8sIIQQQ32s64s")  # tsr_abi_header

with open(sys.argv[1], "rb") as file:
    length = HEADER.unpack(file.read(HEADER.size))[3]
    ops = json.loads(file.read(length))["ops"]
for kind in sorted({op["op"] for op in ops if "attention" in op["op"]}):
    print(kind, sorted({op["flops"] for op in ops if op["op"] == kind}))
