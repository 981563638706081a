#!/usr/bin/env python3
"""layer.py TOKENS [--small] [--train]: writes one layer of a Llama with grouped-query attention as a
program, annotated for tensor parallelism, with the functions of bench/compile/generate.py. --small:
with small dimensions. --train: also the gradient of x from that of the result, and the weights after
a step along theirs."""
import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "compile"))
import generate  # noqa: E402
from tensor_trace import Tensor, Trace  # noqa: E402

SMALL = {"norm1": (64,), "wq": (64, 64), "wk": (64, 32), "wv": (64, 32), "wo": (64, 64), "norm2": (64,), "gate": (64, 128), "up": (64, 128),
         "down": (128, 64)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokens", type=int)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--train", action="store_true")
    options = parser.parse_args()
    generate.BATCH, generate.SEQUENCE = 1, options.tokens
    shapes = {name: shape for name, shape, _ in generate.LAYER_PARAMETERS}
    if options.small:
        generate.HIDDEN, generate.FFN, generate.HEADS, generate.KV_HEADS, generate.HEAD = 64, 128, 4, 2, 16
        shapes = SMALL
    trace, arguments = Trace(False), []

    def argument(name, shape, layout, role):
        value = Tensor(f"%arg{len(arguments)}", shape, "f32", diff=options.train)
        arguments.append(f'{value.name}: {value.type} {{tp.name = "{name}", {role}tp.sharding = {layout}}}')
        return value

    x = argument("x", (1, options.tokens, generate.HIDDEN), "[[], [], []]", "")
    parameters = {name: argument(name, shapes[name], layout, 'tp.role = "param", ')
                  for name, _, layout in generate.LAYER_PARAMETERS}
    y = generate.layer(trace, x, parameters)
    results = [(y, "[[], [], []]")]
    if options.train:
        gradient = argument("gradient", y.shape, "[[], [], []]", "")
        of_x, *of_parameters = trace.gradients(y, [x, *parameters.values()], gradient)
        results.append((of_x, "[[], [], []]"))
        for (name, _, layout), of_parameter in zip(generate.LAYER_PARAMETERS, of_parameters):
            step = trace.mul(of_parameter, trace.like(of_parameter, "1.000000e-03"))
            results.append((trace.sub(parameters[name], step), layout))
    for text, alias in trace.maps.items():
        print(f"{alias} = {text}")
    print("module @layer {\n  shard.grid @mesh(shape = 4) {tp.axes = [\"tp\"]}")
    types = ", ".join(f"{value.type} {{tp.sharding = {layout}}}" for value, layout in results)
    print(f"  func.func @main({', '.join(arguments)}) -> ({types}) {{")
    print("\n".join(trace.lines))
    print(f"    return {', '.join(value.name for value, _ in results)} : {', '.join(value.type for value, _ in results)}\n  }}\n}}")


if __name__ == "__main__":
    main()
