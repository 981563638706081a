"""Plans PyTorch modules and functions.

    import tpshard.torch as tps
    from torch.distributed.tensor import Replicate, Shard

    with torch.device("meta"):
        model, ids = Llama(), torch.zeros(8, 2048, dtype=torch.long)
    plan = tps.plan(model, (ids,), mesh={"dp": 2, "tp": 4}, topology="h100", memory_limit="80GB",
                    pin={"layers.*.attn.q.weight": [Replicate(), Shard(0)]})
    plan.cost, plan.bound, plan.memory     # seconds, seconds, bytes of one device
    plan.placements["head.weight"]         # placements of DTensor
    print(plan.explain("layers.0.attn.q.weight"))

Names. Parameters and buffers have their names in the module: "layers.0.attn.q.weight"; of a tensor
with several names the first one. A tensor in an argument is called by the name of the parameter and
its path in containers: "batch/ids". A result is "result", a tensor in it "result/logits"; the new
value of a buffer that the module writes is "new/cache". Of two equal names the second one ends in
"#2". Patterns are those of fnmatch, over the whole name, where "*" also matches "." and "/". A
pattern without a match is an error.
"""
try:
    import torch as _torch
except ImportError as error:
    raise ImportError("tpshard.torch needs PyTorch: pip install torch torch-mlir numpy") from error

from ._plan import Plan, load, plan

__all__ = ["Plan", "load", "plan"]
