"""npy.py FILE SHAPE TYPE FORTRAN BYTES: writes an npy file with so many zeros as data, which need not fit its header."""
import struct
import sys

path, shape, descr, fortran, n = sys.argv[1:]
header = ("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, shape)).encode()
header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
with open(path, "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(int(n)))
