"""Peak bytes of a rank under ZeRO in mixed precision, from `tessera report --json`.

usage: zero_memory.py MODEL
Rajbhandari et al. 2020, section 3: 4 P + 12 P / N bytes in stage 1, 2 P + 14 P / N in stage 2, 16 P / N in stage 3,
for P parameters on N ranks, of dp or of dp and cp. A plan also holds activations and the gradients that are not scattered yet: few of both
here, in a deep model with few tokens. In stage 3 the next bucket of parameters is on its way. Gradients of several
micro-batches add in f32, which stage 1 holds whole: 2 P more than sums in bf16, and 2 P / N more in stages 2 and 3
(less the parameters in bf16 that stage 3 does not keep).
"""
import json
import subprocess
import sys

from expect import expect

N = 4
PUBLISHED = {1: 4 + 12 / N, 2: 2 + 14 / N, 3: 16 / N}
SUMS_IN_F32 = {1: 6 + 12 / N, 2: 2 + 16 / N, 3: 16 / N}


def bytes_of_parameter(mesh, stage, micro_batches):
    batch = int(mesh.split(",")[0].removeprefix("dp=")) * micro_batches
    command = ["tessera", "report", sys.argv[1], "--json", "--batch", str(batch), "--seq-length", "8",
               "--mesh", mesh, "--precision", "bf16", "--zero", str(stage), "--micro-batches", str(micro_batches)]
    plan = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return plan["memory"]["bytes"] / plan["parameters"]


def check(mesh, stage, of_several):
    ahead = 0.01 if stage == 3 else 0
    expect(f"bytes on {mesh} in stage {stage}", bytes_of_parameter(mesh, stage, 1), "<=", (1.05 + ahead) * PUBLISHED[stage])
    if of_several:
        expect(f"bytes on {mesh} in stage {stage} with micro-batches", bytes_of_parameter(mesh, stage, 2), "<=",
               (1.1 + ahead) * SUMS_IN_F32[stage])


for stage in 1, 2, 3:
    check(f"dp={N}", stage, True)
    check(f"dp=2,cp={N // 2}", stage, False)
print("zero memory ok")
