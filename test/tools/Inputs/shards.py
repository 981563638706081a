"""shards.py FOLDER PREFIX: compares the shards in FOLDER of argument 1 and result 1 of the model
`uneven`, split along dimension 1, with PREFIX.*.npy."""
import re
import struct
import sys

folder, prefix = sys.argv[1:]


def read(path):
    """Returns the shape and the rows of an f32 matrix."""
    with open(path, "rb") as file:
        data = file.read()
    header = data[10:10 + struct.unpack("<H", data[8:10])[0]]
    shape = tuple(map(int, re.search(rb"\((\d+), (\d+)\)", header).groups()))
    values = struct.unpack("<%df" % (shape[0] * shape[1]), data[10 + len(header):])
    return shape, [values[i * shape[1]:(i + 1) * shape[1]] for i in range(shape[0])]


for kind, given in (("in", "in"), ("out", "out"), ("one", "out")):
    shapes, parts = zip(*(read(f"{folder}/{kind}.1.{rank}.npy") for rank in range(4)))
    (rows, columns), whole = read(f"{prefix}.{given}.1.npy")
    joined = [sum((part[i] for part in parts), ()) for i in range(rows)]
    same = all(a[:columns] == b for a, b in zip(joined, whole))
    near = all(abs(x - y) < 1e-5 for a, b in zip(joined, whole) for x, y in zip(a, b))
    rest = [x for row in joined for x in row[columns:]]
    print("%s.1: %s, %s%s" % (kind, " ".join("%dx%d" % s for s in shapes), "joined as given" if same else
                              "near to what is given" if near else "WRONG",
                              ", the rest NaN" if rest and all(x != x for x in rest) else ""))
