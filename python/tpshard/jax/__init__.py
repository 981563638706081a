"""Plans JAX functions, and runs them by the plan.

    import tpshard.jax as tps
    from jax.sharding import PartitionSpec as P

    step = tps.jit(train_step, mesh={"dp": 2, "tp": 4})      # planned at the first call

    plan = tps.plan(train_step, args, mesh={"dp": 2, "tp": 4}, topology="h100",
                    memory_limit="80GB", params="params", pin={"params/*/wq": P(None, "tp")})
    plan.cost, plan.bound, plan.memory     # seconds, seconds, bytes of one device
    plan.in_specs, plan.out_specs          # pytrees of PartitionSpec
    print(plan.explain("params/layers/0/wq"))
    step = plan.jit(jax.devices())         # XLA runs the program with the collectives of the plan
    y = plan.run_here(*args)               # N ranks of this machine, verified

Names. A leaf of an argument is called by the name of the parameter and its path in the pytree:
"params/layers/0/wq". A result is "result", a leaf of it "result/0/layers/0/wq". Of two equal names
the second one ends in "#2": "result#2" is the result of a function with a parameter called result.
Patterns are those of fnmatch, over the whole name, where "*" also matches "/". A pattern without a
match is an error.
"""
try:
    import jax as _jax
except ImportError as error:
    raise ImportError("tpshard.jax needs JAX: pip install 'jax>=0.8'") from error

if _jax.__version_info__ < (0, 8):
    raise ImportError("tpshard.jax: jax %s is too old, it runs some plans with wrong results; pip install 'jax>=0.8'" % _jax.__version__)

from jax.extend import source_info_util as _places

# so that the place of an op is the user's call, where JAX has no frame of the user that is deeper
_places.register_exclusion(__file__.rpartition("/")[0] + "/")

# after the version is known to be one that has what they import
from ._jit import Planned, jit
from ._plan import Plan, load, plan

__all__ = ["Plan", "Planned", "jit", "load", "plan"]
