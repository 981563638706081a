"""split_softmax.py SHARD_RUN DRIVER FOLDER: tests softmax and logsumexp of few long rows, on a
driver that executes PTX: the number of launches, the result against the CPU, and bitwise
reproducibility. Some rows have parts that are only -inf."""
import math
import os
import random
import re
import struct
import subprocess
import sys

PROGRAM = """
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<{rows}x{columns}x{t}>) -> {result} {{
  %low = arith.constant {low} : {t}
  %zero = arith.constant 0.0 : {t}
  %er = tensor.empty() : tensor<{rows}x{t}>
  %ea = tensor.empty() : tensor<{rows}x{columns}x{t}>
  %b = linalg.fill ins(%low : {t}) outs(%er : tensor<{rows}x{t}>) -> tensor<{rows}x{t}>
  %m = linalg.generic {{indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<{rows}x{columns}x{t}>) outs(%b : tensor<{rows}x{t}>) {{
  ^bb0(%a: {t}, %o: {t}):
    %v = {maximum} %o, %a : {t}
    linalg.yield %v : {t}
  }} -> tensor<{rows}x{t}>
  %e = linalg.generic {{indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %m : tensor<{rows}x{columns}x{t}>, tensor<{rows}x{t}>) outs(%ea : tensor<{rows}x{columns}x{t}>) {{
  ^bb0(%a: {t}, %c: {t}, %o: {t}):
    %d = arith.subf %a, %c : {t}
    %v = math.exp %d : {t}
    linalg.yield %v : {t}
  }} -> tensor<{rows}x{columns}x{t}>
  %z = linalg.fill ins(%zero : {t}) outs(%er : tensor<{rows}x{t}>) -> tensor<{rows}x{t}>
  %s = linalg.generic {{indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%e : tensor<{rows}x{columns}x{t}>) outs(%z : tensor<{rows}x{t}>) {{
  ^bb0(%a: {t}, %o: {t}):
    %v = arith.addf %o, %a : {t}
    linalg.yield %v : {t}
  }} -> tensor<{rows}x{t}>
  {end}
}}
"""
SOFTMAX = """%y = linalg.generic {{indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}}
      ins(%e, %s : tensor<{rows}x{columns}x{t}>, tensor<{rows}x{t}>) outs(%ea : tensor<{rows}x{columns}x{t}>) {{
  ^bb0(%a: {t}, %c: {t}, %o: {t}):
    %v = arith.divf %a, %c : {t}
    linalg.yield %v : {t}
  }} -> tensor<{rows}x{columns}x{t}>
  return %y : tensor<{rows}x{columns}x{t}>"""
LOGSUMEXP = """%y = linalg.generic {{indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}}
      ins(%m, %s : tensor<{rows}x{t}>, tensor<{rows}x{t}>) outs(%er : tensor<{rows}x{t}>) {{
  ^bb0(%a: {t}, %c: {t}, %o: {t}):
    %l = math.log %c : {t}
    %v = arith.addf %l, %a : {t}
    linalg.yield %v : {t}
  }} -> tensor<{rows}x{t}>
  return %y : tensor<{rows}x{t}>"""
TYPES = {"f32": ("<f4", "f", "0xFF800000"), "f64": ("<f8", "d", "0xFFF0000000000000")}
# rows, columns, type, max op, result, launches
CASES = [(2, 128256, "f32", "arith.maxnumf", SOFTMAX, 3), (3, 40000, "f64", "arith.maximumf", SOFTMAX, 3), (2, 100000, "f32", "arith.maximumf", LOGSUMEXP, 2),
         (3, 50257, "f32", "arith.maximumf", SOFTMAX, 3)]


def write(path, rows, columns, t):
    """Returns rows of numbers around 0 and around 80; in the last row, the first half and the last
    eighth are -inf."""
    random.seed(rows * columns)
    values = [random.gauss(80 * (r % 2), 3) for r in range(rows) for _ in range(columns)]
    for c in list(range(columns // 2)) + list(range(columns * 7 // 8, columns)):
        values[(rows - 1) * columns + c] = -math.inf
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }" % (TYPES[t][0], rows, columns)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<%d%s" % (len(values), TYPES[t][1]), *values))


def main():
    shard_run, driver, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    path, data, emitted = (os.path.join(folder, name) for name in ("softmax.mlir", "x.npy", "softmax.ll"))
    environment = dict(os.environ, TPRT_CUDA_LIBRARY=driver)
    failures = 0
    for rows, columns, t, maximum, end, most in CASES:
        words = {"rows": rows, "columns": columns, "t": t}
        with open(path, "w") as file:
            file.write(PROGRAM.format(low=TYPES[t][2], maximum=maximum, end=end.format(**words),
                                      result="tensor<%d%s%s>" % (rows, "x%dx" % columns if end is SOFTMAX else "x", t), **words))
        write(data, rows, columns, t)
        subprocess.run([shard_run, path, "--mesh", "1", "--target=cuda", "--emit=llvm", "-o", emitted], check=True)
        with open(emitted) as file:
            launches = len(re.findall(r"call i32 @tprt_abi_launch\(", file.read()))
        ok, outputs = launches <= most, []
        for run in range(2):
            out = os.path.join(folder, "y%d.npy" % run)
            command = [shard_run, path, "--mesh", "1", "--target=cuda", "--no-graph", "--input", "@" + data, "--output=@" + out]
            # The second one has to have the bits of the first.
            done = subprocess.run(command + ["--no-verify"] * run, capture_output=True, text=True, env=environment)
            ok = ok and done.returncode == 0 and (run == 1 or done.stdout.rstrip().endswith("verified"))
            if not ok:
                print(done.stdout, done.stderr)
                break
            with open(out, "rb") as file:
                outputs.append(file.read())
        ok = ok and outputs[0] == outputs[1]
        print(rows, columns, t, maximum, "launches", launches, "ok" if ok else "FAILED")
        failures += not ok
    return failures != 0


sys.exit(main())
