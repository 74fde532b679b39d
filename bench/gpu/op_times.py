"""Measures the time of each op of a step on the GPU, beside what it must move and compute.

Usage: op_times.py ARTIFACT BUILD [COPY_GB_PER_S MATMUL_TFLOPS]
Records one step of BUILD/bin/gpu-steps with the GPU's own clock (events before and behind each op), and adds up launches
of a kernel, products of a size, attention. A kernel's bytes are its operands and results, each once; tables that it reads
by row count whole. The step is queued op by op, not as a captured graph; BUILD/bin/gpu-limits measures the two limits.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

STEPS_BEFORE = 3
LIBRARY = ("gemm", "attention", "attention_grad", "routed")


def record(artifact, build, seconds, log, environment=None):
    """Returns what the worker says when it is ready, and the trace's events of rank 0."""
    with tempfile.TemporaryDirectory() as folder, open(log, "w") as errors:
        trace = pathlib.Path(folder) / "trace.json"
        done = subprocess.run([str(build / "bin/gpu-steps"), str(artifact), "1", "cuda", str(trace)], text=True,
                              input=f"{STEPS_BEFORE}\n", stdout=subprocess.PIPE, stderr=errors, timeout=seconds,
                              env=environment, check=False)
        if done.returncode:
            raise RuntimeError(pathlib.Path(log).read_text()[-400:].strip() or f"exit {done.returncode}")
        events = json.loads(trace.read_text())["traceEvents"]
    return json.loads(done.stdout.splitlines()[0]), [e for e in events if e["ph"] == "X" and e["pid"] == 0]


def group_of(op):
    """Names the group of ops that do the same: a kernel's launches, the products of a size."""
    if "kernel" in op:
        return op["kernel"]
    part = re.sub(r"\.\d+(?=\.|$)", ".*", op.get("name", ""))
    shape = "x".join(map(str, op.get("shape", [])))
    return " ".join(filter(None, [op["op"], op.get("phase"), part, shape]))


def summarize(ops, events, copy, matmul):
    """Returns the groups by time, and the shares of the step; `copy` in GB/s and `matmul` in TFLOP/s may be None."""
    groups = {}
    for event in events:
        op = ops[event["args"]["op"]]
        group = groups.setdefault(group_of(op), {"calls": 0, "microseconds": 0.0, "bytes": 0, "flops": 0, "op": op["op"]})
        group["calls"] += 1
        group["microseconds"] += event["dur"]
        group["bytes"] += op.get("bytes", 0)
        group["flops"] += op.get("flops", 0)
    step = max(e["ts"] + e["dur"] for e in events) - min(e["ts"] for e in events)
    if step <= 0:
        raise RuntimeError("no time passed in the step that was recorded")
    rows = []
    for name, group in sorted(groups.items(), key=lambda item: -item[1]["microseconds"]):
        row = {"what": name, "calls": group["calls"], "microseconds": round(group["microseconds"], 1),
               "share_of_step": round(group["microseconds"] / step, 4)}
        if group["bytes"] and group["microseconds"]:
            row["gbytes_per_second"] = round(group["bytes"] / group["microseconds"] * 1e-3, 1)
            if copy:
                row["share_of_copy_limit"] = round(row["gbytes_per_second"] / copy, 3)
        if group["flops"] and group["microseconds"]:
            row["tflops"] = round(group["flops"] / group["microseconds"] * 1e-6, 1)
            if matmul:
                row["share_of_matmul_limit"] = round(row["tflops"] / matmul, 3)
        rows.append(row)

    def total(kinds):
        return sum(group["microseconds"] for group in groups.values() if group["op"] in kinds)

    kernels = [group for group in groups.values() if group["op"] == "launch"]
    result = {"step_microseconds": round(step, 1), "share_of_products_and_attention": round(total(LIBRARY) / step, 4),
              "share_of_kernels": round(total(("launch",)) / step, 4)}
    if copy and total(("launch",)):
        result["kernels_share_of_copy_limit"] = round(
            sum(group["bytes"] for group in kernels) / total(("launch",)) * 1e-3 / copy, 3)
    result["ops"] = rows
    return result


def measure(artifact, build, limits, seconds, log, environment=None):
    ready, events = record(artifact, build, seconds, log, environment)
    return summarize(ready["ops"], events, limits.get("copy_gbytes_per_second"), limits.get("matmul_tflops"))


def table(result, rows=20):
    lines = ["| op | calls | us | share | GB/s | of copy | TFLOP/s | of products |", "|---|---|---|---|---|---|---|---|"]
    for row in result["ops"][:rows]:
        cells = [f"`{row['what']}`", row["calls"], row["microseconds"], f"{row['share_of_step']:.1%}"]
        cells += [row.get(key, "") for key in ("gbytes_per_second", "share_of_copy_limit", "tflops", "share_of_matmul_limit")]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def main():
    artifact, build = map(pathlib.Path, sys.argv[1:3])
    limits = dict(zip(("copy_gbytes_per_second", "matmul_tflops"), map(float, sys.argv[3:5])))
    with tempfile.NamedTemporaryFile() as log:
        result = measure(artifact, build, limits, 120, log.name)
    print(table(result))
    print(json.dumps({key: value for key, value in result.items() if key != "ops"}))


if __name__ == "__main__":
    main()
