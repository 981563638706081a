#!/usr/bin/env python3
"""check.py SOURCE: checks the include rules of the folders, and that no includes form a circle.
Reads the table in CONTRIBUTING.md and every #include.

A file may include files of its own folder and of the folders that its row lists. A row also covers
subfolders without a row of their own. The table must have no cycles, each folder must have a row,
and no two .c files of one library may have the same name.

In the whole tree, files must not include each other in a circle, and neither must folders, nor
subjects. A subject is X.c with X.h. If Y.h includes X.h, then Y is a part of the subject X, which
X.c may use. Prints the violations; then the exit code is 1."""
import collections
import os
import re
import subprocess
import sys

ROOTS = ("include", "lib", "passes", "runtime", "tools")
SEARCHED = ("include", "lib", "", "runtime")  # include paths of the compiler
LIBRARIES = {"libtpshard": ("lib", "passes"), "libtprt": ("runtime",)}
SUFFIXES = (".c", ".h", ".cpp", ".cu", ".cuh", ".ptx")


def rows(source):
    """Returns {folder: folders that it may include}, from the table with the head '| folder | holds
    | may include |'."""
    with open(os.path.join(source, "CONTRIBUTING.md"), encoding="utf-8") as file:
        text = file.read()
    table = text[text.index("| folder | holds | may include |") :].split("\n\n")[0].strip().split("\n")[2:]
    made = {}
    for line in table:
        folders, _, may = (cell.strip() for cell in line.strip("|").split("|"))
        for folder in re.findall(r"`([^`]+)`", folders):
            made[folder] = set(re.findall(r"`([^`]+)`", may))
    return made


def row_of(folder, table):
    while folder and folder not in table:
        folder = os.path.dirname(folder)
    return folder or None


def circle(edges):
    """Returns a cycle of the graph as a list; empty if there is none."""
    state, path = {}, []

    def visit(node):
        state[node] = "open"
        path.append(node)
        for other in sorted(edges.get(node, ())):
            if state.get(other) == "open":
                return path[path.index(other) :] + [other]
            found = visit(other) if other not in state else []
            if found:
                return found
        path.pop()
        state[node] = "done"
        return []

    for node in sorted(edges):
        found = visit(node) if node not in state else []
        if found:
            return found
    return []


def reachable(edges, node):
    found, open_nodes = set(), [node]
    while open_nodes:
        new = edges.get(open_nodes.pop(), set()) - found
        found |= new
        open_nodes += new
    return found


def include_circles(graph):
    """Yields a circle of files, of folders and of subjects. `graph`: {file: files it includes}."""
    folders, subjects = collections.defaultdict(set), collections.defaultdict(set)
    for name, included in graph.items():
        own = os.path.splitext(name)[0]
        for path in included:
            if os.path.dirname(path) != os.path.dirname(name):
                folders[os.path.dirname(name)].add(os.path.dirname(path))
            other = os.path.splitext(path)[0]
            is_part = own + ".h" in reachable(graph, path) and name != own + ".h"
            if other != own and not is_part:
                subjects[own].add(other)
    for what, edges in (("files", graph), ("folders", folders), ("subjects", subjects)):
        found = circle(edges)
        if found:
            yield "a circle of %s that include each other: %s" % (what, " -> ".join(found))


def includes(source, files):
    """Yields (file, line, included file), for included files of the tree."""
    for name in sorted(files):
        with open(os.path.join(source, name), encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                found = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
                if not found:
                    continue
                for place in (os.path.dirname(name),) + SEARCHED:
                    path = os.path.normpath(os.path.join(place, found[1]))
                    if path in files:
                        yield name, number, path
                        break


def problems(source):
    listed = subprocess.run(["git", "-C", source, "ls-files", "-co", "--exclude-standard"], check=True, capture_output=True, text=True)
    tree = {name for name in listed.stdout.split("\n") if name.endswith(SUFFIXES) and os.path.exists(os.path.join(source, name))}
    files = {name for name in tree if name.split("/")[0] in ROOTS}
    graph = collections.defaultdict(set)
    for name, _, path in includes(source, tree):
        graph[name].add(path)
    yield from include_circles(graph)
    table = rows(source)
    for folder, may in table.items():
        for other in sorted(may - set(table)):
            yield "CONTRIBUTING.md: %s may include '%s', which has no row" % (folder, other)
    found = circle(table)
    if found:
        yield "CONTRIBUTING.md: a circle: %s" % " -> ".join(found)
    for name in sorted(files):
        if not row_of(os.path.dirname(name), table):
            yield "%s: its folder has no row in CONTRIBUTING.md" % name
    for name, number, path in includes(source, files):
        own, other = row_of(os.path.dirname(name), table), row_of(os.path.dirname(path), table)
        if own and other and own != other and other not in table[own]:
            yield "%s:%d: %s may not include %s (the table in CONTRIBUTING.md)" % (name, number, own, path)
    for library, roots in LIBRARIES.items():
        names = collections.defaultdict(list)
        for name in sorted(files):
            if name.endswith(".c") and name.split("/")[0] in roots:
                names[os.path.basename(name)].append(name)
        for same in names.values():
            if len(same) > 1:
                yield "%s: files of one name: %s" % (library, ", ".join(same))


def main(source):
    wrong = list(problems(source))
    print("\n".join(wrong + ["%d folders with a row, %d problems" % (len(rows(source)), len(wrong))]))
    return 1 if wrong else 0


sys.exit(main(os.path.realpath(sys.argv[1])))
