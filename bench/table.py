"""Prints a result of bench/run.sh as Markdown tables. Usage: table.py result.json"""
import json
import sys


def mib(size):
    return f"{size / 2**20:.0f}"


def pair(result):
    return f"{result['median']:.3f} / {result['min']:.3f}"


def tokens(size):
    batch, sequence = map(int, size.split("x"))
    return batch * sequence


def steps(rows):
    yield "| B x T | precision | step, s | tokens/s | floor: products, s | step / floor | the same in processor time | AdamW's memory traffic, s | arena, MiB | process, MiB | PyTorch step, s | PyTorch, MiB | step / PyTorch |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        yield "| " + " | ".join(step_cells(row)) + " |"


def ratio(row, other, key="median"):
    if "tessera" not in row or other not in row:
        return ""
    return f"{row['tessera'][key] / row[other][key]:.2f}"


def step_cells(row):
    ours, floor, torch = (row.get(name) for name in ("tessera", "floor", "pytorch"))
    notes = row["notes"]
    return [row["size"].replace("x", " x "), row["precision"],
            pair(ours) if ours else notes.get("tessera", ""),
            f"{tokens(row['size']) / ours['median']:.0f}" if ours else "",
            pair(floor) if floor else notes.get("floor", ""), ratio(row, "floor"),
            ratio(row, "floor", "processor_median"),
            f"{row['adamw_seconds']:.3f}" if "adamw_seconds" in row else "",
            mib(row["arena_bytes"]) if ours else "", mib(ours["vmhwm"]) if ours else "",
            pair(torch) if torch else notes.get("pytorch", ""), mib(torch["vmhwm"]) if torch else "",
            ratio(row, "pytorch")]


def meshes(result):
    yield f"| mesh, B x T = {result['size'].replace('x', ' x ')} | step, s | ratio to serial | the same in processor time | arena of a rank, MiB | process, MiB |"
    yield "|---|---|---|---|---|---|"
    for name, arena in result["arena_bytes_of_rank"].items():
        run = result[name]
        share = run["median"] / result["serial"]["median"]
        used = run["processor_median"] / result["serial"]["processor_median"]
        yield f"| {name} | {pair(run)} | {share:.2f} | {used:.2f} | {mib(arena)} | {mib(run['vmhwm'])} |"
    for name, note in result["notes"].items():
        yield f"| {name} | {note} | | | | |"


def compiles(result):
    yield "| command | wall, s | processor, s | peak, MiB |"
    yield "|---|---|---|---|"
    for name, run in result.items():
        if "failed" in run:
            yield f"| {name} | {run['failed']} | | |"
        else:
            yield f"| {name} | {pair(run)} | {run['processor_seconds']:.1f} | {mib(run['peak'])} |"


def render(results):
    machine = results["machine"]
    load = " / ".join(f"{m[0]:.1f}" for m in (machine["load_before"], machine["load_after"]))
    lines = [f"{machine['cpu']}, {machine['cores']} cores, {machine['threads']} threads, {machine['date']}; "
             f"load before / after {load}. Times are median / least.", machine.get("note") or "", "", *steps(results["rows"])]
    if "meshes" in results:
        lines += ["", *meshes(results["meshes"])]
    if "compile" in results:
        lines += ["", *compiles(results["compile"])]
    return "\n".join(lines)


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        print(render(json.load(file)))
