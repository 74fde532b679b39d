"""Adds up JUnit files: shows failures, lists skips with reasons, prints 'N passed, N failed, N skipped'.

Usage: summarize.py CTEST_XML LIT_DIRECTORY. A test of ctest named Lit.N is a shard of lit's tests; these are in N's own
file, LIT_DIRECTORY/Lit.N.xml. Exits with 1 if a test failed, a file is missing or nothing ran.
"""
import os
import sys
import xml.etree.ElementTree as ElementTree

LINES_OF_A_FAILURE = 80


def outcome(case):
    """Returns (kind, text) of a test case; ctest marks skips in an attribute, lit with an element."""
    output = (case.findtext("system-out") or "").strip()
    skipped = case.find("skipped")
    if skipped is not None or case.get("status") in ("notrun", "disabled"):
        reason = "" if skipped is None else skipped.get("message") or skipped.text or ""
        if reason.startswith("SKIP_"):  # ctest's way of saying that the test itself says why
            reason = output or reason
        return "skipped", reason.strip() or output or "no reason given"
    failure = case.find("failure")
    if failure is None:
        failure = case.find("error")
    if failure is not None:
        return "failed", output or (failure.text or failure.get("message") or "").strip()
    return "passed", ""


def show(kind, case, text):
    if kind == "failed":
        print(f"FAILED {case.get('classname')}: {case.get('name')}")
        for line in text.splitlines()[-LINES_OF_A_FAILURE:]:
            print("    " + line[:400])
    if kind == "skipped":
        print(f"SKIPPED {case.get('name')}: {text.splitlines()[-1]}")


def cases_of(path):
    """Returns the test cases of a file; none, and a line that says so, if it cannot be read."""
    try:
        return list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        print(f"no results in {path}: {error}")
        return []


def expand(case, directory):
    """Returns a shard's test cases instead of the shard; the shard itself if they do not tell why it failed."""
    name = case.get("name")
    if not name.startswith("Lit."):
        return [case]
    inner = cases_of(os.path.join(directory, name + ".xml"))
    has_failed = outcome(case)[0] != "passed"
    if not inner:
        ElementTree.SubElement(case, "failure").text = "the shard left no results"
    if not inner or (has_failed and all(outcome(one)[0] != "failed" for one in inner)):
        inner.append(case)
    return inner


def main(path, directory):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for shard in cases_of(path):
        for case in expand(shard, directory):
            kind, text = outcome(case)
            counts[kind] += 1
            show(kind, case, text)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
