"""Checks that every error and note quoted in "What the verifier says" is in the output of tessera-opt on stdin."""
import re
import sys

from documents import read, section

output = sys.stdin.read()
text = section(read(sys.argv[1], "docs/TheOneRule.md"), "What the verifier says")
quoted = re.findall(r"^(?:error|note): .*", text, re.M)
missing = [line for line in quoted if line not in output]
for line in missing:
    print(f"docs/TheOneRule.md: tessera-opt does not say: {line}")
if missing:
    print(output)
sys.exit(len(quoted) < 8 or bool(missing))
