"""ZeRO's collectives: as few as all-reduces, of every tensor once, and beside computation."""

import json
import subprocess
import sys

MODEL = sys.argv[1]


def report(*flags, bucket="300KiB"):
    """Returns the collectives of a step. A bucket is at most a 32nd of all."""
    command = ["tessera", "report", MODEL, "--json", "--batch", "8", "--seq-length", "16", "--mesh", "dp=4",
               "--bucket-size", bucket, *flags]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["collectives"]


def total(plan, what, kind, phase=None):
    """Returns the sum of a number over collectives of one kind."""
    return sum(c[what] for c in plan if c["collective"] == kind and c["phase"] in (phase or c["phase"]))


def expect(what, a, relation, b):
    """Stops where a number is not what it must be."""
    if not {"==": a == b, "<=": a <= b, "<": a < b}[relation]:
        sys.exit(f"{what}: {a}, expected {relation} {b}")


gradients = report("--zero", "0")
reductions = total(gradients, "calls", "all_reduce", "backward")
parameters = total(gradients, "tensors", "all_reduce", "backward")
for precision in "f32", "bf16":
    alone = report("--zero", "1", "--precision", precision, bucket="0")
    for stage in "1", "2", "3":
        plan = report("--zero", stage, "--precision", precision)
        where = f"stage {stage} in {precision}"
        for kind, phase in ("reduce_scatter", "backward"), ("all_gather", "forward"):
            expect(f"{kind}s of {where}", total(plan, "calls", kind, phase), "<=", reductions)
            expect(f"tensors of {kind}s of {where}", total(plan, "tensors", kind, phase), "==", parameters)
            expect(f"bytes of {kind}s of {where}", total(plan, "bytes_of_step", kind, phase), "==",
                   total(alone, "bytes_of_step", kind, phase))
        expect(f"calls of one tensor of {where}", total(alone, "calls", "all_gather"), "==", parameters)
        # Only what the first op reads has nothing to run beside; in stages 1 and 2 the rest is queued at once.
        waits = total(plan, "calls", "all_gather") - total(plan, "async_calls", "all_gather")
        expect(f"gathers that block in {where}", waits, "<=", 1)
print("zero buckets ok")
