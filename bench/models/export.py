"""Exports a JAX function as linalg on tensors with Shardy annotations, for import by tpshard."""

import re

import jax
from jax._src.interpreters import mlir as jax_mlir
from jax.sharding import NamedSharding, PartitionSpec
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from jaxlib.mlir.passmanager import PassManager

stablehlo.register_stablehlo_passes()

PIPELINE = ("builtin.module(sdy-flatten-call-graph,inline,func.func(chlo-legalize-to-stablehlo),canonicalize,cse,"
            "func.func(stablehlo-legalize-to-linalg),canonicalize,cse)")


def sharding(mesh, axes):
    return NamedSharding(mesh, PartitionSpec(*axes) if axes else PartitionSpec())


def export(function, arguments, mesh):
    """Returns the module text. `arguments`: [(shape, axes)]."""
    specs = [jax.ShapeDtypeStruct(shape, "float32", sharding=sharding(mesh, axes)) for shape, axes in arguments]
    lowered = jax.jit(function).lower(*specs)
    with jax_mlir.make_ir_context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(str(lowered.compiler_ir("stablehlo")))
        PassManager.parse(PIPELINE).run(module.operation)
        text = module.operation.get_asm(print_generic_op_form=True)
    return text
