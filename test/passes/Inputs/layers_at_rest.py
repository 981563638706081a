#!/usr/bin/env python3
"""layers_at_rest.py LAYERS FILE: writes the training step of row 24z3m of bench/plans with this
number of layers."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../bench/plans"))
import rows  # noqa: E402

row = next(row for row in rows.ROWS if row.number == "24z3m")
row.sizes = dict(row.sizes, L=int(sys.argv[1]))
with open(sys.argv[2], "w") as file:
    file.write(row.program())
