#!/usr/bin/env python3
"""run.py [--handmade | --count N --seed S] [--near] [--jobs J] [--resume FILE] [--work DIR]
       [--ref COMMIT] [PATH...]: mutation testing.

Changes one place of the sources, builds, and runs tests until one fails. The order is: tests of the
module of the source; then tests on whose inputs the changed compiler prints different output
(outputs.c), few at a time; then all tests. A mutant that survives means a missing test, or a change
without effect; survivors.md says which.

  --handmade     the changes of handmade/, all of which must be caught
  --check        only check that they still apply to this tree (part of the default tests)
  --count N      random changes that compile to a different object file (default 200), of the files
                 PATH, or of SOURCES
  --seed S       selects the changes (default 1); another commit gives the same, except for changed
                 lines
  --near         of all tests run only those that outputs.c does not cover; mutants that pass are
                 open, and most likely survivors
  --jobs J       number of copies of the tree that run in parallel (default 1)
  --resume FILE  results, one line of JSON each (default: WORK/results.jsonl). Mutants that were
                 caught are not run again, nor those that survived the same tests at the same
                 commit; so a run without --near finishes the open ones
  --work DIR     for copies of the tree and builds (default: build/mutants)
  --ref COMMIT   commit of the tree that is changed (default: HEAD)

Prints a line for each mutant and tables at the end; exits with 1 if one was not caught."""
import argparse
import collections
import filecmp
import fnmatch
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import commands
import handmade
import source

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = ["lib/rules/*.c", "lib/sharding/*.c", "lib/ir/collectives.c", "passes/*.c"]

# Passes after tp-spmd; changes of other files show in its output.
LATE = ["passes/*/%s*.c" % word for word in ("assign", "contraction", "expand", "inline", "kernel", "lower", "name", "outline", "return")]
PIPELINES = ["tp-spmd", "tp-spmd-to-runtime"]
OWN = [  # (sources, tool, tests): quick tests of the module of a source
    ("lib/sharding/*", "ctest", "^sharding[.](mesh|spec|cost|fused_cost|topology|hops|reshard)$"),
    ("lib/rules/*", "ctest", "^rules"),
    ("passes/propagate/report/*", "lit", "passes/propagate/(report/|limits/propagate_gap)|tools/shard-opt/explain|docs/plan_report"),
    ("lib/sharding/topology*", "lit", "topology"),
]
# tests that mutant_outputs does not cover: a script makes their input, they read a file, or they
# test other tools
UNSEEN = [
    ("passes/propagate/report/*", "lit", "models/(plan_report|memory)"),
    ("*", "lit", "passes/(propagate/(report/plan_report|many_|limits/propagate_gap)|prepare/inline_calls_many)|planner/goldens"),
    ("*", "ctest", "^sharding|^oracles|^planner|^fuzz|^tools.bench_fit"),
    ("*", "lit", "planner/execute|rules/collective/random"),
]
ALL = [  # cheap ones first
    ("*", "lit", "passes/|rules/"),
    ("*", "lit", "tools/|planner/|fuzz/|oracles/|bench/|docs/"),
    ("*", "ctest", "^sharding|^oracles|^rules|^planner|^fuzz|^support|^docs|^tools"),
    ("*", "lit", "models/"),
    ("*", "ctest", "^examples.embed|^examples.user-rule"),
]
STAGE_SECONDS = 900
BATCHES = [1, 4, 8]  # number of tests per batch; the last number repeats
FLAGS = "-Wno-error=unused -Wno-error=unused-variable -Wno-error=unused-but-set-variable -Wno-error=unused-parameter -Wno-error=unused-function"


RUNNING = set()  # process groups


def stop(*_):
    for group in list(RUNNING):
        os.killpg(group, signal.SIGKILL)
    os._exit(1)


def run(command, folder, seconds):
    """Returns (status, output); status is None after a timeout, which also kills the children."""
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


