#!/usr/bin/env python3
"""plan_report.py PAGE FILE.json...: checks that the page documents exactly the keys that occur in
these reports."""
import json
import re
import sys


def documented(page):
    keys, section = set(), None
    for line in open(page):
        if line.startswith("#"):
            heading = re.match(r"## `(.*)`$", line)
            section = heading and heading.group(1)
        elif line.startswith("| `") and section:
            first = line.split("|")[1]
            keys |= {section + "." + key for key in re.findall(r"`([^`]+)`", first)}
    return keys


def walk(value, path, keys):
    if isinstance(value, list):
        for item in value:
            walk(item, path + "[]", keys)
    elif isinstance(value, dict):
        for key, item in value.items():
            keys.add(path + "." + key)
            walk(item, key if path == "report" or key == "annotation" else path + "." + key, keys)


there, page = set(), documented(sys.argv[1])
for name in sys.argv[2:]:
    walk(json.load(open(name)), "report", there)
for key in sorted(there - page):
    print("not on the page: " + key)
for key in sorted(page - there):
    print("in no report: " + key)
print("%d keys" % len(page))
sys.exit(there != page or len(page) < 50)
