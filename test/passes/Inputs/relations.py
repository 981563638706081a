"""usage: relations.py NAME=SOURCE... -- RELATION...

Checks relations between modelled costs, so that tests do not repeat the figures of the cost model.
RELATION is a Python expression of NAMEs; the exit code is 1 if one is false. SOURCE is one of:

  FILE.mlir            the tp.plan of the only function of FILE: plan.cost_ps, plan.peak_memory, ...
  FILE.mlir@FUNCTION   the same, of one of several functions
  FILE.json            a JSON document: report["functions"][0]["step"]["seconds"]
  FILE~REGEX           the number that group 1 of REGEX matches; REGEX must match once

The bound of a plan must not exceed its cost. Every NAME must occur in a RELATION."""

import json
import re
import sys
import types


def plan(path, function):
    with open(path, encoding="utf-8") as file:
        found = dict(re.findall(r"func\.func (?:public )?@(\w+)\(.*tp\.plan = \{([^}]*)\}", file.read()))
    if not found or (function and function not in found) or (not function and len(found) != 1):
        sys.exit(f"{path}: there is no plan of {function or 'one function'}, but of {list(found)}")
    text = found[function] if function else next(iter(found.values()))
    values = {key: int(value) for key, value in re.findall(r"(\w+) = (-?\d+) : i64", text)}
    if not 0 <= values["bound_ps"] <= values["cost_ps"]:
        sys.exit(f"{path}: the bound of {function or 'the plan'} exceeds its cost: {values}")
    return types.SimpleNamespace(**values)


def number(path, regex):
    with open(path, encoding="utf-8") as file:
        found = re.findall(regex, file.read())
    if len(found) != 1:
        sys.exit(f"{path}: {regex} matches {len(found)} times")
    return float(found[0])


def read(source):
    path, tilde, regex = source.partition("~")
    if tilde:
        return number(path, regex)
    if source.endswith(".json"):
        with open(source, encoding="utf-8") as file:
            return json.load(file)
    path, _, function = source.partition("@")
    return plan(path, function)


def main():
    split = sys.argv.index("--")
    sources, relations = sys.argv[1:split], sys.argv[split + 1 :]
    values = {name: read(source) for name, _, source in (s.partition("=") for s in sources)}
    used = {name for relation in relations for name in re.findall(r"[a-zA-Z_]\w*", relation)}
    if not relations or set(values) - used:
        sys.exit(f"no relation is about {sorted(set(values) - used)}")
    wrong = [relation for relation in relations if eval(relation, dict(values)) is not True]
    for relation in wrong:
        about = {n: v for n, v in values.items() if re.search(rf"\b{n}\b", relation)}
        print(f"does not hold: {relation}", *(f"  {n}: {v}" for n, v in about.items()), sep="\n")
    return bool(wrong)


sys.exit(main())
