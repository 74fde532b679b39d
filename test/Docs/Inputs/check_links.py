"""Checks that the relative links of documents lead to files, and their anchors to headings.

    check_links.py DOCUMENT...
"""
import os
import re
import sys


def anchors_of(path):
    """Returns the anchors that GitHub gives to the headings of a document."""
    with open(path, encoding="utf-8") as file:
        headings = re.findall(r"^#+ +(.*)$", re.sub(r"^```.*?^```", "", file.read(), flags=re.S | re.M), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


offences = links = 0
for document in sys.argv[1:]:
    with open(document, encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```", "", file.read(), flags=re.S | re.M)
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|srcset|href)="([^"]+)"', text)
    for target in targets:
        if re.match(r"\w+:", target):
            continue
        links += 1
        path, _, anchor = target.partition("#")
        path = os.path.join(os.path.dirname(document), path) if path else document
        if not os.path.exists(path) or (anchor and path.endswith(".md") and anchor not in anchors_of(path)):
            offences += 1
            print(f"{document}: {target} leads nowhere")
print(f"{links} links checked, {offences} lead nowhere")
sys.exit(1 if offences or not links else 0)
