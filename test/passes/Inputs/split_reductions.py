#!/usr/bin/env python3
"""split_reductions.py SHARD_RUN DRIVER FOLDER: tests long reductions with few results, on a driver
that executes PTX on the host.

Softmaxes over vocabularies, sums of whole tensors and of columns, maxima; on one device and on two,
compared with the CPU. A kernel that reads the whole input must not have only a few blocks."""
import math
import os
import re
import struct
import subprocess
import sys

# A reduction over `dims` of values of type t, which `make` computes (from %a and from the index %i
# along dimension 0).
REDUCE = """
#all = affine_map<({loops}) -> ({loops})>
#kept = affine_map<({loops}) -> ({kept})>
func.func @main(%x: tensor<{shape}x{t}>) -> tensor<{result}{t}> {{
  %first = arith.constant {first} : {t}
  %none = tensor.empty() : tensor<{result}{t}>
  %begin = linalg.fill ins(%first : {t}) outs(%none : tensor<{result}{t}>) -> tensor<{result}{t}>
  %sum = linalg.generic {{indexing_maps = [#all, #kept], iterator_types = [{kinds}]}}
      ins(%x : tensor<{shape}x{t}>) outs(%begin : tensor<{result}{t}>) {{
  ^bb0(%a: {t}, %o: {t}):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    {make}
    %s = {combine} %o, %v : {t}
    linalg.yield %s : {t}
  }} -> tensor<{result}{t}>
  return %sum : tensor<{result}{t}>
}}
"""
# In a loop that carries the number and its divisor.
LOOP = """
#all = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>
func.func @main(%x: tensor<40x1000xf32>) -> (tensor<f32>, tensor<40x1000xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %b = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %b, %y = %x) -> (tensor<f32>, tensor<40x1000xf32>) {
    %t = linalg.generic {indexing_maps = [#all, #none], iterator_types = ["reduction", "reduction"]}
        ins(%y : tensor<40x1000xf32>) outs(%s : tensor<f32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.mulf %a, %a : f32
      %z = arith.addf %o, %q : f32
      linalg.yield %z : f32
    } -> tensor<f32>
    %n = linalg.generic {indexing_maps = [#none, #all], iterator_types = ["parallel", "parallel"]}
        ins(%t : tensor<f32>) outs(%y : tensor<40x1000xf32>) {
    ^bb0(%a: f32, %o: f32):
      %d = arith.divf %o, %a : f32
      %z = arith.addf %o, %d : f32
      linalg.yield %z : f32
    } -> tensor<40x1000xf32>
    scf.yield %t, %n : tensor<f32>, tensor<40x1000xf32>
  }
  return %r#0, %r#1 : tensor<f32>, tensor<40x1000xf32>
}
"""

SQUARE, PLAIN, WEIGHTED = "%v = arith.mulf %a, %a : {t}", "%v = arith.addf %a, %a : {t}", "%f = arith.sitofp %j : i32 to {t}\n    %v = arith.mulf %a, %f : {t}"
SUM, MAX = ("arith.addf", "0.5"), ("arith.maximumf", "-1.0")

# Shape, kept dimensions, type, value and combiner, and the minimum number of blocks of the reducing
# kernel.
CASES = [
    ((300, 1000), (), "f32", SQUARE, SUM, 30), ((40000,), (), "f32", PLAIN, SUM, 4), ((7, 11, 1024), (), "f64", SQUARE, SUM, 7), ((2, 32000), (0,), "f32", PLAIN, MAX, 6),
    ((3, 50257), (0,), "f32", WEIGHTED, SUM, 18), ((1, 128256), (0,), "bf16", PLAIN, MAX, 15), ((4096, 40), (1,), "f32", WEIGHTED, SUM, 16), ((5000, 33), (1,), "f64", SQUARE, SUM, 16),
    ((2053, 8), (1,), "f32", PLAIN, SUM, 2), ((3, 30000, 2), (0, 2), "f32", PLAIN, MAX, 8), ((65536,), (), "i32", "%v = arith.addi %a, %j : i32", ("arith.addi", "3"), 8)]


CASES.insert(0, ((40, 1000), (), "in a loop", LOOP, None, 4))


def program(shape, kept, t, make, how):
    loops = ", ".join("d%d" % d for d in range(len(shape)))
    return REDUCE.format(loops=loops, kept=", ".join("d%d" % d for d in kept), shape="x".join(map(str, shape)), t=t,
                         result="".join("%dx" % shape[d] for d in kept), first=how[1], combine=how[0], make=make.format(t=t),
                         kinds=", ".join('"%s"' % ("parallel" if d in kept else "reduction") for d in range(len(shape))))


def grids(shard_run, path, out):
    """Returns the blocks of each launch, the smaller number of its two variants; 0: unknown."""
    emit = subprocess.run([shard_run, path, "--mesh", "1", "--target=cuda", "--emit=llvm", "-o", out], capture_output=True, text=True)
    if emit.returncode:
        print(emit.stderr)
        return []
    with open(out) as file:
        text = file.read()
    chosen = {name: int(least) for name, least in re.findall(r"(%\w+) = select i1 %\w+, i64 \d+, i64 (\d+)", text)}
    return [chosen.get(blocks, 0) if blocks.startswith("%") else int(blocks)
            for blocks in re.findall(r"call i32 @tprt_abi_launch\(ptr [^,]+, i32 [^,]+, i64 ([^,]+),", text)]


def long_sum(shard_run, folder, environment):
    """Returns the error of a sum of three million f32 numbers."""
    n = 3000000
    path, data, out = (os.path.join(folder, name) for name in ("long.mlir", "long.npy", "sum.npy"))
    with open(path, "w") as file:
        file.write(program((n,), (), "f32", "%v = arith.addf %a, %first : f32", ("arith.addf", "0.0")))
    values = struct.pack("<%df" % n, *((i * 2654435761 % 2 ** 32) / 2 ** 32 for i in range(n)))
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % n
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(data, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values)
    subprocess.run([shard_run, path, "--mesh", "1", "--target=cuda", "--no-graph", "--no-verify", "--input", "@" + data, "--output=@" + out], check=True, env=environment,
                   stdout=subprocess.DEVNULL)
    with open(out, "rb") as file:
        value = struct.unpack("<f", file.read()[-4:])[0]
    exact = math.fsum(struct.unpack("<%df" % n, values))
    return abs(value - exact) / exact


def main():
    shard_run, driver, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    path, out = os.path.join(folder, "reduce.mlir"), os.path.join(folder, "reduce.ll")
    environment = dict(os.environ, TPRT_CUDA_LIBRARY=driver)
    failures = 0
    # Every second one; with TP_LONG all.
    for shape, kept, t, make, how, least in CASES if os.environ.get("TP_LONG") else CASES[::2]:
        with open(path, "w") as file:
            file.write(program(shape, kept, t, make, how) if how else make)
        blocks = grids(shard_run, path, out)
        ok = bool(blocks) and max(blocks) >= least
        for mesh in "1", "2":
            run = subprocess.run([shard_run, path, "--mesh", mesh, "--target=cuda", "--no-graph"], capture_output=True, text=True, env=environment)
            ok = ok and run.returncode == 0 and run.stdout.rstrip().endswith("verified") and "ok: error" in run.stdout
            if run.returncode or not ok:
                print(run.stdout, run.stderr)
        print(*shape, "keeps", *kept, t, "blocks", *blocks, "ok" if ok else "FAILED")
        failures += not ok
    error = long_sum(shard_run, folder, environment)
    print("three million numbers: %.1e from their sum" % error)
    return failures != 0 or error > 1e-6


sys.exit(main())
