#!/usr/bin/env python3
"""float8.py TYPE FOLDER: writes arguments and results of expand_float8.test: f32 numbers and the bytes
of f8E4M3FN or f8E5M2 that they round to, and the numbers of all bytes. Rounding compares with all f8
numbers, in exact fractions."""
import math
import os
import struct
import sys
from fractions import Fraction

E5M2 = sys.argv[1] == "f8E5M2"
FRACTION_BITS, BIAS = (2, 15) if E5M2 else (3, 7)
# The first magnitude that is no finite number, and the least float that rounds to none: halfway to the
# next number, which the tie gives to an even pattern.
END, TOO_LARGE = (0x7C, 61440) if E5M2 else (0x7F, 464)


def number(byte):
    """Returns the number of a byte; infinity and NaN are floats."""
    exponent, fraction = (byte & 127) >> FRACTION_BITS, byte & (1 << FRACTION_BITS) - 1
    if byte & 127 >= END:
        size = math.inf if E5M2 and fraction == 0 else math.nan
    elif exponent == 0:
        size = Fraction(fraction, 1 << FRACTION_BITS) * Fraction(2) ** (1 - BIAS)
    else:
        size = Fraction((1 << FRACTION_BITS) + fraction, 1 << FRACTION_BITS) * Fraction(2) ** (exponent - BIAS)
    return -size if byte & 128 else size


POSITIVE = [number(b) for b in range(END)]


def nearest(x):
    """Returns the byte of a float."""
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    sign = bits >> 24 & 128
    if math.isnan(x):  # E5M2 keeps the part of the payload that it can have, and is quiet
        return sign | (0x7E | bits >> 21 & 1 if E5M2 else END)
    if math.isinf(x) or abs(Fraction(x)) > TOO_LARGE or (E5M2 and abs(x) == TOO_LARGE):
        return sign | END
    size = abs(Fraction(x))
    return sign | min(range(END), key=lambda b: (abs(POSITIVE[b] - size), b & 1))


def floats():
    """Returns every f8 number, the midpoints between neighbors, the floats next to those, and the
    limits of f32."""
    found = [0.0, float("inf"), float("nan"), 464.0, 464.0001, 480.0, 61439.99, 61440.0, 61440.01, 65536.0, 1e-45, 1e-30, 3.4e38, 2.0 ** -10, 2.0 ** -11]
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
    folder = sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    given = floats()
    given += [0.0] * (2368 - len(given))
    write(folder + "/x.in.0.npy", "<f4", (len(given),), struct.pack("<%df" % len(given), *given))
    write(folder + "/x.out.0.npy", "|i1", (len(given),), bytes(nearest(x) for x in given))
    write(folder + "/x.in.1.npy", "|i1", (256,), bytes(range(256)))
    wide = [math.copysign(float(number(b)), -1 if b & 128 else 1) for b in range(256)]
    write(folder + "/x.out.1.npy", "<f4", (256,), struct.pack("<256f", *wide))
    print(len(given))


main()
