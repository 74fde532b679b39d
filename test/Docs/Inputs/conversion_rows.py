"""Gives each row of the table of conversions in docs/TheOneRule.md to tessera-opt.

Each is accepted under its kind, and a row without stages is lowered to the collective that the table names, or to none.
"""
import re
import subprocess
import sys

from documents import read, section, table

source, opt = sys.argv[1:3]
COLLECTIVES = {"nothing": None, "all-reduce": "rt.all_reduce", "all-gather": "rt.all_gather",
               "reduce-scatter": "rt.reduce_scatter", "all-to-all": "rt.all_to_all"}
offences = 0


def fail(row, message):
    global offences
    offences += 1
    print(f"docs/TheOneRule.md: {row}: {message}")


def tensor(state):
    names = {"S": "S(1)", "S(a)": "S(0)", "S(b)": "S(1)", "A(s)": "A(0)", "A(t)": "A(1)"}
    state = names.get(state, state)
    return "tensor<8x4x2xf32>" if state == "I" else f"tensor<8x4x2xf32, #dist<tp: {state}>>"


def run(start, end, kind, *flags):
    program = f"""module attributes {{dist.mesh = #dist.mesh<tp = 2>}} {{
  func.func @step(%x: {tensor(start)}) -> {tensor(end)} {{
    %y = dist.convert {kind} %x on "tp" : {tensor(start)} -> {tensor(end)}
    return %y : {tensor(end)}
  }}
}}
"""
    return subprocess.run([opt, "-", *flags], input=program, text=True, capture_output=True, check=False)


rows = table(section(read(source, "docs/TheOneRule.md"), "Conversions"))
for conversions, kinds, communicates, _ in rows:
    kind = re.match(r"`(\w+)`", kinds).group(1)
    for row in re.findall(r"`([^`]+)`", conversions):
        start, end = row.split(" -> ")
        checked = run(start, end, kind)
        if checked.returncode:
            fail(row, checked.stderr)
        elif "A" not in row:
            lowered = run(start, end, kind, "--rt-localize")
            found = re.findall("|".join(filter(None, COLLECTIVES.values())), lowered.stdout)
            expected = [COLLECTIVES[communicates]] if COLLECTIVES[communicates] else []
            if lowered.returncode or found != expected:
                fail(row, f"lowered to {found or 'nothing'}, not {expected or 'nothing'}; {lowered.stderr}")
if len(rows) < 10:
    fail("table", "has too few rows")
sys.exit(offences > 0)
