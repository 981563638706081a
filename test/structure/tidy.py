#!/usr/bin/env python3
"""tidy.py [--all] [--analyze] [--at-most N] [--tidy PROGRAM] SOURCE BUILD: runs clang-tidy over
changed sources of the product, or over all of them (also with TP_LONG=1).

Changed are sources that differ from the merge base with origin/main, or from the commit before HEAD
if there is no origin/main or HEAD is part of it. A changed header is checked with the first source
that includes it. Of more than N files, those with most changed lines are checked. What they are
compiled with is read from BUILD.

The analyzer runs with --analyze only: its findings are no errors, and it takes most of the time.
Exits with 1 for findings, and with 77, with a reason, if nothing can be checked."""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys

ROOTS = ("lib", "passes", "runtime", "tools")
HEADERS = ROOTS + ("include",)
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def skip(reason):
    print("skipped: %s" % reason)
    sys.exit(77)


def git(source, *arguments):
    """Returns the lines of the output, or None if the command fails."""
    if not shutil.which("git"):
        return None
    done = subprocess.run(["git", "-C", source, *arguments], capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else None


def compiled(source, build):
    """Returns the sources of the product, sorted, and options of GCC that clang does not know."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    names = {os.path.relpath(c["file"], source) for c in commands}
    unknown = {option for c in commands for option in re.findall(r"-mmem[a-z]*-strategy=[^ \"]*", c["command"])}
    return sorted(name for name in names if name.endswith(".c") and name.split("/")[0] in ROOTS), sorted(unknown)


def base_of(source):
    head = git(source, "rev-parse", "HEAD")
    base = git(source, "merge-base", "HEAD", "origin/main")
    if not base or base == head:
        base = git(source, "rev-parse", "--verify", "--quiet", "HEAD~1")
    return base[0] if base else EMPTY_TREE


def changed_lines(source):
    """Returns {path: number of changed lines} of sources and headers."""
    counts = {}
    for line in git(source, "diff", "--numstat", "--no-renames", base_of(source), "--", *HEADERS):
        added, removed, path = line.split("\t")
        counts[path] = sum(int(n) for n in (added, removed) if n != "-")
    for path in git(source, "ls-files", "-o", "--exclude-standard", "--", *HEADERS):
        counts[path] = sys.maxsize  # not committed yet
    return counts


def includer(source, names, header):
    """Returns the first source that includes the header directly, or None."""
    own = header[:-2] + ".c"
    pattern = re.compile(r'#\s*include\s+["<](\S*/)?%s[">]' % re.escape(os.path.basename(header)))
    for name in [own] * (own in names) + names:
        with open(os.path.join(source, name), encoding="utf-8") as file:
            if pattern.search(file.read()):
                return name
    return None


def changed(source, names):
    """Returns the changed sources, those with most changed lines first."""
    if git(source, "rev-parse", "HEAD") is None:
        skip("the sources are no git checkout, so it is not known which have changed")
    counts = {}
    for path, n in changed_lines(source).items():
        if not os.path.exists(os.path.join(source, path)):
            continue
        name = includer(source, names, path) if path.endswith(".h") else path
        if name in names:
            counts[name] = max(counts.get(name, 0), n)
    return sorted(counts, key=lambda name: (-counts[name], name))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true", default=bool(os.environ.get("TP_LONG")))
    parser.add_argument("--analyze", action="store_true")
    parser.add_argument("--at-most", type=int, default=100)
    parser.add_argument("--tidy", default="clang-tidy-22")
    parser.add_argument("source", type=os.path.realpath)
    parser.add_argument("build", type=os.path.realpath)
    options = parser.parse_args()
    if not shutil.which(options.tidy):
        skip("there is no %s" % options.tidy)
    names, unknown = compiled(options.source, options.build)
    found = names if options.all else changed(options.source, names)
    chosen = found if options.all else found[: options.at_most]
    command = [options.tidy, "-p", options.build, "--quiet", *("--removed-arg=" + option for option in unknown)]
    if not options.analyze:
        command.append("--checks=-clang-analyzer-*")

    def run(name):
        return subprocess.run([*command, name], cwd=options.source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, done in zip(chosen, pool.map(run, chosen)):
            if done.stdout:
                print(done.stdout.rstrip())
            if done.returncode:
                print("%s: clang-tidy fails" % name)
                wrong += 1
    what = "all" if options.all else "changed"
    rest = "" if len(chosen) == len(found) else "; --long checks all"
    print("%d of %d %s files checked, %d with errors%s" % (len(chosen), len(found), what, wrong, rest))
    return 1 if wrong else 0


sys.exit(main())