def take_over(fresh, tree):
    """Makes `tree` equal to `fresh`. Equal files keep their time stamps, so that their build
    products stay valid."""
    for folder, _, names in os.walk(fresh):
        to = os.path.join(tree, os.path.relpath(folder, fresh))
        os.makedirs(to, exist_ok=True)
        for name in names:
            a, b = os.path.join(folder, name), os.path.join(to, name)
            if not os.path.exists(b) or not filecmp.cmp(a, b, shallow=False):
                shutil.copy(a, b)
        for name in os.listdir(to):
            if not os.path.exists(os.path.join(folder, name)):
                gone = os.path.join(to, name)
                shutil.rmtree(gone) if os.path.isdir(gone) else os.remove(gone)


class Tree:
    """A copy of the sources with its own build."""

    def __init__(self, work, folder, ref):
        self.source, self.build = os.path.join(work, folder, "tree"), os.path.join(work, folder, "build")
        fresh = os.path.join(work, folder, "fresh")
        shutil.rmtree(fresh, ignore_errors=True)
        os.makedirs(fresh)
        subprocess.run("git -C '%s' archive '%s' | tar -xm -C '%s'" % (ROOT, ref, fresh), shell=True, check=True)
        take_over(fresh, self.source)
        shutil.rmtree(fresh)
        configure = ["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON",
                     "-DTP_STATIC_TEST_TOOLS=OFF", "-DCMAKE_C_FLAGS=" + FLAGS]
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
        tools = settings["config.llvm_tools_dir"].strip().strip('"')
        self.lit = os.path.join(tools, "lit")
        self.known = {}  # by pipeline: (test, command, digest of the output)
        for pipeline in PIPELINES:
            pairs = [(test, command.replace(self.source, ".").replace(self.build, "../build"))
                     for test, command in commands.of_tests(self.source, self.build, os.path.join(tools, "split-file"), pipeline)]
            cache = os.path.join(work, "%s-%s" % (pipeline, ref))
            if not os.path.exists(cache):
                digests = list(self.outputs(pairs))
                with open(cache, "w") as file:
                    file.writelines(digests)
            with open(cache) as file:
                self.known[pipeline] = [(test, command, digest) for (test, command), digest in zip(pairs, file.read().split())]

    def outputs(self, pairs, digests=()):
        """Yields the lines of mutant_outputs as they arrive."""
        program, file, known = os.path.join(self.build, "bin", "mutant_outputs"), *(os.path.join(self.build, n) for n in ("commands", "known"))
        with open(file, "w") as out:
            out.writelines(command + "\n" for _, command in pairs)
        with open(known, "w") as out:
            out.writelines(digest + "\n" for digest in digests)
        process = subprocess.Popen([program, file, known if digests else "-"], cwd=self.source, text=True, stdout=subprocess.PIPE,
                                   start_new_session=True)
        RUNNING.add(process.pid)
        try:
            yield from process.stdout
            if process.wait() != 0:
                raise RuntimeError("mutant_outputs fails")
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            RUNNING.discard(process.pid)

    def ninja(self, *targets):
        return ["ninja", "-C", self.build, "-j2", *targets]

    def read(self, path):
        with open(os.path.join(self.source, path)) as file:
            return file.read()

    def write(self, path, text):
        with open(os.path.join(self.source, path), "w") as file:
            file.write(text)

    def object_of(self, path):
        """Returns the library's object file of a source, and its digest."""
        end = os.path.basename(path) + ".o"
        names = [name for name in self.objects if os.path.basename(name) == end and name.startswith(os.path.dirname(path) + "/")]
        with open(os.path.join(self.build, names[0]), "rb") as file:
            return names[0], hashlib.sha256(file.read()).hexdigest()

    def run_lit(self, *tests):
        return "lit", [self.lit, "-q", "-j2", "--order=lexical", "--max-failures=1", *tests]

    def run_table(self, rows, path):
        """Yields the commands for a source from a table of tests."""
        for sources, tool, tests in rows:
            if not fnmatch.fnmatch(path, sources):
                continue
            if tool == "lit":
                yield self.run_lit(os.path.join(self.build, "test"), "--filter", tests)
            else:
                yield tool, [tool, "--test-dir", self.build, "-R", tests, "--stop-on-failure", "--timeout", "300"]

    def differing(self, path):
        """Yields tests whose compiled programs or messages differ from those of the unchanged
        compiler, first those with a name like that of the source."""
        words, found = os.path.splitext(os.path.basename(path))[0].split("_"), set()
        rows = self.known[PIPELINES[any(fnmatch.fnmatch(path, late) for late in LATE)]]
        rows = sorted(rows, key=lambda row: -sum(word in row[0] for word in words))
        for number in self.outputs([row[:2] for row in rows], [row[2] for row in rows]):
            test = rows[int(number)][0]
            if test not in found:
                found.add(test)
                yield test

    def stages(self, path, near, named):
        """Yields commands, most promising first."""
        folder = os.path.join(self.build, "test")
        yield from self.run_table(OWN, path)
        batch, sizes = [], list(BATCHES)
        for test in self.differing(path) if path else ():
            batch.append(os.path.join(folder, test))
            if len(batch) == sizes[0]:
                yield self.run_lit(*batch)
                batch, sizes = [], sizes[1:] or sizes
        if batch:
            yield self.run_lit(*batch)
        if named:
            yield self.run_lit(folder, "--filter", named)
        yield from self.run_table(UNSEEN if near else ALL, path)

    def test(self, path, near, named=None):
        """Returns (failed test or None, what happened)."""
        for tool, command in self.stages(path, near, named):
            status, output = run(command, self.build, STAGE_SECONDS)
            if status is None:
                return " ".join([tool] + command[-2:]), "hangs"
            if status == 0:
                continue
            failed = re.search(r"(?:tpshard :: (\S+)|Test +#\d+: (\S+) \.*[^*\n]*\*\*\*)", output)
            if not failed:
                raise RuntimeError("%s\n%s" % (" ".join(command), output))
            return failed[1] or failed[2], "fails"
        return None, "open" if near else "survived"


