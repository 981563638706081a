#!/usr/bin/env python3
"""tally.py [--skips FILE] BUILD...: adds up the results of ctest and lit in build folders. Lists
the skipped tests with their reasons, and prints 'N passed, N failed, N skipped' as the last line.

A lit suite counts with its tests, anything else as one ctest test. FILE (test/skips.txt) says which
tests may be skipped, and where; any other skip is a failure. Exits with 1 if a test failed or
nothing ran."""
import argparse
import collections
import fnmatch
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

LIT_PASSED = {"PASS"}
LIT_SKIPPED = {"UNSUPPORTED", "SKIPPED"}
LIT_LEFT_OUT = {"EXCLUDED"}  # excluded by the selection of a room

Result = collections.namedtuple("Result", "name outcome reason")  # outcome: passed, failed or skipped
Skip = collections.namedtuple("Skip", "pattern condition reason")


def lit_results(path):
    with open(path, encoding="utf-8") as file:
        tests = json.load(file)["tests"]
    for test in tests:
        code = test["code"]
        if code not in LIT_LEFT_OUT:
            outcome = "passed" if code in LIT_PASSED else "skipped" if code in LIT_SKIPPED else "failed"
            yield Result(test["name"], outcome, " ".join(test["output"].split()))


def case_results(build, case):
    """Returns the results of a ctest test, or of the lit suite that it runs."""
    name, status = case.get("name"), case.get("status")
    lit = os.path.join(build, "test", name + ".json")
    if name.startswith("lit") and os.path.exists(lit):
        results = list(lit_results(lit))
        # lit may also fail as a whole, for example because of a broken configuration.
        if status == "fail" and not any(r.outcome == "failed" for r in results):
            results.append(Result(name, "failed", ""))
        return results
    outcome = {"run": "passed", "fail": "failed"}.get(status, "skipped")
    said = " ".join((case.findtext("system-out") or "").split())
    skipped = case.find("skipped")
    return [Result(name, outcome, said or (skipped.get("message", "") if skipped is not None else ""))]


def cases_within(build, case):
    """Yields the skipped cases that a cmocka test reports in its output."""
    said = case.findtext("system-out") or ""
    for name in dict.fromkeys(re.findall(r"\[  SKIPPED \] (\w+)$", said, re.MULTILINE)):  # cmocka lists them twice
        yield Result(case.get("name") + "/" + name, "skipped", "skipped within the test")


def read_skips(path):
    """Reads lines of PATTERN | CONDITION | REASON; a condition is a shell command that succeeds if
    the test may be skipped."""
    skips = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip() and not line.startswith("#"):
                fields = [field.strip() for field in line.split(" | ")]
                if len(fields) < 3 or not all(fields):
                    sys.exit("%s:%d: expected PATTERN | CONDITION | REASON" % (path, number))
                # a condition may contain a pipe
                skips.append(Skip(fields[0], " | ".join(fields[1:-1]), fields[-1]))
    return skips


def holds(condition, build):
    return subprocess.run(["sh", "-c", condition], env=dict(os.environ, BUILD=build), stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def allowed(name, build, skips):
    """Returns the entry that allows this skip, or None."""
    return next((s for s in skips if fnmatch.fnmatchcase(name, s.pattern) and holds(s.condition, build)), None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--skips")
    parser.add_argument("builds", nargs="+")
    options = parser.parse_args()
    skips = read_skips(options.skips) if options.skips else []
    count = collections.Counter()
    for build in options.builds:
        listed = []
        for case in xml.parse(os.path.join(build, "junit.xml")).getroot().iter("testcase"):
            for result in case_results(build, case):
                count[result.outcome] += 1
                if result.outcome == "skipped":
                    listed.append(result)
            listed += cases_within(build, case)
        for result in listed:
            skip = allowed(result.name, build, skips) if options.skips else Skip("", "", result.reason)
            if skip:
                print("skipped: %s: %s" % (result.name, skip.reason))
            else:
                count["failed"] += 1
                print("FAILED: %s was skipped, which %s does not allow here: %s" % (result.name, options.skips, result.reason[:300]))
    print("%d passed, %d failed, %d skipped" % (count["passed"], count["failed"], count["skipped"]))
    return 0 if count["passed"] and not count["failed"] else 1


sys.exit(main())
