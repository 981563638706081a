#!/usr/bin/env python3
"""faults.py SOURCE BUILD [--sample N]: runs every program that the tests run on several devices
with injected faults, and checks that verification rejects each.

A fault is an error of 1e-3 in one rank's part of a result, another combiner or group of a
collective, or a device index that is 0 (faulty.c). Faults without any effect, as in a maximum of
equal numbers, are counted separately, and so are those within the tolerance. A fault that the
comparison with one device detects but the evaluator excuses is a bug: then the exit code is 1. It is
none where the result depends on bf16, f16 or f8, whose precision is coarser than the fault.
--sample N: only N programs, evenly distributed; TP_LONG runs all."""
import argparse
import collections
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import commands

FAULTS = ["tile", "combiner:0", "combiner:1", "group:0", "group:1", "offset:0"]
NO_PLACE = 77
TILE_ERROR = 1e-3
FOLDERS = ["passes", "rules", "tools", "models", "fuzz/regressions"]
NOT_RUN = ("--emit", "--help", "--version", "-n", "--target=cuda", "--target", "--backend", "--backend=tcp", "--no-verify", "--worker",
           "--launch=processes", "--launch", "--no-graph", "--shards")
MODEL_RUNS = [["--mesh", "2"], ["--mesh", "2x2"]]


def words_of_tests(source, build, split_file):
    """Returns the shard-run commands in RUN lines that run and compare, each once."""
    seen = set()
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(source, "test", folder, "**", "*.*"), recursive=True)):
            if not path.endswith((".mlir", ".test")) or "/Inputs/" in path:
                continue
            with open(path) as file:
                text = file.read()
            scratch = os.path.join(build, "faults", os.path.relpath(path, os.path.join(source, "test")))
            for old, new in (("%s", path), ("%S", os.path.dirname(path)), ("%t", scratch), ("%models", os.path.join(source, "examples", "models"))):
                text = re.sub(re.escape(old) + r"\b", lambda _: new, text)
            for words in commands.parts(text):
                tool = words[0].lstrip("%") if words else ""
                if tool == "split-file":
                    os.makedirs(os.path.dirname(scratch), exist_ok=True)
                    subprocess.run([split_file] + words[1:], check=False)
                if tool == "shard-run" and not any(word.split("=")[0] in NOT_RUN or word in NOT_RUN for word in words[1:]):
                    line = tuple(word for word in words[1:] if not word.startswith(("--report", "--plan-report", "--output")))
                    if line not in seen:
                        seen.add(line)
                        yield line
    for path in sorted(glob.glob(os.path.join(source, "examples", "models", "**", "*.mlir"), recursive=True)):
        for run in MODEL_RUNS:
            yield tuple([path] + run + ["--inputs-from", path[:-5]])


def run(tool, words, fault):
    environment = dict(os.environ, FAULT=fault) if fault else os.environ
    with tempfile.TemporaryDirectory() as folder:  # for output files
        try:
            made = subprocess.run([tool] + list(words), env=environment, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=120, check=False, text=True, errors="replace")
        except subprocess.TimeoutExpired:
            return 1, "HANG"
    return made.returncode, made.stdout


def errors_of(output):
    return re.findall(r"ok: error (\S+) \(at most", output)


def allows_tile(output):
    """True if the evaluator allows a result a larger error than the fault "tile" makes: results that
    depend on bf16, f16 or f8 are judged with the precision of these types."""
    return any(float(allowed) > TILE_ERROR for allowed in re.findall(r"against the evaluator ok: .*\(at most (\S+)\)", output))


def verdict_of(fault, code, output, clean):
    """Returns the outcome of a fault; None if it does not apply to the program."""
    if code == NO_PLACE:
        return None
    if code:
        return "called wrong" if "MISMATCH" in output or "ILL-COND" in output or "the same data" in output else "refused or failed"
    if "the evaluator decides" in output:
        return "below the precision of narrow types" if fault == "tile" and allows_tile(output) else "EXCUSED"
    return "no difference" if errors_of(output) == errors_of(clean) else "within the tolerance"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("build")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    options.source, options.build = os.path.abspath(options.source), os.path.abspath(options.build)
    tool = os.path.join(options.build, "bin", "shard-run-faulty")
    split_file = os.path.join(subprocess.run(["llvm-config-22", "--prefix"], stdout=subprocess.PIPE, check=True, text=True).stdout.strip(), "bin", "split-file")
    programs = list(words_of_tests(options.source, options.build, split_file))
    if options.sample and not os.environ.get("TP_LONG"):
        programs = programs[:: max(1, len(programs) // options.sample)][: options.sample]
    counts = collections.defaultdict(collections.Counter)
    excused, kept = [], []

    def check(words):
        code, output = run(tool, words, None)
        if code or "on one device" not in output:
            return words, None
        return words, [(fault, verdict_of(fault, *run(tool, words, fault), output)) for fault in FAULTS]

    n_run = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for words, verdicts in pool.map(check, programs):
            n_run += verdicts is not None
            for fault, verdict in verdicts or []:
                if verdict:
                    counts[fault.split(":")[0]][verdict] += 1
                if verdict == "EXCUSED":
                    excused.append((fault, words))
                elif verdict in ("within the tolerance", "no difference"):
                    kept.append((verdict, fault, words))
    print("%d programs of %d commands run on several devices" % (n_run, len(programs)))
    for fault, verdicts in counts.items():
        print("  %-9s %s" % (fault, ", ".join("%d %s" % (n, verdict) for verdict, n in verdicts.most_common())))
    for verdict, fault, words in kept if options.verbose else []:
        print("%s: FAULT=%s %s" % (verdict, fault, " ".join(words)))
    for fault, words in excused:
        print("EXCUSED: FAULT=%s shard-run-faulty %s" % (fault, " ".join(words)))
    wrong = sum(verdicts["called wrong"] for verdicts in counts.values())
    missed_tiles = [words for verdict, fault, words in kept if fault == "tile"]
    for words in missed_tiles:
        print("NOT SEEN: FAULT=tile shard-run-faulty %s" % " ".join(words))
    return 0 if n_run and wrong and not excused and not missed_tiles else 1


sys.exit(main())
