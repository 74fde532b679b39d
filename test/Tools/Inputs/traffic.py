"""Checks what sequence parallelism and ZeRO send and store, from `tessera report --json`.

usage: traffic.py MODEL
Also what a parameter server's busiest rank sends and receives.
Checks published counts: Korthikanti et al. 2022 (sequence parallelism sends what tensor parallelism does, and gathers
the inputs of products that are split by columns once more in backward), Rajbhandari et al. 2020 (2 P elements in stages 1 and 2, at most 3 P in stage 3; state divided by N).
"""
import json
import subprocess
import sys
import tempfile

from expect import expect

B, S, H, N = 4, 32, 64, 4
SHARE = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1}  # times (n - 1) / n of the whole


def report(*flags, model=sys.argv[1], batch=B):
    command = ["tessera", "report", model, "--json", "--batch", str(batch), "--seq-length", str(S), *flags]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def sent(plan, axis, least=0):
    """Returns the elements (f32) that ring algorithms send, times n / (n - 1), of collectives over at least `least`
    elements."""
    return sum(SHARE[c["collective"]] * c["bytes_of_step"] // 4 for c in plan["collectives"]
               if c["axes"] == axis and c["bytes_of_call"] >= 4 * least)


tensor = report("--mesh", f"tp={N}")
sequence = report("--mesh", f"tp={N}", "--sequence-parallel")
products = 2 * 2 + 1  # split by columns: two of each layer, and the head
expect("gathered again", sent(sequence, "tp", B * S * H) - sent(tensor, "tp", B * S * H), "==", products * B * S * H)
small = sent(sequence, "tp") - sent(sequence, "tp", B * S * H)
expect("norm weights, biases and positions sent", small, ">", 0)
expect("norm weights, biases and positions sent", small, "<", B * S * H)
expect("memory", sequence["memory"]["bytes"], "<", tensor["memory"]["bytes"])


def activations_of_layer(ranks):
    """Returns the bytes that one more layer keeps on a rank: bf16, split activations gathered again."""
    config = json.load(open(sys.argv[1], encoding="utf-8"))
    plans = []
    for layers in 2, 3:
        with tempfile.NamedTemporaryFile("w", suffix="config.json") as file:
            json.dump(dict(config, n_layer=layers), file)
            file.flush()
            plans.append(report("--mesh", f"tp={ranks}", "--sequence-parallel", "--precision", "bf16",
                                "--recompute", "selective", model=file.name, batch=4 * B))
    few, many = plans
    return many["memory"]["by_kind"]["activations"] - few["memory"]["by_kind"]["activations"]


for ranks in 2, 4:
    # Rounded weights, 24 h^2 bytes, are among them, so there are more tokens than elsewhere here.
    expect(f"activations of a layer on {ranks} ranks", activations_of_layer(ranks), "<=", 34 * 4 * B * S * H // ranks)
again = report("--mesh", f"tp={N}", "--sequence-parallel", "--recompute", "selective")
expect("activations sent", sent(again, "tp", B * S * H), "==", sent(sequence, "tp", B * S * H))

plans = [report("--mesh", f"dp={N}", "--zero", str(stage)) for stage in range(4)]
P = plans[0]["parameters"]
scalars = 2 * 2  # loss and gradient norm
expect("sent without ZeRO", sent(plans[0], "dp"), "==", 2 * P + scalars // 2)
for stage in 1, 2:
    expect(f"sent in stage {stage}", sent(plans[stage], "dp"), "==", 2 * P + scalars)
expect("sent in stage 3", sent(plans[3], "dp"), ">", 2 * P)
expect("sent in stage 3", sent(plans[3], "dp"), "<=", 3 * P + scalars)


def calls(plan):
    """Returns the collectives of a step over dp."""
    return sum(c["calls"] for c in plan["collectives"] if c["axes"] == "dp")


for stage in 1, 2, 3:
    alone = report("--mesh", f"dp={N}", "--zero", str(stage), "--bucket-size", "0")
    expect(f"sent in buckets in stage {stage}", sent(plans[stage], "dp"), "==", sent(alone, "dp"))
    expect(f"calls in stage {stage}", calls(plans[stage]), "<", calls(alone))
    kinds = plans[stage]["memory"]["by_kind"]
    expect(f"parameters in stage {stage}", plans[stage]["parameters_of_rank"], "==", P // N)
    # Two moments, aligned.
    expect(f"optimizer state beyond 8 P / N in stage {stage}", abs(kinds["optimizer"] - 8 * P / N), "<=", 4096)
    expect(f"weights beyond 4 P / N in stage {stage}", abs(kinds["weights"] - 4 * P / N), "<=", 4096)
peaks = [plan["memory"]["bytes"] for plan in plans]
assert peaks[0] > peaks[1] >= peaks[2] > peaks[3], peaks

server = report("--mesh", f"dp={N}", "--dp-sync", "parameter-server")
owners, ring = server["parameter_server"]["owners"], server["parameter_server"]["all_reduce"]
expect("parameters of all owners", sum(owner["parameters"] for owner in owners), "==", P)
for owner in owners:
    own = owner["parameters"]  # N - 1 ranks send gradients of these, and get them back; the others go to their owners
    for direction in "sent", "received":
        expect(f"{direction} by an owner", owner[direction], "==", 4 * ((N - 1) * own + P - own))
    expect("optimizer state of an owner", owner["optimizer_state"], "==", 8 * own)
for direction in "sent", "received":
    expect(f"{direction} in a ring", ring[direction], "==", 2 * (N - 1) * 4 * P // N)
expect("optimizer state without owners", ring["optimizer_state"], "==", 8 * P)
busiest = owners[server["parameter_server"]["busiest"]]
# Parameters are whole, so owners are never quite alike.
expect("sent by the busiest owner", busiest["sent"], ">", ring["sent"])
expect("memory", server["memory"]["bytes"], "==", max(owner["memory"] for owner in owners))
kinds = server["memory"]["by_kind"]
most = max(owner["optimizer_state"] for owner in owners)
expect("optimizer state of ZeRO", plans[1]["memory"]["by_kind"]["optimizer"], "<", most)
expect("optimizer state", kinds["optimizer"], "<=", most + 4096)
expect("memory", server["memory"]["bytes"], "<", plans[0]["memory"]["bytes"])
print("traffic ok")
