"""A plan of a JAX function, and the call that makes one."""
import dataclasses

import jax
import numpy
from jax import tree_util
from jax.sharding import AxisType, Mesh

from .. import _library
from .._exported import stablehlo_text
from .._names import difference
from .._plan import BasePlan, check_options, load_layouts, plan_text, positions, unknown_text
from ..errors import Error, a_type
from ._export import export, is_planning
from ._jitted import Jitted
from ._leaves import leaf_names
from ._packed import called, packed
from ._run import run_here
from ._specs import boundary_mesh, boundary_names, boundary_spec, mesh_devices, mesh_sizes, partition_spec

SAVED = "tpshard.jax/1"


def plan(
    function, args, *others, mesh=None, topology="cpu", memory_limit=None, pin=None, params=(), state=(), donate_argnums=(),
    static_argnums=(), progress=None, **options,
):
    """Plans a function on a mesh and returns the `Plan`.

    function:       a JAX function of positional arguments, jitted or not. It is traced, not run. Give
                    a whole training step: a planned function has no gradient.
    args:           tuple of its arguments; shapes are enough (jax.ShapeDtypeStruct).
    mesh:           {"dp": 2, "tp": 4}, the axes from the slowest links to the fastest, or a mesh of JAX,
                    on whose devices `Plan.jit` then runs.
    topology:       the cost model: "cpu", "h100", "h200", "a100", "pcie4", "torus64k" or a topology
                    file (docs/reference/topology.md).
    memory_limit:   bytes of one device, as a number or "80GB"; "topology": that of the topology.
    pin:            {pattern: PartitionSpec} of arguments and results that the plan must have. None in
                    a spec, and an entry that is missing, is not split; P.UNCONSTRAINED is open. Of
                    two patterns that match a name the last one counts. Also `load(file)`.
    params, state:  which arguments are weights, and state of an optimizer: a pattern, the number of an
                    argument, or a list of these. Nothing is guessed from names. Roles do not change
                    what plans are possible; memory reports list weights, and a weight that is gathered
                    is remarked on.
    donate_argnums: numbers of arguments whose new values are results. Both get one layout, so that
                    the results of a step are the arguments of the next one. The new value is the
                    result of the same type whose path ends like that of the argument.
    static_argnums: as of jax.jit.
    progress:       called with the name of each pass before it runs.
    options:        others of the pipeline tp-plan, with "_" for "-": strategy="follow",
                    objective="bytes", effort=4, time_limit=60 (docs/reference/passes.md).
                    boundary="even", the default here, splits arguments and results by whole axes
                    that divide their dimensions, as JAX requires; inside of the function any
                    layout is possible. "whole" lets them be uneven: `jit` then takes them whole
                    along that dimension. "any" lets parts of axes split them, too.

    Raises `tpshard.Refused` with op, file and line for an op that is not supported,
    `tpshard.Infeasible` if no plan has these pins within this memory, ValueError for a pattern
    without a match, an axis that the mesh lacks or a spec with too many entries.
    """
    if len(others) == 1 and mesh is None:
        (mesh,) = others
    elif len(others) > 1:
        raise TypeError("plan: %r is one argument too many; give options by name, such as topology=\"h100\"" % (others[1],))
    elif others or mesh is None:
        raise TypeError('plan: give the function, its arguments as one tuple, and a mesh: plan(function, (x, w), mesh={"tp": 4})')
    if not callable(function):
        instead = ", such as its apply" if hasattr(function, "apply") else " of JAX, not what it returns"
        raise TypeError("function: is %s; give a function%s" % (a_type(function), instead))
    if not isinstance(args, (tuple, list)):
        raise TypeError("args: is %s; give a tuple with the arguments of the function" % a_type(args))
    check_options(topology, memory_limit, options, OTHER_NAMES, _unknown)
    sizes = mesh_sizes(mesh)
    donated, static = positions("donate_argnums", donate_argnums, len(args)), positions("static_argnums", static_argnums, len(args))
    exported = export(function, tuple(args), sizes, params, state, pin, donated, static)
    named, made = plan_text(exported.text, sizes, topology, memory_limit, options, progress, _unknown)
    return Plan(function, exported, args, sizes, named, made, donated, static, mesh_devices(mesh))


# what users of jax.jit and of other planners write
OTHER_NAMES = {
    "in_shardings": "give pin={name: PartitionSpec}",
    "out_shardings": "give pin={name: PartitionSpec}",
    "in_specs": "give pin={name: PartitionSpec}",
    "out_specs": "give pin={name: PartitionSpec}",
    "donate": "did you mean donate_argnums?",
    "donate_argnames": "give donate_argnums, or use tpshard.jax.jit",
    "static_argnames": "give static_argnums, or use tpshard.jax.jit",
}


def _unknown(name):
    """Text about a parameter that `plan` does not have."""
    other = "bind those of the function by functools.partial; docs/reference/passes.md lists the options of tp-plan"
    return unknown_text(name, plan, OTHER_NAMES, other)


