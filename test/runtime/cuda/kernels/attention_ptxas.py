#!/usr/bin/env python3
"""attention_ptxas.py PTXAS KERNELS.ptx TABLE [--write]: what ptxas makes of the attention kernels:
registers, bytes of spills and of shared memory, and the blocks that a multiprocessor has room for.
The table is committed; it must be what this ptxas gives, and nothing may spill. Exits with 77 if the
ptxas is of another release."""
import re
import subprocess
import sys

# Registers and shared memory of a multiprocessor, in KiB; a block has 1 KiB of its own.
CHIPS = {"sm_80": (65536, 164), "sm_90": (65536, 228), "sm_100": (65536, 228)}
THREADS, MOST_BLOCKS = 128, 16


def release(ptxas):
    return re.search(r"V([\d.]+)", subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=True).stdout).group(1)


def blocks(chip, registers, shared):
    """Registers are allocated by 256 for a warp."""
    of_warp = (registers * 32 + 255) // 256 * 256
    all_registers, all_shared = CHIPS[chip]
    return min(all_registers // of_warp // (THREADS // 32), all_shared * 1024 // (shared + 1024), MOST_BLOCKS)


def rows(ptxas, kernels, chip):
    out = subprocess.run([ptxas, "-v", "-arch=" + chip, kernels, "-o", "/dev/null"], capture_output=True, text=True, check=True).stderr
    found = re.findall(r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores, (\d+) bytes spill loads.*?Used (\d+) registers.*?(\d+) bytes smem", out, re.DOTALL)
    for name, stores, loads, registers, shared in sorted(found, key=lambda row: [int(part) if part.isdigit() else part for part in row[0].split("_")][2:]):
        n = blocks(chip, int(registers), int(shared))
        yield "%-24s %-7s %9s %7d %7s %7d %6d" % (name, chip, registers, int(stores) + int(loads), shared, n, 100 * n * THREADS // 2048)


def main():
    ptxas, kernels, table = sys.argv[1:4]
    head = ["# ptxas " + release(ptxas), "# %-22s %-7s %9s %7s %7s %7s %6s" % ("kernel", "chip", "registers", "spills", "shared", "blocks", "warps%")]
    made = head + [row for chip in CHIPS for row in rows(ptxas, kernels, chip)]
    if sys.argv[4:] == ["--write"]:
        with open(table, "w") as file:
            file.write("\n".join(made) + "\n")
        return 0
    with open(table) as file:
        committed = file.read().splitlines()
    if committed[0] != made[0]:
        print("another release:", committed[0], made[0])
        return 77
    spilling = [row for row in made[2:] if row.split()[3] != "0"]
    for row in set(committed) ^ set(made):
        print("differs:", row)
    for row in spilling:
        print("spills:", row)
    return bool(spilling) or committed != made


sys.exit(main())
