"""Adds up JUnit files: shows failures, lists skips with reasons, prints 'N passed, N failed, N skipped'.

Exits with 1 if a test failed, a file is missing or nothing ran.
"""
import sys
import xml.etree.ElementTree as ElementTree

LINES_OF_A_FAILURE = 80


def outcome(case):
    """(kind, text) of a test case; ctest marks skips in an attribute, lit with an element."""
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


def main(paths):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    missing = False
    for path in paths:
        try:
            cases = ElementTree.parse(path).getroot().iter("testcase")
        except (OSError, ElementTree.ParseError) as error:
            print(f"no results in {path}: {error}")
            missing = True
            continue
        for case in cases:
            kind, text = outcome(case)
            counts[kind] += 1
            show(kind, case, text)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if missing or counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
