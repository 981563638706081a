#!/usr/bin/env python3
"""run_trace.py TRACE.json REPORT.json [OFFSET_NS]: checks the trace of a run against its report.

Each rank makes the calls that the report counts. Collectives are a wait and a transfer, which begins
when the last device of the group came. The track of the model takes as long as the step. With
OFFSET_NS the clock of rank 1 is so far ahead, and only that one."""
import json
import sys

ABOUT = 2e-3  # microseconds: times are rounded to nanoseconds


def texts(value):
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from texts(item)


def order_problems(events):
    """Events of a thread follow each other, or one lies within another."""
    for thread in {(e["pid"], e["tid"]) for e in events}:
        ends = []
        for e in sorted((e for e in events if (e["pid"], e["tid"]) == thread), key=lambda e: (e["ts"], -e["dur"])):
            while ends and ends[-1] <= e["ts"] + ABOUT:
                ends.pop()
            if ends and e["ts"] + e["dur"] > ends[-1] + ABOUT:
                yield "%s of %s overlaps another event" % (e["name"], thread)
            ends.append(e["ts"] + e["dur"])


def meeting_problems(sent):
    meetings = {}
    for e in sent:
        group = (e["args"]["site"], e["args"]["turn"], tuple(sorted([e["pid"]] + e["args"]["peers"])))
        meetings.setdefault(group, []).append(e)
    for (_, _, ranks), events in meetings.items():
        if tuple(sorted(e["pid"] for e in events)) != ranks or len(ranks) < 2:
            yield "the ranks %s do not meet" % (ranks,)
        last = max(e["ts"] for e in events)
        for e in events:
            waited, transferred = e["args"]["waited_us"], e["args"]["transferred_us"]
            there = min(max(last, e["ts"]), e["ts"] + e["dur"])
            if abs(waited - (there - e["ts"])) > ABOUT or abs(waited + transferred - e["dur"]) > ABOUT:
                yield "%s of rank %d waited %s" % (e["name"], e["pid"], e["args"])


def problems(trace, report, offset):
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    n = report["devices"]
    names = {e["pid"]: e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M" and e["name"] == "process_name"}
    if names != {**{r: "rank %d" % r for r in range(n)}, n: "model"}:
        yield "the processes are %s" % names
    if any(e["dur"] < 0 or e["ts"] < -ABOUT for e in events) or trace["otherData"]["lost_calls"]:
        yield "an event is lost, or before the first"
    yield from order_problems(events)
    wanted = {}
    for c in report["collectives"]:
        key = (c["kind"] + " " + c["axes"], c["bytes_per_device"] // c["count"])
        wanted[key] = wanted.get(key, 0) + c["count"]
    for r in range(n + 1):
        counted = {}
        for e in events:
            if e["pid"] == r and e["tid"] == 0 and "peers" in e["args"] and not e["name"].startswith("wait "):
                key = (e["name"].replace("start ", ""), e["args"]["bytes"])
                counted[key] = counted.get(key, 0) + 1
        if counted != wanted:
            yield "process %d has %s, not %s" % (r, counted, wanted)
    yield from meeting_problems([e for e in events if "waited_us" in e["args"]])
    if not any(e["name"] == "compute" and e["pid"] == 0 for e in events):
        yield "nothing is computed"
    length = max(e["ts"] + e["dur"] for e in events if e["pid"] == n)
    if abs(length * 1e-6 - report["modelled_seconds"]) > 1e-6 * report["modelled_seconds"]:
        yield "the model takes %g us" % length
    for clock in trace["otherData"]["clocks"]:
        ahead = offset if clock["rank"] == 1 else 0
        if abs(clock["offset_ns"] - ahead) > clock["error_ns"] or (clock["error_ns"] == 0) != (ahead == 0):
            yield "the clock of rank %d is %s" % (clock["rank"], clock)
    if any("/" in text for text in texts(trace)):
        yield "it names paths"


def main():
    trace, report = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
    wrong = list(problems(trace, report, int(sys.argv[3]) if len(sys.argv) > 3 else 0))
    print("\n".join(wrong[:20] + ["%d problems" % len(wrong)]))
    sys.exit(bool(wrong))


main()
