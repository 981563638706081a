#!/usr/bin/env python3
"""Measures how long planning takes by depth, and draws that: layers.py > layers.csv, then layers.py --plot layers.csv > layers.svg."""

import argparse
import csv
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LAYERS = [8, 16, 32, 64, 100]
PASSES = {"plan": "tp-propagate{gap=0.001}", "follow": "tp-propagate{strategy=follow}"}
COLOURS = {"plan": "#c0392b", "follow": "#2471a3"}
LABELS = {"plan": "gap=0.001", "follow": "strategy=follow"}


def user_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def measure(shard_opt, layers, repeats, directory):
    """Returns a row: layers, ops, user seconds of parsing, tp-raise and printing, and the
    additional user seconds of each planning strategy."""
    source, target = os.path.join(directory, "in.mlir"), os.path.join(directory, "out.mlir")
    generate = [sys.executable, "-B", os.path.join(HERE, "generate.py"), "--layers", str(layers), "--train", "--mesh", "dp=8,tp=8"]
    subprocess.run([*generate, "-o", source], check=True)
    with open(source, encoding="ascii") as file:
        ops = re.match(r"// layers=\d+ ops=(\d+)", file.readline()).group(1)

    def least(passes):
        return min(user_seconds([shard_opt, source, "-o", target, f"--pass-pipeline=builtin.module({','.join(passes)})"])
                   for _ in range(repeats))

    base = least(["tp-raise"])
    return [layers, ops, f"{base:.3f}"] + [f"{max(0, least(['tp-raise', p]) - base):.3f}" for p in PASSES.values()]


def polyline(points, color):
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in points)
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>{dots}'


def plot(rows):
    """Returns an SVG plot of user seconds over layers."""
    width, height, left, bottom = 560, 320, 60, 50
    most_x = max(int(r["layers"]) for r in rows)
    most_y = max(0.01, max(float(r[name]) for r in rows for name in PASSES) * 1.1)
    place = lambda x, y: (left + (width - left - 20) * x / most_x, height - bottom - (height - bottom - 20) * y / most_y)
    step = next(s for s in (0.002, 0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if most_y / s <= 8)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for i in range(int(most_y / step) + 1):
        (x, y), (end, _) = place(0, i * step), place(most_x, 0)
        parts.append(f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{end:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
                     f'<text x="{x - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{i * step:.4g}</text>')
    for r in rows:
        x, y = place(int(r["layers"]), 0)
        parts.append(f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">{r["layers"]}</text>')
    parts.append(f'<text x="{(left + width) / 2}" y="{height - 12}" text-anchor="middle">layers of a training step</text>')
    parts.append(f'<text x="16" y="{height / 2}" text-anchor="middle" transform="rotate(-90 16 {height / 2})">user seconds</text>')
    for i, name in enumerate(PASSES):
        parts.append(polyline([place(int(r["layers"]), float(r[name])) for r in rows], COLOURS[name]))
        parts.append(f'<text x="{left + 16}" y="{36 + 18 * i}" fill="{COLOURS[name]}">tp-propagate, {LABELS[name]}</text>')
    return "\n".join(parts + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shard-opt", default=os.environ.get("SHARD_OPT") or shutil.which("shard-opt"))
    parser.add_argument("--layers", type=int, nargs="+", default=LAYERS)
    parser.add_argument("--repeats", type=int, default=3, help="the least of so many runs counts")
    parser.add_argument("--plot", metavar="CSV", help="print the drawing of an earlier run's table instead")
    options = parser.parse_args()
    if options.plot:
        with open(options.plot, encoding="ascii") as file:
            print(plot(list(csv.DictReader(file))), end="")
        return
    if not options.shard_opt:
        parser.error("no shard-opt: give --shard-opt PATH")
    print(",".join(["layers", "ops", "parse_raise_print", *PASSES]))
    with tempfile.TemporaryDirectory() as directory:
        for layers in options.layers:
            print(",".join(map(str, measure(options.shard_opt, layers, options.repeats, directory))), flush=True)


if __name__ == "__main__":
    main()
