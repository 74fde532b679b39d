"""Verifies the combinations of matrix.txt: their results, their number, and what failed as commands that can be pasted.

Exits with 1 if a combination fails, or is not refused as it should be.
"""
import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import models
import verify

HERE = os.path.relpath(os.path.dirname(__file__))


def readTable(path, isWanted, tessera):
    """(kind, config, flags, expected message) of each wanted line and model of it."""
    for number, line in enumerate(open(path), 1):
        line, _, message = line.partition("=>")
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] not in ("quick", "full", "refused") or len(words) < 2 or (words[0] == "refused") != bool(message):
            sys.exit(f"{path}:{number}: write 'quick MODEL FLAGS', 'full MODEL FLAGS' or 'refused MODEL FLAGS => TEXT'")
        for config in configsOf(words[1], tessera) if isWanted(words[0]) else ():
            yield words[0], config, words[2:], message.strip()


def inDouble(kind, flags):
    """Verification in f64 alone takes half as long: f32 is verified in f64 as well."""
    return flags + ["--precision", "f64"] if kind == "quick" and "--precision" not in flags else flags


def configsOf(model, tessera):
    if model in models.KINDS:
        return models.ofKind(model, tessera)
    return [os.path.join(HERE, "models", model)]


def run(row, tessera, folder):
    """(is it as the table says, line of the report, outcome)"""
    kind, model, flags, message = row
    start = time.monotonic()
    stem, extension = os.path.splitext(model)
    name = os.path.basename(stem)
    handle = tempfile.NamedTemporaryFile(dir=folder, prefix=name, suffix=".mlir", delete=False)
    handle.close()
    outcome = verify.verify(tessera, stem + ".json", flags, handle.name if extension == ".mlir" else None)
    if kind == "refused":
        good = not outcome.ok and message in outcome.output
        word = "refused" if good else "NOT REFUSED" if outcome.ok else "OTHER MESSAGE"
    else:
        good, word = outcome.ok, "ok" if outcome.ok else "FAILED"
    return good, f"{word:8}{time.monotonic() - start:6.1f} s  {name + extension:18} {' '.join(flags)}", outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tessera", default=verify.defaultTessera(), help="the program (default: %(default)s)")
    parser.add_argument("--table", default=os.path.join(HERE, "matrix.txt"), help="(default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="only lines 'quick', in f64, and 'refused'")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at the same time (default: %(default)s)")
    options = parser.parse_args()
    rows = list(readTable(options.table, lambda kind: not options.quick or kind != "full", options.tessera))
    if options.quick:
        rows = [(kind, model, inDouble(kind, flags), message) for kind, model, flags, message in rows]
    failed = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        for good, line, outcome in pool.map(lambda row: run(row, options.tessera, folder), rows):
            print(line, flush=True)
            if not good:
                failed += 1
                print("".join("    " + text + "\n" for text in outcome.output.splitlines()[-20:]), end="")
                print(f"    again: {outcome.command}", flush=True)
    refused = sum(row[0] == "refused" for row in rows)
    print(f"matrix: {len(rows) - refused} combinations and {refused} refusals, {failed} failed")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
