#!/usr/bin/env python3
"""plan_against.py OLD.json NEW.json: compares two reports anew, and checks what NEW.json says of it."""
import json
import re
import sys


def layouts(graph):
    return {graph["texts"][t]: graph["kinds"][kind]["layout"] for t, kind in zip(graph["value"], graph["kind"])
            if not graph["kinds"][kind]["filler"]}


def traffic(f):
    return {(t["kind"], t["axes"]): (t["count"], t["bytes_per_device"]) for t in f["traffic"]}


def moves(old, new):
    """What moves how often and in how many bytes, by kind, axes and description without numbers; what both do as often is left out."""
    sums = {}
    for f, at in ((old, 0), (new, 1)):
        for c in f["collectives"]:
            key = (c["kind"], c["axes"], re.sub(r"[0-9]+", "*", c["description"]))
            counts = sums.setdefault(key, ([0, 0], [0, 0]))[at]
            counts[0] += c["count"]
            counts[1] += c["bytes_per_device"]
    return {key: value for key, value in sums.items() if value[0][0] != value[1][0]}


def ops(old, new):
    """How often each plan has an op that is no collective, by its kind and what it makes, without numbers; what both have as often is left out."""
    sums = {}
    for f, at in ((old, 0), (new, 1)):
        graph = f["graph"]
        for i, (kind, what) in enumerate(zip(graph["kind"], graph["description"])):
            kind = graph["kinds"][kind]
            if not kind["filler"] and i not in graph["collectives"]:
                key = (kind["op"], kind["body"], re.sub(r"[0-9]+", "*", graph["texts"][what]))
                sums.setdefault(key, [0, 0])[at] += 1
    return {key: value for key, value in sums.items() if value[0] != value[1]}


def main():
    old, new = (json.load(open(path, encoding="utf-8"))["functions"][0] for path in sys.argv[1:])
    said, wrong = new["against"], []
    before, now = layouts(old["graph"]), layouts(new["graph"])
    differ = {v: (before[v], now[v]) for v in now if v and v in before and before[v] != now[v]}
    if {v["value"]: (v["before"], v["now"]) for v in said["values"]} != differ or not differ or said["other_values"]:
        wrong.append("other values differ: %s" % differ)
    a, b = traffic(old), traffic(new)
    rows = {(t["kind"], t["axes"]): ((t["count_before"], t["bytes_before"]), (t["count"], t["bytes_per_device"])) for t in said["traffic"]}
    if rows != {key: (a.get(key, (0, 0)), b.get(key, (0, 0))) for key in a.keys() | b.keys() if a.get(key) != b.get(key)}:
        wrong.append("other collectives differ: %s and %s" % (a, b))
    rows = {(m["kind"], m["axes"], re.sub(r"[0-9]+", "*", m["of"])): ([m["count_before"], m["bytes_before"]], [m["count"], m["bytes_per_device"]])
            for m in said["moves"]}
    if rows != moves(old, new) or not rows:
        wrong.append("other values move: %s" % moves(old, new))
    rows = {(o["op"], o["body"], re.sub(r"[0-9]+", "*", o["of"])): [o["count_before"], o["count"]] for o in said["ops"] if o["count"] != o["count_before"]}
    if rows != ops(old, new) or said["other_ops"]:
        wrong.append("other ops differ: %s" % ops(old, new))
    tensors = {(kind, i): (x["sharding"], y["sharding"]) for kind in ("argument", "result")
               for i, (x, y) in enumerate(zip(old[kind + "s"], new[kind + "s"])) if x["sharding"] != y["sharding"]}
    if {(t["kind"], t["number"]): (t["before"], t["now"]) for t in said["tensors"]} != tensors:
        wrong.append("other tensors differ: %s" % tensors)
    if (said["seconds_before"], said["seconds"]) != (old["step"]["seconds"], new["step"]["seconds"]):
        wrong.append("the steps take other times")
    parts = [(f["step"]["compute_seconds"], f["step"]["local_seconds"]) for f in (old, new)]
    if [(said["compute_before"], said["local_before"]), (said["compute_seconds"], said["local_seconds"])] != parts:
        wrong.append("the parts of the steps take other times: %s" % parts)
    if (said["peak_before"], said["peak_bytes"]) != (old["memory"]["peak_bytes"], new["memory"]["peak_bytes"]):
        wrong.append("the peaks are others")
    print("\n".join(wrong + ["%d problems" % len(wrong)]))
    sys.exit(bool(wrong))


main()