def try_mutant(tree, mutant, near):
    """Returns a result row; None if the mutant is invalid: it does not compile, or gives the same
    code."""
    start, path = time.time(), mutant["path"]
    before = tree.read(path)
    name, digest = tree.object_of(path)
    tree.write(path, mutant["text"](before))
    try:
        status, _ = run(tree.ninja(name), tree.source, 300)
        if status != 0 or tree.object_of(path)[1] == digest:
            return None
        status, output = run(tree.ninja(), tree.source, 900)
        test, how = ("build", "fails") if status != 0 else tree.test(path, near, mutant.get("tests"))
    finally:
        tree.write(path, before)
        run(tree.ninja(name), tree.source, 300)
    return {"key": mutant["key"], "path": path, "line": mutant["line"], "change": mutant["change"], "test": test, "how": how,
            "seconds": round(time.time() - start, 1)}


def random_mutants(tree, seed, paths):
    """Returns random changes, ordered by a digest of the seed and of the change with the text of
    its line. So an edit elsewhere does not affect the selection of other changes."""
    listed = sorted({os.path.relpath(path, tree.source) for pattern in paths for path in glob.glob(os.path.join(tree.source, pattern))})
    found, seen = [], collections.Counter()
    for path in listed:
        text = tree.read(path)
        for c in source.changes(path, text):
            start = text.rfind("\n", 0, c.at) + 1
            line = text[start:text.find("\n", c.at)]
            key = "%s: %s @%d %s -> %s" % (path, line.strip(), c.at - start, c.old, c.new)
            seen[key] += 1
            found.append(("%s #%d" % (key, seen[key]), c))
    for key, c in sorted(found, key=lambda f: hashlib.sha256(("%d %s" % (seed, f[0])).encode()).digest()):
        shown = "%s: `%s` -> `%s`" % (c.kind, " ".join(c.old.split()), c.new)
        yield {"key": key, "path": c.path, "line": c.line, "change": shown, "text": lambda text, c=c: source.apply(text, c)}


