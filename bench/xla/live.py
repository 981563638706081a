#!/usr/bin/env python3
"""Compiles StableHLO with Shardy annotations with the XLA of an installed jax, on host devices, and
prints its communication: live.py FILE...

Prints lines in the format of xla.csv: model, collectives, bytes sent per device (ring algorithms).
Collectives in a loop count once. Needs `pip install jax`."""

import os
import sys

DEVICES = 8
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DEVICES}"
os.environ["JAX_PLATFORMS"] = "cpu"

import hlo  # noqa: E402


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
        found = hlo.collectives(program.hlo_modules()[0].to_string(), DEVICES)
        print(f"{os.path.basename(path).split('.')[0]},{hlo.counts_text(found)},{sum(one.sent for one in found)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
