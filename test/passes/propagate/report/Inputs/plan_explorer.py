#!/usr/bin/env python3
"""plan_explorer.py TABLE REPORT.json GRAPHS.json NODE_DATA.json: checks the files for Model Explorer.

Their fields are those of the table, which is of Model Explorer. Edges lead to nodes that are there.
What they say is compared with the JSON report."""
import collections
import json
import re
import sys

MOST = 80  # ops that are placed together
NAMES = {"string": str, "boolean": bool, "number": (int, float)}


def fields(path):
    table = {}
    for line in open(path, encoding="utf-8"):
        if line.strip() and not line.startswith("#"):
            owner, field, needed, kind = line.split()
            table.setdefault(owner, {})[field] = (needed == "yes", kind)
    return table


def differences(table, value, kind, path):
    if kind[0] == "[":
        if not isinstance(value, list):
            yield "%s is no list" % path
            return
        for i, item in enumerate(value):
            yield from differences(table, item, kind[1:-1], "%s[%d]" % (path, i))
    elif kind[0] == "{":
        for key, item in value.items():
            yield from differences(table, item, kind[1:-1], "%s.%s" % (path, key[:20]))
    elif kind in NAMES:
        if not isinstance(value, NAMES[kind]):
            yield "%s is no %s" % (path, kind)
    else:
        for key in value.keys() - table[kind].keys():
            yield "%s has %s, which %s does not have" % (path, key, kind)
        for field, (needed, own) in table[kind].items():
            if field in value:
                yield from differences(table, value[field], own, "%s.%s" % (path, field))
            elif needed:
                yield "%s has no %s" % (path, field)


def problems(f, graph, data):
    nodes = {node["id"]: node for node in graph["nodes"]}
    ops = f["graph"]["kind"]
    if len(nodes) != len(graph["nodes"]) or len(nodes) != len(ops) + len(f["arguments"]):
        yield "it has %d nodes" % len(nodes)
    edges = {(node["id"], e["sourceNodeId"]) for node in graph["nodes"] for e in node.get("incomingEdges", [])}
    if not {source for _, source in edges} <= nodes.keys():
        yield "an edge comes from nowhere"
    if sum(len(node.get("incomingEdges", [])) for node in graph["nodes"]) != sum(map(len, f["graph"]["operands"])):
        yield "it has other edges than the report"
    sends = [node for node in graph["nodes"] if any(a["key"] == "collective" for a in node.get("attrs", []))]
    if {node["id"] for node in sends} != {"op %d" % k for k in f["graph"]["collectives"]}:
        yield "other ops send"
    for node in sends:
        if "style" not in node or " " not in node["label"]:
            yield "%s does not look like a collective" % node["id"]
    names = [a["description"] for a in f["arguments"]]
    if not set(names) <= {node["label"] for node in graph["nodes"]}:
        yield "an argument has lost its name"
    layers = {node["namespace"] for node in graph["nodes"] if node["namespace"].startswith("layers ")}
    if len({text.split("/layer ")[0] + text.split("/layer ")[1][:4] for text in layers}) != sum(len(run["first"]) for run in f["graph"]["layers"]):
        yield "the layers are %s" % sorted(layers)
    together = collections.Counter(node["namespace"] for node in graph["nodes"] if node["id"].startswith("op "))
    for text, n in together.items():
        if n > MOST:
            yield "%d ops are in %r" % (n, text)
    for node in graph["nodes"]:
        for first, last in re.findall(r"ops (\d+)-(\d+)", node["namespace"]):
            if not int(first) <= int(node["id"].split()[1]) <= int(last):
                yield "%s is in %r" % (node["id"], node["namespace"])
    seconds = sum(result["value"] for result in data["results"].values()) / 1e6
    if abs(seconds - f["step"]["seconds"]) > 1e-9 * f["step"]["seconds"] + 1e-15:
        yield "the ops take %g s, the step %g s" % (seconds, f["step"]["seconds"])
    if not data["results"].keys() <= nodes.keys():
        yield "there are times of other nodes"


def main():
    table = fields(sys.argv[1])
    report, graphs, data = (json.load(open(path, encoding="utf-8")) for path in sys.argv[2:])
    wrong = list(differences(table, graphs, "GraphCollection", "the file"))
    wrong += differences(table, data, "{NodeData}", "the data")
    for f, graph in zip(report["functions"], graphs["graphs"]) if not wrong else []:
        if graph["id"] != f["function"] or f["function"] not in data:
            wrong.append("the graph is called %s" % graph["id"])
        else:
            wrong += problems(f, graph, data[f["function"]])
    for text in wrong[:20]:
        print(text)
    print("%d problems" % len(wrong))
    sys.exit(bool(wrong) or len(graphs["graphs"]) != len(report["functions"]))


main()
