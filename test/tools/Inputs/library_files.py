"""Files for library_host.c: `library_files.py cut FOLDER` writes arguments as .npy and as shards of
4 ranks; `join FOLDER K` checks that the concatenated shards of result K equal the data of
FOLDER/out.K.npy."""

import random
import struct
import sys

RANKS = 4
ARGUMENTS = [(16, 8), (8, 12)]  # rows are sharded over the ranks


def write_npy(path, shape, data):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def read_npy(path):
    with open(path, "rb") as file:
        content = file.read()
    return content[10 + struct.unpack("<H", content[8:10])[0]:]


action, folder = sys.argv[1:3]
if action == "cut":
    draw = random.Random(7)
    for k, (rows, columns) in enumerate(ARGUMENTS):
        data = struct.pack(f"<{rows * columns}f", *(draw.uniform(-1, 1) for _ in range(rows * columns)))
        write_npy(f"{folder}/in.{k}.npy", (rows, columns), data)
        part = len(data) // RANKS
        for r in range(RANKS):
            with open(f"{folder}/in.{k}.{r}", "wb") as file:
                file.write(data[r * part:(r + 1) * part])
else:
    k = sys.argv[3]
    parts = b"".join(open(f"{folder}/out.{k}.{r}", "rb").read() for r in range(RANKS))
    whole = read_npy(f"{folder}/out.{k}.npy")
    sys.exit(0 if parts == whole and any(whole) else f"result {k}: {len(parts)} and {len(whole)} bytes, not the same")
