"""overlap_trace.py PREFIX RANKS: checks in the traces of all ranks that asynchronous collectives
overlap contractions.

Start, contractions and wait are calls of one thread, so their order is that of the program and does
not depend on timing. A collective runs between the begin of its start and the end of its wait, in
any thread."""
import json
import sys

prefix, n_ranks = sys.argv[1], int(sys.argv[2])
orders = []
for rank in range(n_ranks):
    with open(f"{prefix}-{rank}-of-{n_ranks}.json") as file:
        events = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X"]
    assert all(e["pid"] == rank for e in events)
    calls = sorted((e for e in events if e["tid"] == 0), key=lambda e: e["ts"])
    ran = {}
    for e in events:
        if e["tid"] == 1:
            ran.setdefault(e["args"]["site"], []).append(e)
    for one, next_one in zip(calls, calls[1:]):
        assert one["ts"] + one["dur"] <= next_one["ts"] + 0.001, "calls of one thread"
    n_started, n_beside, waits_of = 0, 0, {}
    for i, call in enumerate(calls):
        if not call["name"].startswith("start "):
            continue
        site, kind = call["args"]["site"], call["name"][len("start "):]
        wait = next(k for k in range(i, len(calls)) if calls[k]["name"] == "wait " + kind and calls[k]["args"]["site"] == site)
        turn = waits_of[site] = waits_of.get(site, -1) + 1
        work = ran[site][turn]
        assert work["name"] == kind and call["ts"] <= work["ts"], "it ran before it was started"
        assert work["ts"] + work["dur"] <= calls[wait]["ts"] + calls[wait]["dur"] + 0.001, "it ran after it was waited for"
        n_started += 1
        n_beside += sum(c["name"] == "contract" for c in calls[i + 1:wait])
    orders.append([(c["name"], c["args"]["site"]) for c in calls])
    print(f"rank {rank}: {len(calls)} calls, {n_started} collectives started, {n_beside} products beside them")
assert all(order == orders[0] for order in orders), "the ranks start in one order"
