"""Prints causal attentions of four heads on four devices, which differ in their masks.

@own has two attentions, each with a mask of its own; @one has only the first. In @shared both read
the same mask, which the function makes; @given is the same with the mask as an argument. @mask
makes the mask and returns it."""

HEADS = '{tp.sharding = [["x"], [], []]}'
PARALLEL = '"parallel", "parallel", "parallel"'
ROWS, SCORES = "tensor<4x256x8xf32>", "tensor<4x256x256xf32>"

PROLOGUE = """\
#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#s2 = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}"""

CONSTANTS = f"""\
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : {SCORES}
  %eo = tensor.empty() : {ROWS}"""


def mask(n):
    """Emits %mask<n>: 0 up to the diagonal, -infinity above."""
    return f"""\
  %mask{n} = linalg.generic {{indexing_maps = [#id], iterator_types = [{PARALLEL}]}}
      outs(%es : {SCORES}) {{
  ^bb0(%c: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %less = arith.cmpi sge, %i, %j : index
    %r = arith.select %less, %zero, %inf : f32
    linalg.yield %r : f32
  }} -> {SCORES}"""


def product(result, maps, a, kind_of_a, init, kind):
    """Emits a contraction of a with %k."""
    return f"""\
  {result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{PARALLEL}, "reduction"]}}
      ins({a}, %k : {kind_of_a}, {ROWS}) outs({init} : {kind}) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %c, %m : f32
    linalg.yield %r : f32
  }} -> {kind}"""


def attention(n, of_mask):
    """Emits %o<n>, the attention of %q<n> with keys and values %k and a mask."""
    return f"""\
  %s0{n} = linalg.fill ins(%zero : f32) outs(%es : {SCORES}) -> {SCORES}
{product(f"%s{n}", "#q, #k, #s", f"%q{n}", ROWS, f"%s0{n}", SCORES)}
  %t{n} = arith.addf %s{n}, %mask{of_mask} : {SCORES}
  %p{n} = linalg.softmax dimension(2) ins(%t{n} : {SCORES}) outs(%es : {SCORES}) -> {SCORES}
  %o0{n} = linalg.fill ins(%zero : f32) outs(%eo : {ROWS}) -> {ROWS}
{product(f"%o{n}", "#s2, #v, #o", f"%p{n}", SCORES, f"%o0{n}", ROWS)}"""


def function(name, made=(), attentions=(), given=False):
    """Prints a function that makes masks and has attentions, each given by its mask."""
    numbers = range(1, len(attentions) + 1)
    results = [(f"%o{n}", ROWS) for n in numbers] or [("%mask1", SCORES)]
    args = [f"%q{n}: {ROWS} {HEADS}" for n in numbers] + [f"%k: {ROWS} {HEADS}"] * bool(attentions)
    args += [f"%mask1: {SCORES} {HEADS}"] * given
    types = ", ".join(f"{t} {HEADS}" for _, t in results)
    print(f"func.func @{name}({', '.join(args)}) -> ({types}) {{")
    print("\n".join([CONSTANTS, *map(mask, made), *map(attention, numbers, attentions)]))
    print(f"  return {', '.join(v for v, _ in results)} : {', '.join(t for _, t in results)}\n}}")


print(PROLOGUE)
function("own", made=(1, 2), attentions=(1, 2))
function("one", made=(1,), attentions=(1,))
function("shared", made=(1,), attentions=(1, 1))
function("given", attentions=(1, 1), given=True)
function("mask", made=(1,))
