// Every way in which a rule as text can be wrong, by itself and for its op.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-propagate)'

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{tp.rule has to be a string}}
  %r = "my.op"(%a) {tp.rule = 3} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{its rule "([i,j])": column 8: expected '->', found the end}}
  %r = "my.op"(%a) {tp.rule = "([i,j])"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{column 1: expected '(', found '['}}
  %r = "my.op"(%a) {tp.rule = "[i,j]->[i,j]"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{column 2: expected '[' (a tensor) or '()' (a scalar), found 'i'}}
  %r = "my.op"(%a) {tp.rule = "(i,j)->([i,j])"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{column 3: expected the name of a factor, '(', '1' or '_', found a character that is not printable ASCII}}
  %r = "my.op"(%a) {tp.rule = "([\C3\A4,j])->([_,j])"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{column 5: expected ',' or ']', found 'j'}}
  %r = "my.op"(%a) {tp.rule = "([i j])->([i,j])"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{column 7: expected ',' or ')', found '-'}}
  %r = "my.op"(%a) {tp.rule = "([i,j]->([i,j])"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{column 3: expected the name of a factor, '(', '1' or '_', found ','}}
  %r = "my.op"(%a) {tp.rule = "([,j])->([i,j])"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{column 17: expected the end, or one of reduction={...}, fixed={...}, init={...}, linear={...}, uneven={...}, found 'p'}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i,j])please"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{expected '={', found '('}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i,j]) fixed(j)"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{column 26: expected ',' or '}', found the end}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i,j]) fixed={j"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{expected the name of a factor, found '}'}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i,j]) fixed={}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{clause fixed occurs twice}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i,j]) fixed={j} fixed={i}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{reduction names factor 'k', which occurs in no list}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i,j]) reduction={k}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{fixed names factor 'j', which an earlier clause already names}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i]) reduction={j} fixed={j}"} : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{expected the name of a combiner, found '}'}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i]) reduction={j:}"} : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{'average' is not a combiner of partial results; use sum, product, max, min}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i]) reduction={j:average}"} : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{factor 'i' is combined by max, but an earlier factor by sum}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([]) reduction={j,i:max}"} : (tensor<8x4xf32>) -> tensor<f32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{result 0: elements of this type cannot be combined by and}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i]) reduction={j:and}"} : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{reduction factor 'j' is in result 0; a reduction factor must not occur in a result}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i,j]) reduction={j}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{factor 'j' is reduced, but result 0 is a scalar}}
  %r = "my.op"(%a) {tp.rule = "([_,j])->(()) reduction={j}"} : (tensor<8x4xf32>) -> f32
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{factor 'j' is in an operand, but not in result 0; say reduction={j} if the op combines along it, fixed={j} if it needs all of it}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i])"} : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{factor 'i' occurs twice in one list}}
  %r = "my.op"(%a) {tp.rule = "([i,i])->([i,i])"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{factor 'e' is one too many in its dimension: at most 4 can be joined}}
  %r = "my.op"(%a) {tp.rule = "([(a b c d e),j])->([_,j])"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{factor 'q' is one too many: a rule has at most 16}}
  %r = "my.op"(%a) {tp.rule = "([a,b,c,d,e,f,g,h,i,j,k,l],[m,n,o,p,q])->()"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{a list has at most 14 dimensions}}
  %r = "my.op"(%a) {tp.rule = "([_,_,_,_,_,_,_,_,_,_,_,_,_,_,_])->()"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{a name has at most 23 characters, this one has 26}}
  %r = "my.op"(%a) {tp.rule = "([abcdefghijklmnopqrstuvwxyz])->()"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{init names operand 1, which is not a tensor among the 1 operands}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i]) reduction={j} init={1}"} : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{expected the number of an operand, found 'a'}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i]) reduction={j} init={a}"} : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{operand 0 is an init and has the reduction factor 'j'}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i]) reduction={j} init={0}"} : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{has 1 operands and 1 results, but its rule has 2 and 1; a rule needs one list for each}}
  %r = "my.op"(%a) {tp.rule = "([i,j],())->([i,j])"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{result 0 is a tensor, but its rule has '()' for it}}
  %r = "my.op"(%a) {tp.rule = "([_,_])->(())"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{operand 1 is not a tensor, but its rule has a list; write '()' for it}}
  %r = "my.op"(%a, %n) {tp.rule = "([i,j],[])->([i,j])"} : (tensor<8x4xf32>, index) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{operand 0 has 2 dimensions, but its list in the rule has 1}}
  %r = "my.op"(%a) {tp.rule = "([i])->([i,_])"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{operand 0: the rule says 1 for dimension 1, whose size is 4; write '_'}}
  %r = "my.op"(%a) {tp.rule = "([i,1])->([i,_])"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{result 0: dimension 0 has size 4, but the product of its factors is 8, where 'i' has size 8 according to operand 0, dimension 0}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i,j])"} : (tensor<8x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{operand 0: dimension 0 has size 8, but the product of its factors is 6, where 'd' has size 3 according to result 0, dimension 1}}
  %r = "my.op"(%a) {tp.rule = "([(h d),_])->([h,d])"} : (tensor<8x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{cannot infer the size of factor 'h' from the shapes}}
  %r = "my.op"(%a) {tp.rule = "([(h d),j])->([(h d),j])"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%z: tensor<0xf32>) {
  // expected-error @below {{operand 0: dimension 0 has size 0, which cannot be split; write '_'}}
  %r = "my.op"(%z) {tp.rule = "([i])->([i])"} : (tensor<0xf32>) -> tensor<0xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%n: index) {
  %d = "my.make"(%n) {tp.rule = "(())->([_])"} : (index) -> tensor<?xf32> // expected-error {{result 0 is a tensor without static shape}}
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{has a built-in rule of family "elementwise", so it needs no other; remove its tp.rule}}
  %r = arith.addf %a, %a {tp.rule = "([i,j],[i,j])->([i,j])"} : tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{has a user rule, and regions that use tensors}}
  %r = "my.op"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    "my.yield"() : () -> ()
  }) {tp.rule = "([i,j])->([i,j])"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{has a user rule, and regions that use tensors}}
  %r = "my.op"(%a) ({
    "my.yield"(%a) : (tensor<8x4xf32>) -> ()
  }) {tp.rule = "([i,j])->([i,j])"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{no sharding rule for this op; rewrite it with linalg and tensor ops, or pass unknown-ops=replicate, or state its rule with tp.rule}}
  %r = "my.op"(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{linear names operand 1, which is not a tensor among the 1 operands}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i,j]) linear={1}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{linear names operand 1, which is not a tensor among the 2 operands}}
  %r = "my.op"(%a, %n) {tp.rule = "([i,j],())->([i,j]) linear={1}"} : (tensor<8x4xf32>, index) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{expected the number of an operand, found 'x'}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i,j]) linear={x}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{clauses 1 and 2 of linear={...} name the same operands; remove one}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i,j]) linear={0} linear={0}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{more than 12 clauses linear={...}}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i,j]) linear={0} linear={0} linear={0} linear={0} linear={0} linear={0} linear={0} linear={0} linear={0} linear={0} linear={0} linear={0} linear={0}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{uneven names factor 'k', which occurs in no list}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i,j]) uneven={k}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{clause uneven occurs twice}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i,j]) uneven={i} uneven={j}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{uneven names factor 'j', which is fixed and never split}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i,j]) fixed={j} uneven={j}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{uneven names the reduction factor 'j'; the op would combine elements of the padding, which cannot be masked}}
  %r = "my.op"(%a) {tp.rule = "([i,j])->([i,_]) reduction={j} uneven={j}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>, %n: index) {
  // expected-error @below {{the op is declared linear, but result 1 is a scalar, which cannot be partial}}
  %r, %s = "my.op"(%a) {tp.rule = "([_,_])->([_,_],()) linear={0}"} : (tensor<8x4xf32>) -> (tensor<8x4xf32>, f32)
  return
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32>) {
  // expected-error @below {{tp.factors gives "x" 7, which is no factor of this op; give one of 0 (parallel, size 8), 1 (not to be split, size 4)}}
  %r = "my.sort"(%a) {tp.rule = "([i,k])->([i,k]) fixed={k}", tp.factors = {x = 7}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}
