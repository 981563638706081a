"""What plans of all front ends have in common: the call of the planner, and what its report says."""
import dataclasses
import difflib
import functools
import glob
import inspect
import json
import os
import re

from . import _library
from ._names import suggestion
from .errors import Error, a_type, error_of

# The options of the plan that choose how layouts change, and what is replicated.
OF_PARTITION = ("topology", "objective", "unknown-ops")

UNKNOWN_OPTION = re.compile(r"tp-plan has no option '([^']+)'(?: \(did you mean '([^']*)'\?\))?")


def _scaled(value, units):
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return "%.4g %s" % (value, units[0])


def _seconds(value):
    return _scaled(value * 1e9, ("ns", "us", "ms", "s"))


def _bytes(value):
    return _scaled(value, ("B", "KB", "MB", "GB", "TB"))


def _value(value):
    return str(value).lower() if isinstance(value, bool) else value


def _as_parameters(message):
    """A message of the compiler, in which options of pipelines are those of `plan`."""
    message = re.sub(r"\bmesh=dp=2,tp=4", 'mesh={"dp": 2, "tp": 4}', message)
    message = re.sub(r"\b(unknown-ops|strategy)=(\w+)", lambda m: '%s="%s"' % (m[1].replace("-", "_"), m[2]), message)
    return re.sub(r"\b(memory-limit|time-limit|byte-flops|shard-constants|unknown-ops)\b", lambda m: m[1].replace("-", "_"), message)


def unknown_text(name, function, other_names, other):
    """Returns the message about a parameter that `function` does not have. `other_names` has what to say about names that
    other libraries use, `other` what to say if no parameter is like it."""
    near = difflib.get_close_matches(name, inspect.signature(function).parameters, n=1, cutoff=0.7)
    return "plan() has no parameter %r; %s" % (name, other_names.get(name, "did you mean %s?" % near[0] if near else other))


def positions(what, numbers, count):
    """Returns numbers of arguments, of which there are `count`, as a tuple of positive ones."""
    made = []
    for n in numbers if isinstance(numbers, (tuple, list)) else (numbers,):
        if not isinstance(n, int) or isinstance(n, bool):
            raise TypeError("%s: %r is no number of an argument; give numbers, from 0" % (what, n))
        if not -count <= n < count:
            raise ValueError("%s: there is no argument %r; there are %d" % (what, n, count))
        made.append(n % count)
    return tuple(made)


def check_options(topology, memory_limit, options, other_names, unknown):
    """Raises TypeError or ValueError for a topology or a limit that no plan takes, and for an option with a name of
    another library; unknown(name) returns the message about it."""
    for name in options:
        if name in other_names:
            raise TypeError(unknown(name))
    if not isinstance(topology, (str, os.PathLike)):
        raise TypeError("topology: is %s; give a name, such as \"h100\", or the path of a topology file" % a_type(topology))
    if topology == "host":
        raise ValueError('topology: "host" is a topology of shard-run alone; shard-bench --calibrate -o host.json measures this host, give "host.json"')
    if isinstance(memory_limit, float) and not memory_limit.is_integer():
        raise TypeError("memory_limit: is %r; give a whole number of bytes, or text such as \"1.5GB\"" % memory_limit)


def plan_text(text, sizes, topology, memory_limit, options, progress, unknown):
    """Plans a program, the text of a module, and returns (all options of tp-plan, `Result`). unknown(name)
    returns the message about an option that there is not."""
    given = {"mesh": ",".join("%s=%d" % axis for axis in sizes.items()), "topology": topology, "memory_limit": memory_limit}
    named = {k.replace("_", "-"): _value(v) for k, v in {**given, **options}.items() if v is not None}
    named.setdefault("boundary", "even")
    # without other plans and the graph, which take as long as the plan or longer: Plan.details has them
    quick = {"report-alternatives": 0, "report-graph": "false", **named}
    try:
        made = _library.run(text, "tp-plan", quick, report=True, locations=True, progress=progress)
    except Error as error:
        other = UNKNOWN_OPTION.search(str(error))
        if other:
            raise TypeError(unknown(other[1].replace("-", "_"))) from None
        said = [dataclasses.replace(d, message=_as_parameters(d.message)) for d in error.diagnostics]
        raise error_of(error.status, said) from None
    return named, made