def check_unchanged(tree, work, commit, near):
    """Checks that the tests pass on the unchanged tree; otherwise they would catch every mutant.
    The result is cached per commit."""
    passed = os.path.join(work, "passed-" + commit)
    if near or os.path.exists(passed):
        return
    test, how = tree.test("", near)
    if test:
        sys.exit("run.py: the unchanged tree does not pass its tests: %s %s" % (test, how))
    open(passed, "w").close()


def read_results(path, commit, near):
    """Returns the rows that need not be repeated, by key; the last row of a mutant counts."""
    if not os.path.exists(path):
        return {}
    with open(path) as file:
        rows = {row["key"]: row for row in map(json.loads, file)}
    return {key: row for key, row in rows.items() if row["test"] or row["commit"] == commit and (near or row["how"] == "survived")}


def percent(caught, of):
    return "%d of %d (%.1f %%)" % (caught, of, 100 * caught / max(1, of))


def print_tables(rows):
    print("\n| mutant | change | caught by | seconds |\n|---|---|---|---|")
    for row in sorted(rows, key=lambda r: (r["test"] is not None, r["path"], r["line"])):
        change = row["change"].replace("|", "\\|")
        caught = "**%s**" % row["how"] if row["test"] is None else row["test"] + (" (hangs)" if row["how"] == "hangs" else "")
        print("| %s:%d | %s | %s | %.0f |" % (row["path"], row["line"], change, caught, row["seconds"]))
    groups = collections.defaultdict(list)
    for row in rows:
        groups[os.path.dirname(row["path"])].append(row["test"] is not None)
    print("\n| sources | caught |\n|---|---|")
    for group, caught in sorted(groups.items()):
        print("| `%s` | %s |" % (group, percent(sum(caught), len(caught))))
    print("\n%s caught" % percent(sum(row["test"] is not None for row in rows), len(rows)))


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--handmade", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--near", action="store_true")
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
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", options.ref], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    trees = [Tree(work, str(j), commit) for j in range(options.jobs)]
    known = read_results(results, commit, options.near)
    check_unchanged(trees[0], work, commit, options.near)
    wanted = iter(handmade.mutants(trees[0].source) if options.handmade else random_mutants(trees[0], options.seed, options.paths or SOURCES))
    drawn, lock = [], threading.Lock()

    def tested():
        return [known[key] for key in drawn if known.get(key, {"test": "nothing"})["test"] != "nothing"]

    def next_mutant():
        with lock:
            while options.handmade or len(tested()) < options.count:
                mutant = next(wanted, None)
                if mutant is None:
                    return None
                drawn.append(mutant["key"])
                if mutant["key"] not in known:
                    return mutant
            return None

    def work_on(tree):
        while mutant := next_mutant():
            row = try_mutant(tree, mutant, options.near)
            with lock, open(results, "a") as file:
                known[mutant["key"]] = dict(row, commit=commit) if row else {"key": mutant["key"], "test": "nothing"}
                file.write(json.dumps(known[mutant["key"]]) + "\n")
                if row:
                    print("%s:%d %s: %s, %.0f s" % (row["path"], row["line"], row["change"], row["test"] or row["how"].upper(), row["seconds"]),
                          flush=True)
                elif options.handmade:
                    print("%s: does not compile, or changes nothing" % mutant["key"], flush=True)

    threads = [threading.Thread(target=work_on, args=(tree,)) for tree in trees]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = tested() if options.handmade else tested()[: options.count]
    print_tables(rows)
    return 1 if any(row["test"] is None for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
