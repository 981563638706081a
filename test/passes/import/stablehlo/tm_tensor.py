#!/usr/bin/env python3
"""tm_tensor.py SHARD_RUN FOLDER: runs ops of torch-mlir's dialect tm_tensor on several devices, and compares them with
what Python computes. Prints the number of results that are right."""
import math
import random
import subprocess
import sys

import npy

SHARD_RUN, FOLDER = sys.argv[1:]
random.seed(3)
ROWS, COLUMNS = 6, 140  # running sums of more than 128 elements are made in blocks


def ints(n, most):
    return [random.randrange(most) for _ in range(n)]


def op(name, operands, attributes, arguments, body, types, results):
    return '"tm_tensor.%s"(%s) <{%s}> ({\n  ^bb0(%s):\n%s  }) : (%s) -> %s' % (name, operands, attributes, arguments, body, types, results)


def yields(line, value, element):
    return '    %s = %s\n    "tm_tensor.yield"(%s) : (%s) -> ()\n' % (value, line, value, element)


def program(values, indices, updates, floats):
    """Returns the text, and the types and values of its results."""
    x, i64, f = ("tensor<%dx%dx%s>" % (ROWS, COLUMNS, element) for element in ("i32", "i64", "f32"))
    acc = "tensor<%dxi32>" % ROWS
    lines = ["func.func @main(%%x: %s {tp.sharding = [[], [\"x\"]]}, %%n: %s, %%i: tensor<9x1xi64>, %%u: tensor<9x1x%dxi32>, %%p: tensor<9x2xi64>, "
             "%%v: tensor<9xi32>, %%f: %s) -> (%s) {" % (x, i64, COLUMNS, f, ", ".join([x, i64, x, x, x, x, f, i64, f])),
             "%%a = tensor.empty() : %s" % acc]
    row = lambda r: values[r * COLUMNS:(r + 1) * COLUMNS]
    # "at least", which is no strict order: equal elements keep their places nevertheless
    lines.append("%sorted:2 = " + op("sort", "%x, %n", "dimension = 1 : i64, operandSegmentSizes = array<i32: 0, 2>", "%a0: i32, %a1: i32, %b0: i64, %b1: i64",
                                       yields('arith.cmpi sge, %a0, %a1 : i32', "%c", "i1"), x + ", " + i64, "(%s, %s)" % (x, i64)))
    orders = [sorted(range(COLUMNS), key=lambda k: -row(r)[k]) for r in range(ROWS)]
    wanted = [(x, [row(r)[k] for r in range(ROWS) for k in orders[r]]), (i64, [k for r in range(ROWS) for k in orders[r]])]
    for name, combine, begin in ("addi", lambda a, b: a + b, 0), ("muli", lambda a, b: a * b, 1):
        lines.append("%%%s:2 = " % name + op("scan", "%x, %x, %a", "dimension = 1 : i64, inclusive = true, operandSegmentSizes = array<i32: 1, 2>",
                                             "%a0: i32, %a1: i32", yields("arith.%s %%a0, %%a1 : i32" % name, "%c", "i32"),
                                             ", ".join([x, x, acc]), "(%s, %s)" % (x, acc)))
        made = []
        for r in range(ROWS):
            total = begin
            for value in row(r):
                total = (combine(total, value) + 2**31) % 2**32 - 2**31
                made.append(total)
        wanted.append((x, made))
    add, last = yields("arith.addi %old, %new : i32", "%c", "i32"), '    "tm_tensor.yield"(%new) : (i32) -> ()\n'
    lines.append("%added = " + op("scatter", "%u, %i, %x", "dimension_map = array<i64: 0>, operandSegmentSizes = array<i32: 2, 1>, unique_indices = false",
                                  "%new: i32, %old: i32", add, "tensor<9x1x%dxi32>, tensor<9x1xi64>, %s" % (COLUMNS, x), x))
    added = list(values)
    for k in range(9):
        for c in range(COLUMNS):
            added[indices[k] * COLUMNS + c] += updates[k * COLUMNS + c]
    wanted.append((x, added))
    lines.append("%set = " + op("scatter", "%v, %p, %x", "dimension_map = array<i64: 1, 0>, operandSegmentSizes = array<i32: 2, 1>, unique_indices = true",
                                "%new: i32, %old: i32", last, "tensor<9xi32>, tensor<9x2xi64>, %s" % x, x))
    replaced = list(values)
    for k in range(9):
        replaced[(k % ROWS) * COLUMNS + 3 * k] = 1000 + k
    wanted.append((x, replaced))
    # PyTorch takes NaN for the largest number
    up = sorted(range(COLUMNS), key=lambda k: (math.isnan(floats[k]), 0 if math.isnan(floats[k]) else floats[k]))
    down = sorted(range(COLUMNS), key=lambda k: (not math.isnan(floats[k]), 0 if math.isnan(floats[k]) else -floats[k]))
    for name, predicate, order in ("up", "ole", up), ("down", "ogt", down):
        lines.append("%%%s:2 = " % name + op("sort", "%f, %n", "dimension = 1 : i64, operandSegmentSizes = array<i32: 0, 2>",
                                             "%a0: f32, %a1: f32, %b0: i64, %b1: i64",
                                             yields("arith.cmpf %s, %%a0, %%a1 : f32" % predicate, "%c", "i1"), f + ", " + i64, "(%s, %s)" % (f, i64)))
        wanted.append((f, [floats[k] for k in order] * ROWS))
        wanted.append((i64, order * ROWS))
    del wanted[-1]
    lines.append("return %%sorted#0, %%sorted#1, %%addi#0, %%muli#0, %%added, %%set, %%up#0, %%up#1, %%down#0 : %s\n}" % ", ".join(t for t, _ in wanted))
    return "\n".join(lines) + "\n", wanted


