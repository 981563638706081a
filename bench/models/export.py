"""Exports a JAX function with Shardy annotations, for import by tpshard: as StableHLO, or as linalg on tensors, whose ops the benchmarks of
plans pin by their text."""

import re

import jax
from jax._src.interpreters import mlir as jax_mlir
from jax.sharding import NamedSharding, PartitionSpec
from jaxlib.mlir import ir
from jaxlib.mlir.dialects.stablehlo import register_stablehlo_passes
from jaxlib.mlir.passmanager import PassManager

register_stablehlo_passes()

TO_STABLEHLO = "builtin.module(sdy-flatten-call-graph,inline,func.func(chlo-legalize-to-stablehlo),canonicalize,cse)"
TO_LINALG = "builtin.module(func.func(stablehlo-legalize-to-linalg),canonicalize,cse)"


def end_block(block, name, values, location):
    """Replaces the terminator of a block."""
    old = block.operations[len(block.operations) - 1]
    ir.Operation.create(name, [], values, ip=ir.InsertionPoint(old), loc=location)
    old.erase()


def as_scf(loop):
    """Replaces a stablehlo.while by an scf.while, which jaxlib has no pass for."""
    location, types = loop.location, [result.type for result in loop.results]
    made = ir.Operation.create("scf.while", types, list(loop.operands), regions=2, ip=ir.InsertionPoint(loop), loc=location)
    for old, new in zip(loop.regions, made.regions):
        old.blocks[0].append_to(new)
    test, body = made.regions[0].blocks[0], made.regions[1].blocks[0]
    end = test.operations[len(test.operations) - 1]
    goes_on = ir.Operation.create("tensor.extract", [ir.IntegerType.get_signless(1)], list(end.operands), ip=ir.InsertionPoint(end), loc=location)
    end_block(test, "scf.condition", [goes_on.result, *test.arguments], location)
    end_block(body, "scf.yield", list(body.operations[len(body.operations) - 1].operands), location)
    for old, new in zip(loop.results, made.results):
        old.replace_all_uses_with(new)
    loop.erase()


def loops_of(op):
    """Returns all stablehlo.while in an op, inner ones first."""
    inside = [loop for region in op.regions for block in region.blocks for one in block.operations for loop in loops_of(one.operation)]
    return inside + ([op] if op.name == "stablehlo.while" else [])


def sharding(mesh, axes):
    return NamedSharding(mesh, PartitionSpec(*axes) if axes else PartitionSpec())


def stablehlo(lowered):
    """Returns the module text of a lowered function, in generic form."""
    return lowered.compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True)


def linalg(lowered):
    """Returns the module text of a lowered function."""
    with jax_mlir.make_ir_context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(str(lowered.compiler_ir("stablehlo")))
        PassManager.parse(TO_STABLEHLO).run(module.operation)
        for loop in loops_of(module.operation):
            as_scf(loop)
        PassManager.parse(TO_LINALG).run(module.operation)
        return module.operation.get_asm(print_generic_op_form=True)


def export(function, arguments, mesh, write=stablehlo):
    """Returns the module text. `arguments`: [(shape, axes)]; `write`: stablehlo or linalg."""
    specs = [jax.ShapeDtypeStruct(shape, "float32", sharding=sharding(mesh, axes)) for shape, axes in arguments]
    return write(jax.jit(function).lower(*specs))
