"""fortran_order.py ROWS COLUMNS: writes one array of shape (2, 3, 4) to two npy files, rows first and columns first."""
import struct
import sys

SHAPE = 2, 3, 4
places = [(i, j, k) for i in range(2) for j in range(3) for k in range(4)]
for path, order, at in (sys.argv[1], "False", places), (sys.argv[2], "True", sorted(places, key=lambda place: place[::-1])):
    header = ("{'descr': '<c8', 'fortran_order': %s, 'shape': %s, }" % (order, SHAPE)).encode()
    header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        for i, j, k in at:
            file.write(struct.pack("<2f", 100 * i + 10 * j + k, -k))
