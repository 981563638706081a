"""Operations that PyTorch's own library of decompositions writes, but that torch.export keeps."""
import torch

aten = torch.ops.aten

_NAMES = (
    "_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d", "adaptive_max_pool2d", "addmv", "dist",
    "lerp", "polar", "take", "trace", "upsample_nearest1d", "upsample_nearest3d", "upsample_trilinear3d",
)


def table():
    ops = [getattr(getattr(aten, name), overload) for name in _NAMES for overload in getattr(aten, name).overloads() if overload != "out"]
    return {op: torch._decomp.decomposition_table[op] for op in ops if op in torch._decomp.decomposition_table}
