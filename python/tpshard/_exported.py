"""The per-device program of a plan as StableHLO."""
from . import _library
from ._plan import OF_PARTITION

# From the partitioned program on: what tp-spmd does after tp-partition, then the export.
PIPELINE = "tp-simplify-collectives,canonicalize,cse,tp-export-stablehlo"


def stablehlo_text(planned, options, keeps_attention=False):
    """Returns the per-device program of a planned one as StableHLO, with explicit collectives. `options`
    are those of the plan. With `keeps_attention` attentions are calls of functions that tp.fused describes."""
    given = {name: options[name] for name in OF_PARTITION if name in options}
    local = _library.run(planned, "tp-partition", given, locations=True).program
    pipeline = PIPELINE.replace("tp-export", "tp-fuse-attention{fused=keep},tp-export") if keeps_attention else PIPELINE
    return _library.run(local, pipeline).program
