"""Runs a planned program on the ranks of torch.distributed: each calls the graph of its device with its local tensors."""
import contextlib
import functools

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Replicate, distribute_tensor

from ..errors import Error
from ._trace import copied_module
from ._random import new_seed
from .program import graph_of
from .program.overlap import overlap
from .program.split import split

_groups = {}  # {ranks: process group}; they live as long as the process


def _checked_mesh(mesh, sizes):
    axes = ",".join("%s=%d" % axis for axis in sizes.items())
    if not isinstance(mesh, DeviceMesh):
        raise TypeError("parallelize: mesh is %r; give a DeviceMesh, such as init_device_mesh(\"cuda\", %r, mesh_dim_names=%r)" % (mesh, tuple(sizes.values()), tuple(sizes)))
    found = dict(zip(mesh.mesh_dim_names or (), mesh.mesh.shape))
    if found != sizes or list(found) != list(sizes):
        has = ",".join("%s=%d" % axis for axis in found.items()) or "%s without names" % (tuple(mesh.mesh.shape),)
        raise ValueError("parallelize: the plan is for the mesh %s, but this DeviceMesh is %s; plan for another mesh, or give mesh_dim_names" % (axes, has))
    if mesh.get_coordinate() is None:
        raise ValueError("parallelize: rank %d is not in the mesh" % dist.get_rank())


def _group_of(mesh, number):
    """Returns group_of of `program.graph_of`."""
    ranks = mesh.mesh.flatten().tolist()
    of_axes = {tuple(dist.get_process_group_ranks(mesh.get_group(d))): mesh.get_group(d) for d in range(mesh.ndim)}

    def find(groups, some=False):
        own = next((group for group in groups if number in group), None)
        if own is None:
            if not some:
                raise AssertionError("device %d is in no group of %r" % (number, groups))
            return 0, None, []
        members = tuple(ranks[n] for n in own)
        # a group of PyTorch has its ranks in ascending order
        if list(members) != sorted(members):
            raise Error("parallelize: the ranks of the mesh are not in ascending order along its axes; give a DeviceMesh of torch.arange(%d)" % len(ranks))
        group = of_axes.get(members) or _groups.get(members)
        if group is None:
            group = _groups[members] = dist.new_group(list(members), use_local_synchronization=True)
        return len(members), group.group_name, list(own)

    return find


def _device(mesh):
    index = torch.cuda.current_device() if mesh.device_type == "cuda" else None
    return torch.device(mesh.device_type, index) if index is not None else torch.device(mesh.device_type)


def _local(tensor, mesh, placements, device):
    """Returns this rank's part of a tensor: of a DTensor, or of one that is the same on all ranks."""
    if isinstance(tensor, DTensor):
        if tensor.device_mesh != mesh:
            raise ValueError("parallelize: an argument is a DTensor on another mesh, %s" % (tensor.device_mesh,))
        placed = tensor
    else:
        placed = DTensor.from_local(tensor.to(device), mesh, [Replicate()] * mesh.ndim, run_check=False)
    return placed.redistribute(mesh, placements).to_local(grad_placements=placements)


# The types of a program have no sign.
_SIGNED = {torch.uint8: torch.int8, torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}


def _signless(tensor):
    return tensor.contiguous().view(_SIGNED[tensor.dtype]) if tensor.dtype in _SIGNED else tensor


def _strides(shape):
    made, n = [], 1
    for size in reversed(shape):
        made.append(n)
        n *= max(size, 1)
    return tuple(reversed(made))


class _WithGradient(torch.autograd.Function):
    """The forward pass of a program, whose gradient is its backward pass."""

    @staticmethod
    def forward(ctx, program, *tensors):
        made = program.forward(tensors)
        n = len(program.results)
        ctx.program = program
        ctx.save_for_backward(*made[n:])
        ctx.mark_non_differentiable(*(x for x, (value, _) in zip(made, program.results) if value.name not in program.at))
        return tuple(made[:n])

    @staticmethod
    def backward(ctx, *gradients):
        program = ctx.program
        if torch.is_grad_enabled():
            raise Error("a planned backward pass has no gradient itself, so that create_graph=True cannot be; plan a function that computes both gradients")
        given = [x.contiguous() for x, (value, _) in zip(gradients, program.results) if value.name in program.at]
        with program.as_planned():
            made = dict(zip(program.gradients, program.backward(*ctx.saved_tensors, *given)))
        return None, *(made.get(value.name) for value, _ in program.arguments)


