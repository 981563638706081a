#!/usr/bin/env python3
"""float8.py FOLDER: writes arguments and results of expand_float8.test: f32 numbers and the bytes
of f8E4M3FN that they round to, and the numbers of all bytes. Rounding compares with all f8 numbers,
in exact fractions."""
import math
import os
import struct
import sys
from fractions import Fraction

NAN = 0x7F


def number(byte):
    """Returns the number of a byte; None for NaN."""
    exponent, mantissa = byte >> 3 & 15, byte & 7
    if byte & 127 == NAN:
        return None
    size = Fraction(mantissa, 8) * Fraction(1, 64) if exponent == 0 else Fraction(8 + mantissa, 8) * Fraction(2) ** (exponent - 7)
    return -size if byte & 128 else size


POSITIVE = [number(b) for b in range(NAN)]


def nearest(x):
    """Returns the byte of a float."""
    sign = 128 if math.copysign(1, x) < 0 else 0
    if math.isnan(x) or math.isinf(x) or abs(Fraction(x)) > 464:
        return NAN | (sign if not math.isnan(x) else struct.unpack("<I", struct.pack("<f", x))[0] >> 24 & 128)
    size = abs(Fraction(x))
    best = min(range(NAN), key=lambda b: (abs(POSITIVE[b] - size), b & 1))
    return sign | best


def floats():
    """Returns every f8 number, the midpoints between neighbors, the floats next to those, and the
    limits of f32."""
    found = [0.0, float("inf"), float("nan"), 464.0, 464.0001, 480.0, 1e-45, 1e-30, 3.4e38, 2.0 ** -10, 2.0 ** -11]
    for low, high in zip(POSITIVE, POSITIVE[1:]):
        for x in (low, (low + high) / 2, (3 * low + high) / 4):
            bits = struct.unpack("<I", struct.pack("<f", float(x)))[0]
            found += [struct.unpack("<f", struct.pack("<I", b))[0] for b in (bits - 1, bits, bits + 1) if b >= 0]
    found = [struct.unpack("<f", struct.pack("<f", x))[0] for x in found]
    return found + [-x for x in found]


def write(path, descr, shape, data):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    given = floats()
    given += [0.0] * (-len(given) % 64)
    write(folder + "/x.in.0.npy", "<f4", (len(given),), struct.pack("<%df" % len(given), *given))
    write(folder + "/x.out.0.npy", "|i1", (len(given),), bytes(nearest(x) for x in given))
    write(folder + "/x.in.1.npy", "|i1", (256,), bytes(range(256)))
    wide = [float("nan") if number(b) is None else math.copysign(float(number(b)), -1 if b & 128 else 1) for b in range(256)]
    write(folder + "/x.out.1.npy", "<f4", (256,), struct.pack("<256f", *wide))
    print(len(given))


main()
