#!/usr/bin/env python3
"""reasons.py SOURCE: checks that each reason for which attention or a rule is not used has a test.

Messages end with reasons that functions return as text, `return "..."`, or record, `obstacle(...,
"...")`, in passes/attention and lib/rules. The text of each has to occur in a file below test.
Texts of one or two words and formats with a % are parts of messages, which other tests have whole.
Prints the reasons without a test; then the exit code is 1."""
import glob
import os
import re
import subprocess
import sys

FOLDERS = ("passes/attention", "lib/rules")
RETURNS_TEXT = re.compile(r"^(?:static )?(?:inline )?const char \*\w+\([^;{}]*\) \{(.*?)^\}", re.S | re.M)
RECORDS = re.compile(r"\b(?:\w*obstacle|leave)\([^;{}]*;")
TEXTS = re.compile(r'(?:"(?:\\.|[^"\\\n])*"\s*)+')
PART = re.compile(r'"((?:\\.|[^"\\\n])*)"')


def reasons(path):
    with open(path, encoding="utf-8") as file:
        code = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    for where in [m.group(1) for m in RETURNS_TEXT.finditer(code)] + [m.group() for m in RECORDS.finditer(code)]:
        for text in TEXTS.finditer(where):
            joined = "".join(PART.findall(text.group()))
            if joined.count(" ") > 1 and "%" not in joined:
                yield joined


def main():
    root = sys.argv[1]
    files = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "test"], capture_output=True, text=True, check=True).stdout.split("\n")
    texts = []
    for name in files:
        if name and os.path.isfile(os.path.join(root, name)):
            with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
                texts.append(file.read())
    tested = re.sub(r'"\s*\n\s*"', "", "".join(texts))
    sources = sorted(path for folder in FOLDERS for path in glob.glob(os.path.join(root, folder, "*.c")))
    found = [(path, text) for path in sources for text in dict.fromkeys(reasons(path))]
    missing = [(path, text) for path, text in found if text not in tested]
    for path, text in missing:
        print('%s: no test has "%s"' % (os.path.relpath(path, root), text))
    print("%d reasons, %d without a test" % (len(found), len(missing)))
    return len(missing) > 0


if __name__ == "__main__":
    sys.exit(main())
