"""Checks the tables of a document, docs/Features.md or SECURITY.md: every row has a test, and every test that it names exists.

    check_features.py DOCUMENT

A test is a link [`name`](path). The name is that of the file or a glob of files, or stands in the file.
"""
import glob
import os
import re
import sys

document = sys.argv[1]
folder = os.path.dirname(os.path.abspath(document))
offences = []
tests = 0
with open(document, encoding="utf-8") as file:
    lines = file.read().split("\n")
for number, line in enumerate(lines, 1):
    row = re.match(r"^\| (.*?) \| (.*?) ?\|$", line)
    is_heading = number < len(lines) and lines[number].startswith("|---")
    if not row or is_heading or row[1].startswith("**"):
        continue
    links = re.findall(r"\[`([^`]*)`\]\(([^)]*)\)", row[2])
    if not links:
        offences.append(f"{number}: '{row[1]}' names no test")
    for name, target in links:
        tests += 1
        path = os.path.normpath(os.path.join(folder, target))
        if not os.path.exists(path):
            offences.append(f"{number}: {target} does not exist")
        elif name.startswith("test/"):
            if not glob.glob(os.path.join(os.path.dirname(folder), name)):
                offences.append(f"{number}: nothing is called {name}")
        elif name != os.path.basename(path):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            # TEST_F(Suite, Case), class Suite, or the NAME of a ctest; a `*` at the end of either is a prefix.
            suite, _, case = name.partition(".")
            for part in (suite, case):
                if part.strip("*") and not re.search(rf"\b{re.escape(part.strip('*'))}", text):
                    offences.append(f"{number}: {target} has no {part}")
print("\n".join(f"{os.path.basename(document)}:{offence}" for offence in offences))
print(f"{tests} tests named, {len(offences)} offences")
sys.exit(1 if offences or not tests else 0)