def main():
    values, indices, updates = ints(ROWS * COLUMNS, 20), ints(9, ROWS), ints(9 * COLUMNS, 50)
    floats = [random.choice((float("nan"), float("inf"), -float("inf"), random.random(), 0.5)) for _ in range(COLUMNS)]
    text, wanted = program(values, indices, updates, floats)
    with open(FOLDER + "/tm_tensor.mlir", "w", encoding="utf-8") as file:
        file.write(text)
    arguments = [("<i4", (ROWS, COLUMNS), values), ("<i8", (ROWS, COLUMNS), [c for _ in range(ROWS) for c in range(COLUMNS)]), ("<i8", (9, 1), indices),
                 ("<i4", (9, 1, COLUMNS), updates), ("<i8", (9, 2), [n for k in range(9) for n in (3 * k, k % ROWS)]), ("<i4", (9,), range(1000, 1009)), ("<f4", (ROWS, COLUMNS), floats * ROWS)]
    files = []
    for k, (descr, shape, numbers) in enumerate(arguments):
        npy.save("%s/in.%d.npy" % (FOLDER, k), descr, shape, numbers)
        files += ["--input", "@%s/in.%d.npy" % (FOLDER, k)]
    for k, (kind, numbers) in enumerate(wanted):
        npy.save("%s/out.%d.npy" % (FOLDER, k), "<i8" if "i64" in kind else "<f4" if "f32" in kind else "<i4", (ROWS, COLUMNS), numbers)
        files += ["--expected-output", "@%s/out.%d.npy" % (FOLDER, k)]
    for mesh in "x=2", "x=3":
        done = subprocess.run([SHARD_RUN, FOLDER + "/tm_tensor.mlir", "--mesh", mesh, *files], capture_output=True, text=True)
        right = done.stdout.count("against expected     ok: error 0 ")
        if done.returncode or right != len(wanted):
            print(done.stdout + done.stderr)
        print("%s: %d of %d results are right" % (mesh, right, len(wanted)))


main()
