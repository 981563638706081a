"""Checks the rows of shard-bench --format=json: their number, the named peers, and that the figures
are consistent."""

import json
import sys

FACTORS = {
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "all_to_all": lambda n: (n - 1) / n,
    "broadcast": lambda n: float(n > 1),
    "permute": lambda n: float(n > 1),
}


def main():
    rows = [json.loads(line) for line in sys.stdin]
    assert len(rows) == int(sys.argv[1]), len(rows)
    for row in rows:
        assert row["us"] >= row["min_us"] > 0, row
        assert abs(row["algbw"] - row["bytes"] / row["us"] * 1e-3) <= 0.001 + 0.01 * row["algbw"], row
        assert abs(row["busbw"] - row["algbw"] * FACTORS[row["op"]](row["ranks"])) <= 0.002 + 0.01 * row["busbw"], row
        assert ("peer" in row) == (len(sys.argv) > 2) and ("peer_us" in row) == ("peer" in row), row
        assert row.get("peer_us", 1) >= row.get("peer_min_us", 1) > 0, row
    assert {row["peer"] for row in rows if "peer" in row} == set(sys.argv[2:])


main()
