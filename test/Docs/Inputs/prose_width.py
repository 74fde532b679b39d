"""Prints every line of prose that is wider than 100 columns. Tables, code and lone links are exempt."""
import re
import sys

from documents import documents, lines_with_kind, read

WIDTH = 100
source = sys.argv[1]
offences = 0
for path in documents(source):
    for number, line, kind in lines_with_kind(read(source, path)):
        if kind != "prose" or len(line) <= WIDTH or line.startswith("<"):
            continue
        if re.fullmatch(r"\s*\S*\]?\([^)\s]+\)\S*", line):  # a link that cannot be broken
            continue
        print(f"{path}:{number}: {len(line)} columns, prose wraps at {WIDTH}")
        offences += 1
sys.exit(offences > 0)
