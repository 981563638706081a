"""long_mask.py OPS: attention whose weights are multiplied by a mask: random bits that OPS ops make of a tensor of numbers, compared with
a bound, and converted to f32."""
import sys

n = int(sys.argv[1])
maps = "#id, #id"
print("""#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>
func.func @main(%q: tensor<4x40x16xf32>, %k: tensor<4x600x16xf32>, %v: tensor<4x600x8xf32>, %b0: tensor<4x40x600xi32>) -> tensor<4x40x8xf32> {
  %zero = arith.constant 0.0 : f32
  %c13 = arith.constant 13 : i32
  %bound = arith.constant 1000000 : i32
  %es = tensor.empty() : tensor<4x40x600xf32>
  %eo = tensor.empty() : tensor<4x40x8xf32>
  %eb = tensor.empty() : tensor<4x40x600xi32>
  %ec = tensor.empty() : tensor<4x40x600xi1>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x40x600xf32>) -> tensor<4x40x600xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x40x8xf32>) -> tensor<4x40x8xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x40x16xf32>, tensor<4x600x16xf32>) outs(%s0 : tensor<4x40x600xf32>) -> tensor<4x40x600xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<4x40x600xf32>) outs(%es : tensor<4x40x600xf32>) -> tensor<4x40x600xf32>""")
for i in range(n):
    print(f"""  %b{i + 1} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "parallel"]}} ins(%b{i} : tensor<4x40x600xi32>) outs(%eb : tensor<4x40x600xi32>) {{
  ^bb0(%x: i32, %out: i32):
    %t = arith.shrui %x, %c13 : i32
    %r = arith.xori %x, %t : i32
    linalg.yield %r : i32
  }} -> tensor<4x40x600xi32>""")
print(f"""  %keep = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "parallel"]}} ins(%b{n} : tensor<4x40x600xi32>) outs(%ec : tensor<4x40x600xi1>) {{
  ^bb0(%x: i32, %out: i1):
    %r = arith.cmpi slt, %x, %bound : i32
    linalg.yield %r : i1
  }} -> tensor<4x40x600xi1>
  %m = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "parallel"]}} ins(%keep : tensor<4x40x600xi1>) outs(%es : tensor<4x40x600xf32>) {{
  ^bb0(%x: i1, %out: f32):
    %r = arith.uitofp %x : i1 to f32
    linalg.yield %r : f32
  }} -> tensor<4x40x600xf32>
  %d = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}} ins(%w, %m : tensor<4x40x600xf32>, tensor<4x40x600xf32>) outs(%es : tensor<4x40x600xf32>) {{
  ^bb0(%x: f32, %y: f32, %out: f32):
    %r = arith.mulf %x, %y : f32
    linalg.yield %r : f32
  }} -> tensor<4x40x600xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%d, %v : tensor<4x40x600xf32>, tensor<4x600x8xf32>) outs(%o0 : tensor<4x40x8xf32>) -> tensor<4x40x8xf32>
  return %o : tensor<4x40x8xf32>
}}""")
