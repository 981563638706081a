#!/usr/bin/env python3
"""width.py SOURCE: checks that lines of sources and documents have at most 100 columns.

Exceptions are generated pages (docs/reference), code blocks and tables of documents, and C tables
between "clang-format off" and "clang-format on". Prints the lines that are too long; then the exit
code is 1."""
import os
import re
import subprocess
import sys

COLUMNS = 100
SOURCES = (".c", ".h", ".cpp", ".cu", ".cuh")


def long_lines_of_source(lines):
    formatted = True
    for number, line in enumerate(lines, 1):
        if "clang-format o" in line:
            formatted = "clang-format on" in line
        if formatted and len(line) > COLUMNS:
            yield number


def long_lines_of_document(lines):
    in_block = False
    for number, line in enumerate(lines, 1):
        if re.match(r"\s*(```|~~~)", line):
            in_block = not in_block
        is_prose = not in_block and not re.match(r"(\||    |\s*<|\[[^]]+\]: )", line)
        if is_prose and len(line) > COLUMNS and " " in line.strip()[:COLUMNS]:
            yield number


def main(source):
    listed = subprocess.run(["git", "-C", source, "ls-files", "-co", "--exclude-standard"], check=True,
                            capture_output=True, text=True).stdout.split("\n")
    n_wrong = 0
    for name in sorted(listed):
        path = os.path.join(source, name)
        is_document = name.endswith(".md") and not name.startswith("docs/reference/")
        if not (name.endswith(SOURCES) or is_document) or not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        for number in (long_lines_of_document if is_document else long_lines_of_source)(lines):
            print("%s:%d: more than %d columns" % (name, number, COLUMNS))
            n_wrong += 1
    print("%d lines are too long" % n_wrong)
    return 1 if n_wrong else 0


sys.exit(main(os.path.realpath(sys.argv[1])))
