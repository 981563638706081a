"""Names of arguments and results, and patterns over them."""
import difflib
import fnmatch
import inspect
import itertools
import warnings


def parameter_names(function, n):
    """Returns the names of the first n positional parameters; "argK" where they have none."""
    names = []
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = ()
    for p in parameters:
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            names.append(p.name)
        elif p.kind == p.VAR_POSITIONAL:
            names += ["%s/%d" % (p.name, i) for i in range(n - len(names))]
    return (names + ["arg%d" % i for i in range(len(names), n)])[:n]


def free(name, taken):
    """Returns the name if it is not taken, else the first of name#2, name#3, ... that is not."""
    return next(n for n in itertools.chain([name], ("%s#%d" % (name, i) for i in itertools.count(2))) if n not in taken)


def leaf_names(head, paths):
    """Returns the names of the leaves of one argument, whose paths in it are texts ("" of an argument
    that is a leaf), in order. Of leaves with the same path the second one ends in "#2": x of
    {"a": {"b": y}, "a/b": x}."""
    names = {}  # in order
    for path in paths:
        names[free("%s/%s" % (head, path) if path else head, names)] = None
    return list(names)


def result_head(heads):
    """Returns the name of the result of a function whose arguments have these names: "result", or
    "result#2" if a parameter is called so."""
    return free("result", {head.split("/")[0] for head in heads})


def difference(names, heads, args, names_of):
    """Returns a text about the first difference of arguments from those that a plan is for. `names` has
    the names of its leaves, `heads` those of its arguments; names_of(head, argument) returns those of
    one argument."""
    if len(args) != len(heads):
        few = "1 argument is" if len(args) == 1 else "%d arguments are" % len(args)
        return "%s given, but the plan is for %d: %s" % (few, len(heads), ", ".join(heads))
    given = [name for head, arg in zip(heads, args) for name in names_of(head, arg)]
    more = [name for name in given if name not in names]
    for name in names:
        inside = [other for other in given if other.startswith(name + "/")]
        if inside and name not in given:
            return '"%s" is a list or another container; give an array' % name
        if name not in given:
            return '"%s" is missing%s' % (name, suggestion(name, more) if more else "")
    # all that the plan is for is there, so no name of it was meant
    return '"%s" is none of the plan; leave it out, or plan again with it' % more[0] if more else "other containers hold the same leaves"


def suggestion(name, names):
    """Returns "; did you mean ..." with the names that are most like it, or all there are."""
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    if near:
        return "; did you mean %s?" % " or ".join('"%s"' % n for n in near)
    shown = ", ".join('"%s"' % n for n in names[:8])
    return "; names are %s%s" % (shown, ", ..." if len(names) > 8 else "")


def matches(pattern, names, what):
    """Returns the indices of the names that match. What is no name also matches as the begin of a path:
    "params" is all of "params/...". Raises ValueError if there is none."""
    if not isinstance(pattern, str):
        raise TypeError("%s: %r is no name; %s" % (what, pattern, suggestion("", names)[2:]))
    is_path = pattern not in names
    found = [i for i, n in enumerate(names) if fnmatch.fnmatchcase(n, pattern) or is_path and n.startswith(pattern + "/")]
    if not found:
        raise ValueError('%s: the pattern "%s" matches no name%s' % (what, pattern, suggestion(pattern, names)))
    return found


def updated_arguments(arguments, donated, results):
    """Pairs donated arguments with their new values among the results: {result: argument}.

    `arguments` and `results` are lists of (name, type), `donated` has indices of arguments. The new
    value has the same type, and of such results the path whose end is most like that of the
    argument: as many equal last components as possible, then as few others as possible. Those without
    an equal component are paired in their order, as JAX does for all, if as many results of the type
    are left. A donated argument without a new value is warned of.
    """

    def likeness(a, r):
        left, right = arguments[a][0].split("/")[::-1], results[r][0].split("/")[::-1]
        same = 0
        while same < min(len(left), len(right)) and left[same] == right[same]:
            same += 1
        return same, -abs(len(right) - same)

    of_type = {a: [r for r in range(len(results)) if results[r][1] == arguments[a][1]] for a in donated}
    pairs = sorted(((likeness(a, r), a, r) for a in donated for r in of_type[a]), key=lambda p: ([-x for x in p[0]], p[1:]))
    taken, done = {}, set()
    for (same, _), a, r in pairs:
        if a not in done and r not in taken and same > 0:
            taken[r] = a
            done.add(a)
    for kind in dict.fromkeys(arguments[a][1] for a in donated):
        a_left = [a for a in donated if a not in done and arguments[a][1] == kind]
        r_left = [r for r in range(len(results)) if r not in taken and results[r][1] == kind]
        if len(a_left) == len(r_left):
            taken.update(zip(r_left, a_left))
            done.update(a_left)
    left = [arguments[a][0] for a in donated if a not in done]
    if left:
        warnings.warn("donated, but no result is seen to be the new value: %s" % ", ".join(left), stacklevel=4)
    return taken
