#!/usr/bin/env python3
"""plan_against.py OLD.json NEW.json: compares two reports anew, and checks what NEW.json says of it."""
import json
import sys


def layouts(graph):
    return {graph["texts"][t]: graph["kinds"][kind]["layout"] for t, kind in zip(graph["value"], graph["kind"])
            if not graph["kinds"][kind]["filler"]}


def traffic(f):
    return {(t["kind"], t["axes"]): (t["count"], t["bytes_per_device"]) for t in f["traffic"]}


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
    tensors = {(kind, i): (x["sharding"], y["sharding"]) for kind in ("argument", "result")
               for i, (x, y) in enumerate(zip(old[kind + "s"], new[kind + "s"])) if x["sharding"] != y["sharding"]}
    if {(t["kind"], t["number"]): (t["before"], t["now"]) for t in said["tensors"]} != tensors:
        wrong.append("other tensors differ: %s" % tensors)
    if (said["seconds_before"], said["seconds"]) != (old["step"]["seconds"], new["step"]["seconds"]):
        wrong.append("the steps take other times")
    if (said["peak_before"], said["peak_bytes"]) != (old["memory"]["peak_bytes"], new["memory"]["peak_bytes"]):
        wrong.append("the peaks are others")
    print("\n".join(wrong + ["%d problems" % len(wrong)]))
    sys.exit(bool(wrong))


main()
