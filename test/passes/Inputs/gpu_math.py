"""gpu_math.py SHARD_RUN DRIVER TEMPLATE FOLDER: math functions of kernels, on a driver that executes PTX, beside those of Python, which are libm's in
f64. The error is in units of the last place."""
import math
import os
import struct
import subprocess
import sys

COUNT = 1 << 17
# function, type, bound, of two arguments
ROWS = [("sin", "f32", 0.51), ("cos", "f32", 0.51), ("powf", "f32", 0.51), ("exp2", "f32", 0.51), ("log2", "f32", 0.51), ("log10", "f32", 0.51),
        ("round", "f32", 0), ("round", "f64", 0), ("exp", "f64", 2), ("log", "f64", 2), ("tanh", "f64", 2),
        ("remf", "f32", 0), ("remf", "f64", 0)]
TWO = ("powf", "remf")  # arguments
TYPES = {"f32": ("f", "i32", 15, 24, -149), "f64": ("d", "i64", 47, 53, -1074)}  # format, bits, places, precision, least exponent
INF = float("inf")


def guarded(function, *arguments):
    """What C gives where Python raises."""
    try:
        return function(*arguments)
    except OverflowError:
        negative = function is math.pow and arguments[0] < 0 and math.fmod(arguments[1], 2) != 0
        return -INF if negative else INF
    except ValueError:
        x = arguments[0]
        if function is math.pow:
            if x == 0:
                odd = math.isfinite(arguments[1]) and math.fmod(arguments[1], 2) in (1, -1)
                return math.copysign(INF, x) if odd else INF
            return math.nan
        return -INF if x == 0 and function in (math.log, math.log2, math.log10) else math.nan


def rounded(x):
    if not math.isfinite(x) or abs(x) >= 2 ** 52:
        return x
    whole = math.trunc(x)
    return math.copysign(whole + (math.copysign(1, x) if abs(x - whole) >= 0.5 else 0), x)


EXACT = {"sin": math.sin, "cos": math.cos, "powf": math.pow, "exp2": lambda x: guarded(math.pow, 2.0, x), "log2": math.log2, "log10": math.log10,
         "round": rounded, "exp": math.exp, "log": math.log, "tanh": math.tanh, "remf": math.fmod}


def units(value, exact, kind):
    """|value - exact| in units of the last place."""
    form, _, _, precision, least = TYPES[kind]
    if math.isnan(exact) or math.isnan(value):
        return 0 if math.isnan(exact) and math.isnan(value) else INF
    try:
        nearest = struct.unpack(form, struct.pack(form, exact))[0]
    except OverflowError:
        nearest = math.copysign(INF, exact)
    if value == nearest:
        return 0 if math.copysign(1, value) == math.copysign(1, nearest) else INF
    if math.isinf(value) or math.isinf(nearest):
        return INF
    exponent = max(math.frexp(exact)[1] - precision, least)
    return abs(value - exact) / 2.0 ** exponent if exponent > -1022 else abs(value - exact) * 2.0 ** 600 / 2.0 ** (exponent + 600)


def read(path, form):
    with open(path, "rb") as file:
        data = file.read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    return struct.unpack("<%d%s" % (COUNT, form), data[start:])


def measure(shard_run, driver, template, folder, function, kind):
    form, bits, places, _, _ = TYPES[kind]
    words = {"FUNCTION": "arith.remf" if function == "remf" else "math." + function, "TYPE": kind, "BITS": bits, "COUNT": str(COUNT), "PLACES": str(places), "MASK": str((1 << places) - 1),
             "SECOND": ", %y" if function in TWO else ""}
    text = template
    for word, value in words.items():
        text = text.replace(word, value)
    model = os.path.join(folder, "%s.%s.mlir" % (function, kind))
    with open(model, "w") as file:
        file.write(text)
    outputs = [os.path.join(folder, "%d.npy" % i) for i in range(3)]
    command = [shard_run, model, "--mesh", "1", "--target=cuda", "--no-verify"] + ["--output=@" + path for path in outputs]
    subprocess.run(command, check=True, env=dict(os.environ, TPRT_CUDA_LIBRARY=driver), stdout=subprocess.DEVNULL)
    worst = (0, None)
    for x, y, value in zip(*(read(path, form) for path in outputs)):
        arguments = (x, y) if function in TWO else (x,)
        exact = guarded(EXACT[function], *arguments)
        worst = max(worst, (units(value, exact, kind), (arguments, value, exact)), key=lambda pair: pair[0])
    return worst


def main():
    shard_run, driver, path, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    with open(path) as file:
        template = file.read()
    failures = 0
    for function, kind, bound in ROWS:
        error, where = measure(shard_run, driver, template, folder, function, kind)
        ok = error <= bound
        print("%s %s: %.3f units (at most %s)%s" % (function, kind, error, bound, "" if ok else " FAILED at %s" % (where,)))
        failures += not ok
    return failures != 0


sys.exit(main())
