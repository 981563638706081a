"""Packs a per-device program as jax.export.Exported, which runs wherever JAX runs, without tpshard."""
import dataclasses

import jax
import jax.numpy as jnp
from jax import export as public_export
from jax._src.lax import lax as jax_lax
from jax._src.interpreters import mlir as jax_mlir
from jax._src.export import _export as jax_export
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from jaxlib.mlir.passmanager import PassManager

from ._export import is_key

# StableHLO depends on no platform, but the targets of custom calls do.
PLATFORMS = ("cpu", "cuda", "rocm", "tpu")


def _platforms(text):
    return (public_export.default_export_platform(),) if '"stablehlo.custom_call"' in text else PLATFORMS


def _take_platform_index(module):
    """Gives main the first argument that jax.export passes for several platforms. It has no use here:
    the ops are the same on all."""
    main = next(op for op in module.body.operations if ir.StringAttr(op.attributes["sym_name"]).value == "main")
    function_type = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
    inputs, results = function_type.inputs, function_type.results
    values = ["%%a%d" % i for i in range(len(inputs))]
    outputs, found = ", ".join(map(str, results)), ", ".join("%%r#%d" % i for i in range(len(results)))
    body = "call @planned(%s) : %s return" % (", ".join(values), function_type)
    if results:
        body = "%%r:%d = %s %s : %s" % (len(results), body, found, outputs)
    parameters = ", ".join(["%p: tensor<i32>"] + ["%s: %s" % pair for pair in zip(values, inputs)])
    declared = "func.func private @planned(%s) -> (%s)" % (", ".join(map(str, inputs)), outputs)
    text = "%s func.func public @main(%s) -> (%s) { %s }" % (declared, parameters, outputs, body)
    scratch = ir.Module.parse(text)
    wrapper = list(scratch.body.operations)[1].operation.clone()
    empty = ir.DictAttr.get({})
    attrs = list(main.attributes["arg_attrs"]) if "arg_attrs" in main.attributes else [empty] * len(inputs)
    wrapper.attributes["arg_attrs"] = ir.ArrayAttr.get([empty] + attrs)
    if "res_attrs" in main.attributes:
        wrapper.attributes["res_attrs"] = main.attributes["res_attrs"]
    main.attributes["sym_name"] = ir.StringAttr.get("planned")
    main.attributes["sym_visibility"] = ir.StringAttr.get("private")
    module.body.append(wrapper)


def _artifact(text):
    """The module in the portable form that jax.export stores."""
    stablehlo.register_stablehlo_passes()
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(text)
        with module.operation.location:
            if len(_platforms(text)) > 1:
                _take_platform_index(module)
        PassManager.parse("builtin.module(func.func(chlo-legalize-to-stablehlo))").run(module.operation)
        return jax_export._module_to_bytecode(module)


def _words(avals):
    """The avals with those of random keys replaced by those of their words."""
    of_key = lambda a: jax.eval_shape(jax.random.key_data, jax.ShapeDtypeStruct(a.shape, a.dtype))
    return [of_key(a) if is_key(a) else a for a in avals]


def called(text, export, in_shardings, out_shardings, function):
    """Returns a per-device program as a function of the same signature. Only words of random keys cross
    the boundary of the exported program, because older versions of JAX fail to call one with keys."""
    words = dataclasses.replace(export, avals=_words(export.avals), result_avals=_words(export.result_avals))
    call = packed(text, words, in_shardings, out_shardings, function).call

    def run(*args):
        given, tree = jax.tree_util.tree_flatten(args)
        given = [jax.random.key_data(a) if is_key(aval) else a for a, aval in zip(given, export.avals)]
        found, out = jax.tree_util.tree_flatten(call(*jax.tree_util.tree_unflatten(tree, given)))
        return jax.tree_util.tree_unflatten(out, map(restored, found, export.result_avals))

    def restored(a, aval):
        if is_key(aval):
            return jax.random.wrap_key_data(a, impl=aval.dtype._impl.name)
        # exported programs forget which types are weak
        return jax_lax._convert_element_type(a, weak_type=True) if getattr(aval, "weak_type", False) else a

    return run


def packed(text, export, in_shardings, out_shardings, function):
    """Returns the `jax.export.Exported` of a per-device program.

    A function of the same signature that computes nothing is exported, and its module replaced, so
    that all else is what JAX makes itself. Gradients of it do not exist: plan whole steps.
    """

    def nothing(*args):
        del args
        zeros = [jnp.zeros(a.shape, a.dtype) for a in export.result_avals]
        return jax.tree_util.tree_unflatten(export.result_tree, zeros)

    args = jax.tree_util.tree_unflatten(export.tree, [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in export.avals])
    jitted = jax.jit(nothing, in_shardings=in_shardings, out_shardings=out_shardings, keep_unused=True)
    made = public_export.export(jitted, platforms=_platforms(text))(*args)
    return dataclasses.replace(made, fun_name=getattr(function, "__name__", made.fun_name), mlir_module_serialized=_artifact(text), _get_vjp=None)
