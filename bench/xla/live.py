#!/usr/bin/env python3
"""Compiles StableHLO with Shardy annotations with the XLA of an installed jax, on host devices, and
prints its communication: live.py FILE...

Prints lines in the format of xla.csv: model, collectives, bytes sent per device (ring algorithms).
Collectives in a loop count once. Needs `pip install jax`."""

import os
import re
import sys

DEVICES = 8
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DEVICES}"
os.environ["JAX_PLATFORMS"] = "cpu"

SHORT = {"all-reduce": "AR", "all-gather": "AG", "reduce-scatter": "RS", "all-to-all": "A2A", "collective-permute": "CP"}
SIZES = {"f64": 8, "f32": 4, "bf16": 2, "f16": 2, "s64": 8, "s32": 4, "u32": 4, "s8": 1, "u8": 1, "pred": 1}
INSTRUCTION = re.compile(r"= (\(?[a-z0-9\[\]{},/*= ]+?\)?) (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\((.*)")
SHAPE = re.compile(r"([a-z]+\d*)\[([\d,]*)\]")


def tensors_of(text):
    """Returns (elements, bytes of one element) of each tensor."""
    found = []
    for element, dims in SHAPE.findall(text):
        count = 1
        for n in dims.split(","):
            count *= int(n) if n else 1
        found.append((count, SIZES.get(element, 0)))
    return found


def sent(kind, n, results):
    """Returns the bytes sent per device as include/tp/cost.h defines them: each tensor is cut into
    n chunks of equal size."""
    total = 0
    for elements, size in results:  # per device
        whole = elements * n if kind == "reduce-scatter" else elements
        chunk = (whole + n - 1) // n * size
        total += whole * size if kind == "collective-permute" else (n - 1) * chunk * (2 if kind == "all-reduce" else 1)
    return total


def group_of(rest):
    listed = re.search(r"replica_groups=\{\{([\d,]+)\}", rest)
    if listed:
        return len(listed.group(1).split(","))
    named = re.search(r"replica_groups=mesh\[([^\]]*)\][^{]*\{([^}]*)\}", rest)
    if named:
        sizes, n = dict(re.findall(r"'(\w+)'=(\d+)", named.group(1))), 1
        for axis in re.findall(r"'(\w+)'", named.group(2)):
            n *= int(sizes[axis])
        return n
    iota = re.search(r"replica_groups=\[(\d+),(\d+)\]", rest)
    return int(iota.group(2)) if iota else DEVICES


def communication(hlo):
    """Returns (kind, bytes) of every collective; result sizes are per device."""
    found = []
    for line in hlo.splitlines():
        match = INSTRUCTION.search(line)
        if not match:
            continue
        kind = match.group(2)
        found.append((kind, sent(kind, group_of(match.group(3)), tensors_of(match.group(1)))))
    return found


def main(files):
    try:
        import jax
        import numpy
        from jax._src.lib import xla_client
    except ImportError:
        sys.exit("live.py: jax is not installed (pip install jax)")
    client = jax.devices()[0].client
    print("model,collectives,bytes")
    for path in files:
        options = xla_client.CompileOptions()
        options.num_partitions, options.num_replicas = DEVICES, 1
        build = options.executable_build_options
        build.use_spmd_partitioning, build.use_shardy_partitioner, build.num_partitions = True, True, DEVICES
        build.num_replicas = 1
        build.device_assignment = xla_client.DeviceAssignment.create(numpy.arange(DEVICES, dtype=numpy.int32).reshape(1, DEVICES))
        with open(path, encoding="utf-8") as file:
            module = file.read()
        program = client.compile_and_load(module, xla_client.DeviceList(tuple(jax.devices())), options)
        found = communication(program.hlo_modules()[0].to_string())
        kinds = [SHORT[kind] for kind, _ in found]  # a collective on several tensors counts once
        text = " ".join(f"{kinds.count(k)} {k}" for k in ("AR", "AG", "RS", "A2A", "CP") if k in kinds)
        print(f"{os.path.basename(path).split('.')[0]},{text},{sum(sent for _, sent in found):.0f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
