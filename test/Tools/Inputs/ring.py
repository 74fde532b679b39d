"""What ring attention sends and holds, from `tessera report --json`.

usage: ring.py MODEL
Liu et al. 2023 (arXiv 2310.01889): keys and values of a rank visit all others, in backward together with their gradients.
"""
import json
import subprocess
import sys

B, S = 4, 32
with open(sys.argv[1]) as file:
    CONFIG = json.load(file)
H, LAYERS = CONFIG["n_embd"], CONFIG["n_layer"]


def report(*flags):
    command = ["tessera", "report", sys.argv[1], "--json", "--batch", str(B), "--seq-length", str(S), *flags]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def shifted(plan, phase):
    return sum(c["bytes_of_step"] for c in plan["collectives"] if c["collective"] == "shift" and c["phase"] == phase)


activations = {1: report()["memory"]["by_kind"]["activations"]}
for n in 2, 4:
    plan = report("--mesh", f"cp={n}", "--context-parallel", "ring")
    whole = B * S * H * 4  # of keys, f32; values alike
    pass_around = LAYERS * 2 * whole * (n - 1) // n
    assert shifted(plan, "forward") == pass_around, (n, shifted(plan, "forward"), pass_around)
    assert shifted(plan, "backward") == 2 * pass_around, (n, shifted(plan, "backward"))
    assert not any(c["collective"] == "all_gather" and c["bytes_of_call"] >= whole for c in plan["collectives"]), n
    gathered = report("--mesh", f"cp={n}")
    activations[n] = plan["memory"]["by_kind"]["activations"]
    assert plan["memory"]["bytes"] < gathered["memory"]["bytes"], (n, plan["memory"], gathered["memory"])
    assert plan["causal_work"] == gathered["causal_work"] and abs(sum(plan["causal_work"]) - 1) < 1e-9
assert activations[1] > 1.8 * activations[2] > 3.2 * activations[4], activations
again = report("--mesh", "cp=4", "--context-parallel", "ring", "--recompute", "full")
assert shifted(again, "recompute") == shifted(again, "forward") > 0
halves = report("--mesh", "cp=4", "--context-parallel", "ring", "--precision", "bf16")
assert 2 * shifted(halves, "forward") == pass_around
print("ring ok", activations)
