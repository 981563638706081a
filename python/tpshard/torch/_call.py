"""Calls of what was planned: from the user's arguments to the tensors of the program, and from its results to the user's."""
import torch
from torch.utils import _pytree as pytree

from .. import _names
from ..errors import Error, a_type
from ._trace import TENSOR, bound, leaf_names, modes_of


def _is_same(given, planned):
    """True if a call with this leaf, which is no tensor, runs the same program."""
    if given is planned:
        return True
    try:
        return type(given) is type(planned) and bool(given == planned or (given != given and planned != planned))
    except Exception:  # of a comparison of the user's
        return False


class Call:
    """How a planned module or function is called. It holds none of the user's tensors but those that a function closes
    over."""

    def __init__(self, traced):
        self._traced = traced

    def __deepcopy__(self, memo):
        return self  # of all copies of a module

    def tensors_of(self, what, args, kwargs, module, new_seed=None):
        """Returns the tensors of a call in the order of the program's arguments, without gradients at results; those of a
        module are from `module`. new_seed() returns a seed of random numbers, if the program draws some. Raises ValueError for arguments that the plan is not for."""
        traced = self._traced
        names = [name for name, _ in traced.leaves]
        try:
            args, kwargs = bound(traced.signature, args, kwargs)
        except TypeError as error:
            raise TypeError("%s: %s" % (what, error)) from None
        leaves, tree = pytree.tree_flatten((args, kwargs))
        if tree != traced.tree:
            raise ValueError("%s: %s" % (what, _names.difference(names, traced.heads, [*args, *kwargs.values()], leaf_names)))
        given = dict(zip(names, leaves))
        for name, planned in traced.leaves:
            is_tensor = planned is TENSOR
            if is_tensor != isinstance(given[name], torch.Tensor):
                raise ValueError('%s: "%s" is %s, but was %s when it was planned' % (what, name, a_type(given[name]), "a tensor" if is_tensor else a_type(planned)))
            if not is_tensor and not _is_same(given[name], planned):
                raise ValueError('%s: "%s" is %r, but the plan is for %r; plan again' % (what, name, given[name], planned))
        if module is not None and modes_of(module) != traced.modes:
            changed = next((name, training) for (name, training), (_, now) in zip(traced.modes, modes_of(module)) if now != training)
            raise Error('%s: %s was planned in %s mode; plan again' % (what, '"%s"' % changed[0] if changed[0] else "the module", "train" if changed[1] else "eval"))
        state = {} if module is None else dict([*module.named_parameters(), *module.named_buffers()])
        inputs = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        tensors = []
        for value in traced.arguments:
            if value.kind in ("gradient", "seed"):
                tensors += [new_seed()] if value.kind == "seed" else []
                continue
            tensor = inputs[value.leaf] if value.kind == "input" else traced.constants[value.name] if value.kind == "constant" else state[value.path]
            tensors.append(tensor)
            if tuple(tensor.shape) != value.shape or tensor.dtype != value.dtype:
                raise ValueError(
                    '%s: "%s" is %s%s, but the plan is for %s%s'
                    % (what, value.name, tensor.dtype, list(tensor.shape), value.dtype, list(value.shape))
                )
            if tensor.is_meta:
                raise ValueError('%s: "%s" lies on torch.device("meta") and has no values' % (what, value.name))
        return tensors

    def ones(self):
        """Returns gradients at results, in the order of the program's arguments: those of the sum of all results."""
        return [torch.ones(value.shape, dtype=value.dtype) for value in self._traced.arguments if value.kind == "gradient"]

    def results_of(self, tensors):
        """Returns what the module or function returns, from the results of the program."""
        leaves = [tensors[leaf] if is_tensor else leaf for is_tensor, leaf in self._traced.result_leaves]
        return pytree.tree_unflatten(leaves, self._traced.result_tree)
