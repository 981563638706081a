#!/usr/bin/env python3
"""tally.py BUILD...: adds up what ctest and lit left in build folders and prints 'N passed, N failed' as the last line.

A lit suite counts with its tests, everything else as one test of ctest. Exits with 1 when something failed or nothing ran."""
import json
import os
import sys
import xml.etree.ElementTree as xml

LIT_PASSED = {"PASS"}
LIT_SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def lit_results(path):
    with open(path) as file:
        codes = [test["code"] for test in json.load(file)["tests"]]
    passed = sum(code in LIT_PASSED for code in codes)
    skipped = sum(code in LIT_SKIPPED for code in codes)
    return passed, len(codes) - passed - skipped, skipped


def case_results(build, case):
    name, status = case.get("name"), case.get("status")
    lit = os.path.join(build, "test", name + ".json")
    if name.startswith("lit") and os.path.exists(lit):
        passed, failed, skipped = lit_results(lit)
        # lit may also fail as a whole, e.g. by a broken configuration.
        return passed, max(failed, status == "fail"), skipped
    return status == "run", status == "fail", status not in ("run", "fail")


def main(builds):
    total = [0, 0, 0]
    for build in builds:
        cases = xml.parse(os.path.join(build, "junit.xml")).getroot().iter("testcase")
        for counts in (case_results(build, case) for case in cases):
            total = [a + int(b) for a, b in zip(total, counts)]
    passed, failed, skipped = total
    print("%d passed, %d failed" % (passed, failed) + (", %d skipped" % skipped if skipped else ""))
    return 0 if passed and not failed else 1


sys.exit(main(sys.argv[1:]))
