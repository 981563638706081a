#!/usr/bin/env python3
"""families.py SOURCE < rules.md: checks that every family of the page describes what it shards and
by which communication, and that its tests exist and run."""
import os
import re
import sys

FIELDS = ("name", "ops", "summary", "communication", "test")  # of tp_family, one for each cell


def problems(source, row):
    cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
    name = cells[0]
    if len(cells) != len(FIELDS):
        return ["%s: %d cells instead of %d: %s" % (name, len(cells), len(FIELDS), cells)]
    empty = [field for field, cell in zip(FIELDS, cells) if not cell or "(null)" in cell]
    if empty:
        return ["%s: its tp_family in lib/rules lacks %s" % (name, ", ".join(empty))]
    path = re.fullmatch(r"\[(.*)\]\(../../(.*)\)", cells[4]).group(1)
    here = os.path.join(source, path)
    files = [os.path.join(here, file) for file in os.listdir(here)] if os.path.isdir(here) else [here]
    if not any(os.path.isfile(file) and "RUN:" in open(file).read() for file in files):
        return ["%s: '%s' is no test and holds none" % (name, path)]
    return []


rows = [line.strip() for line in sys.stdin if line.startswith("| `")]
wrong = [problem for row in rows for problem in problems(sys.argv[1], row)]
print("\n".join(wrong + ["%d families, %d problems" % (len(rows), len(wrong))]))
sys.exit(bool(wrong) or len(rows) < 10)
