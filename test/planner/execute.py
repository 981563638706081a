"""execute.py DIRECTORY: runs the small programs of bench/plans on all ranks and on one: with
TP_LONG all of them, else some of each kind."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "bench", "plans"))
from rows import ROWS  # noqa: E402

SHORT = ["2", "5", "6", "8", "11", "13s", "14", "15", "16c", "17", "19", "21", "24z3"]
MESHES = {"9": "dp=2,tp=2", "21": "2x2", "21b": "2x4"}  # the others have 8 or 16 devices


def main(directory):
    failed = []
    for row in ROWS:
        if row.number not in SHORT and not os.environ.get("TP_LONG"):
            continue
        path = os.path.join(directory, f"{row.number}.mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(row.program(small=True))
        mesh = ["--mesh", MESHES[row.number]] if row.number in MESHES else []
        done = subprocess.run(["shard-run", path, "--timeout", "60", *mesh], capture_output=True, text=True)
        print(f"row {row.number}: {'verified' if done.returncode == 0 else 'FAILED'}")
        if done.returncode != 0:
            failed.append(row.number)
            print(done.stdout[-2000:], done.stderr[-2000:])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
