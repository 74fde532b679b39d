"""Adds up JUnit files: lists failures, skips with reasons, prints 'N passed, N failed, N skipped'.

Exits with 1 if a test failed, a file is missing or nothing ran.
"""
import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    """(kind, reason) of a test case; ctest marks skips in an attribute, lit with an element."""
    skipped = case.find("skipped")
    if skipped is not None or case.get("status") in ("notrun", "disabled"):
        reason = "" if skipped is None else skipped.get("message") or skipped.text or ""
        return "skipped", reason.strip() or (case.findtext("system-out") or "no reason given").strip()
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed", ""
    return "passed", ""


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
            kind, reason = outcome(case)
            counts[kind] += 1
            if kind == "failed":
                print(f"FAILED {case.get('classname')}: {case.get('name')}")
            if kind == "skipped":
                print(f"SKIPPED {case.get('name')}: {reason.splitlines()[-1]}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if missing or counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
