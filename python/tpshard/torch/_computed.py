"""What PyTorch itself computes for a call, without a plan: nothing of the trace takes part."""
import warnings

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from ._random import Drawn
from ._recomputed import checkpoints_as_calls
from ._trace import bound, cast, copied_module

aten = torch.ops.aten


class _Stable(TorchDispatchMode):
    """Of equal elements PyTorch promises no order. The first one comes first here, as in a plan."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is aten.sort.default:
            return aten.sort.stable(args[0], stable=True, dim=_at(args, kwargs, 1, "dim", -1), descending=_at(args, kwargs, 2, "descending", False))
        if func is aten.kthvalue.default and args[0].dim() > 0:
            k, dim = _at(args, kwargs, 1, "k", None), _at(args, kwargs, 2, "dim", -1)
            keepdim = _at(args, kwargs, 3, "keepdim", False)
            found = aten.sort.stable(args[0], stable=True, dim=dim)
            return tuple((x.narrow(dim, k - 1, 1) if keepdim else x.select(dim, k - 1)).clone() for x in found)
        if func is aten.topk.default:
            k, dim = _at(args, kwargs, 1, "k", None), _at(args, kwargs, 2, "dim", -1)
            found = aten.sort.stable(args[0], stable=True, dim=dim, descending=_at(args, kwargs, 3, "largest", True))
            return tuple(x.narrow(dim, 0, k).contiguous() for x in found) if args[0].dim() > 0 else found
        return func(*args, **kwargs)


def _at(args, kwargs, n, name, default):
    return args[n] if len(args) > n else kwargs.get(name, default)


def _own(tensor):
    return tensor.detach().cpu().clone().requires_grad_(tensor.requires_grad)


def computed(function, traced, args, kwargs, seed):
    """Returns the results of the program of a plan, in order, as the module or the function computes them on the CPU. Gradients
    are those of the sum of all results. Nothing of the user's is written.

    args, kwargs: of the call, as the plan takes them
    seed:         of its random numbers, a tensor
    """
    leaves, tree = pytree.tree_flatten(bound(traced.signature, args, kwargs))
    leaves = [_own(leaf) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    args, kwargs = pytree.tree_unflatten(leaves, tree)
    inputs = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    values = {a.name: inputs[a.leaf] for a in traced.arguments if a.kind == "input"}
    run = function
    if isinstance(function, torch.nn.Module):
        run = copied_module(function, lambda _, tensor: _own(tensor).detach())
    has_gradients = any(r.kind == "gradient" for r in traced.results)
    with torch.device("cpu"), cast(traced.autocast), torch.set_grad_enabled(has_gradients or torch.is_grad_enabled()), _Stable(), Drawn(seed), checkpoints_as_calls(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [leaf for leaf in pytree.tree_leaves(run(*args, **kwargs)) if isinstance(leaf, torch.Tensor)]
    if run is not function:  # parameters, and buffers, which the module may have set to other tensors
        state = dict([*run.named_parameters(), *run.named_buffers()])
        values.update((a.name, state[a.path]) for a in traced.arguments if a.kind in ("parameter", "buffer"))
    outputs = [r.name for r in traced.results if r.kind == "output"]
    values.update(zip(outputs, found))
    at = [values[a.path] for a in traced.arguments if a.kind == "gradient"]
    of = [r.path for r in traced.results if r.kind == "gradient"]
    gradients = dict(zip(of, _gradients(at, [values[name] for name in of])))
    made = {"output": lambda r: values[r.name], "update": lambda r: values[r.path], "gradient": lambda r: gradients[r.path]}
    return [made[r.kind](r).detach() for r in traced.results]


def _gradients(results, tensors):
    if not tensors:
        return []
    found = torch.autograd.grad(results, tensors, [torch.ones_like(x) for x in results], allow_unused=True)
    return [torch.zeros_like(tensor) if x is None else x for x, tensor in zip(found, tensors)]