def _closed(function):
    """The function, which says what to do when its gradient or its jax.vmap is asked for."""

    def refuse_gradient(*_):
        raise Error("a planned function has no gradient; plan the function that calls jax.grad, such as the whole training step")

    def refuse_map(*_):
        raise Error("a planned function cannot be mapped; plan the function that calls jax.vmap")

    graded = jax.custom_vjp(function)
    graded.defvjp(refuse_gradient, refuse_gradient)
    made = jax.custom_batching.custom_vmap(graded)
    made.def_vmap(refuse_map)
    return made


def load(path):
    """Returns the pins of a plan that `Plan.save` wrote: `plan(..., pin=load("plan.json"))` gives
    arguments and results the layouts of that plan. Raises ValueError for another file."""
    return load_layouts(path, SAVED)


class Plan(BasePlan):
    """The plan of a function on a mesh.

    cost:      modelled seconds of one execution, which the planner minimized
    bound:     seconds; certified, no plan costs less
    memory:    the most bytes that a device holds at any time
    mesh:      {axis: size}; devices: their number
    in_specs:  pytree of PartitionSpec, a tuple with an entry for each argument that is not static
    out_specs: the same of the results
    layouts:   {name: layout as text} of all arguments and results, with parts of axes
    collectives: those of the report, a list of dicts (docs/reference/plan-report.md)
    remarks:   diagnostics (`tpshard.Diagnostic`) about what is large
    details:   the whole report as a dict (docs/reference/plan-report.md); the first use looks for
               other plans, which takes longer than the plan
    text:      the planned program as MLIR

    in_specs and out_specs raise `tpshard.Error` if a layout has no PartitionSpec: one that splits by
    a part of an axis; `jit` takes it. A dimension that its axes do not divide has one; arguments and
    results of `jit` are whole along it.
    """

    def __init__(self, function, exported, args, sizes, options, made, donate_argnums, static_argnums, own_devices):
        super().__init__(exported.text, exported.names, sizes, options, made, SAVED)
        self._own_devices = own_devices  # of the mesh, or None
        self._function, self._export = function, exported
        self._donate_argnums, self._static_argnums = donate_argnums, static_argnums
        self._static = {i: args[i] for i in static_argnums}

    def _specs(self, entries, avals, tree):
        specs = [partition_spec(e, e["name"], len(a.shape)) for e, a in zip(entries, avals)]
        return tree_util.tree_unflatten(tree, specs)

    @property
    def in_specs(self):
        return self._specs(self._arguments, self._export.avals, self._export.tree)

    @property
    def out_specs(self):
        return self._specs(self._results, self._export.result_avals, self._export.result_tree)

    def _shardings(self, what, devices):
        """NamedSharding of arguments and results on a mesh of these devices."""
        if devices is not None and not hasattr(devices, "__iter__"):
            raise TypeError("%s: devices is %r; give a list of devices, such as jax.devices()[:4]" % (what, devices))
        own = self._own_devices
        devices = list(own or jax.devices()) if devices is None else list(devices)
        if len(devices) != self.devices:
            more = "XLA_FLAGS=--xla_force_host_platform_device_count=%d, set before jax is imported, makes as many of the CPU"
            fewer = "or choose some by devices=, such as jax.devices()[:%d]"
            raise ValueError(
                "%s: the plan is for %d devices, but there are %d; plan for another mesh; %s"
                % (what, self.devices, len(devices), (more if len(devices) < self.devices else fewer) % self.devices)
            )
        if own and devices != own:
            at = next(i for i, pair in enumerate(zip(devices, own)) if pair[0] != pair[1])
            raise ValueError(
                "%s: devices[%d] is %s, but device %d of the mesh of the plan is %s; leave out devices, or plan for mesh=%r"
                % (what, at, devices[at], at, own[at], self.mesh)
            )
        cut = boundary_mesh(self._arguments + self._results, self.mesh)
        axes = boundary_names(cut)
        shape, names, kinds = tuple(axes.values()), tuple(axes), (AxisType.Auto,) * len(axes)
        if own:  # in this order; jax.make_mesh chooses one by the links
            mesh = Mesh(numpy.array(own).reshape(shape), names, axis_types=kinds)
        else:
            mesh = jax.make_mesh(shape, names, axis_types=kinds, devices=devices)

        def placed(entries, avals, tree):
            specs = [boundary_spec(e, len(a.shape), self.mesh, cut) for e, a in zip(entries, avals)]
            return tree_util.tree_unflatten(tree, [jax.sharding.NamedSharding(mesh, spec) for spec in specs])

        return (
            placed(self._arguments, self._export.avals, self._export.tree),
            placed(self._results, self._export.result_avals, self._export.result_tree),
        )

    def stablehlo(self):
        """Returns the per-device program as the text of a StableHLO module, whose collectives are
        those of the plan."""
        return stablehlo_text(self.text, self._options)

    def constrained(self):
        """Returns the function as the text of a StableHLO module in which the plan stands as
        sdy.sharding_constraint ops, for a partitioner of your choice. Plans again."""
        return _library.run(self._export.text, "tp-constrain", self._options).program

    def export(self, path=None, devices=None, flat=False):
        """Returns the per-device program as `jax.export.Exported`, and writes it to `path` if that is
        given. Whoever has JAX and as many devices can load and run it, without tpshard:

            step = jax.export.deserialize(open("step.jaxexport", "rb").read()).call

        devices: as of `jit`.
        flat:    the program takes the leaves of the arguments, one after the other, and returns a tuple
                 of the leaves of the results, as jax.tree.leaves gives them. No types are in the file.

        Raises as `jit`, and `tpshard.Error` if a file cannot name the type of an argument or a result,
        such as the state of an optimizer, because JAX has no name for it yet. What it returns has no
        gradient.
        """
        exported, shardings = self._export, self._shardings("export", devices)
        if flat:
            shardings = [tuple(tree_util.tree_leaves(s)) for s in shardings]
            trees = [tree_util.tree_structure(s) for s in shardings]
            exported = dataclasses.replace(exported, tree=trees[0], result_tree=trees[1])
        made = packed(self.stablehlo(), exported, *shardings, self._function)
        if path is not None:
            try:
                data = made.serialize()
            except ImportError as error:
                raise Error("export: %s: pip install flatbuffers" % error) from error
            except ValueError as error:
                raise Error("export: %s Whoever loads the file does the same. Or give flat=True." % error) from error
            with open(path, "wb") as file:
                file.write(data)
        return made

    def jit(self, devices=None, by="plan"):
        """Returns the function as a jitted function with the layouts of the plan for arguments and
        results. Arguments may lie anywhere: each call moves those that were placed in another way.

        devices: as many as the mesh has, in its order. Unless given those of the mesh of JAX that the
                 plan is for, else all devices of the process.
        by:      "plan": XLA runs the per-device program with the collectives of the plan.
                 "constraints": XLA partitions the function, whose values have the layouts of the plan
                 as sharding constraints, and chooses the collectives. Plans again.
                 "xla": XLA partitions the function, and is given the layouts of arguments and results
                 alone.

        JAX has no uneven arguments and results: along a dimension that its axes do not divide they
        are whole, and each device takes its part inside. Where layouts name parts of axes, the mesh
        of the shardings has these as axes, "tp:(1)2".

        Raises `tpshard.Error` for a layout of partial sums; ValueError for another number of devices, and
        for other devices than those of the mesh of JAX that the plan is for.
        """
        if by not in ("plan", "constraints", "xla"):
            raise ValueError('jit: by="%s" is not known; there are "plan", "constraints" and "xla"' % by)
        ins, outs = self._shardings("jit", devices)
        if by != "xla":
            text = self.stablehlo() if by == "plan" else self.constrained()
            program = _closed(called(text, self._export, ins, outs, self._function))

            def run(*args):
                return program(*(arg for i, arg in enumerate(args) if i not in self._static_argnums))

        else:
            run = self._function
        jitted = jax.jit(run, in_shardings=ins, out_shardings=outs, donate_argnums=self._donate_argnums, static_argnums=self._static_argnums)
        check = lambda args: self._check_structure("jit", [arg for i, arg in enumerate(args) if i not in self._static_argnums])
        return Jitted(jitted, self._function, check, ins, self._static_argnums, self._donate_argnums)

    def __call__(self, *args, **kwargs):
        raise TypeError("a plan is no function; plan.jit() returns the planned function, and plan.run_here(...) runs it on this machine")

    def _check_structure(self, what, args):
        if tree_util.tree_structure(tuple(args)) != self._export.tree:
            dynamic = [head for i, head in enumerate(self._export.heads) if i not in self._static_argnums]
            raise ValueError("%s: %s" % (what, difference(self._export.names, dynamic, args, leaf_names)))

    def _whole(self, *args):
        """Calls the function, without plans inside of it, with its arguments that are not static."""
        dynamic = iter(args)
        with is_planning(True):
            return self._function(*(self._static[i] if i in self._static else next(dynamic) for i in range(len(self._export.heads))))

    def run_here(self, *args):
        """Runs the planned program on as many ranks of this machine as the mesh has devices, through
        libtprt, and compares the results with those of one device and with those of JAX: it runs the
        function itself, on the CPU.

        args: as of the function, without static ones; arrays of the shapes and types of the plan.

        Returns the results as the pytree of the function, with numpy arrays; of keys their words, as
        jax.random.key_data. Raises `tpshard.Mismatch` if results differ, and `tpshard.IllConditioned`
        if rounding alone changes some so much that they cannot be verified; both name them, and have
        what was computed as `results`. Raises `tpshard.Error` if the run fails, ValueError for other
        arguments. What is compared, and how closely, says `shard-run --help`.
        """
        leaves = tree_util.tree_leaves(tuple(args))
        self._check_structure("run_here", args)
        return run_here(self.text, self._options, self._export, self._whole, leaves)
