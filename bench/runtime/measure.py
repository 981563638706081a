"""Runs the programs of this comparison in turn, several times, and prints the medians as one table for each number of ranks."""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

OURS = ("staged", "registered")


def command(binaries, program, ranks, scratch):
    """How a program is started; None if it was not built."""
    name = "all_reduce" if program in OURS else program
    path = binaries / name
    if not path.exists():
        return None
    if program in OURS:
        return [path, str(ranks), program]
    if program == "openmpi":
        return ["mpirun", "-n", str(ranks), "--oversubscribe", path]
    return [path, str(ranks), scratch]


def run(binaries, program, ranks):
    """Microseconds by bytes of one run; {} if the program was not built."""
    environment = dict(os.environ)
    if os.getuid() == 0:  # mpirun wants to hear it twice
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    with tempfile.TemporaryDirectory() as scratch:
        line = command(binaries, program, ranks, scratch)
        if line is None:
            return {}
        output = subprocess.run(line, env=environment, check=True, capture_output=True, text=True, timeout=300).stdout
    pairs = (row.split() for row in output.splitlines())
    return {int(size): float(time) for size, time in pairs}


def medians(binaries, programs, ranks, repeats):
    """program -> bytes -> microseconds. The programs take turns, so that what else runs here falls on all of them."""
    runs = {program: [] for program in programs}
    for _ in range(repeats):
        for program in programs:
            runs[program].append(run(binaries, program, ranks))
    return {
        program: {size: statistics.median(times[size] for times in found) for size in found[0]}
        for program, found in runs.items()
    }


def size_text(size):
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def print_table(ranks, table, peers):
    ratios = [(peer, own) for peer in peers for own in OURS]
    cores = len(os.sched_getaffinity(0))
    print(f"\n{ranks} processes on {cores} processors, all_reduce of f32, microseconds and ratios of them")
    heads = [*OURS, *peers, *(f"{peer}/{own}" for peer, own in ratios)]
    print(f"{'size':>8} " + " ".join(f"{head:>18}" for head in heads))
    for size in table[OURS[0]]:
        cells = [f"{table[program][size]:.1f}" for program in (*OURS, *peers)]
        cells += [f"{table[peer][size] / table[own][size]:.2f}" for peer, own in ratios]
        print(f"{size_text(size):>8} " + " ".join(f"{cell:>18}" for cell in cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    arguments = parser.parse_args()
    peers = [peer for peer in ("openmpi", "gloo") if (arguments.binaries / peer).exists()]
    load = os.getloadavg()[0]
    print(f"load of the machine at the start: {load:.1f}")
    for ranks in arguments.ranks:
        print_table(ranks, medians(arguments.binaries, [*OURS, *peers], ranks, arguments.repeats), peers)


if __name__ == "__main__":
    main()
