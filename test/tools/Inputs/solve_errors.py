"""Writes problem files with one error each into a folder and prints shard-solve's messages."""

import copy
import gzip
import json
import os
import subprocess
import sys

GOOD = {
    "problem": {
        "name": "good",
        "nodes": {"intervals": [[0, 2], [1, 3]], "costs": [[1, 2], [3, 4, 5]], "usages": [[1, 1], [1, 1, 1]]},
        "edges": {"nodes": [[0, 1]], "costs": [[0, 1, 2, 3, 4, 5]]},
        "usage_limit": 9,
    }
}
TEXT = json.dumps(GOOD)


def changed(change):
    good = copy.deepcopy(GOOD)
    change(good["problem"])
    return json.dumps(good)


def put(part, key, value):
    return changed(lambda problem: problem[part].__setitem__(key, value))


def drop(part, key):
    return changed(lambda problem: problem[part].pop(key))


def cut_compressed():
    numbers = [int.from_bytes(os.urandom(7), "little") for _ in range(4000)]
    packed = gzip.compress(put("nodes", "costs", [numbers, [3, 4, 5]]).encode())
    return packed[: len(packed) // 2]


def damaged():
    packed = bytearray(gzip.compress(TEXT.encode()))
    packed[len(packed) // 2] ^= 255
    return bytes(packed)


FILES = {
    "missing": None,
    "folder": "",
    "empty": "",
    "array": "[]",
    "binary": "\x01",
    "truncated": TEXT[:60],
    "truncated_string": '{"prob',
    "control": '{"prob\nlem": {}}',
    "more": TEXT + "{",
    "leading_zero": TEXT.replace("[1, 2]", "[1, 02]"),
    "escape": TEXT.replace('"good"', '"go\\qod"'),
    "utf8": TEXT.replace("good", "g\xf6\xf6d"),  # written as latin1
    "lines": TEXT.replace(", ", ",\n").replace(": 9", ": x"),
    "null": TEXT.replace("[3, 4, 5]", "null"),
    "true": TEXT.replace("[[0, 2], [1, 3]]", "true"),
    "object": TEXT.replace("[3, 4, 5]", "{}"),
    "deep": TEXT.replace("[3, 4, 5]", "[[3], 4, 5]"),
    "no_edges": changed(lambda problem: problem.pop("edges")),
    "no_nodes": changed(lambda problem: problem.pop("nodes")),
    "name": TEXT.replace('"good"', "7"),
    "no_problem": "{}",
    "no_costs": drop("nodes", "costs"),
    "no_tables": drop("edges", "costs"),
    "unknown_top": '{"other": 1}',
    "unknown_key": TEXT.replace('"name"', '"other"'),
    "unknown_part": TEXT.replace('"intervals"', '"other"'),
    "twice": TEXT.replace('"usage_limit": 9', '"usage_limit": 9, "usage_limit": 9'),
    "part_twice": TEXT.replace('"usages"', '"costs"'),
    "negative": put("nodes", "costs", [[1, -2], [3, 4, 5]]),
    "fraction": put("nodes", "costs", [[1, 2.5], [3, 4, 5]]),
    "large": put("nodes", "costs", [[1, 9223372036854775808], [3, 4, 5]]),
    "text": put("nodes", "costs", [[1, "2"], [3, 4, 5]]),
    "no_comma": TEXT.replace("[1, 2]", "[1 2]"),
    "limit": TEXT.replace('"usage_limit": 9', '"usage_limit": 9223372036854775807'),
    "counts": put("nodes", "usages", [[1, 1]]),
    "edge_counts": put("edges", "nodes", [[0, 1], [0, 1]]),
    "no_strategies": put("nodes", "costs", [[1, 2], []]),
    "many_strategies": put("nodes", "costs", [[1] * 65536, [3, 4, 5]]),
    "usages": put("nodes", "usages", [[1], [1, 1, 1]]),
    "interval": put("nodes", "intervals", [[0, 2], [1, 3, 4]]),
    "backwards": put("nodes", "intervals", [[0, 2], [5, 1]]),
    "hyperedge": put("edges", "nodes", [[0, 1, 0]]),
    "unknown_node": put("edges", "nodes", [[0, 2]]),
    "table": put("edges", "costs", [[0, 1, 2]]),
    "position": '{"problem":\n{"usage_limit":\n      -1}}',
    "cut_gz": cut_compressed(),
    "bad_gz": damaged(),
}


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    os.chdir(sys.argv[1])
    fine = True
    for name, text in FILES.items():
        path = name + (".json.gz" if isinstance(text, bytes) else ".json")
        if name == "folder":
            os.makedirs(path, exist_ok=True)
        elif text is not None:
            with open(path, "wb") as file:
                file.write(text if isinstance(text, bytes) else text.encode("latin1"))
        result = subprocess.run(["shard-solve", path], capture_output=True, text=True, check=False)
        print(f"{name}: {result.stderr}", end="" if result.stderr.endswith("\n") else "\n")
        if result.returncode != 1 or result.stdout or result.stderr.count("\n") != 1:
            print(f"{name}: exit code {result.returncode}, stdout '{result.stdout}'")
            fine = False
    if fine:
        print("all failed with exit code 1 and one line")


main()