def load_layouts(path, schema):
    """Returns {pattern: layout} of a plan that `BasePlan.save` wrote. Raises ValueError for another file."""
    with open(path, encoding="utf-8") as file:
        try:
            saved = json.load(file)
        except ValueError:
            saved = None
    if not isinstance(saved, dict) or saved.get("schema") != schema:
        raise ValueError("%s was not written by Plan.save; give a file that it wrote" % path)
    return {glob.escape(name): dims for name, dims in saved["layouts"].items()}


class BasePlan:
    """A plan of a program. docs of the plans of front ends say what the attributes are.

    source:  the text of the program
    names:   of its arguments
    sizes:   {axis: size}
    options: of tp-plan
    made:    `Result` of the run that planned it
    schema:  that of the files that `save` writes
    """

    def __init__(self, source, names, sizes, options, made, schema):
        self._source, self._names, self._options, self._schema = source, names, options, schema
        self.mesh, self.text = sizes, made.program
        self.remarks = tuple(d for d in made.diagnostics if d.severity in ("remark", "warning"))
        report = json.loads(made.report)
        main = next(f for f in report["functions"] if f["function"] == "main")
        self.devices = report["devices"]
        self.cost = main["solution"]["cost_seconds"]
        self.bound = main["solution"]["bound_seconds"]
        self.memory = main["memory"]["peak_bytes"]
        self._arguments, self._results = main["arguments"], main["results"]
        self.collectives, self._traffic = main["collectives"], main["traffic"]

    def __repr__(self):
        mesh = ",".join("%s=%d" % axis for axis in self.mesh.items())
        proof = "optimal" if self.cost <= self.bound else "no plan is below %s" % _seconds(self.bound)
        sent = ", ".join("%d %s over %s" % (t["count"], t["kind"], t["axes"]) for t in self._traffic)
        what = mesh, _seconds(self.cost), proof, _bytes(self.memory), sent or "no communication"
        return "<Plan on %s: %s (%s), %s of a device; %s>" % what

    @functools.cached_property
    def _report(self):
        return _library.run(self._source, "tp-plan", self._options, report=True).report

    @property
    def details(self):
        return json.loads(self._report)

    @property
    def layouts(self):
        return {e["name"]: e["sharding"] for e in self._arguments + self._results}

    def explain(self, name):
        """Returns a text about one value: its layout, where each axis comes from, the collectives
        that it causes, and what the plan would cost with its other layouts. `name` is that of a leaf
        of an argument, or FILE:LINE for what this line makes. Plans again, so it takes as long.
        Raises ValueError for another name."""
        if name not in self._names and not re.search(r":\d+$|^%", name):
            raise ValueError('explain: no argument is called "%s"%s' % (name, suggestion(name, self._names)))
        made = _library.run(self._source, "tp-plan", {**self._options, "explain": name})
        said = [d for d in made.diagnostics if d.severity == "remark" and d not in self.remarks]
        return "\n".join(d.message for d in said)

    def report(self, path):
        """Writes the report: a page to look at if `path` ends in .html, a text to read if it ends
        in .md or .txt, JSON if it ends in .json or has no suffix (docs/reference/plan-report.md).
        Raises OSError or `tpshard.Error` if it cannot."""
        path = os.fspath(path)
        if os.path.splitext(path)[1] not in ("", ".json"):
            _library.run(self._source, "tp-plan", {**self._options, "report": os.path.abspath(path)})
            return
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._report)

    def save(self, path):
        """Writes the layouts of arguments and results, for `load`. Gradients have those of other values."""
        entries = [e for e in self._arguments + self._results if e.get("gradient_at", e.get("gradient_of")) is None]
        layouts = {e["name"]: e["dims"] for e in entries if not e["is_partial"]}
        saved = {"schema": self._schema, "mesh": self.mesh, "options": {k: str(v) for k, v in self._options.items()}, "layouts": layouts}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(saved, file, indent=1)
