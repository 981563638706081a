#!/usr/bin/env python3
"""Prints what a plan report calls the values of its ops, arguments and results: "%12: gradient of w"."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    f = json.load(file)["functions"][0]
g = f["graph"]
for argument in f["arguments"]:
    print("%s: %s" % (argument["value"], argument["description"]))
for k, kind in enumerate(g["kind"]):
    if not g["kinds"][kind]["filler"] and g["kinds"][kind]["type"].startswith("tensor"):
        print("%s: %s" % (g["texts"][g["value"][k]] or "-", g["texts"][g["description"][k]]))
for i, result in enumerate(f["results"]):
    print("result %d: %s" % (i, result["description"]))
