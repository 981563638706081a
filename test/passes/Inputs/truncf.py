"""Writes numbers of f64 around what bf16 and f8 can tell apart, and what they are rounded to once, computed
with fractions: truncf.py DIRECTORY. Then compares what TYPE.got.npy there has: truncf.py DIRECTORY check."""
import math
import os
import random
import struct
import sys
from fractions import Fraction

N = 4096
# explicit bits of the fraction, least exponent of a normal number, the largest number
TYPES = {"bf16": (7, -126, 3.3895313892515355e38), "f8E5M2": (2, -14, 57344.0)}


def rounded(x, bits, least, largest):
    if x != x or math.isinf(x) or x == 0:
        return x
    exponent = max(math.frexp(x)[1] - 1, least)
    unit = Fraction(2) ** (exponent - bits)
    y = round(Fraction(abs(x)) / unit) * unit  # half to even
    return math.copysign(math.inf if y > Fraction(largest) else float(y), x)


def numbers(bits, least, largest):
    """Representable numbers, halfway points, and numbers that are a little off, by less than a f32 can tell."""
    rng = random.Random(7)
    special = [0.0, -0.0, math.inf, -math.inf, largest, -largest, 1e300, -1e300, 5e-324, 1e-42, -1e-46]
    while len(special) < N:
        exponent = rng.choice([least - bits - 1, least - 1, least, 0, 1, 3, int(math.log2(largest))]) + rng.randrange(2)
        x = Fraction(2) ** exponent * (1 + Fraction(rng.randrange(2 << bits), 2 << bits))
        x *= 1 + rng.choice([-1, 0, 1]) * Fraction(1, 2 ** rng.choice([24, 25, 30, 50]))
        special.append(rng.choice([-1, 1]) * float(x))
    return special[:N]


def save(path, code, dtype, values):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({N},), }}"
    header += " " * (-(11 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{N}{code}", *values))


def read(path):
    with open(path, "rb") as file:
        return struct.unpack(f"<{N}f", file.read()[-4 * N :])


for name, (bits, least, largest) in TYPES.items():
    path = os.path.join(sys.argv[1], name)
    values = numbers(bits, least, largest)
    wanted = [rounded(x, bits, least, largest) for x in values]
    if sys.argv[2:] == ["check"]:
        wrong = [(x, w, g) for x, w, g in zip(values, wanted, read(f"{path}.got.npy")) if struct.pack("f", w) != struct.pack("f", g)]
        print(name, "wrong:", len(wrong), wrong[:3])
        continue
    save(f"{path}.in.0.npy", "d", "<f8", values)
    with open(f"{path}.mlir", "w") as file:
        file.write(f"""func.func @main(%x: tensor<{N}xf64>) -> tensor<{N}xf32> {{
  %y = arith.truncf %x : tensor<{N}xf64> to tensor<{N}x{name}>
  %z = arith.extf %y : tensor<{N}x{name}> to tensor<{N}xf32>
  return %z : tensor<{N}xf32>
}}
""")
