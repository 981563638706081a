#!/usr/bin/env python3
"""pictures.py [--write] SOURCE: takes the pictures of docs/images that show the page of a plan.

They are made by Chromium from the page that shard-run writes, as SVG: text that can be read in a
diff (picture.js). Without --write they are compared with the committed ones: the same words and
shapes at about the same places, because fonts differ between machines. Of a picture of a measured
run, only words are compared, without their numbers."""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from webdriver import Browser  # noqa: E402

PROGRAM = "examples/tutorial/mlp.mlir"
PICTURES = [  # name, part of the page, description, whether it shows measured times
    ("page_summary", "#summary", "The summary: time, proof, memory and bytes of the plan, and plans with another choice", False),
    ("page_tensors", "#tensors", "The tensors with their layouts, and the part of one that each device has", False),
    ("page_timeline", "#timeline", "The timeline: a run above the model, with lanes for compute and the collective", True),
    ("page_memory", "#memory", "The memory: bytes over the program, and the buffers of the peak", False),
    ("page_graph", "#graph", "The graph: ops in program order with their layouts, and the details of one", False),
]
WIDTH = 1000
TOLERANCE = 30  # of places, in pixels
PLACES = ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height")


def take(source, folder):
    """Returns the pictures by name."""
    page = os.path.join(folder, "plan.html")
    subprocess.run(["shard-run", PROGRAM, "--plan-report=" + page, "--no-verify"], cwd=source, check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(HERE, "picture.js"), encoding="utf-8") as file:
        script = file.read()
    with Browser() as browser:
        browser.command("Emulation.setDeviceMetricsOverride", width=WIDTH, height=1200, deviceScaleFactor=1, mobile=False)
        browser.command("Emulation.setEmulatedMedia", media="print")  # without what can only be clicked
        browser.open(page)
        browser.wait("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        browser.run("document.getElementById('timeline-note').remove();"  # what is said of this run
                    "[...document.querySelectorAll('#summary .note')].find((e) => e.textContent.startsWith('A run took ')).remove()")
        return {name: browser.run(script, part, text) for name, part, text, _ in PICTURES}


def words_of(picture, is_measured):
    """The words of a picture, in the order in which it shows them; of a measured one, which there are."""
    words = " ".join(e.text for e in xml.fromstring(picture).iter() if e.tag.endswith(("}text", "}title"))).split()
    if not is_measured:
        return words
    return sorted({re.sub(r"\d+([.,]\d+)*(e[+-]\d+)?", "#", word) for word in words} - {"ns", "us", "ms", "s"})


def shapes_of(picture):
    """Pairs of what a shape is, and where it is."""
    for e in xml.fromstring(picture).iter():
        kind = e.tag.split("}")[1]
        if kind in ("rect", "line", "path", "circle"):
            yield (kind, e.get("class")), [float(e.get(place)) for place in PLACES if e.get(place)]


def differences(old, new, is_measured):
    """What two pictures differ in, as a text; "" if in nothing."""
    before, now = words_of(old, is_measured), words_of(new, is_measured)
    if before != now:
        at = next((i for i, (a, b) in enumerate(zip(before, now)) if a != b), min(len(before), len(now)))
        return "it says %r, not %r" % (" ".join(before[at : at + 8]), " ".join(now[at : at + 8]))
    if is_measured:
        return ""
    before, now = list(shapes_of(old)), list(shapes_of(new))
    if [kind for kind, _ in before] != [kind for kind, _ in now]:
        return "it has %d shapes, not %d, or others" % (len(before), len(now))
    for (kind, a), (_, b) in zip(before, now):
        if any(abs(x - y) > TOLERANCE for x, y in zip(a, b)):
            return "a %s of %s is at %s, not at %s" % (*kind, a, b)
    return ""


def main():
    is_written, source = sys.argv[1] == "--write", sys.argv[-1]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        pictures = take(source, folder)
    for name, _, _, is_measured in PICTURES:
        path = os.path.join(source, "docs", "images", name + ".svg")
        if is_written:
            with open(path, "w", encoding="utf-8") as file:
                file.write(pictures[name])
            continue
        with open(path, encoding="utf-8") as file:
            difference = differences(file.read(), pictures[name], is_measured)
        if difference:
            print("docs/images/%s.svg is out of date (./dev pictures): %s" % (name, difference))
            wrong += 1
    sys.exit(bool(wrong))


main()
