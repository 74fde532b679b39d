"""Holds what mutate-runtime.py and mutate-planning.py share: sources, their mutants, and judging them one by one."""
import argparse
import os
import random
import re
import shlex
import subprocess
import sys

import cxx_mutants

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EVERY_LINE = range(1 << 30)


def stop(message, code=2):
    print(f"{os.path.basename(sys.argv[0]).removesuffix('.py')}: {message}", file=sys.stderr)
    sys.exit(code)


def run(command, **options):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if result.returncode != 0:
        print(result.stdout[-4000:], file=sys.stderr)
        stop(f"failed: {command if isinstance(command, str) else shlex.join(command)}")
    return result.stdout


def options_of(description, build_folder):
    """Returns the arguments of the command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--count", type=int, default=300, help="mutants that compile")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory", default=os.path.join(ROOT, build_folder), help="of the build")
    parser.add_argument("--verbose", action="store_true", help="print who kills a mutant, too")
    parser.add_argument("files", nargs="*", metavar="FILE[:LINE[-LINE]]")
    options = parser.parse_args()
    if options.count < 1:
        stop(f"--count is {options.count}, expected at least 1")
    return options


def chosen(arguments, known, default):
    """Returns {source: ranges of lines} of the arguments, FILE or FILE:LINE or FILE:LINE-LINE; the default sources if
    none."""
    if not arguments:
        return {source: [EVERY_LINE] for source in default}
    sources = {}
    for argument in arguments:
        name, _, lines = argument.partition(":")
        if name not in known:
            stop(f"'{name}' is no source that can be changed here, expected a path like {default[0]}")
        if lines and not re.fullmatch(r"\d+(-\d+)?", lines):
            stop(f"'{argument}': expected FILE, FILE:LINE or FILE:LINE-LINE")
        first, _, last = lines.partition("-")
        sources.setdefault(name, []).append(range(int(first), int(last or first) + 1) if lines else EVERY_LINE)
    return sources


class Supply:
    """The mutants of one file in random order."""

    def __init__(self, source, ranges, seed):
        self.source = source
        with open(os.path.join(ROOT, source)) as file:
            self.text = file.read()
        self.mutants = [mutant for mutant in cxx_mutants.mutants_of(self.text)
                        if any(mutant.line in lines for lines in ranges)]
        random.Random(f"{seed} {source}").shuffle(self.mutants)
        self.counts = dict.fromkeys(("killed", "survived", "time", "unbuilt"), 0)


def judge(court, supply, verbose):
    """Takes mutants until one can be run; false if there is none left."""
    while supply.mutants:
        mutant = supply.mutants.pop()
        text = cxx_mutants.apply(supply.text, mutant)
        killer = court.killer(supply.source, text, mutant.line) if court.compiles(supply.source, text) else "linker"
        if killer == "linker":
            supply.counts["unbuilt"] += 1
            continue
        supply.counts["killed" if killer else "survived"] += 1
        supply.counts["time"] += killer == "time"
        change = f"{supply.source}:{mutant.line}: {mutant.before} -> {mutant.after or '(deleted)'}"
        if not killer:
            print("SURVIVED " + change + (" (no test reaches it)" if killer is None else ""), flush=True)
        elif verbose:
            print(f"killed by {killer}: {change}", flush=True)
        return True
    return False


def report(supplies):
    total = {kind: sum(supply.counts[kind] for supply in supplies) for kind in supplies[0].counts}
    for supply in supplies:
        counts = supply.counts
        print(f"{counts['killed'] + counts['survived']:5} mutants, {counts['killed']:4} killed  {supply.source}")
    count = total["killed"] + total["survived"]
    share = f" ({100 * total['killed'] / count:.0f} %)" if count else ""
    print(f"{count} mutants, {total['killed']} killed{share}, {total['time']} of them by a time-out, "
          f"{total['survived']} survived; {total['unbuilt']} others did not compile")
    return 1 if total["survived"] or not count else 0


def judge_all(court, sources, options):
    """Prints survivors and totals; `sources` are {source: ranges of lines}. Returns the exit code.

    court.compiles(source, text) says whether a mutant compiles. court.killer(source, text, line) then says what
    notices it: a name, "time" or "linker"; "" if nothing does, None if no test reaches it.
    """
    supplies = [Supply(source, ranges, options.seed) for source, ranges in sources.items()]
    left, active = options.count, list(supplies)
    while left > 0 and active:
        for supply in list(active[:left]):
            if judge(court, supply, options.verbose):
                left -= 1
            else:
                active.remove(supply)
    return report(supplies)
