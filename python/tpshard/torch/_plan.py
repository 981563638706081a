"""A plan of a PyTorch module or function, and the call that makes one."""
import numpy
import torch

from .. import _names
from .._attributes import by_role
from .._exported import stablehlo_text
from .._plan import BasePlan, check_options, load_layouts, plan_text, positions, unknown_text
from .._ranks import run_ranks
from ..errors import a_type
from ._call import Call
from ._computed import computed
from ._module import module_text
from ._parallel import Program, parallel_function, parallel_module
from ._placements import layout_of, mesh_sizes, placements_of
from ._random import new_seed
from ._trace import TENSOR, trace

SAVED = "tpshard.torch/1"

# types of which numpy has no arrays: shard-run reads and writes them as f32, which holds all of their values
_WIDER = dict.fromkeys((torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2), torch.float32)


def plan(
    function, args, *others, kwargs=None, mesh=None, topology="cpu", memory_limit=None, pin=None, params=(), state=(),
    donate_argnums=(), backward=False, progress=None, **options,
):
    """Plans a module or a function on a mesh and returns the `Plan`.

    function:       a torch.nn.Module, whose forward is planned, or a function of tensors, such as a
                    whole training step that calls torch.func.grad. It is traced over shapes, not run.
    args, kwargs:   tuple and dict of its arguments. Tensors in containers are arguments of the plan,
                    everything else is a part of the program. Shapes are enough: module and tensors may
                    lie on torch.device("meta").
    mesh:           {"dp": 2, "tp": 4}, the axes from the slowest links to the fastest, or a DeviceMesh
                    whose dimensions have names.
    topology:       the cost model: "cpu", "h100", "h200", "a100", "pcie4", "torus64k" or a topology
                    file (docs/reference/topology.md).
    memory_limit:   bytes of one device, as a number or "80GB"; "topology": that of the topology.
    pin:            {pattern: layout} of arguments and results that the plan must have. A layout is
                    placements of DTensor, one for each axis of the mesh: [Shard(0), Replicate()]; or it
                    has an entry for each dimension: ("dp", None), where "?" leaves a dimension open.
                    Of two patterns that match a name the last one counts. Also `load(file)`.
    params, state:  which arguments of a function are weights, and state of an optimizer: a pattern, the
                    number of an argument, or a list of these. Parameters of a module are weights.
    donate_argnums: numbers of arguments of a function whose new values are results. Both get one
                    layout, so that the results of a step are the arguments of the next one. The new
                    value is the result of the same type whose path ends like that of the argument.
                    Buffers that a module writes have their new values among the results, too.
    backward:       also plans the backward pass, of all parameters and arguments with requires_grad. Then what
                    `Plan.parallelize` returns has gradients: result.backward() and loss.backward()
                    run the planned backward pass. Gradients have the layouts of their parameters.
    progress:       called with the name of each pass before it runs.
    options:        others of the pipeline tp-plan, with "_" for "-": strategy="follow",
                    objective="bytes", effort=4, time_limit=60 (docs/reference/passes.md).
                    boundary="even", the default here, splits arguments and results by whole axes
                    that divide their dimensions; inside of the program any layout is possible.

    Raises `tpshard.Refused` with op, file and line for an op that is not supported,
    `tpshard.Infeasible` if no plan has these pins within this memory, ValueError for a pattern
    without a match, an axis that the mesh lacks or placements that do not fit.
    """
    if len(others) == 1 and mesh is None:
        (mesh,) = others
    elif len(others) > 1:
        raise TypeError("plan: %r is one argument too many; give options by name, such as topology=\"h100\"" % (others[1],))
    elif others or mesh is None:
        raise TypeError('plan: give the module, its arguments as one tuple, and a mesh: plan(model, (x,), mesh={"tp": 4})')
    if kwargs is not None and not hasattr(kwargs, "items"):
        raise TypeError("kwargs: is %s; give a dict of arguments" % a_type(kwargs))
    if not callable(function):
        raise TypeError("function: is %s; give a module or a function" % a_type(function))
    if not isinstance(args, (tuple, list)):
        raise TypeError("args: is %s; give a tuple with the arguments" % a_type(args))
    check_options(topology, memory_limit, options, OTHER_NAMES, _unknown)
    if backward and donate_argnums != ():
        raise ValueError("backward: a function with donate_argnums is a whole step, which has no backward pass; give one of them")
    sizes = mesh_sizes(mesh)
    for name in ("_orig_mod", "_torchdynamo_orig_callable"):  # of what torch.compile returns
        function = getattr(function, name, function)
    traced = trace(function, tuple(args), dict(kwargs or {}), backward)
    names = [a.name for a in traced.arguments]
    if params == () and isinstance(function, torch.nn.Module):
        params = [i for i in names if i in {a.name for a in traced.arguments if a.kind == "parameter"}]
    numbers = _numbers(traced)
    roles = by_role(params, state, numbers, names)
    updates = _updates(traced, donate_argnums, numbers)
    layouts = _pins(pin, traced.arguments + traced.results, sizes)
    text = module_text(traced, roles, layouts, updates, _gradients(traced))
    named, made = plan_text(text, sizes, topology, memory_limit, options, progress, _unknown)
    return Plan(function, traced, text, sizes, named, made)