class Program:
    """The program of this rank. Both graphs can be replaced by torch.compile of them.

    graph:     torch.fx.GraphModule on local tensors, in the order of the plan's arguments. That of a plan with a backward
               pass returns behind the results what `backward` reads.
    backward:  torch.fx.GraphModule of that, and of gradients at results; None of a plan without a backward pass
    arguments: (Value, placements), in order, without gradients at results; results: the same, without gradients
    generator: torch.Generator from which each call draws the seed of its random numbers, such as those of dropout; the same
               on all ranks. Its first state is drawn from rank 0's generator of PyTorch.
    at, gradients: names of the results at which the program takes gradients, and of the arguments whose gradients it returns
    """

    def __init__(self, text, traced, placements, sizes, mesh):
        _checked_mesh(mesh, sizes)
        self.mesh, self.device = mesh, _device(mesh)
        number = mesh.mesh.flatten().tolist().index(dist.get_rank())
        with torch.device("cpu"):  # whatever the default is
            self.graph = graph_of(text, self.device, number, _group_of(mesh, number))
        self.backward = None
        self.arguments, self.at = self._sides(traced.arguments, placements)
        self.results, self.gradients = self._sides(traced.results, placements)
        if self.gradients:
            self.graph, self.backward = split(self.graph, len(self.arguments), len(self.results))
            overlap(self.backward)
        overlap(self.graph)
        # the same on all ranks: that of rank 0
        seed = distribute_tensor(new_seed().to(self.device), mesh, [Replicate()] * mesh.ndim).to_local()
        self.generator = torch.Generator().manual_seed(seed.item())

    @staticmethod
    def _sides(values, placements):
        """Returns those that are no gradients, and of what the gradients are."""
        plain = [(value, placements[value.name]) for value in values if value.kind != "gradient"]
        return plain, [value.path for value in values if value.kind == "gradient"]

    def __deepcopy__(self, memo):
        return self  # of all copies of a module

    def new_seed(self):
        return new_seed(self.generator)

    def as_planned(self):
        """The casts of torch.autocast are a part of the program."""
        return torch.autocast(self.device.type, enabled=False)

    def forward(self, tensors):
        """Takes and returns local tensors."""
        given = {x.untyped_storage().data_ptr() for x in tensors}
        with self.as_planned():
            made = list(self.graph(*(_signless(x) for x in tensors)))
        for i, (value, _) in enumerate(self.results):
            # the graph may return an argument or a view of one, which its caller may write
            x = made[i].clone() if made[i].untyped_storage().data_ptr() in given else made[i].contiguous()
            made[i] = x if x.dtype == value.dtype else x.view(value.dtype)
        return made

    def __call__(self, tensors):
        """Takes tensors in the order of the arguments, and returns DTensors in that of the results. What the program
        writes has its new values behind it."""
        with contextlib.nullcontext() if self.gradients else torch.no_grad():
            # those without a gradient keep None, and not zeros
            own = [x if value.name in self.gradients else x.detach() for x, (value, _) in zip(tensors, self.arguments)]
            locals_ = [_local(x, self.mesh, placements, self.device) for x, (_, placements) in zip(own, self.arguments)]
            found = _WithGradient.apply(self, *locals_) if self.gradients else self.forward(locals_)
            made = [
                DTensor.from_local(x, self.mesh, placements, run_check=False, shape=torch.Size(value.shape), stride=_strides(value.shape))
                for x, (value, placements) in zip(found, self.results)
            ]
        names = [value.name for value, _ in self.arguments]
        with torch.no_grad():
            for new, (value, _) in zip(made, self.results):
                if value.kind == "update":
                    old = tensors[names.index(value.path)]
                    old.copy_(new.redistribute(self.mesh, old.placements) if isinstance(old, DTensor) else new.full_tensor())
        return made


def _distributed(module, placements, mesh):
    """Returns a copy of the module whose parameters and buffers are DTensors with these placements, of the values that
    rank 0 of the mesh has."""

    def made(name, tensor):
        own = tensor.detach() if tensor.is_meta else tensor.detach().to(_device(mesh))
        # a copy, because distribute_tensor keeps whole tensors where they are
        own = own.clone() if own.data_ptr() == tensor.data_ptr() and not own.is_meta else own
        return distribute_tensor(own, mesh, placements[name])

    return copied_module(module, made)


class _Planned:
    """The forward of a copy of a module. It is of the class, so that copies of the copy run with their own parameters."""

    def forward(self, *args, **kwargs):
        program, call = self.program, self._planned_call
        return call.results_of(program(call.tensors_of("forward", args, kwargs, self, program.new_seed)))


def parallel_module(call, placements, program, module):
    """Returns a copy of the module with DTensors, whose forward runs the program. Hooks of the module itself are a part of
    the program."""
    made = _distributed(module, placements, program.mesh)
    for hooks in ("_forward_hooks", "_forward_pre_hooks", "_forward_hooks_with_kwargs", "_forward_pre_hooks_with_kwargs", "_forward_hooks_always_called"):
        getattr(made, hooks).clear()
    kind = type(module)
    made.__class__ = type(kind.__name__, (_Planned, kind), {"__module__": kind.__module__, "__doc__": kind.__doc__})
    made.__dict__.pop("forward", None)  # of a module that was given one of its own
    made.__dict__.update(program=program, _planned_call=call)
    return made


def parallel_function(call, placements, program, function):
    @functools.wraps(function)
    def run(*args, **kwargs):
        return call.results_of(program(call.tensors_of(getattr(function, "__name__", "function"), args, kwargs, None, program.new_seed)))

    run.program = program
    return run
