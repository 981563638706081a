#!/usr/bin/env python3
"""allocator.py SOURCE: checks that lib and passes allocate through lib/support/alloc.c alone.

Reports every name of an allocating function of C in the .c and .h files, whether it is called or
passed on; fields of structs may have such a name. lib/ir/shim.cpp is C++, where MLIR allocates.
Prints the uses; then the exit code is 1."""
import os
import re
import subprocess
import sys

ROOTS = ("lib", "passes")
ALLOCATOR = "lib/support/alloc.c"
NAMES = (
    "malloc calloc realloc reallocarray aligned_alloc posix_memalign memalign strdup strndup asprintf vasprintf getline getdelim open_memstream free"
).split()
SKIPPED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
USE = re.compile(r"(?<![\w.>])(%s)\b" % "|".join(NAMES))


def uses(text):
    """Yields (line, name). Comments and literals become as many empty lines as they had."""
    code = SKIPPED.sub(lambda found: "\n" * found[0].count("\n"), text)
    for number, line in enumerate(code.split("\n"), 1):
        for found in USE.finditer(line):
            yield number, found[1]


def main(source):
    listed = subprocess.run(["git", "-C", source, "ls-files", "-co", "--exclude-standard"] + list(ROOTS), check=True,
                            capture_output=True, text=True).stdout.split("\n")
    n_wrong = 0
    for name in sorted(listed):
        path = os.path.join(source, name)
        if not name.endswith((".c", ".h")) or name == ALLOCATOR or not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            for number, used in uses(file.read()):
                print("%s:%d: %s; use support/support.h" % (name, number, used))
                n_wrong += 1
    print("%d uses of another allocator" % n_wrong)
    return 1 if n_wrong else 0


sys.exit(main(os.path.realpath(sys.argv[1])))
