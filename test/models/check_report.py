"""Checks a report of shard-run: the run is verified, it is sharded, and weights lie as annotated.

usage: check_report.py REPORT.json MODEL.mlir axis=size... [--max-redundancy R]

Sharded: all devices together do at most R (1.5) times the arithmetic of one. Weights: the bytes of arguments with role "param" per
device are what their tp.sharding says on this mesh. Bytes: modelled and counted ones are compared by shard-run itself.
"""
import json
import re
import sys

SIZES = {"f32": 4, "f64": 8, "bf16": 2, "f16": 2, "i32": 4, "i64": 8, "i1": 1}


def annotated_param_bytes(text, mesh):
    signature = re.search(r"func\.func @main\((.*?)\) ->", text, re.S).group(1)
    total = 0
    for shape, attrs in re.findall(r"%\w+: tensor<([^>]*)> \{(.*?)\}(?=, %|$)", signature, re.S):
        if 'tp.role = "param"' not in attrs:
            continue
        *dims, element = shape.split("x")
        sharding, _ = json.JSONDecoder().raw_decode(attrs.split("tp.sharding =")[1].strip())
        n = SIZES[element]
        for dim, axes in zip(map(int, dims), sharding):
            for axis in axes:
                dim = -(-dim // mesh[axis])  # an uneven shard has the size of the largest
            n *= dim
        total += n
    return total


def main(report_path, model_path, *rest):
    limit = 1.5
    if "--max-redundancy" in rest:
        at = rest.index("--max-redundancy")
        limit = float(rest[at + 1])
        rest = rest[:at] + rest[at + 2 :]
    mesh = {name: int(size) for name, size in (item.split("=") for item in rest)}
    devices = 1
    for size in mesh.values():
        devices *= size
    with open(report_path) as f:
        report = json.load(f)
    with open(model_path) as f:
        params = annotated_param_bytes(f.read(), mesh)
    redundancy = report["flops_per_device"] * devices / report["flops_unsharded"]
    print(f"redundancy {redundancy:.3f}, params {report['memory_per_device']['params']} of {report['memory_unsharded']['params']}")
    assert report["verified"] is True
    assert report["devices"] == devices, "another mesh than the test says"
    assert redundancy <= limit, f"all devices together do {redundancy:.2f} times the work"
    assert report["memory_per_device"]["params"] == params, f"annotations say {params} bytes of weights per device"
    assert sum(c["bytes_per_device"] for c in report["collectives"]) == report["bytes_per_device"]


main(*sys.argv[1:])
