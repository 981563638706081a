#!/usr/bin/env python3
"""ptxas.py PTXAS FOLDER TABLE [--write]: what ptxas makes of the kernels of FOLDER/*.ptx: registers,
bytes of spills and of shared memory, and the blocks that a multiprocessor has room for. The table is
committed; it must be what this ptxas gives. Exits with 77 if the ptxas is of another release."""
import pathlib
import re
import subprocess
import sys

# Registers and shared memory of a multiprocessor, in KiB; a block has 1 KiB of its own.
CHIPS = {"sm_80": (65536, 164), "sm_90": (65536, 228), "sm_90a": (65536, 228), "sm_100": (65536, 228)}
MOST_WARPS, MOST_BLOCKS = 64, 32
# Bytes that may be stored and loaded for spills, by kernel; 0 for all others. Attention of 128 features spills for sm_80 only, its gradient of 96 for sm_90 only.
MAY_SPILL = {"tprt_reduce_short_rows": 200, "tprt_contract": 200, "tprt_attention_bf16_128": 32, "tprt_attention_f16_128": 32,
             "tprt_attention_gradient_columns_bf16_96": 24, "tprt_attention_gradient_columns_f16_96": 24}


def release(ptxas):
    return re.search(r"V([\d.]+)", subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=True).stdout).group(1)


def blocks(chip, registers, shared, threads):
    """Registers are allocated by 256 for a warp."""
    of_warp, warps = (registers * 32 + 255) // 256 * 256, threads // 32
    all_registers, all_shared = CHIPS[chip]
    return min(all_registers // of_warp // warps, all_shared * 1024 // (shared + 1024), MOST_WARPS // warps, MOST_BLOCKS)


def dynamic_shared(name):
    """Shared memory that a launch adds: ATTENTION_WGMMA_SHARED, and those of the gradient."""
    features = re.fullmatch(r"tprt_attention_\w+_(\d+)", name)
    if name.startswith("tprt_attention_gradient"):
        return 2 * 4 * 64 * (int(features.group(1)) + 8) if features else 4 * (4 * 32 * 129 + 2 * 32 * 33)
    return 1024 + 2 * int(features.group(1)) * (128 + 4 * 128) if "_wgmma_" in name else 0


def rows(ptxas, kernels, chip):
    text = kernels.read_text()
    threads = dict(re.findall(r"\.entry (\w+)\(.*?\.maxntid (\d+)", text, re.DOTALL))
    out = subprocess.run([ptxas, "-v", "-arch=" + chip, kernels, "-o", "/dev/null"], capture_output=True, text=True, check=True).stderr
    for part in out.split("Compiling entry function ")[1:]:
        name = re.match(r"'(\w+)'", part).group(1)
        number = {key: int((re.search(r"(\d+) " + key, part) or [0, 0])[1]) for key in ("bytes spill stores", "bytes spill loads", "registers", "bytes smem")}
        shared = number["bytes smem"] + dynamic_shared(name)
        n = blocks(chip, number["registers"], shared, int(threads[name]))
        spilled = number["bytes spill stores"] + number["bytes spill loads"]
        yield "%-42s %-7s %7s %9d %7d %7d %7d %6d" % (name, chip, threads[name], number["registers"], spilled, shared, n,
                                                      100 * n * int(threads[name]) // 32 // MOST_WARPS)


def chips_of(kernels):
    only = re.search(r"^\.target (sm_\d+a)", kernels.read_text(), re.MULTILINE)
    return [only.group(1)] if only else [chip for chip in CHIPS if chip[-1] != "a"]


def main():
    ptxas, folder, table = sys.argv[1:4]
    made = ["# ptxas " + release(ptxas), "# %-40s %-7s %7s %9s %7s %7s %7s %6s" % ("kernel", "chip", "threads", "registers", "spills", "shared", "blocks", "warps%")]
    for kernels in sorted(pathlib.Path(folder).glob("*.ptx")):
        for chip in chips_of(kernels):
            made += sorted(rows(ptxas, kernels, chip))
    if sys.argv[4:] == ["--write"]:
        with open(table, "w") as file:
            file.write("\n".join(made) + "\n")
        return 0
    with open(table) as file:
        committed = file.read().splitlines()
    if committed[0] != made[0]:
        print("another release:", committed[0], made[0])
        return 77
    spilling = [row for row in made[2:] if int(row.split()[4]) > MAY_SPILL.get(re.sub(r"(_b?f\d+)+$", "", row.split()[0]), 0)]
    for row in set(committed) ^ set(made):
        print("differs:", row)
    for row in spilling:
        print("spills:", row)
    return bool(spilling) or committed != made


sys.exit(main())
