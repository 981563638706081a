#!/usr/bin/env python3
"""fuse_nests.py SHARD_RUN DRIVER FOLDER: tests kernels of several fused nests on rows of many
lengths and types, on a driver that executes PTX on the host.

Each program scales rows, takes their maximum or minimum, sums the rest, and divides by that. The
results must equal those of the CPU. On one device each program must be one kernel, with vectors
where possible, and without."""
import os
import re
import subprocess
import sys

FLOAT = """
#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%x: tensor<{n}x{m}x{t}>, %b: tensor<{m}x{t}>) -> (tensor<{n}x{m}x{t}>, tensor<{n}x{u}>, tensor<{n}x{m}x{u}>) {{
  %low = arith.constant {low} : {u}
  %zero = arith.constant 0.0 : {u}
  %wide = tensor.empty() : tensor<{n}x{m}x{u}>
  %narrow = tensor.empty() : tensor<{n}x{m}x{t}>
  %number = tensor.empty() : tensor<{n}x{u}>
  %scaled = linalg.generic {{indexing_maps = [#rows, affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %b : tensor<{n}x{m}x{t}>, tensor<{m}x{t}>) outs(%wide : tensor<{n}x{m}x{u}>) {{
  ^bb0(%a: {t}, %c: {t}, %o: {u}):
    %s = arith.mulf %a, %c : {t}
    {widen}
    linalg.yield %v : {u}
  }} -> tensor<{n}x{m}x{u}>
  %max0 = linalg.fill ins(%low : {u}) outs(%number : tensor<{n}x{u}>) -> tensor<{n}x{u}>
  %max = linalg.generic {{indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%scaled : tensor<{n}x{m}x{u}>) outs(%max0 : tensor<{n}x{u}>) {{
  ^bb0(%a: {u}, %o: {u}):
    %s = arith.maximumf %o, %a : {u}
    linalg.yield %s : {u}
  }} -> tensor<{n}x{u}>
  %exp = linalg.generic {{indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}}
      ins(%scaled, %max : tensor<{n}x{m}x{u}>, tensor<{n}x{u}>) outs(%wide : tensor<{n}x{m}x{u}>) {{
  ^bb0(%a: {u}, %c: {u}, %o: {u}):
    %s = arith.subf %a, %c : {u}
    %e = math.exp %s : {u}
    linalg.yield %e : {u}
  }} -> tensor<{n}x{m}x{u}>
  %sum0 = linalg.fill ins(%zero : {u}) outs(%number : tensor<{n}x{u}>) -> tensor<{n}x{u}>
  %sum = linalg.generic {{indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%exp : tensor<{n}x{m}x{u}>) outs(%sum0 : tensor<{n}x{u}>) {{
  ^bb0(%a: {u}, %o: {u}):
    %s = arith.addf %o, %a : {u}
    linalg.yield %s : {u}
  }} -> tensor<{n}x{u}>
  %y = linalg.generic {{indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}}
      ins(%exp, %sum : tensor<{n}x{m}x{u}>, tensor<{n}x{u}>) outs(%narrow : tensor<{n}x{m}x{t}>) {{
  ^bb0(%a: {u}, %c: {u}, %o: {t}):
    %v = arith.divf %a, %c : {u}
    {thin}
    linalg.yield %s : {t}
  }} -> tensor<{n}x{m}x{t}>
  return %y, %sum, %exp : tensor<{n}x{m}x{t}>, tensor<{n}x{u}>, tensor<{n}x{m}x{u}>
}}
"""

