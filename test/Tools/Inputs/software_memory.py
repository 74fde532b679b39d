"""Checks what a cluster's software keeps, from `tessera simulate --json` with [software.memory] of
clusters/selene-2022.toml.

usage: software_memory.py CLUSTER FOLDER
Korthikanti et al. 2022, sections 4 and 5: a layer keeps sbh (10 + 24/t + 5as/ht) bytes of a micro-batch with tensor
parallelism alone, sbh/t (34 + 5as/h) with sequence parallelism, without the last term if scores are computed again, and
2sbh if all is. Section 4.3: the embedding's dropout, the input of the last norm, that of the head, logits in f32.
"""
import json
import os
import subprocess
import sys

from expect import expect

CLUSTER, FOLDER = sys.argv[1:]
S, B, H, A, T, V, LAYERS = 32, 2, 64, 4, 2, 128, 4
SBH = S * B * H
SCORES = 5 * A * S / (H * T)
SEQUENCE, SELECTIVE, FULL = ["--sequence-parallel"], ["--recompute", "selective"], ["--recompute", "full"]
CONFIG = {"model_type": "gpt2", "vocab_size": V, "n_positions": S, "n_embd": H, "n_layer": LAYERS, "n_head": A}


def memory(*flags, mesh=f"tp={T}", batch=B, cluster=CLUSTER, **config):
    with open(os.path.join(FOLDER, "config.json"), "w") as file:
        json.dump({**CONFIG, **config}, file)
    command = ["tessera", "simulate", FOLDER, "--device", "cuda", "--precision", "bf16", "--no-evaluation", "--json",
               "--mesh", mesh, "--batch", str(batch), "--cluster", cluster, *flags]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)["software_memory"]


def of_layers(*flags, **options):
    return memory(*flags, **options)["stages"][0]["of_layers"]["activations"]


for name, flags, factor in (("tp alone", [], 10 + 24 / T + SCORES), ("selective", SELECTIVE, 10 + 24 / T),
                            ("sequence parallel", SEQUENCE, 34 / T + SCORES),
                            ("both", SEQUENCE + SELECTIVE, 34 / T), ("full", FULL, 2),
                            # The rest recomputes selectively.
                            ("full, of 3 layers", FULL + ["--recompute-layers", "3"],
                             (3 * 2 + 10 + 24 / T) / LAYERS),
                            ("selective, of 3 layers", ["--layer-recompute", "0-2=selective"],
                             10 + 24 / T + SCORES / LAYERS),
                            ("none, of one layer", SELECTIVE + ["--layer-recompute", "1=none"],
                             10 + 24 / T + SCORES / LAYERS)):
    expect(name, of_layers(*flags), "==", SBH * factor * LAYERS)

# Without dropout there are neither masks nor dropped scores.
expect("no dropout", of_layers(resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0), "==",
       SBH * (8 + 24 / T + 2 * A * S / (H * T)) * LAYERS)

# p micro-batches in flight; if stages are interleaved, 1 + (p - 1) / pm times the layers of a model.
MICRO = 4
LAYER = SBH * (10 + 24 / T + SCORES)
expect("two stages", of_layers("--micro-batches", str(MICRO), mesh="pp=2,tp=2", batch=MICRO * B), "==", LAYERS * LAYER)
interleaved = memory("--micro-batches", str(MICRO), "--virtual-stages", "2", "--stages", "1,1,1,1", mesh="pp=2,tp=2",
                     batch=MICRO * B)["stages"]
expect("interleaved", interleaved[0]["of_layers"]["activations"], "==", 1.25 * LAYERS * LAYER)

# Outside of layers; a statistic of the loss for each token is in f32.
stage = memory()["stages"][0]
rest = stage["by_kind"]["activations"] - stage["of_layers"]["activations"]
logits = 4 * S * B * V / T
expect("embedding and head", rest, "==", SBH * (1 + 2 + 2) + logits + 4 * S * B)

# 18 bytes for a parameter; a table that the last stage reads as well is there, too.
layer = (4 * H * H + 3 * H + 8 * H * H + 4 * H) / T + 2 * H + 4 * H
expect("weights of layers", stage["of_layers"]["weights"], "==", 2 * LAYERS * layer)
expect("gradients of layers", stage["of_layers"]["gradients"], "==", 4 * LAYERS * layer)
expect("optimizer of layers", stage["of_layers"]["optimizer"], "==", 12 * LAYERS * layer)
table, norm = V * H / T, 2 * H
expect("weights of the last stage", interleaved[1]["by_kind"]["weights"] - interleaved[1]["of_layers"]["weights"], "==",
       2 * (table + norm))

# ZeRO splits the optimizer's part over dp.
split, whole = (memory(*flags, mesh="dp=2", batch=2 * B)["stages"][0]["by_kind"] for flags in (["--zero", "1"], []))
for kind, parts in ("weights", 1), ("gradients", 1), ("optimizer", 2):
    expect(f"{kind} with ZeRO 1", split[kind] * parts, "==", whole[kind])

# Fused attention keeps a number in f32 for each query of each head.
with open(CLUSTER) as file, open(os.path.join(FOLDER, "fused.toml"), "w") as fused:
    fused.write(file.read().replace('scores = "stored"', 'scores = "fused"'))
expect("fused", of_layers(cluster=os.path.join(FOLDER, "fused.toml")), "==",
       (SBH * (10 + 24 / T) + 4 * A * S * B / T) * LAYERS)
print("software memory ok")
