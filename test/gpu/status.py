#!/usr/bin/env python3
"""status.py PAGE [RESULTS.json...]: merges results of run.sh into docs/gpu-status.md.

The rows of its table name tests in their second column. Of each such test the newest results, which may be from several files, go
into the last two columns; between the marks the times of the newest file that has them are printed. --check only compares.
Exit status 1 if a result is no success, or with --check if the page would change."""
import argparse
import fnmatch
import json
import re
import sys

BEGIN, END = "<!-- times: test/gpu/status.py -->", "<!-- end of times -->"


def read(paths):
    """Returns all results with the date and machine of their file, oldest first."""
    found = []
    for path in paths:
        with open(path) as file:
            run = json.load(file)
        found += [dict(result, date=run["date"], machine=run["machine"]) for result in run["results"]]
    return sorted(found, key=lambda result: result["date"])


def is_wrong(result):
    return "failed" in result or result.get("errors", 0) != 0


def say(results):
    """Returns what the results of a claim say, and the date of the last one that ran."""
    ran = [result for result in results if "skipped" not in result]
    if not ran:
        return "never", "not possible there: " + results[-1]["skipped"]
    date = ran[-1]["date"]
    ran = [result for result in ran if result["date"] == date]
    wrong = sorted({result["test"] for result in ran if is_wrong(result)})
    ranks = sorted({result["ranks"] for result in ran if "ranks" in result})
    where = " on " + ran[-1]["machine"].split(",")[0]
    if wrong:
        return date, "**WRONG**%s: %s" % (where, ", ".join(wrong))
    calls = sum(result.get("calls", 0) for result in ran)
    text = "right" if calls else "measured"
    if calls:
        text += ", %s calls" % format(calls, ",")
    if ranks and ranks != [1]:
        text += ", N = " + ", ".join(map(str, ranks))
    return date, text + where


def merge(line, results):
    """Returns a row of the table with its results."""
    cells = re.split(r"(?<!\\)\|", line)
    if len(cells) != 6:
        return line, False
    patterns = re.findall(r"`([^`]+)`", cells[2])
    mine = [result for result in results if any(fnmatch.fnmatchcase(result["test"], pattern) for pattern in patterns)]
    if not mine:
        return line, False
    date, text = say(mine)
    cells[3:5] = [" %s " % date, " %s " % text]
    return "|".join(cells), "WRONG" in text


def number(value):
    return "" if value is None else "%.3g" % value if value < 100 else "%.0f" % value


def times(results):
    """Returns the tables of times."""
    attention, layers, rows = ([result for result in results if result["test"].split(" ")[-1] in tests and "failed" not in result]
                               for tests in (("attention-time", "attention-gradient-time"), ("model-time",), ("time",)))

    def kind(result):
        prefix, _, test = result["test"].rpartition(" ")
        return (prefix + " gradient" if "gradient" in test else prefix).strip()

    lines = []
    if attention or layers or rows:
        lines += ["Microseconds, %s, on:" % results[-1]["date"], results[-1]["machine"] + ".", ""]
    if attention:
        lines += ["| attention of a Llama layer, tokens | call | its arithmetic | its bytes |", "|---|---|---|---|"]
        lines += ["| %s | %s | %s | %s |" % (("%d %s" % (r["tokens"], kind(r))).strip(), number(r["us"]), number(r["arithmetic_us"]), number(r["bytes_us"])) for r in attention] + [""]
    if layers:
        lines += ["| program | ranks | bound | call, median | its kernels | call / bound |", "|---|---|---|---|---|---|"]
        lines += ["| %s | %d | %s | %s | %s | %s |" % (("%s %s" % (kind(r), r["variant"])).strip(), r["ranks"], number(r.get("bound_us")), number(r["median_us"]), number(r["kernels_us"]),
                                                     number(r.get("times_bound"))) for r in layers] + [""]
    if rows:
        lines += ["| rows of 8192, tokens | ranks | variant | bound | median | median / bound |", "|---|---|---|---|---|---|"]
        lines += ["| %d | %d | %s | %s | %s | %s |" % (r["tokens"], r["ranks"], r["variant"], number(r["bound_us"]), number(r["median_us"]),
                                                     number(r["times_bound"])) for r in rows] + [""]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page")
    parser.add_argument("results", nargs="*")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    results = read(options.results)
    with open(options.page) as file:
        before = file.read()
    lines, wrong = [], False
    for line in before.split("\n"):
        merged, is_bad = merge(line, results)
        wrong |= is_bad
        lines.append(merged)
    timed = [result for result in results if result["test"].endswith("time")]
    if timed and BEGIN in lines and END in lines:
        lines[lines.index(BEGIN) + 1:lines.index(END)] = [""] + times([result for result in timed if result["date"] == timed[-1]["date"]])
    after = "\n".join(lines)
    if options.check:
        return 1 if after != before else 0
    with open(options.page, "w") as file:
        file.write(after)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
