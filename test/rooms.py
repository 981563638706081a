#!/usr/bin/env python3
"""rooms.py BUILD ROOM...: selects the tests of some folders of test/. Prints a regular expression
for ctest and one for lit, which is empty if there are none. A room is a folder or a file: passes,
runtime, rules/slice, passes/prepare/normalize.mlir."""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))


def lit_files():
    for folder, folders, files in os.walk(HERE):
        folders[:] = [name for name in folders if name != "Inputs"]
        for file in files:
            if file.endswith((".mlir", ".test")):
                yield os.path.relpath(os.path.join(folder, file), HERE)


def ctest_rooms(build):
    """Returns (name, folder) of each ctest test except the lit suites. The folder is that of the
    CMakeLists.txt that adds it, or the one at the start of its name."""
    found = json.loads(subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True, text=True).stdout)
    graph = found["backtraceGraph"]
    for test in found["tests"]:
        at = test["backtrace"]
        while "parent" in graph["nodes"][at]:
            at = graph["nodes"][at]["parent"]
        folder = os.path.relpath(os.path.realpath(os.path.dirname(graph["files"][graph["nodes"][at]["file"]])), HERE)
        if folder == ".":
            begin = test["name"].split(".")[0]
            folder = begin if os.path.isdir(os.path.join(HERE, begin)) else "examples"
        if not test["name"].startswith("lit"):
            yield test["name"], folder


def is_in(path, rooms):
    return any(path == room or path.startswith(room + "/") for room in rooms)


def main(build, *rooms):
    rooms = [os.path.normpath(room.removeprefix("test/")) for room in rooms]
    files, tests = list(lit_files()), list(ctest_rooms(build))
    known = sorted({os.path.dirname(file) for file in files} | {folder for _, folder in tests})
    for room in rooms:
        if not any(is_in(place, [room]) for place in files + known):
            sys.exit("there are no tests in '%s'; rooms are %s, and the files in them" % (room, " ".join(known)))
    chosen = [file for file in files if is_in(file, rooms)]
    suites = ["lit"] * bool(chosen) + ["lit-plugin"] * any(file.startswith("passes/") for file in chosen)
    names = [name for name, folder in tests if is_in(folder, rooms)]
    print("^(%s)$" % "|".join(map(re.escape, suites + names)))
    print(":: (%s)(/|$)" % "|".join(map(re.escape, rooms)) if chosen else "")


main(*sys.argv[1:])