INTEGER = """
#rows = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0)>
func.func @main(%x: tensor<{n}x3x{m}x{t}>) -> (tensor<{n}x3x{m}x{t}>, tensor<{n}x{t}>) {{
  %high = arith.constant 100 : {t}
  %zero = arith.constant 0 : {t}
  %whole = tensor.empty() : tensor<{n}x3x{m}x{t}>
  %number = tensor.empty() : tensor<{n}x{t}>
  %min0 = linalg.fill ins(%high : {t}) outs(%number : tensor<{n}x{t}>) -> tensor<{n}x{t}>
  %min = linalg.generic {{indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction", "reduction"]}}
      ins(%x : tensor<{n}x3x{m}x{t}>) outs(%min0 : tensor<{n}x{t}>) {{
  ^bb0(%a: {t}, %o: {t}):
    %s = arith.minsi %o, %a : {t}
    linalg.yield %s : {t}
  }} -> tensor<{n}x{t}>
  %less = linalg.generic {{indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%x, %min : tensor<{n}x3x{m}x{t}>, tensor<{n}x{t}>) outs(%whole : tensor<{n}x3x{m}x{t}>) {{
  ^bb0(%a: {t}, %c: {t}, %o: {t}):
    %i = linalg.index 2 : index
    %j = linalg.index 1 : index
    %k = arith.addi %i, %j : index
    %l = arith.index_cast %k : index to {t}
    %s = arith.subi %a, %c : {t}
    %v = arith.muli %s, %l : {t}
    linalg.yield %v : {t}
  }} -> tensor<{n}x3x{m}x{t}>
  %sum0 = linalg.fill ins(%zero : {t}) outs(%number : tensor<{n}x{t}>) -> tensor<{n}x{t}>
  %sum = linalg.generic {{indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction", "reduction"]}}
      ins(%less : tensor<{n}x3x{m}x{t}>) outs(%sum0 : tensor<{n}x{t}>) {{
  ^bb0(%a: {t}, %o: {t}):
    %s = arith.addi %o, %a : {t}
    linalg.yield %s : {t}
  }} -> tensor<{n}x{t}>
  return %less, %sum : tensor<{n}x3x{m}x{t}>, tensor<{n}x{t}>
}}
"""

# Number of rows, their length, and types. The cases cover vectors and none, several rows per block
# and several blocks, partly filled rows, a warp and less, eight warps and 32, and two rounds of
# combining.
CASES = [(FLOAT, n, m, t, u) for n, m, t, u in (
    (5, 7, "f32", "f32"), (33, 64, "f32", "f32"), (3, 1000, "f32", "f32"), (2, 4100, "f32", "f32"), (300, 12, "f32", "f32"),
    (2, 24576, "f32", "f32"), (4, 96, "f64", "f64"), (3, 2049, "f64", "f64"), (6, 256, "bf16", "f32"), (6, 1032, "bf16", "f32"), (1, 640, "f32", "f32"))]
# Rows that do not fit in a block, which loops over them. They are many, because few rows would be
# cut into parts. The cases cover vectors, vectors of other widths than those of reductions, and
# none. They take long, and run with TP_LONG only; of integers one runs always.
LARGE = [(258, 24580, "f32", "f32"), (259, 24577, "f32", "f32"), (262, 12290, "f64", "f64"), (258, 24584, "bf16", "f32")]
CASES += [(INTEGER, n, m, t, t) for n, m, t in ((4, 5, "i32"), (9, 40, "i64"), (2, 700, "i32"), (258, 4100, "i64"), (3, 64, "i16"))]
CASES += [(FLOAT, n, m, t, u) for n, m, t, u in LARGE] if os.environ.get("TP_LONG") else []


def main():
    shard_run, driver, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    path, ptx = os.path.join(folder, "rows.mlir"), os.path.join(folder, "rows.ptx")
    environment = dict(os.environ, TPRT_CUDA_LIBRARY=driver)
    failures = 0
    # Every second one; with TP_LONG all.
    for text, n, m, t, u in CASES if os.environ.get("TP_LONG") else CASES[::2]:
        widen = "%%v = arith.extf %%s : %s to %s" % (t, u) if t != u else "%%v = arith.negf %%s : %s" % t
        thin = "%%s = arith.truncf %%v : %s to %s" % (u, t) if t != u else "%%s = arith.negf %%v : %s" % t
        low = {"f32": "0xFF800000", "f64": "0xFFF0000000000000"}.get(u, "")
        with open(path, "w") as file:
            file.write(text.format(n=n, m=m, t=t, u=u, widen=widen, thin=thin, low=low))
        run = subprocess.run([shard_run, path, "--mesh", "2", "--target=cuda", "--no-graph"], capture_output=True, text=True, env=environment)
        emit = subprocess.run([shard_run, path, "--mesh", "1", "--target=cuda", "--emit=ptx", "-o", ptx], capture_output=True, text=True)
        kernels = 0
        if emit.returncode == 0:
            with open(ptx) as file:
                kernels = len(re.findall(r"\.entry", file.read()))
        ok = run.returncode == 0 and run.stdout.rstrip().endswith("verified") and "ok: error" in run.stdout and kernels in (1, 2)
        print(n, m, t, "%d kernels" % kernels, "ok" if ok else "FAILED\n%s%s%s" % (run.stdout, run.stderr, emit.stderr))
        failures += not ok
    return failures != 0


sys.exit(main())
