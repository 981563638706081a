#!/usr/bin/env python3
"""Measures what the page of a plan costs, and prints a table: user seconds beyond those of planning
without a report, size, time until Chromium shows it, and the longest frame while the timeline and
the graph move. Everything is the least of --repeats runs."""

import argparse
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path[:0] = [os.path.join(ROOT, "bench"), os.path.join(ROOT, "bench", "plans"), os.path.join(ROOT, "test")]
from rows import ROWS  # noqa: E402
from webdriver import Browser  # noqa: E402

SHARD_OPT = os.environ.get("SHARD_OPT", "shard-opt")
FRAMES = 60


def example(path):
    with open(os.path.join(ROOT, "examples", path), encoding="utf-8") as file:
        return file.read()


def stack(*options):
    return subprocess.run([sys.executable, "-B", os.path.join(ROOT, "bench", "compile", "generate.py"), *options, "-o", "-"],
                          check=True, capture_output=True, text=True).stdout


PROGRAMS = [  # name, how to get its text
    ("mlp of the tutorial, 4", lambda: example("tutorial/mlp.mlir")),
    ("llama_block_train, 4x2", lambda: example("models/llama_block_train.mlir")),
    ("training, 4 layers of 7B size, 2x4", lambda: stack("--layers", "4", "--train", "--mesh", "dp=2,tp=4")),
    ("decode 70B, 80 layers, 8", lambda: next(row for row in ROWS if row.number == "20").program()),
    ("training, 80 layers, 8x8", lambda: stack("--layers", "80", "--train", "--mesh", "dp=8,tp=8")),
]

# Moves a view by a step in each frame, and returns the milliseconds of the longest frame.
LONGEST_FRAME = """
const [frames, what, done] = arguments;
const view = document.getElementById(what);
const press = (key) => view.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
const step = {'timeline-view': () => press('PageDown'), 'graph-view': () => (view.scrollTop += 200)}[what];
view.scrollIntoView();
if (what === 'timeline-view') for (const key of ['0', '+', '+', '+', '+', '+', '+']) press(key);
let last = 0, longest = 0, n = -5;  // the first frames are those of the views above
requestAnimationFrame(function frame(now) {
  if (n > 0) longest = Math.max(longest, now - last);
  last = now;
  if (n++ >= frames) return done(longest);
  step();
  requestAnimationFrame(frame);
});
"""
SHOWN = """
const done = arguments[0];
requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())));
"""


def user_seconds(source, options):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([SHARD_OPT, source, "-o", os.devnull, "--pass-pipeline=builtin.module(tp-raise,tp-propagate{topology=h100 %s})" % options],
                   check=True, stderr=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def measure(text, repeats, browser, folder):
    """Returns the cells of a row behind its name."""
    source, page = os.path.join(folder, "in.mlir"), os.path.join(folder, "plan.html")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    plain, alone, full = (min(user_seconds(source, options) for _ in range(repeats))
                          for options in ("", "report=%s report-alternatives=0" % page, "report=%s" % page))
    shown, timeline, graph = [], [], []
    for _ in range(repeats):
        browser.open(page)
        shown.append(browser.wait(SHOWN))
        ops = browser.run("return Number(document.querySelector('#memory-slider').max) + 1")
        timeline.append(browser.wait(LONGEST_FRAME, FRAMES, "timeline-view"))
        graph.append(browser.wait(LONGEST_FRAME, FRAMES, "graph-view"))
    return [f"{ops:,}", f"{plain:.2f}", f"{max(0, alone - plain):.2f}", f"{max(0, full - plain):.2f}", f"{os.path.getsize(page) / 1e6:.2f}",
            f"{min(shown):.0f}", f"{min(timeline):.0f}", f"{min(graph):.0f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="programs whose names begin so")
    given = parser.parse_args()
    print("| program, mesh | ops | plan, s | page, s | page with 4 alternatives, s | MB | shown after, ms | timeline, ms | graph, ms |\n|" + "---|" * 9)
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        for name, text in PROGRAMS:
            if name.startswith(given.only):
                print("| %s | %s |" % (name, " | ".join(measure(text(), given.repeats, browser, folder))), flush=True)


main()
