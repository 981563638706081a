#!/usr/bin/env python3
"""run.py [--handmade | --count N --seed S] [--near] [--jobs J] [--resume FILE] [--work DIR] [--ref COMMIT] [PATH...]: mutation testing.

Changes one place of the sources, builds, and runs the tests, the nearest ones first, until one fails. What no test catches is a test that
is missing, or a change that makes no difference; survivors.md says which of the two.

  --handmade    the changes of handmade/, all of which must be caught
  --check       only see that each of them still applies to this tree (part of the default tests)
  --count N     random changes that compile and make another object file (default 200), of the files PATH, or of SOURCES
  --seed S      which ones (default 1); another commit gives the same but for lines that changed
  --near        without the tests that are slow and seldom the first to notice (models, tools, fuzzing); what passes the others is open
  --jobs J      that many copies of the tree at once (default 1)
  --resume FILE results, a line of JSON each (default: WORK/results.jsonl). What a test caught is not repeated, and neither is what the same
                tests of the same commit did not catch; so the open ones of --near are finished by a run without it
  --work DIR    for copies of the tree and builds (default: build/mutants)
  --ref COMMIT  of the tree that is changed (default: HEAD)

Prints a line for each mutant and tables at the end; exits with 1 when one was not caught."""
import argparse
import collections
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

import handmade
import source

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = ["lib/rules/*.c", "lib/sharding/*.c", "lib/ir/collectives.c", "passes/*.c"]

# The tests of a file (first match), which are tried first. A filter of lit, or of ctest.
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
    ("lib/rules/*", "lit", "rules/{word}|rules/linalg"),
    ("lib/ir/collectives.c", "lit", "rules/collective|passes/(partition|simplify)"),
    ("passes/*", "lit", "passes/{word}"),
]
# Tests that take long, behind the others of their stage.
SLOW = ("rules/(linalg/(inits|nonlinear|multiple)|control_flow/(structure|conditions)|elementwise/arith|complex/elementwise|concat/along|named/"
        "|window/(poolings|gradients|groups|convolutions)|joined/(softmax|picks|torch)|slice/dynamic|lookup/bodies|collective/random)|oracles/")
STAGE_SECONDS = 900
FLAGS = "-Wno-error=unused -Wno-error=unused-variable -Wno-error=unused-but-set-variable -Wno-error=unused-parameter -Wno-error=unused-function"


def stages(path, near):
    """(tool, tests, tests that are left out), the cheap ones first."""
    word = os.path.splitext(os.path.basename(path))[0].split("_")[0]
    tool, nearest = next(((tool, tests.format(word=word)) for pattern, tool, tests in NEAREST if fnmatch.fnmatch(path, pattern)), ("", ""))
    done = nearest if tool == "lit" else "$^"
    if tool == "lit":
        yield "lit", nearest, SLOW
        yield "lit", "(?=.*(%s))(?=.*(%s))" % (nearest, SLOW), "$^"
    elif tool:
        yield tool, nearest, "$^"
    yield "lit", "passes/|rules/", "%s|%s" % (SLOW, done)
    yield "ctest", "^sharding|^oracles|^rules", "$^"
    if not near:
        yield "lit", SLOW, done
        yield "lit", "tools/|sharding/|fuzz/|bench/|docs/", "$^"
        yield "ctest", "^fuzz|^support", "$^"
        yield "lit", "models/", "$^"
        yield "ctest", "^examples.embed|^examples.user-rule", "$^"


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

    def test(self, path, near, first=None):
        """(test that failed or None, what happened)."""
        for tool, tests, but in ([("lit", first, "$^")] if first else []) + list(stages(path, near)):
            if tool == "lit":
                command = [self.lit, "-q", "-j2", "--order=lexical", "--max-failures=1", os.path.join(self.build, "test"), "--filter", tests,
                           "--filter-out", but]
            else:
                command = ["ctest", "--test-dir", self.build, "-R", tests, "-E", but, "--stop-on-failure", "--timeout", "300"]
            status, output = run(command, self.build, STAGE_SECONDS)
            if status is None:
                return "%s %s" % (tool, tests), "hangs"
            if status == 0 or (tool == "lit" and "did not match any tests" in output):
                continue
            failed = re.search(r"(?:tpshard :: (\S+)|Test +#\d+: (\S+) \.*\*\*\*)", output)
            return (failed[1] or failed[2]) if failed else "%s %s" % (tool, tests), "fails"
        return None, "open" if near else "survived"


def try_mutant(tree, mutant, near):
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
        test, how = ("build", "fails") if status != 0 else tree.test(path, near, mutant.get("tests"))
    finally:
        tree.write(path, before)
        run(tree.ninja(name), tree.source, 300)
    return {"key": mutant["key"], "path": path, "line": mutant["line"], "change": mutant["change"], "test": test, "how": how,
            "seconds": round(time.time() - start, 1)}


def random_mutants(tree, seed, paths):
    """In the order of a digest of the seed and the change, its line taken as text: an edit elsewhere moves no other change."""
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
    """A test that fails anyway would catch every mutant. Remembered for the commit."""
    passed = os.path.join(work, "passed-%s%s" % (commit, "-near" if near else ""))
    if os.path.exists(passed):
        return
    test, how = tree.test("", near)
    if test:
        sys.exit("run.py: the unchanged tree does not pass its tests: %s %s" % (test, how))
    open(passed, "w").close()


def read_results(path, commit, near):
    """Rows that need no repetition, by key; the last row of a mutant counts."""
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
    trees = [Tree(os.path.join(work, str(j)), commit) for j in range(options.jobs)]
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