# what users of DTensor and of tpshard.jax write
OTHER_NAMES = {
    "device_mesh": "give mesh",
    "placements": "give pin={name: placements}",
    "in_specs": "give pin={name: placements}",
    "out_specs": "give pin={name: placements}",
    "parallelize_plan": "give pin={name: placements}",
    "static_argnums": "arguments that are no tensors are a part of the program anyway",
}


def _unknown(name):
    """Text about a parameter that `plan` does not have."""
    other = "those of the module belong into kwargs; docs/reference/passes.md lists the options of tp-plan"
    return unknown_text(name, plan, OTHER_NAMES, other)


def _numbers(traced):
    """Returns for each argument of the program the number of the user's argument that it is in, or None."""
    of = {}
    for number, head in enumerate(traced.heads):
        of.update({name: number for name, _ in traced.leaves if name == head or name.startswith(head + "/")})
    tensors = [name for name, leaf in traced.leaves if leaf is TENSOR]
    return [of[tensors[a.leaf]] if a.kind == "input" else None for a in traced.arguments]


def _updates(traced, donate_argnums, numbers):
    """Returns {number of a result: number of the argument whose new value it is}."""
    donated = positions("donate_argnums", donate_argnums, len(traced.heads))
    names = [a.name for a in traced.arguments]
    own = {r: names.index(value.path) for r, value in enumerate(traced.results) if value.kind == "update"}
    chosen = [i for i, n in enumerate(numbers) if n in donated and i not in own.values()]
    kinds = [[(v.name, (v.shape, v.dtype)) for v in values] for values in (traced.arguments, traced.results)]
    kinds[1] = [kind if r not in own else (kind[0], None) for r, kind in enumerate(kinds[1])]
    return {**_names.updated_arguments(kinds[0], chosen, kinds[1]), **own}


def _gradients(traced):
    """Returns which values are gradients of which others, as of `_attributes.annotate`."""
    numbers = [{v.name: i for i, v in enumerate(values)} for values in (traced.arguments, traced.results)]
    found = {i: numbers[1][a.path] for i, a in enumerate(traced.arguments) if a.kind == "gradient"}
    n = len(traced.arguments)
    return {**found, **{n + i: numbers[0][r.path] for i, r in enumerate(traced.results) if r.kind == "gradient"}}


def _pins(pin, values, sizes):
    """Returns {number of a value: layout}; of two patterns that match a name, the last one counts."""
    names, layouts = [v.name for v in values], {}
    if pin and not hasattr(pin, "items"):
        raise TypeError('pin: is %s; give {name: placements}, such as {"%s": [Replicate()]}' % (a_type(pin), names[0]))
    for pattern, given in (pin or {}).items():
        for i in _names.matches(pattern, names, "pin"):
            layouts[i] = layout_of(given, len(values[i].shape), sizes, names[i])
    return layouts


def load(path):
    """Returns the pins of a plan that `Plan.save` wrote: `plan(..., pin=load("plan.json"))` gives
    arguments and results the layouts of that plan. Raises ValueError for another file."""
    return load_layouts(path, SAVED)


def _array(tensor):
    """Returns the tensor as shard-run reads it from a file."""
    tensor = tensor.detach().cpu()
    return tensor.to(_WIDER.get(tensor.dtype, tensor.dtype)).resolve_conj().resolve_neg().contiguous().numpy()


