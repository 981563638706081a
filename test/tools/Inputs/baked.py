"""usage: baked.py D F

Prints an MLP of widths D and F with its weights as constants: a dense one and a dense_resource."""

import struct
import sys

d, f = int(sys.argv[1]), int(sys.argv[2])
number = lambda i: ((i * 37 + i // 11) % 64 - 31) / 512  # exact in f32
hexed = lambda n: struct.pack("<%df" % n, *map(number, range(n))).hex().upper()
print(f"""func.func @main(%x: tensor<4x{d}xf32>) -> tensor<4x{d}xf32> {{
  %up = arith.constant dense<"0x{hexed(d * f)}"> : tensor<{d}x{f}xf32>
  %down = arith.constant dense_resource<down> : tensor<{f}x{d}xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x{f}xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x{f}xf32>) -> tensor<4x{f}xf32>
  %h = linalg.matmul ins(%x, %up : tensor<4x{d}xf32>, tensor<{d}x{f}xf32>) outs(%i : tensor<4x{f}xf32>) -> tensor<4x{f}xf32>
  %t = math.tanh %h : tensor<4x{f}xf32>
  %o = tensor.empty() : tensor<4x{d}xf32>
  %j = linalg.fill ins(%zero : f32) outs(%o : tensor<4x{d}xf32>) -> tensor<4x{d}xf32>
  %y = linalg.matmul ins(%t, %down : tensor<4x{f}xf32>, tensor<{f}x{d}xf32>) outs(%j : tensor<4x{d}xf32>) -> tensor<4x{d}xf32>
  return %y : tensor<4x{d}xf32>
}}
{{-#
  dialect_resources: {{ builtin: {{ down: "0x04000000{hexed(d * f)}" }} }}
#-}}""")
