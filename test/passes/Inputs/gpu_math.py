"""gpu_math.py SHARD_RUN DRIVER UNITS TEMPLATE FOLDER: checks the math functions of kernels, on a
driver that executes PTX, against libm's in long double. UNITS (math_units.c) compares them; errors
are in units in the last place."""
import os
import subprocess
import sys

COUNT = 1 << (17 if os.environ.get("TP_LONG") else 15)
TWO = ("powf", "atan2", "remf")  # functions with two arguments
# integer type, and log2 of the step between test numbers, which cover the whole type, for 2^17 of them
TYPES = {"f32": ("i32", 15), "f64": ("i64", 47)}
# function, error bounds of f32 and f64, a range of typical arguments
ROWS = [("sin", 0.51, 0.8, -30, 30), ("cos", 0.51, 0.8, -30, 30), ("tan", 0.51, 2.1, -30, 30), ("asin", 0.51, 2.3, -1, 1), ("acos", 0.51, 1.3, -1, 1),
        ("atan", 0.51, 1, -4, 4), ("atan2", 0.51, 1.6, -4, 4), ("sinh", 0.51, 1.7, -8, 8), ("cosh", 0.51, 1.5, -8, 8), ("tanh", 1.5, 2.5, -2, 2),
        ("asinh", 0.51, 1.6, -4, 4), ("acosh", 0.51, 2, 1, 5), ("atanh", 0.51, 2, -1, 1), ("exp", 1, 1, -20, 20), ("exp2", 0.51, 1, -20, 20),
        ("expm1", 3, 3.5, -2, 2), ("log", 1, 2, 0.5, 2), ("log2", 0.51, 3, 0.5, 2), ("log10", 0.51, 3, 0.5, 2), ("log1p", 3, 3.5, -0.75, 2),
        ("powf", 0.51, 1.2, 0.5, 1.5), ("cbrt", 0.51, 0.51, -8, 8), ("erf", 6, 1.5, -4, 4), ("erfc", 0.51, 3, -4, 27), ("round", 0, 0, -8, 8),
        ("remf", 0, 0, -100, 100)]


def measure(tools, template, folder, row, kind):
    shard_run, driver, units = tools
    function, _, _, low, high = row
    bits, places = TYPES[kind]
    places += 17 - COUNT.bit_length() + 1
    words = {"FUNCTION": "arith.remf" if function == "remf" else "math." + function, "TYPE": kind, "BITS": bits, "COUNT": str(COUNT), "PLACES": str(places),
             "MASK": str((1 << places) - 1), "SECOND": ", %y" if function in TWO else "", "LOW": "%e" % low, "STEP": "%.17e" % ((high - low) / COUNT)}
    text = template
    for word, value in words.items():
        text = text.replace(word, value)
    model = os.path.join(folder, "%s.%s.mlir" % (function, kind))
    with open(model, "w") as file:
        file.write(text)
    outputs = [os.path.join(folder, "%d.npy" % i) for i in range(3)]
    command = [shard_run, model, "--mesh", "1", "--target=cuda", "--no-graph", "--no-verify"] + ["--output=@" + path for path in outputs]
    subprocess.run(command, check=True, env=dict(os.environ, TPRT_CUDA_LIBRARY=driver), stdout=subprocess.DEVNULL)
    return subprocess.run([units, function, kind] + outputs, check=True, stdout=subprocess.PIPE, text=True).stdout.split(maxsplit=1)


def main():
    *tools, path, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    with open(path) as file:
        template = file.read()
    failures = 0
    for row in ROWS:
        for kind, bound in zip(TYPES, row[1:3]):
            error, where = measure(tools, template, folder, row, kind)
            ok = float(error) <= bound
            print("%s %s: %s units (at most %s)%s" % (row[0], kind, error, bound, "" if ok else " FAILED at " + where.strip()), flush=True)
            failures += not ok
    return failures != 0


sys.exit(main())
