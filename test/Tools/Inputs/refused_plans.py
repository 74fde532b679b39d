"""Runs a command with plans of a model whose numbers have no measure: refused_plans.py MODEL COMMAND...

Prints the first line of each error. The command may use little memory, and must end with an exit code.
"""
import json
import os
import resource
import subprocess
import sys

PLANS = (
    {"mesh": "dp=2147483648"},
    {"micro-batches": "1000000000000000000"},
    {"layout-invariant": "99999999999999999999"},
    {"overlap": "5"},
    {"mesh": "pp=2", "micro-batches": "10000000", "batch": "10000000"},
    {"mesh": "pp=2", "micro-batches": "4", "virtual-stages": "281474976710656"},
    {"mesh": "dp=65536", "dp-sync": "parameter-server"},
    {"mesh": "cp=65536", "context-parallel": "ring"},
    {"programs": "generate", "max-batch": "281474976710656"},
    {"mesh": "pp=2", "stages": "281474976710656,281474976710656"},
)

model, command = sys.argv[1], sys.argv[2:]
writer = os.path.join(os.path.dirname(__file__), "write_plan.py")
plan = json.loads(subprocess.run([sys.executable, writer, model, "{}"], check=True, capture_output=True).stdout)
resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))
for options in PLANS:
    with open("absurd.json", "w", encoding="ascii") as file:
        json.dump({**plan, "options": options}, file)
    result = subprocess.run([*command, model, "--plan", "absurd.json"], capture_output=True, text=True, check=False)
    assert result.returncode == 1, (options, result)
    print(result.stderr.splitlines()[0])
