"""The MLIR of a traced program, by torch-mlir."""
import importlib
import operator
import os
import pickle
import re
import signal
import warnings

import torch

from .._attributes import annotate, main_of
from .._layouts import attribute
from ..errors import Diagnostic, error_of
from ._recomputed import lower_barriers
from ._trace import innermost

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


def _in_child(work):
    """Returns (what work() returns, None), or (None, number of the signal) if it ends the process. It runs in a copy of the
    process: torch-mlir may crash, or go on for ever, and then Ctrl-C ends the copy."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other threads, which the copy does not need
        pid = os.fork()
    if pid == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what LLVM says when it ends the process
            with os.fdopen(writer, "wb") as file:
                pickle.dump(work(), file)
        finally:
            os._exit(0)
    os.close(writer)
    try:
        with os.fdopen(reader, "rb") as file:
            data = file.read()
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(pid, 0)
    return (pickle.loads(data), None) if data else (None, os.WTERMSIG(status))


def _lower(graph, annotated):
    """Returns (text of the module in linalg on tensors, diagnostics of what failed), of which one is None. annotated(ir, module)
    adds attributes."""
    found, ended = _in_child(lambda: _lower_here(graph, annotated))
    if ended is not None:
        return None, [Diagnostic("error", "torch-mlir ended with signal %d while it lowered the program" % ended)]
    return found


def _lower_here(graph, annotated):
    from torch_mlir import fx, ir
    from torch_mlir.dialects import torch as torch_dialect
    from torch_mlir.extras.fx_importer import FxImporter

    context, said = ir.Context(), []
    torch_dialect.register_dialect(context)

    def note(diagnostic):
        said.append(_diagnostic(str(diagnostic.location), diagnostic.message))
        return True

    handler = context.attach_diagnostic_handler(note)
    try:
        module = fx.stateless_fx_import(_Graph(graph), output_type="linalg-on-tensors", fx_importer=FxImporter(context=context)).operation
    except Exception as error:  # of torch-mlir: any of its own, NotImplementedError
        return None, said or [Diagnostic("error", "torch-mlir: %s" % " ".join(str(error).split())[:400])]
    finally:
        handler.detach()
    with context:
        try:
            lower_barriers(ir, module, graph)
        except ValueError as error:
            return None, [Diagnostic("error", str(error))]
        annotated(ir, module)
    return module.get_asm(print_generic_op_form=True, enable_debug_info=True), None


def _alone(node):
    """Returns a graph of one operation, with arguments for the tensors that it takes."""
    graph, taken = torch.fx.Graph(), {}

    def argument(other):
        if other not in taken:
            taken[other] = graph.placeholder("a%d" % len(taken))
            taken[other].meta = dict(other.meta)
        return taken[other]

    torch.fx.node.map_arg((node.args, node.kwargs), argument)  # arguments come first
    made = graph.node_copy(node, argument)
    value = node.meta.get("val")
    results = [] if value is None else [made]  # without a result: an assertion
    if isinstance(value, (tuple, list)):
        results = []
        for i, part in enumerate(value):
            results.append(graph.call_function(operator.getitem, (made, i)))
            results[-1].meta["val"] = part
    graph.output(tuple(results))
    return graph


def _culprit(graph):
    """Returns the diagnostic of the first operation that is not lowered even alone; None if there is none. torch-mlir
    may name constants in its place."""
    seen = set()
    for node in graph.nodes:
        key = (node.target, str([getattr(a, "meta", {}).get("val", a) for a in node.args]), str(node.kwargs))
        if node.op != "call_function" or node.target is operator.getitem or key in seen:
            continue
        seen.add(key)
        said = _lower(_alone(node), lambda *_: None)[1]
        if said:
            file, line = innermost(node)
            return Diagnostic("error", "is not lowered by torch-mlir; write it by other operations, or for other types", str(node.target), file, line)
    return None


def _reason(graph, said):
    """Returns the diagnostic that says what torch-mlir lacks."""
    # constants and lists are left over where the operation that uses them is not lowered
    named = [d for d in said if d.op and not d.op.startswith(("torch.constant.", "torch.prim.", "torch.vtensor.", "func."))]
    return named[0] if named else _culprit(graph) or said[0]


class _Graph:
    """What torch-mlir takes for a module of a graph."""

    def __init__(self, graph):
        self.graph = graph


def module_text(traced, roles, layouts, updates, gradients):
    """Returns the text of the module of a `Traced`, in generic form. roles, layouts, updates, gradients: as of
    `_attributes.annotate`."""
    try:  # here, so that no child has to
        importlib.import_module("torch_mlir.fx")
    except ImportError as error:
        raise ImportError("tpshard.torch needs torch-mlir: pip install torch-mlir") from error
    names = [[value.name for value in values] for values in (traced.arguments, traced.results)]
    texts = {i: attribute(layout) for i, layout in layouts.items()}
    text, said = _lower(traced.graph, lambda ir, module: annotate(ir, main_of(module), *names, roles, texts, updates, gradients))
    if text is None:
        raise error_of("unsupported", (_reason(traced.graph, said),))
    return text
