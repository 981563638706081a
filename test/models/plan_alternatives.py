#!/usr/bin/env python3
"""plan_alternatives.py SHARD_OPT MODELS N NAME...: checks that the alternatives in a plan report
equal what the planner finds for the modified program.

Each annotation that the report gives for a next-best plan is inserted into the program; each
annotation that it calls costly is removed. The program is planned, and its cost must equal that of
the report, to the picosecond. (So must its bound: all are proven.) If the report says that a price
is not exact, the annotation makes the planner offer more strategies; then the plan must not cost
more. NAME@memory-limit=...B plans within that limit, and no such plan may exceed it."""
import json
import os
import re
import subprocess
import sys
import tempfile

PREPARE = "builtin.module(tp-decompose,tp-inline-calls,tp-raise,tp-hoist-invariants)"
CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}


def group_end(text, at):
    """Returns the position after the bracket that closes the one at `at`; ignores strings and
    arrows."""
    stack = []
    while True:
        c = text[at]
        if c == '"':
            at = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, at).end()
            continue
        if text.startswith("->", at) or text.startswith(">=", at):
            at += 2
            continue
        if c in CLOSING:
            stack.append(CLOSING[c])
        elif stack and c == stack[-1]:
            stack.pop()
            if not stack:
                return at + 1
        at += 1


def skip_space(text, at):
    while text[at].isspace():
        at += 1
    return at


def op_parts(text, line):
    """Returns start and end of the properties, and of the attributes, of the generic-form op that
    starts in this line (counted from 1). Empty parts are at the position where they would be."""
    start = 0
    for _ in range(line - 1):
        start = text.index("\n", start) + 1
    at = re.compile(r'[^"\n]*"[\w.]+"').match(text, start).end()
    at = group_end(text, at)
    properties = (at, at)
    at = skip_space(text, at)
    if text.startswith("<{", at):
        properties = (at + 1, group_end(text, at + 1))
        at = skip_space(text, properties[1] + 1)
    if text.startswith("({", at):
        at = skip_space(text, group_end(text, at))
    attributes = (at, group_end(text, at)) if text[at] == "{" else (at, at)
    return properties, attributes


def split(inner):
    """Splits a list at commas outside of brackets."""
    entries, first, at = [], 0, 0
    while at < len(inner):
        if inner[at] in CLOSING:
            at = group_end(inner, at)
        elif inner[at] == '"':
            at = re.compile(r'"(?:[^"\\]|\\.)*"').match(inner, at).end()
        elif inner[at] == ",":
            entries.append(inner[first:at].strip())
            first = at = at + 1
        else:
            at += 1
    return entries + [inner[first:].strip()] if inner.strip() else []


def with_entry(dictionary, key, value):
    """Returns the dictionary `{...}` with this entry, or without it if the value is None."""
    entries = [e for e in split(dictionary[1:-1]) if e.split("=")[0].strip() != key]
    return "{%s}" % ", ".join(entries + ["%s = %s" % (key, value)] * (value is not None))


def annotate_op(text, pin, sharding, factors):
    _, (a, b) = op_parts(text, int(pin["location"].split(":")[-2]))
    attributes = with_entry(with_entry(text[a:b] or "{}", "tp.sharding", sharding), "tp.factors", factors)
    return text[:a] + " " + attributes + " " + text[b:]


def annotate_boundary(text, pin, sharding):
    (a, b), _ = op_parts(text, int(pin["location"].split(":")[-2]))
    entries = dict(e.split(" = ", 1) for e in split(text[a + 1 : b - 1]))
    name = {"argument": "arg_attrs", "result": "res_attrs"}[pin["place"]]
    inputs, outputs = re.match(r"\((.*)\) -> (.*)$", entries["function_type"]).groups()
    outputs = outputs[1:-1] if outputs.startswith("(") else outputs
    n = len(split(inputs if name == "arg_attrs" else outputs))
    values = split(entries[name][1:-1]) if name in entries else ["{}"] * n
    values[pin["number"]] = with_entry(values[pin["number"]], "tp.sharding", sharding)
    entries[name] = "[%s]" % ", ".join(values)
    return text[:a] + "{%s}" % ", ".join("%s = %s" % e for e in entries.items()) + text[b:]


def annotate(text, pin, sharding, factors):
    return annotate_op(text, pin, sharding, factors) if pin["place"] == "op" else annotate_boundary(text, pin, sharding)


def opened(sharding):
    """Returns a constraint without effect: every dimension is open."""
    dims = re.search(r"dims = (\[.*\])", sharding)
    return "[%s]" % ", ".join('["?"]' for _ in split((dims.group(1) if dims else sharding)[1:-1]))


def taken_away(text, group):
    """Returns the program without a group of annotations."""
    pin = group["annotation"]
    without = opened(pin["sharding"]) if pin["op"] == "shard.shard" else None
    for number in group["numbers"] or [None]:
        text = annotate(text, dict(pin, number=number), without, None)
    return text