class Plan(BasePlan):
    """The plan of a module or a function on a mesh.

    cost:       modelled seconds of one execution, which the planner minimized
    bound:      seconds; certified, no plan costs less
    memory:     the most bytes that a device holds at any time
    mesh:       {axis: size}; devices: their number
    placements: {name: placements of DTensor} of all arguments and results
    layouts:    {name: layout as text} of the same, with parts of axes
    collectives: those of the report, a list of dicts (docs/reference/plan-report.md)
    remarks:    diagnostics (`tpshard.Diagnostic`) about what is large
    details:    the whole report as a dict (docs/reference/plan-report.md); the first use looks for
                other plans, which takes longer than the plan
    text:       the planned program as MLIR

    placements raises `tpshard.Error` if DTensor cannot say a layout: partial sums, a part of an axis,
    or axes of a dimension in another order than that of the mesh.
    """

    def __init__(self, function, traced, text, sizes, options, made):
        super().__init__(text, [a.name for a in traced.arguments], sizes, options, made, SAVED)
        self._function, self._traced = function, traced
        self._module = function if isinstance(function, torch.nn.Module) else None
        self._call = Call(traced)

    @property
    def placements(self):
        return {e["name"]: placements_of(e, self.mesh) for e in self._arguments + self._results}

    def __call__(self, *args, **kwargs):
        raise TypeError("a plan is no function; plan.parallelize(mesh) returns what runs by it, and plan.run_here(...) runs it on this machine")

    def parallelize(self, mesh):
        """Returns the module or function as one that runs by the plan on the ranks of torch.distributed. Each rank runs
        the program of its device with the collectives of the plan.

        mesh: a DeviceMesh with the axes of the plan, such as init_device_mesh("cuda", (2, 4),
              mesh_dim_names=("dp", "tp")). All ranks call this.

        Of a module a copy is returned: its parameters and buffers are DTensors with the placements of the plan, and
        its state_dict has the names of the module. One that lies on torch.device("meta") stays there, until
        to_empty() and load_state_dict(). Arguments may be DTensors, which are redistributed if they lie in another way, or
        tensors that are the same on all ranks. Results are DTensors. Buffers that the module writes are written.
        `program.graph` of what is returned is the torch.fx.GraphModule of this rank; torch.compile of it may
        be assigned to it.

        What is returned has gradients if it was planned with backward=True, and then `program.backward` is the graph of the
        backward pass. Raises `tpshard.Error` as `placements`, `tpshard.Refused` for what PyTorch lacks, ValueError for another
        mesh.
        """
        text = stablehlo_text(self.text, self._options, keeps_attention=True)
        program = Program(text, self._traced, self.placements, self.mesh, mesh)
        return (parallel_function if self._module is None else parallel_module)(self._call, self.placements, program, self._function)

    def run_here(self, *args, **kwargs):
        """Runs the planned program on as many ranks of this machine as the mesh has devices, through
        libtprt, and compares the results with those of one device and with those of PyTorch: it runs
        the module or function itself, on the CPU.

        args, kwargs: as of the module or function, of the shapes and types of the plan. The parameters
                      and buffers of a module are those that it has now.

        Returns the results as the module or function does, on the CPU; of a plan with backward=True (results,
        {name: gradient of the sum of all results}). Buffers that it writes keep their values. Raises `tpshard.Mismatch` if results differ, and `tpshard.IllConditioned`
        if rounding alone changes some so much that they cannot be verified; both name them, and have
        what was computed as `results`. Raises `tpshard.Error` if the run fails, ValueError for other
        arguments. What is compared, and how closely, says `shard-run --help`.
        """
        seed = new_seed()
        tensors = self._call.tensors_of("run_here", args, kwargs, self._module, lambda: seed)
        arrays = [_array(tensor) for tensor in (*tensors, *self._call.ones())]
        names = [r.name for r in self._traced.results]
        expected = lambda: [_array(tensor) for tensor in computed(self._function, self._traced, args, kwargs, seed)]
        found, error = run_ranks(self.text, self._options, arrays, names, expected, "PyTorch")
        tensors = [torch.from_numpy(numpy.ascontiguousarray(a)).to(r.dtype).reshape(r.shape) for a, r in zip(found, self._traced.results)]
        results = self._call.results_of(tensors)
        gradients = {r.path: tensor for r, tensor in zip(self._traced.results, tensors) if r.kind == "gradient"}
        results = (results, gradients) if gradients else results
        if error:
            error.results = results
            raise error
        return results
