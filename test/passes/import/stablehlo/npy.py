"""Writes npy files without numpy."""
import struct

CODES = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "<c8": "2f", "<c16": "2d"}


def save(path, descr, shape, values):
    """Writes values, in the order of C, with this type of numpy. Complex ones are stored by their parts."""
    header = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, "(%s)" % "".join("%d, " % n for n in shape))).encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        for value in values:
            file.write(struct.pack("<" + CODES[descr], *((value.real, value.imag) if "c" in descr else (value,))))