def run(shard_opt, source, pipeline, target):
    subprocess.run([shard_opt, source, "--mlir-print-op-generic", "--pass-pipeline=" + pipeline, "-o", target], check=True,
                   stderr=subprocess.DEVNULL)


class Checked:
    def __init__(self, shard_opt, folder, options):
        self.shard_opt, self.folder, self.options = shard_opt, folder, options
        self.done, self.inexact, self.groups, self.wrong = 0, 0, 0, []

    def plan(self, text):
        source, target = os.path.join(self.folder, "changed.mlir"), os.path.join(self.folder, "planned.mlir")
        open(source, "w").write(text)
        run(self.shard_opt, source, "builtin.module(tp-propagate{%s})" % self.options, target)
        plan = re.search(r"tp\.plan = \{bound_ps = (\d+) : i64, cost_ps = (\d+)[^}]*peak_memory = (\d+)", open(target).read())
        limit = re.search(r"memory-limit=(\d+)B", self.options)
        if limit and int(plan.group(3)) > int(limit.group(1)):
            self.wrong.append("within %s bytes a plan holds %s" % (limit.group(1), plan.group(3)))
        return int(plan.group(2)), int(plan.group(1))

    def check(self, text, what, cost, bound, exact=True):
        got, want = self.plan(text), (round(cost * 1e12), round(bound * 1e12))
        self.done += 1
        self.inexact += not exact
        if got[0] > want[0] if not exact else got != want:
            self.wrong.append("%s: the report says cost and bound %s, planning gives %s" % (what, want, got))


    def check_without(self, text, groups, price, name):
        """Checks the price of a program without these groups of annotations, if it has one and the report tells where all stand."""
        if price["cost_without_seconds"] is None or any(g["count"] > max(1, len(g["numbers"])) for g in groups):
            return
        for group in groups:
            text = taken_away(text, group)
        self.groups += any(g["count"] > 1 for g in groups)
        # within a memory limit, planning itself may search longer
        exact = "memory-limit=" not in self.options
        self.check(text, "%s: without %s" % (name, groups), price["cost_without_seconds"], price["bound_without_seconds"], exact)


def wrong_worths(function):
    """Checks that decisions are sorted by worth, and that no alternative costs less than the
    worth."""
    worths = [d["worth_seconds"] for d in function["decisions"]]
    if worths != sorted(worths, reverse=True) or any(w <= 0 for w in worths):
        yield "decisions are not sorted, or worth nothing"
    for c in function["collectives"]:
        pin = c["alternative"] and c["alternative"]["annotation"]
        for d in function["decisions"] if pin else []:
            same = (d["kind"], d["number"], d["location"], d["value"]) == (pin["place"], pin["number"], pin["location"], pin["value"])
            if same and c["alternative"]["extra_seconds"] < d["worth_seconds"] - 1e-13:
                yield "deciding %s otherwise is worth %g, but costs %g" % (d["location"], d["worth_seconds"], c["alternative"]["extra_seconds"])


def check_model(shard_opt, models, n, name, options):
    with tempfile.TemporaryDirectory() as folder:
        source, report = os.path.join(folder, "before.mlir"), os.path.join(folder, "plan.json")
        run(shard_opt, os.path.join(models, name + ".mlir"), PREPARE, source)
        run(shard_opt, source, "builtin.module(tp-propagate{report=%s report-alternatives=%d %s})" % (report, n, options),
            os.path.join(folder, "plan.mlir"))
        text, checked = open(source).read(), Checked(shard_opt, folder, options)
        function, = json.load(open(report))["functions"]
        checked.wrong += ["%s: %s" % (name, text) for text in wrong_worths(function)]
        checked.decisions = len(function["decisions"])
        seen = set()
        for c in function["collectives"]:
            other = c["alternative"]
            if not other or json.dumps(other) in seen:
                continue
            seen.add(json.dumps(other))
            pin = other["annotation"]
            checked.check(annotate(text, pin, pin["sharding"], pin["factors"]), "%s: next best of %s at %s" % (name, c["kind"], c["location"]),
                          other["cost_seconds"], other["bound_seconds"], other["exact"])
        groups = function["annotation_groups"]
        for group in groups:
            checked.check_without(text, [group], group, name)
        if len(groups) > 1:
            checked.check_without(text, groups, function["without_annotations"], name)
        print("%s: %d plans, %d not exact, %d without several annotations" % (name, checked.done, checked.inexact, checked.groups))
        return checked


def main():
    shard_opt, models, n, names = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    done, decisions, wrong = 0, 0, []
    for name in names:
        name, _, options = name.partition("@")
        checked = check_model(shard_opt, models, n, name, options)
        done += checked.done
        decisions += checked.decisions
        wrong += checked.wrong
    print("\n".join(wrong + ["%d plans, %d differ" % (done, len(wrong))]))
    # within a limit, few decisions have alternatives
    free = [name for name in names if "memory-limit=" not in name]
    return bool(wrong) or done < 2 * len(names) or decisions < len(free)


sys.exit(main())
