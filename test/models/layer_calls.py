#!/usr/bin/env python3
"""layer_calls.py SHARD_RUN SHARD_OPT LAYER MODELS DRIVER BLASLT FOLDER: counts what the host of a
GPU program calls for a layer of a Llama, 4096 wide, bf16: launches, matmuls, attention, collectives;
for a training step of the layer, which stores no scores; for a layer that JAX has exported, with keys and
values repeated for each query, two masks, and dropout of weights and of a result; and for decoding with a key-value cache.
None of them may stand in a loop, and the host may read nothing that the GPU computes. A small layer, and two programs of JAX, run on a driver that executes
PTX on the host, as one graph. By default one device has the layer of 2048 tokens alone; TP_LONG=1: all of them, and models with attention."""
import os
import re
import subprocess
import sys

MOST = 25
DEVICE_CALLS = ["launch", "contract", "fused", "collective", "start", "copy"]
# Tokens, ranks: expected calls. They are here so that a change is seen.
EXPECTED = {(2048, 1): 13, (2048, 8): 16, (16, 1): 12, (16, 8): 14}
# Ranks: expected calls of a training step, 2048 tokens.
EXPECTED_TRAINING = {1: 45, 8: 42}
MOST_TRAINING = 70
# Program, ranks: expected calls of the layer with dropout.
EXPECTED_DROPOUT = {("dropout_layer", 1): 13, ("dropout_layer", 8): 16, ("dropout_layer_train", 1): 56, ("dropout_layer_train", 8): 58}


def in_bf16(text):
    return re.sub(r"f32", "bf16", re.sub(r"0x(FF80|7F80|7FC0)0000", r"0x\1", text))


def layer(script, tokens, *options):
    run = subprocess.run([sys.executable, "-B", script, str(tokens), *options], capture_output=True, text=True, check=True)
    return in_bf16(run.stdout)


def has_loop(program):
    """Whether a block branches to itself or to one before it."""
    at = 0
    for line in program.splitlines():
        label = re.match(r"\s*\^bb(\d+)", line)
        if label:
            at = int(label.group(1))
        elif "llvm.func" in line:
            at = 0
        elif re.search(r"llvm\.(cond_)?br ", line) and any(int(to) <= at for to in re.findall(r"\^bb(\d+)", line)):
            return True
    return False


def count(shard_opt, path, ranks):
    lowered = subprocess.run([shard_opt, path, "--pass-pipeline=builtin.module(tp-spmd{mesh=tp=%d topology=h100},tp-to-cuda)" % ranks], capture_output=True, text=True)
    if lowered.returncode:
        return None, lowered.stderr
    calls = {}
    for name in re.findall(r"llvm\.call @tprt_abi_(\w+)", lowered.stdout):
        calls[name] = calls.get(name, 0) + 1
    if "read" in calls or "write" in calls or has_loop(lowered.stdout):
        return None, "the host reads, writes or loops: %s" % calls
    return sum(calls.get(name, 0) for name in DEVICE_CALLS), "%s" % calls


def scores_stored(shard_opt, path, ranks, tokens):
    """Values that are as large as the scores of one head, outside of what kernels compute."""
    run = subprocess.run([shard_opt, path, "--pass-pipeline=builtin.module(tp-spmd{mesh=tp=%d topology=h100},tp-optimize-local{fused=keep})" % ranks],
                         capture_output=True, text=True, check=True)
    main = re.search(r"func\.func @main.*?\n  }\n", run.stdout, re.DOTALL).group(0)
    return sorted(set(re.findall(r"tensor<(?:\d+x)*%dx%dx\w+>" % (tokens, tokens), main)))


