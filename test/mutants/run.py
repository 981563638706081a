#!/usr/bin/env python3
"""run.py [--handmade | --count N --seed S] [--jobs J] [--resume FILE] [--work DIR] [--ref COMMIT] [PATH...]: mutation testing.

Changes one place of the sources, builds, and runs the tests, the nearest ones first, until one fails. What no test catches is a test that
is missing, or a change that makes no difference; survivors.md says which of the two.

  --handmade    the changes of handmade/, all of which must be caught
  --check       only see that each of them still applies to this tree (part of the default tests)
  --count N     random changes that compile and make another object file (default 200), of the files PATH, or of SOURCES
  --seed S      which ones (default 1); the same seed and commit give the same
  --jobs J      that many copies of the tree at once (default 1)
  --resume FILE results, a line of JSON each; those that are there already are not repeated (default: WORK/results.jsonl)
  --work DIR    for copies of the tree and builds (default: build/mutants)
  --ref COMMIT  of the tree that is changed (default: HEAD)

Prints a line for each mutant and a table at the end; exits with 1 when one survived."""
import argparse
import fnmatch
import glob
import hashlib
import json
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import handmade
import source

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = ["lib/rules/*.c", "lib/sharding/*.c", "lib/ir/collectives.c", "passes/*.c"]

# Tests by distance: of the file itself (first match), then of its neighbourhood, then all. A filter of lit, or of ctest.
NEAREST = [
    ("lib/sharding/*", "ctest", "^sharding|^oracles"),
    ("lib/rules/mask.c", "lit", "rules/uneven"),
    ("lib/rules/body.c", "lit", "rules/linalg"),
    ("lib/rules/linalg*", "lit", "rules/(linalg|window|uneven)"),
    ("lib/rules/window*", "lit", "rules/(window|slice|pad|concat)"),
    ("lib/rules/differing.c", "lit", "rules/collective"),
    ("lib/rules/rule_text*", "lit", "rules/user"),
    ("lib/rules/user.c", "lit", "rules/user"),
    ("lib/rules/program.c", "lit", "rules/(collective|control_flow)"),
    ("lib/rules/*", "lit", "rules/{stem}|rules/linalg"),
    ("lib/ir/collectives.c", "lit", "rules/collective|passes/(partition|simplify)"),
    ("passes/*", "lit", "passes/{word}"),
]
REST = [
    ("lit", "passes/"),
    ("lit", "rules/"),
    ("lit", "tools/|sharding/|fuzz/|oracles/|bench/"),
    ("ctest", "^sharding|^oracles|^rules|^solver|^fuzz"),
    ("lit", "models/"),
    ("ctest", "^examples.embed|^examples.user-rule|^support"),
]
STAGE_SECONDS = 900
FLAGS = "-Wno-error=unused -Wno-error=unused-variable -Wno-error=unused-but-set-variable -Wno-error=unused-parameter -Wno-error=unused-function"


def stages(path):
    stem = os.path.splitext(os.path.basename(path))[0]
    for pattern, tool, tests in NEAREST:
        if fnmatch.fnmatch(path, pattern):
            yield tool, tests.format(stem=stem.split("_")[0], word=stem.split("_")[0])
            break
    yield from REST


RUNNING = set()  # groups of processes


def stop(*_):
    for group in list(RUNNING):
        os.killpg(group, signal.SIGKILL)
    os._exit(1)


