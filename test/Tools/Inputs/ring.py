"""Checks what ring attention sends and holds, from `tessera report --json`.

usage: ring.py MODEL
Liu et al. 2023 (arXiv 2310.01889): keys and values of a rank visit all others, in backward together with their gradients.
Before, a causal sequence is dealt out in chunks of equal work, and what comes of it goes back.
"""
import json
import struct
import subprocess
import sys
import tempfile

from expect import expect

B, S = 4, 32
with open(sys.argv[1]) as file:
    CONFIG = json.load(file)
H, LAYERS, HEADS = CONFIG["n_embd"], CONFIG["n_layer"], CONFIG["n_head"]
# The share of the whole array that a rank sends of its part, at most.
SENT = {"shift": lambda n: 1, "zigzag": lambda n: 1 / 2 if n == 2 else 1, "all_reduce": lambda n: 2 * (n - 1) / n,
        "all_gather": lambda n: (n - 1) / n}


def report(*flags):
    command = ["tessera", "report", sys.argv[1], "--json", "--batch", str(B), "--seq-length", str(S), *flags]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def moved(plan, phase, kind="shift"):
    return sum(c["bytes_of_step"] for c in plan["collectives"] if c["collective"] == kind and c["phase"] == phase)


def compiled(*flags):
    """Returns the report of an artifact, with the bytes on the wire that it states."""
    with tempfile.TemporaryDirectory() as folder:
        artifact = f"{folder}/ring.tsr"
        subprocess.run(["tessera", "compile", sys.argv[1], "--batch", str(B), "--seq-length", str(S), *flags,
                        "-o", artifact], check=True, capture_output=True)
        text = subprocess.run(["tessera", "report", artifact, "--json"], check=True, capture_output=True, text=True).stdout
        with open(artifact, "rb") as file:
            header = struct.Struct("<8sIIQQQ32s64s")  # tsr_abi_header
            metadata = json.loads(file.read(header.unpack(file.read(header.size))[3]))
    return json.loads(text), metadata["report"]["communication_per_rank"]["cp"]["ring_bytes_sent"]


activations = {1: report()["memory"]["by_kind"]["activations"]}
for n in 2, 4:
    plan, sent = compiled("--mesh", f"cp={n}", "--context-parallel", "ring")
    whole = B * S * H * 4  # bytes of keys, f32; values have as many
    pass_around = LAYERS * 2 * whole * (n - 1) // n
    expect(f"shifted forward over {n} ranks", moved(plan, "forward"), "==", pass_around)
    expect(f"shifted backward over {n} ranks", moved(plan, "backward"), "==", 2 * pass_around)
    local, lse = whole // n, B * HEADS * S * 4 // n
    # Forward q, k, v and the output; backward these and the gradients of all.
    expect(f"dealt out forward over {n} ranks", moved(plan, "forward", "zigzag"), "==", LAYERS * (4 * local + lse))
    expect(f"dealt out backward over {n} ranks", moved(plan, "backward", "zigzag"), "==", LAYERS * (8 * local + lse))
    wire = sum(c["bytes_of_step"] * SENT[c["collective"]](n) for c in plan["collectives"])
    expect(f"sent over {n} ranks", sent, "==", wire)
    gathers = [c["bytes_of_call"] for c in plan["collectives"] if c["collective"] == "all_gather"]
    expect("the largest all-gather", max(gathers, default=0), "<", whole)
    gathered = report("--mesh", f"cp={n}")
    activations[n] = plan["memory"]["by_kind"]["activations"]
    expect(f"memory with {n} ranks", plan["memory"]["bytes"], "<", gathered["memory"]["bytes"])
    expect("slices of causal work", len(plan["causal_work"]), "==", n)
    expect("the most uneven slice", max(abs(share * n - 1) for share in plan["causal_work"]), "<", 1e-9)
    expect("causal work beyond the whole", abs(sum(gathered["causal_work"]) - 1), "<", 1e-9)
    expect("the last slice without dealing out", gathered["causal_work"][-1], ">", 1.4 / n)
expect("activations of one rank", activations[1], ">", 1.8 * activations[2])
expect("activations of two ranks", 1.8 * activations[2], ">", 3.2 * activations[4])
again = report("--mesh", "cp=4", "--context-parallel", "ring", "--recompute", "full")
expect("shifted again", moved(again, "recompute"), "==", moved(again, "forward"))
expect("shifted again", moved(again, "recompute"), ">", 0)
halves = report("--mesh", "cp=4", "--context-parallel", "ring", "--precision", "bf16")
expect("shifted in bf16, twice", 2 * moved(halves, "forward"), "==", pass_around)
print("ring ok", activations)
