#!/usr/bin/env python3
"""links.py SOURCE: fails if a relative link in a committed Markdown page does not resolve.

A link resolves if its file or folder exists and, behind a `#`, its page has that heading. Checked are
`[text](target)`, `[text]: target` and the `src` and `srcset` of HTML images, outside of code. Files that
git ignores count as missing, since a fresh clone lacks them. Without git all pages are checked."""
import os
import re
import subprocess
import sys

LINKS = [
    r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)",
    r"^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)",
    r"<(?:img|source|a)\b[^>]*?\b(?:src|srcset|href)=\"([^\"]+)\"",
]


def files_of(source):
    """All committed files, or all files where there is no git."""
    listed = subprocess.run(["git", "-C", source, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        return [name for name in listed.stdout.split("\n") if name and os.path.exists(os.path.join(source, name))]
    return [os.path.relpath(os.path.join(folder, name), source) for folder, _, names in os.walk(source) for name in names
            if not os.path.relpath(folder, source).startswith(("build", ".git"))]


def prose(text):
    """The text without fenced blocks, indented blocks and code spans."""
    text = re.sub(r"(?ms)^\s*(```|~~~).*?^\s*\1", "", text)
    text = re.sub(r"(?m)(?<=\n\n)(?:    (?! *[-*] ).*(?:\n|\Z))+", "\n", text)
    return re.sub(r"(`+)(?:(?!`).|\n(?!\n))+?\1", "", text)


def anchors(text):
    """The names of the headings, as the usual web views of a repository make them; equal ones are numbered."""
    names, seen = set(), {}
    for heading in re.findall(r"^#+ +(.*?)[ #]*$", re.sub(r"(?ms)^(```|~~~).*?^\1", "", text), re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        names.add("%s-%d" % (name, seen[name]) if name in seen else name)
        seen[name] = seen.get(name, 0) + 1
    return names | set(re.findall(r"<a (?:name|id)=\"([^\"]+)\"", text))


def broken(source, page, known):
    with open(os.path.join(source, page), encoding="utf-8") as file:
        text = file.read()
    for link in sorted({link for form in LINKS for link in re.findall(form, prose(text), re.M)}):
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            continue
        target, _, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
        if path not in known:
            yield "%s: no file %s" % (link, path)
        elif anchor and path.endswith(".md"):
            with open(os.path.join(source, path), encoding="utf-8") as file:
                if anchor not in anchors(file.read()):
                    yield "%s: no heading #%s in %s" % (link, anchor, path)


def main(source):
    files = files_of(source)
    known = set(files) | {"."}
    for name in files:
        while os.path.dirname(name):
            name = os.path.dirname(name)
            known.add(name)
    pages = sorted(name for name in files if name.endswith(".md"))
    wrong = ["%s: %s" % (page, problem) for page in pages for problem in broken(source, page, known)]
    print("\n".join(wrong + ["%d pages, %d broken links" % (len(pages), len(wrong))]))
    return 1 if wrong or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
