"""Functions whose names are those of functions that compiled code calls. The results are compared
with Python's math.

Usage: symbols.py SHARD_RUN FOLDER. TP_LONG=1: all functions of libm under all of their names."""
import array
import ast
import math
import os
import subprocess
import sys

# Ops of the dialect math, the function of libm that each may call, and the same in Python.
OPS = {
    "acos": math.acos, "acosh": lambda x: math.acosh(1 + x), "asin": math.asin, "asinh": math.asinh, "atan": math.atan,
    "atanh": math.atanh, "ceil": math.ceil, "cos": math.cos, "cosh": math.cosh, "erf": math.erf, "erfc": math.erfc,
    "exp": math.exp, "exp2": lambda x: 2.0**x, "expm1": math.expm1, "floor": math.floor, "log": math.log, "log10": math.log10,
    "log1p": math.log1p, "log2": math.log2, "sin": math.sin, "sinh": math.sinh, "sqrt": math.sqrt, "tan": math.tan,
    "tanh": math.tanh, "trunc": math.trunc,
}
# Names of functions that passes or LLVM call without being asked to, and names of other libraries.
OTHERS = ["memcpy", "memset", "malloc", "free", "fma", "fmod", "powf", "tprt_abi_enter", "tprt_abi_fail", "cblas_sgemm",
          "openblas_set_num_threads", "llvm.memcpy", "__udivti3", "_mlir_memref_to_llvm_alloc", "main",
          "llvm", "nvvm", "pthread_create", "printf"]
# Names of symbols that the compiler makes for @main.
DERIVED = ["main.tprt", "main.kernel0", "main.fused0"]
N = 8
INPUT = [0.05 + 0.1 * i for i in range(N)]


def write_npy(path, values, kind):
    header = "{'descr': '<f%d', 'fortran_order': False, 'shape': (%d,), }" % (4 if kind == "f" else 8, len(values))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + array.array(kind, values).tobytes())


def read_npy(path, kind):
    with open(path, "rb") as file:
        data = file.read()
    size = int.from_bytes(data[8:10], "little")
    assert ast.literal_eval(data[10:10 + size].decode())["shape"] == (N,)
    return array.array(kind, data[10 + size:])


def check(shard_run, folder, name, op, kind, other=None):
    """Runs @name with the op in it, or @main with the op beside @name. Returns what is wrong."""
    element = "f32" if kind == "f" else "f64"
    t = "tensor<%dx%s>" % (N, element)
    shift = "%%one = arith.constant dense<1.0> : %s\n  %%v = arith.addf %%x, %%one : %s\n" % (t, t)
    body = "  %s  %%r = math.%s %s : %s\n  return %%r : %s\n" % (
        shift if op == "acosh" else "", op, "%v" if op == "acosh" else "%x", t, t)
    text = 'func.func @"%s"(%%x: %s) -> %s {\n%s}\n' % ("main" if other else name, t, t, body)
    if other:
        text += 'func.func @"%s"(%%x: %s) -> %s {\n  %%r = arith.addf %%x, %%x : %s\n  return %%r : %s\n}\n' % (name, t, t, t, t)
    model, given, made = (os.path.join(folder, f) for f in ("m.mlir", "x.npy", "y.npy"))
    with open(model, "w") as file:
        file.write(text)
    write_npy(given, INPUT, kind)
    run = subprocess.run([shard_run, model, "--mesh", "4", "--input", "@" + given, "--output", "@" + made, "--reference=evaluator"],
                         capture_output=True, text=True)
    if run.returncode:
        return "exit code %d: %s" % (run.returncode, run.stderr)
    x = array.array(kind, INPUT)
    worst = max(abs(y - OPS[op](v)) / max(1, abs(OPS[op](v))) for y, v in zip(read_npy(made, kind), x))
    return "" if worst < (1e-6 if kind == "f" else 1e-14) else "error %g" % worst


def cases():
    is_long = bool(os.environ.get("TP_LONG"))
    ops = OPS if is_long else ("sin", "erf", "exp")
    for op in ops:
        for name in (op, op + "f", op + "l") if is_long else (op, op + "f"):
            for kind in "fd":
                yield name, op, kind, False
                if is_long:
                    yield name, op, kind, True
    yield "tan", "tan", "d", True
    for name in OTHERS:
        yield name, "tanh", "d", False
    for name in DERIVED:
        yield name, "tanh", "d", True


def main():
    wrong = n = 0
    for name, op, kind, beside in cases():
        n += 1
        what = check(sys.argv[1], sys.argv[2], name, op, kind, beside)
        if what:
            wrong += 1
            print("@%s%s, math.%s of %s: %s" % (name, " beside @main" if beside else "", op, kind, what))
    print("%d of %d programs are right" % (n - wrong, n))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
