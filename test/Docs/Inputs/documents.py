"""The documents that are written by hand, and their parts."""
import glob
import os
import re


def documents(source):
    """Paths of all documents, relative to `source`; docs/reference is generated."""
    patterns = ["README.md", "docs/*.md", "bench/README.md", "examples/**/README.md"]
    found = [path for pattern in patterns
             for path in glob.glob(pattern, root_dir=source, recursive=True)]
    return sorted(found)


def read(source, path):
    with open(os.path.join(source, path), encoding="utf-8") as file:
        return file.read()


def lines_with_kind(text):
    """Returns (line number, line, kind): "code" in a fence, "fence", "table" or "prose"."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            yield number, line, "fence"
        elif fenced:
            yield number, line, "code"
        else:
            yield number, line, "table" if line.startswith("|") else "prose"


def spans(text):
    """Returns (line number, content) of every inline code span outside of fences."""
    kept = "\n".join("" if kind in ("code", "fence") else line
                     for _, line, kind in lines_with_kind(text))
    for match in re.finditer(r"`([^`]+)`", kept):
        yield kept.count("\n", 0, match.start()) + 1, re.sub(r"\s+", " ", match.group(1))


def section(text, heading):
    """Returns the text below a heading, up to the next heading of any level."""
    match = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", text, re.M | re.S)
    if not match:
        raise SystemExit(f"no section '{heading}'")
    return match.group(1)


def table(text):
    """Returns the rows of the first table in `text`, without its header; cells are stripped."""
    rows = [line for line in text.split("\n") if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows[2:]]
