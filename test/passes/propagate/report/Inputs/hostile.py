#!/usr/bin/env python3
"""hostile.py [WORD]: writes a program whose names try to leave the place where they are shown; with
WORD the name that begins with it."""
import sys

NAMES = [
    "</script><script>window.broken = 1</script>",
    "<img src=x onerror='window.broken = 2'>",
    "<!--<script>",
    "]]>&lt;b&gt;&amp;\"'`${window.broken = 3}\\",
    "\u202e\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "\U0001f525\U0001f469\u200d\U0001f680",
    "line\u2028and\u2029paragraph",
    "bell\u0007 \u001b[31mred\u009b0m two\nlines\ttab gnp\u202etxt.exe\u2066\u200b\ufeff",
    "n" * 10000,
]


def quoted(text):
    return '"%s"' % "".join(c if c.isalnum() or ord(c) > 127 else "\\%02X" % ord(c) for c in text)


def main():
    if len(sys.argv) > 1:
        print(next(name for name in NAMES if name.startswith(sys.argv[1])), end="")
        return
    arguments = ["%%x: tensor<8x64xf32> {tp.name = %s, tp.sharding = [[\"dp\"], []]}" % quoted("x")]
    body, value = [], "%x"
    for i, name in enumerate(NAMES):
        layout = '[["tp"], []]' if i % 2 else '[[], ["tp"]]'
        arguments.append('%%w%d: tensor<64x64xf32> {tp.name = %s, tp.role = "param", tp.sharding = %s}' % (i, quoted(name), layout))
        place = quoted(name)
        body += ["  %%z%d = arith.constant 0.0 : f32" % i, "  %%e%d = tensor.empty() : tensor<8x64xf32>" % i,
                 "  %%i%d = linalg.fill ins(%%z%d : f32) outs(%%e%d : tensor<8x64xf32>) -> tensor<8x64xf32>" % (i, i, i),
                 "  %%m%d = linalg.matmul ins(%s, %%w%d : tensor<8x64xf32>, tensor<64x64xf32>) outs(%%i%d : tensor<8x64xf32>) "
                 "-> tensor<8x64xf32> loc(%s:%d:1)" % (i, value, i, i, place, i + 1)]
        value = "%%m%d" % i
    print('shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}')
    print("func.func @main(%s) -> (tensor<8x64xf32> {tp.name = %s, tp.sharding = [[\"dp\"], []]}) {" % (", ".join(arguments), quoted(NAMES[0])))
    print("\n".join(body))
    print("  return %s : tensor<8x64xf32>\n}" % value)


main()
