"""The MLIR of a traced program, by torch-mlir."""
import re

from .._attributes import annotate, main_of
from .._layouts import attribute
from ..errors import Diagnostic, error_of

_PLACE = re.compile(r'"([^"]+)":(\d+):(\d+)')
_OP = re.compile(r"failed to legalize operation '([^']+)'")


def _diagnostic(location, message):
    """Returns a message of torch-mlir as a `Diagnostic`. Of ops that it does not know the name is the argument of
    a general one."""
    place, op = _PLACE.search(location), _OP.search(message)
    name = op[1] if op else ""
    own = re.search(r'name = "([^"]+)"', message)
    if name == "torch.operator" and own:
        name = own[1]
    what = "is not lowered by torch-mlir; write it by other operations" if op else "torch-mlir: " + message.partition(": %")[0]
    return Diagnostic("error", what, name, place[1] if place else "", int(place[2]) if place else 0, 0, location)


def _lowered(graph):
    """Returns the module (an operation) in linalg on tensors."""
    try:
        from torch_mlir import fx, ir
        from torch_mlir.dialects import torch as torch_dialect
        from torch_mlir.extras.fx_importer import FxImporter
    except ImportError as error:
        raise ImportError("tpshard.torch needs torch-mlir: pip install torch-mlir") from error
    context, said = ir.Context(), []
    torch_dialect.register_dialect(context)

    def note(diagnostic):
        said.append(_diagnostic(str(diagnostic.location), diagnostic.message))
        return True

    handler = context.attach_diagnostic_handler(note)
    try:
        module = fx.stateless_fx_import(_Graph(graph), output_type="linalg-on-tensors", fx_importer=FxImporter(context=context))
    except Exception as error:  # of torch-mlir: any of its own, NotImplementedError
        errors = [d for d in said if d.op] or said
        if not errors:
            errors = [Diagnostic("error", "torch-mlir: %s" % " ".join(str(error).split())[:400])]
        raise error_of("unsupported", errors[:1]) from None
    finally:
        handler.detach()
    return ir, module.operation


class _Graph:
    """What torch-mlir takes for a module of a graph."""

    def __init__(self, graph):
        self.graph = graph


def module_text(traced, roles, layouts, updates):
    """Returns the text of the module of a `Traced`, in generic form. roles, layouts, updates: as of
    `_attributes.annotate`."""
    ir, module = _lowered(traced.graph)
    with module.context:
        names = [[value.name for value in values] for values in (traced.arguments, traced.results)]
        annotate(ir, main_of(module), *names, roles, {i: attribute(layout) for i, layout in layouts.items()}, updates)
    return module.get_asm(print_generic_op_form=True, enable_debug_info=True)
