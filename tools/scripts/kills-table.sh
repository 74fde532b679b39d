#!/usr/bin/env bash
# Puts what MutationTest prints into docs/TheOneRule.md and docs/Generation.md. Arguments go to the test, --whole if
# there are none; or a file that holds its output: --from FILE.
set -euo pipefail
cd "$(dirname "$0")/../.."
output=$(mktemp)
trap 'rm -f "$output"' EXIT
if [ "${1:-}" = --from ]; then
  cp "$2" "$output"
else
  [ $# -gt 0 ] || set -- --whole
  build/bin/MutationTest "$@" >"$output"
fi
python3 - "$output" <<'PY'
import re
import sys

lines = open(sys.argv[1]).read().splitlines()
for first in (k for k, line in enumerate(lines) if line.startswith("caught by")):
    last = next(k for k, line in enumerate(lines[first:], first) if re.match(r"\d+ mutants of", line))
    if lines[last + 1].startswith("at most"):
        last += 1
    table = "\n".join(["```", *(line.rstrip() for line in lines[first:last + 1]), "```"])
    path = "docs/Generation.md" if "--programs generate" in table else "docs/TheOneRule.md"
    text = open(path).read()
    begin, end = "<!-- kills: tools/scripts/kills-table.sh -->\n", "<!-- end of kills -->"
    head, rest = text.split(begin)
    open(path, "w").write(head + begin + table + "\n" + end + rest.split(end)[1])
PY