def runs_as_graph(shard_run, path, mesh, options, environment, folder):
    copies = os.path.join(folder, "copies")
    run = subprocess.run([shard_run, path, "--mesh", mesh, "--target=cuda", *options], capture_output=True, text=True,
                         env=dict(environment, FAKE_COPIES=copies))
    with open(copies) as file:
        n = int(file.read())
    ok = run.returncode == 0 and run.stdout.rstrip().endswith("verified") and "graph: each call is one graph launch" in run.stdout and n == 0
    kernels = "is computed by one kernel, and its gradient by two" if "train" in path else "is computed by one kernel"
    return ok and kernels in run.stderr, "%d copies\n%s%s" % (n, run.stdout, run.stderr)


def main():
    shard_run, shard_opt, script, models, driver, blaslt, folder = sys.argv[1:]
    environment = dict(os.environ, TPRT_CUDA_LIBRARY=driver, TPRT_BLASLT_LIBRARY=blaslt)
    os.makedirs(folder, exist_ok=True)
    failures = 0
    path = os.path.join(folder, "layer.mlir")
    is_long = bool(os.environ.get("TP_LONG"))
    for (tokens, ranks), expected in EXPECTED.items():
        if not is_long and (tokens, ranks) == (16, 1):
            continue
        with open(path, "w") as file:
            file.write(layer(script, tokens))
        n, what = count(shard_opt, path, ranks)
        ok = n == expected and n <= MOST
        print("%d tokens, %d ranks: %s calls, expected %d, %s" % (tokens, ranks, n, expected, "ok" if ok else "FAILED " + what))
        failures += not ok
    for ranks, expected in EXPECTED_TRAINING.items():
        if not is_long and ranks == 1:
            continue
        with open(path, "w") as file:
            file.write(layer(script, 2048, "--train"))
        n, what = count(shard_opt, path, ranks)
        stored = scores_stored(shard_opt, path, ranks, 2048)
        ok = n == expected and n <= MOST_TRAINING and not stored
        print("training, %d ranks: %s calls, expected %d, %s" % (ranks, n, expected, "ok" if ok else "FAILED %s %s" % (what, stored)))
        failures += not ok
    inputs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs")
    for (name, ranks), expected in EXPECTED_DROPOUT.items():
        if not is_long and ranks == 1:
            continue
        n, what = count(shard_opt, os.path.join(inputs, name + ".mlir"), ranks)
        ok = n == expected and n <= (MOST_TRAINING if "train" in name else MOST)
        print("%s, %d ranks: %s calls, expected %d, %s" % (name, ranks, n, expected, "ok" if ok else "FAILED " + what))
        failures += not ok
    for ranks, expected in ((1, 9), (8, 10)):
        n, what = count(shard_opt, os.path.join(models, "kv_decode.mlir"), ranks)
        print("decoding, %d ranks: %s calls, expected %d, %s" % (ranks, n, expected, "ok" if n == expected else "FAILED " + what))
        failures += n != expected
    with open(path, "w") as file:
        file.write(layer(script, 40, "--small"))
    trained = os.path.join(folder, "trained.mlir")
    with open(trained, "w") as file:
        file.write(layer(script, 40, "--small", "--train"))
    dropped = os.path.join(inputs, "dropout_layer_train_small.mlir")
    runs = [("training of a small layer with dropout", dropped, "tp=2", []), ("small layer", path, "2", []), ("training of a small layer", trained, "2", [])]
    names = []  # cuda.py runs all of them, too
    if is_long:
        runs += [("small layer", path, "1", [])]
        runs += [("training of a small layer with dropout", dropped, "tp=1", []), ("training of a small layer", trained, "1", [])]
        names += ["attention", "kv_decode", "llama_block", "llama_block_train"]
    for name in names:
        model = os.path.join(models, name)
        runs.append((name, model + ".mlir", "2", ["--inputs-from", model]))
    for name, model, mesh, options in runs:
        ok, what = runs_as_graph(shard_run, model, mesh, options, environment, folder)
        print(name, mesh, "ok" if ok else "FAILED " + what)
        failures += not ok
    return failures != 0


sys.exit(main())