def run(command, folder, seconds):
    """(status, output); status None when it took too long. Takes its children with it."""
    process = subprocess.Popen(command, cwd=folder, text=True, errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    RUNNING.add(process.pid)
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None, process.communicate()[0]
    finally:
        RUNNING.discard(process.pid)


class Tree:
    """A copy of the sources with a build of its own."""

    def __init__(self, folder, ref):
        self.source, self.build = os.path.join(folder, "tree"), os.path.join(folder, "build")
        shutil.rmtree(self.source, ignore_errors=True)
        os.makedirs(self.source)
        subprocess.run("git -C '%s' archive '%s' | tar -xm -C '%s'" % (ROOT, ref, self.source), shell=True, check=True)
        configure = ["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON",
                     "-DCMAKE_C_FLAGS=" + FLAGS]
        if subprocess.run(["sh", "-c", "command -v ccache"], stdout=subprocess.DEVNULL).returncode == 0:
            configure += ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
        for command in (configure, self.ninja()):
            status, output = run(command, self.source, 3600)
            if status != 0:
                sys.exit("run.py: the unchanged tree does not build:\n" + output[-3000:])
        status, output = run(["ninja", "-C", self.build, "-t", "targets", "all"], self.source, 60)
        self.objects = {line.split(":")[0] for line in output.splitlines() if ".c.o:" in line}
        with open(os.path.join(self.build, "test", "lit.site.cfg.py")) as file:
            settings = dict(line.split(" = ") for line in file if line.count(" = ") == 1)
        self.lit = os.path.join(settings["config.llvm_tools_dir"].strip().strip('"'), "lit")

    def ninja(self, *targets):
        return ["ninja", "-C", self.build, "-j2", *targets]

    def read(self, path):
        with open(os.path.join(self.source, path)) as file:
            return file.read()

    def write(self, path, text):
        with open(os.path.join(self.source, path), "w") as file:
            file.write(text)

    def object_of(self, path):
        """The library's object of a source, and its digest."""
        end = os.path.basename(path) + ".o"
        names = [name for name in self.objects if os.path.basename(name) == end and name.startswith(os.path.dirname(path) + "/")]
        with open(os.path.join(self.build, names[0]), "rb") as file:
            return names[0], hashlib.sha256(file.read()).hexdigest()

    def test(self, path, first):
        """(test that failed or None, what happened)."""
        for tool, tests in ([("lit", first)] if first else []) + list(stages(path)):
            if tool == "lit":
                command = [self.lit, "-q", "-j2", "--max-failures=1", os.path.join(self.build, "test"), "--filter", tests]
            else:
                command = ["ctest", "--test-dir", self.build, "-R", tests, "--stop-on-failure", "--timeout", "300"]
            status, output = run(command, self.build, STAGE_SECONDS)
            if status is None:
                return "%s %s" % (tool, tests), "hangs"
            if status == 0 or (tool == "lit" and "did not match any tests" in output):
                continue
            failed = re.search(r"(?:tpshard :: (\S+)|Test +#\d+: (\S+) \.*\*\*\*)", output)
            return (failed[1] or failed[2]) if failed else "%s %s" % (tool, tests), "fails"
        return None, "survived"


def try_mutant(tree, mutant):
    """A row of the results; None when the change is none: it does not compile, or makes the same code."""
    start, path = time.time(), mutant["path"]
    before = tree.read(path)
    name, digest = tree.object_of(path)
    tree.write(path, mutant["text"](before))
    try:
        status, _ = run(tree.ninja(name), tree.source, 300)
        if status != 0 or tree.object_of(path)[1] == digest:
            return None
        status, output = run(tree.ninja(), tree.source, 900)
        test, how = ("build", "fails") if status != 0 else tree.test(path, mutant.get("tests"))
    finally:
        tree.write(path, before)
        run(tree.ninja(name), tree.source, 300)
    return {"key": mutant["key"], "path": path, "line": mutant["line"], "change": mutant["change"], "test": test, "how": how,
            "seconds": round(time.time() - start, 1)}


def random_mutants(tree, seed, paths):
    listed = sorted({os.path.relpath(path, tree.source) for pattern in paths for path in glob.glob(os.path.join(tree.source, pattern))})
    found = [change for path in listed for change in source.changes(path, tree.read(path))]
    random.Random(seed).shuffle(found)
    for c in found:
        shown = "%s: `%s` -> `%s`" % (c.kind, " ".join(c.old.split()), c.new)
        yield {"key": "%s:%d:%d:%s:%s" % (c.path, c.line, c.at, c.old, c.new), "path": c.path, "line": c.line, "change": shown,
               "text": lambda text, c=c: source.apply(text, c)}


def check_unchanged(tree, work, ref):
    """A test that fails anyway would catch every mutant. Remembered for the commit."""
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", ref], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    passed = os.path.join(work, "passed-" + commit)
    if os.path.exists(passed):
        return
    test, how = tree.test("", None)
    if test:
        sys.exit("run.py: the unchanged tree does not pass its tests: %s %s" % (test, how))
    open(passed, "w").close()


def print_table(rows):
    print("\n| mutant | change | caught by | seconds |\n|---|---|---|---|")
    for row in sorted(rows, key=lambda r: (r["test"] is not None, r["path"], r["line"])):
        change = row["change"].replace("|", "\\|")
        caught = "**survived**" if row["test"] is None else row["test"] + (" (hangs)" if row["how"] == "hangs" else "")
        print("| %s:%d | %s | %s | %.0f |" % (row["path"], row["line"], change, caught, row["seconds"]))
    caught = sum(row["test"] is not None for row in rows)
    print("\n%d mutants, %d caught (%.1f %%), %d survived" % (len(rows), caught, 100 * caught / max(1, len(rows)), len(rows) - caught))


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--handmade", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--work", default=os.path.join(ROOT, "build", "mutants"))
    parser.add_argument("--resume")
    parser.add_argument("--ref", default="HEAD")
    parser.add_argument("paths", nargs="*")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    if options.check:
        return handmade.check(ROOT)
    work = os.path.abspath(options.work)
    results = options.resume or os.path.join(work, "results.jsonl")
    trees = [Tree(os.path.join(work, str(j)), options.ref) for j in range(options.jobs)]
    rows = []
    if os.path.exists(results):
        with open(results) as file:
            rows = [json.loads(line) for line in file]
    known = {row["key"] for row in rows}
    check_unchanged(trees[0], work, options.ref)
    wanted = handmade.mutants(trees[0].source) if options.handmade else random_mutants(trees[0], options.seed, options.paths or SOURCES)
    todo, lock = queue.Queue(), threading.Lock()
    for mutant in wanted:
        if mutant["key"] not in known:
            todo.put(mutant)
    rows = [row for row in rows if row["test"] != "nothing"]

    def work_on(tree):
        while options.handmade or len(rows) < options.count:
            try:
                mutant = todo.get_nowait()
            except queue.Empty:
                return
            row = try_mutant(tree, mutant)
            with lock, open(results, "a") as file:
                file.write(json.dumps(row or {"key": mutant["key"], "test": "nothing"}) + "\n")
                if row:
                    rows.append(row)
                    print("%s:%d %s: %s, %.0f s" % (row["path"], row["line"], row["change"], row["test"] or "SURVIVED", row["seconds"]),
                          flush=True)
                elif options.handmade:
                    print("%s: does not compile, or changes nothing" % mutant["key"], flush=True)

    threads = [threading.Thread(target=work_on, args=(tree,)) for tree in trees]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print_table(rows)
    return 1 if any(row["test"] is None for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
