#!/usr/bin/env python3
"""links.py SOURCE: reports broken relative links in the pages of SOURCE, including links to
headings."""
import os
import re
import sys


def anchors(path):
    """Returns the anchors that repository web views generate for the headings of a page."""
    headings = re.findall(r"^#+ +(.*)$", open(path).read(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", open(page).read()):
        if "://" in link:
            continue
        target, _, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
        if not os.path.exists(path) or (anchor and anchor not in anchors(path)):
            yield link


def main(source):
    os.chdir(source)
    pages = [os.path.join(folder, name)[2:] for folder, _, names in os.walk(".") for name in names
             if name.endswith(".md") and not folder.startswith(("./build", "./."))]
    wrong = ["%s: %s leads nowhere" % (page, link) for page in sorted(pages) for link in broken(page)]
    print("\n".join(wrong + ["%d pages, %d broken links" % (len(pages), len(wrong))]))
    return 1 if wrong or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
