#!/usr/bin/env python3
"""fourier.py SHARD_RUN FOLDER: runs Fourier transforms on several devices, and compares them with their definition.

Lengths are such that there are one, two and three stages, odd and even ones, and prime factors above 64. Those of three
stages transform harmonics, whose transform is known. Prints the number of transforms that are right."""
import cmath
import math
import os
import random
import struct
import subprocess
import sys

import npy

SHARD_RUN, FOLDER = sys.argv[1:]
random.seed(5)


def save(path, shape, values, is_complex, double):
    kind, size = ("c", 8) if is_complex else ("f", 4)
    npy.save(path, "<%s%d" % (kind, size * (1 + double)), shape, [v if is_complex else v.real for v in values])


def single(value):
    """What f32 keeps of both parts."""
    return complex(*struct.unpack("<2f", struct.pack("<2f", value.real, value.imag)))


def line(x, direction):
    """The transform of one line, by its definition."""
    n = len(x)
    turns = [cmath.exp(direction * 2j * math.pi * m / n) for m in range(n)]
    y = [math.fsum((v * turns[j * k % n]).real for j, v in enumerate(x)) + 1j * math.fsum((v * turns[j * k % n]).imag for j, v in enumerate(x))
         for k in range(n)]
    return [v / n for v in y] if direction > 0 else y


def along(values, shape, d, make):
    """Applies `make` to all lines of dimension d; returns the values and the shape."""
    inner, n = math.prod(shape[d + 1:]), shape[d]
    lines = {(o, i): make([values[(o * n + j) * inner + i] for j in range(n)]) for o in range(math.prod(shape[:d])) for i in range(inner)}
    m = len(next(iter(lines.values())))
    made = [lines[o, i][j] for o in range(math.prod(shape[:d])) for j in range(m) for i in range(inner)]
    return made, shape[:d] + [m] + shape[d + 1:]


def mirrored(half, n):
    """The whole transform of real numbers."""
    return half + [v.conjugate() for v in reversed(half[1:n - len(half) + 1])]


def transform(kind, values, shape, lengths):
    first, direction = len(shape) - len(lengths), 1 if kind in ("IFFT", "IRFFT") else -1
    shape, last, n = list(shape), len(shape) - 1, lengths[-1]
    for d in range(first, last + (kind in ("FFT", "IFFT"))):
        values, shape = along(values, shape, d, lambda x: line(x, direction))
    if kind == "RFFT":
        values, shape = along(values, shape, last, lambda x: line(x, -1)[:n // 2 + 1])
    if kind == "IRFFT":
        values, shape = along(values, shape, last, lambda x: [v.real for v in line(mirrored([x[0].real] + x[1:(n + 1) // 2] + (
            [x[n // 2].real] if n % 2 == 0 and n > 1 else []), n), 1)])
    return values, shape


def harmonics(n):
    """Two of them, and their transform."""
    x = [cmath.exp(2j * math.pi * (7 * j % n) / n) + 0.5 * cmath.exp(2j * math.pi * ((n - 3) * j % n) / n) for j in range(n)]
    return x, [n if k == 7 else n / 2 if k == n - 3 else 0 for k in range(n)]


def tensor(shape, is_complex, double):
    number = "f64" if double else "f32"
    return "tensor<%s>" % "x".join([*map(str, shape), "complex<%s>" % number if is_complex else number])


def run(name, cases, mesh, double=False):
    arguments, lines, types, files = [], [], [], []
    for k, (kind, shape, lengths, sharding) in enumerate(cases):
        real_in, real_out = kind == "RFFT", kind == "IRFFT"
        if lengths[-1] > 4000:
            values, expected = harmonics(lengths[-1])
            made = shape
        else:
            values = [random.uniform(-1, 1) + (0 if real_in else 1j * random.uniform(-1, 1)) for _ in range(math.prod(shape))]
            values = values if double else [single(v) for v in values]
            expected, made = transform(kind, values, shape, lengths)
        save("%s/%s%d.npy" % (FOLDER, name, k), shape, [complex(v) for v in values], not real_in, double)
        save("%s/%s%d.want.npy" % (FOLDER, name, k), made, [complex(v) for v in expected], not real_out, double)
        files += ["--input", "@%s/%s%d.npy" % (FOLDER, name, k), "--expected-output", "@%s/%s%d.want.npy" % (FOLDER, name, k)]
        types.append(tensor(made, not real_out, double))
        arguments.append("%%x%d: %s%s" % (k, tensor(shape, not real_in, double), " {tp.sharding = %s}" % sharding if sharding else ""))
        lines.append('  %%y%d = "stablehlo.fft"(%%x%d) <{fft_length = array<i64: %s>, fft_type = #stablehlo<fft_type %s>}> : (%s) -> %s' % (
            k, k, ", ".join(map(str, lengths)), kind, tensor(shape, not real_in, double), types[-1]))
    path = os.path.join(FOLDER, name + ".mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write("func.func @main(%s) -> (%s) {\n%s\n  return %s : %s\n}\n" % (
            ", ".join(arguments), ", ".join(types), "\n".join(lines), ", ".join("%%y%d" % k for k in range(len(cases))), ", ".join(types)))
    done = subprocess.run([SHARD_RUN, path, "--mesh", mesh, *files], capture_output=True, text=True)
    right = done.stdout.count("against expected     ok")
    if done.returncode or right != len(cases):
        print("%s on %s:\n%s%s" % (name, mesh, done.stdout, done.stderr))
    return right


def main():
    lengths = (1, 2, 7, 12, 65, 67, 90, 128, 134)
    rows, columns, none = '[["x"], []]', '[[], ["x"]]', ""
    right = 0
    for kind in ("FFT", "IFFT", "RFFT", "IRFFT"):
        cases = [(kind, [3, n // 2 + 1 if kind == "IRFFT" else n], [n], (rows, columns, none)[k % 3]) for k, n in enumerate(lengths)]
        right += run(kind.lower(), cases, "x=2,y=2")
    right += run("double", [("FFT", [2, 90], [90], columns), ("RFFT", [2, 70], [70], none), ("IRFFT", [2, 41], [80], none)], "x=3", True)
    right += run("planes", [("FFT", [2, 6, 10], [6, 10], none), ("RFFT", [3, 8, 9], [8, 9], '[[], ["x"], []]'), ("RFFT", [72, 6], [72, 6], rows),
                            ("IRFFT", [2, 4, 3, 5], [4, 3, 8], none), ("FFT", [5040], [5040], '[["x"]]'), ("FFT", [4288], [4288], none)], "x=4")
    print("%d transforms are right" % right)


main()
