// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-normalize)'

// Section: axes.

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{'func.func': argument 1: tp.sharding: "tp:2" is not an axis; write an axis, "tp", or a part of one: of tp=4, "tp:(1)2" is the outer part of size 2, and "tp:(2)2" the inner one}}
func.func private @malformed_axis(tensor<8xf32>, tensor<8xf32> {tp.sharding = [["tp:2"]]})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{'func.func': argument 0 (%a): tp.sharding: "tp:( 1)2" is not an axis; write an axis, "tp", or a part of one: of tp=4, "tp:(1)2" is the outer part of size 2, and "tp:(2)2" the inner one}}
func.func @space_in_sub_axis(%a: tensor<8xf32> {tp.sharding = [["tp:( 1)2"]]}) { return }

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding: "" is not an axis}}
func.func private @empty_axis(tensor<8xf32> {tp.sharding = [[""]]})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding: "tp:(4294967296)4294967296" is not an axis}}
func.func private @overflowing_axis(tensor<8xf32> {tp.sharding = [["tp:(4294967296)4294967296"]]})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding names axis "pp", which mesh @mesh(dp=2, tp=4) does not have}}
func.func private @unknown_axis(tensor<8xf32> {tp.sharding = [["pp"]]})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{result 0: tp.sharding names axis "pp:(1)2", which mesh @mesh(dp=2, tp=4) does not have}}
func.func private @unknown_sub_axis() -> (tensor<8xf32> {tp.sharding = [["pp:(1)2"]]})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding uses axis "tp" twice; an axis may split one dimension}}
func.func private @axis_twice(tensor<8x8xf32> {tp.sharding = [["tp"], ["tp"]]})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding uses axis "tp" twice}}
func.func private @sub_axis_within_axis(tensor<8x8xf32> {tp.sharding = [["tp:(1)2"], ["tp"]]})

// -----

shard.grid @mesh(shape = 2x6) {tp.axes = ["dp", "tp"]}
// expected-error @below {{'func.func': sub-axis "tp:(2)4" does not divide axis "tp" of size 6}}
func.func private @sub_axis_does_not_divide(tensor<8xf32> {tp.sharding = [["tp:(2)4"]]})

// -----

shard.grid @mesh(shape = 2x12) {tp.axes = ["dp", "tp"]}
// expected-error @below {{'func.func': sub-axis "tp:(1)3" is not aligned with the other sub-axes of "tp", or the mesh would need more than 8 axes}}
func.func private @sub_axes_do_not_line_up(tensor<8x8xf32> {tp.sharding = [["tp:(1)2"], ["tp:(1)3"]]})

// -----

// Section: the short form.

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding has to be a list with one list of axes per dimension}}
func.func private @not_a_list(tensor<8xf32> {tp.sharding = "tp"})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding: dimension 1 is not a list of axes}}
func.func private @dimension_not_a_list(tensor<8x8xf32> {tp.sharding = [["dp"], "tp"]})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding: dimension 0 has an entry that is not a string}}
func.func private @axis_not_a_string(tensor<8xf32> {tp.sharding = [[1]]})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding: "?" has to be the last entry of dimension 0}}
func.func private @open_first(tensor<8xf32> {tp.sharding = [["?", "tp"]]})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding has 1 dimension, but the tensor has rank 2}}
func.func private @wrong_rank(tensor<8x8xf32> {tp.sharding = [["tp"]]})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding on a tensor of rank 15; at most 14 dimensions are supported}}
func.func private @rank_too_large(tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>
    {tp.sharding = [[], [], [], [], [], [], [], [], [], [], [], [], [], [], []]})

// -----

// Section: the full form.

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding: unknown key 'dim'; known are mesh, dims, partial}}
func.func private @unknown_key(tensor<8xf32> {tp.sharding = {dim = [["tp"]]}})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding has to be a list with one list of axes per dimension}}
func.func private @no_dims(tensor<8xf32> {tp.sharding = {mesh = @mesh}})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding: mesh has to be a symbol, as in mesh = @mesh}}
func.func private @mesh_not_a_symbol(tensor<8xf32> {tp.sharding = {mesh = "mesh", dims = [["tp"]]}})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding names mesh @other, but the module's mesh is @mesh}}
func.func private @other_mesh(tensor<8xf32> {tp.sharding = {mesh = @other, dims = [["tp"]]}})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding: partial has to be a dictionary, as in {tp = "sum"}}}
func.func private @partial_not_a_dictionary(tensor<8xf32> {tp.sharding = {dims = [[]], partial = "tp"}})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding: partial over "tp" needs a combiner such as "sum" or "max"}}
func.func private @unknown_combiner(tensor<8xf32> {tp.sharding = {dims = [[]], partial = {tp = "mean"}}})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding: partial over "tp" needs a combiner such as "sum" or "max"}}
func.func private @combiner_not_a_string(tensor<8xf32> {tp.sharding = {dims = [[]], partial = {tp}}})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding: partial over "tp" by "and", which cannot combine elements of type f32; use "sum", or reduce the value first}}
func.func private @combiner_of_integers(tensor<8xf32> {tp.sharding = {dims = [[]], partial = {tp = "and"}}})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding: partial over "tp" by "max", which cannot combine elements of type complex<f32>; use "sum", or reduce the value first}}
func.func private @combiner_of_reals(tensor<8xcomplex<f32>> {tp.sharding = {dims = [[]], partial = {tp = "max"}}})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding: partial over "tp" by "max", but over "dp" by "sum"; the result would depend on the order of the reductions, so use one combiner}}
func.func private @two_combiners(tensor<8xf32> {tp.sharding = {dims = [[]], partial = {dp = "sum", tp = "max"}}})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding: axis "tp" is partial and also splits a dimension; an axis may do only one of these}}
func.func private @partial_and_split(tensor<8xf32> {tp.sharding = {dims = [["tp"]], partial = {tp = "sum"}}})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{argument 0: tp.sharding names axis "pp", which mesh @mesh(dp=2, tp=4) does not have}}
func.func private @partial_over_unknown(tensor<8xf32> {tp.sharding = {dims = [[]], partial = {pp = "sum"}}})

// -----

// Section: what carries it.

// expected-error @below {{argument 0 has tp.sharding, but the module has no mesh; add shard.grid @mesh(shape = ...) {tp.axes = [...]} or give mesh=...}}
func.func private @no_mesh(tensor<8xf32> {tp.sharding = [["tp"]]})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{'func.func': argument 0 has tp.sharding, but is not a ranked tensor}}
func.func private @not_a_tensor(f32 {tp.sharding = []})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{'func.func': result 1 has tp.sharding, but is not a ranked tensor}}
func.func private @unranked() -> (f32, tensor<*xf32> {tp.sharding = []})

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @no_result(%x: i1) {
  // expected-error @below {{'cf.assert': tp.sharding on an op without results}}
  cf.assert %x, "false" {tp.sharding = [[]]}
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @of_return(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'func.return': tp.sharding of a result belongs in the type of the function: -> (tensor<8x32xf32> {tp.sharding = ...})}}
  return {tp.sharding = [["dp"]]} %x : tensor<8xf32>
}

// -----

// expected-error @below {{unknown attribute tp.mesh; write the mesh as shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}}}
module attributes {tp.mesh = "2x2"} {
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @scalar_result(%x: f32) {
  // expected-error @below {{'arith.negf': tp.sharding on a result that is not a tensor of static shape}}
  %0 = arith.negf %x {tp.sharding = []} : f32
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @dynamic_result(%x: tensor<?xf32>) {
  // expected-error @below {{'arith.negf': tp.sharding on a result that is not a tensor of static shape}}
  %0 = arith.negf %x {tp.sharding = [["tp"]]} : tensor<?xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @op_axis(%x: tensor<8xf32>) {
  // expected-error @below {{'arith.negf': result 0: tp.sharding names axis "pp"}}
  %0 = arith.negf %x {tp.sharding = [["pp"]]} : tensor<8xf32>
  return
}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @entries_of_results(%x: tensor<8xi32>) {
  // expected-error @below {{'arith.mului_extended': tp.sharding has to be a list with one entry for each of the 2 results}}
  %0:2 = arith.mului_extended %x, %x {tp.sharding = [["tp"]]} : tensor<8xi32>
  return
}

// -----

// Section: grids.

// expected-error @below {{'shard.grid': a grid needs 1 to 8 axes}}
shard.grid @mesh(shape = 1x1x1x1x1x1x1x1x2)

// -----

// expected-error @below {{'shard.grid': tp.axes has to be a list of 3 names, one for each size of the shape, such as ["x", "y", "z"]}}
shard.grid @mesh(shape = 2x4x2) {tp.axes = ["dp", "tp"]}

// -----

// expected-error @below {{'shard.grid': tp.axes has to be a list of 1 name, one for each size of the shape, such as ["tp"]}}
shard.grid @mesh(shape = 2) {tp.axes = "tp"}

// -----

// expected-error @below {{'shard.grid': the symbol name is longer than 31 bytes}}
shard.grid @a_name_that_is_much_longer_than_a_mesh_may_have(shape = 2x4)

// -----

// expected-error @below {{'shard.grid': tp.axes has to be a list of 2 names, one for each size of the shape, such as ["dp", "tp"]}}
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp"]}

// -----

// expected-error @below {{'shard.grid': tp.axes has to be a list of 2 names, one for each size of the shape, such as ["dp", "tp"]}}
shard.grid @mesh(shape = 2x4) {tp.axes = "dp,tp"}

// -----

// expected-error @below {{'shard.grid': tp.axes: entry 1 is not a name of at most 31 bytes}}
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", 1]}

// -----

// expected-error @below {{'shard.grid': axis "tp" occurs twice in mesh "mesh"}}
shard.grid @mesh(shape = 2x4) {tp.axes = ["tp", "tp"]}

// -----

// expected-error @below {{'shard.grid': axis name "t:p" is empty, longer than 31 bytes, or holds one of :()" ,?=}}
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "t:p"]}

// -----

// expected-error @below {{'shard.grid': the shape has a '?' for axis "tp"; write its size, as in shape = 2x4}}
shard.grid @mesh(shape = 2x?) {tp.axes = ["dp", "tp"]}

// -----

// expected-error @below {{'shard.grid': axis "dp" has size 0; it must be at least 1, and the mesh at most 2147483647 devices}}
shard.grid @mesh(shape = 0x2) {tp.axes = ["dp", "tp"]}

// -----

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{'shard.grid': @other is a second mesh besides @mesh (at normalize_errors.mlir:}}
shard.grid @other(shape = 8)

// -----

// Attributes of another form, or on an op that no pass reads them from.
shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @copy(%x: tensor<8xf32>) -> tensor<8xf32> {
  %s = shard.sharding @mesh split_axes = [[0]] : !shard.sharding
  // expected-error @below {{'shard.shard': tp.copy must be an integer}}
  %y = shard.shard %x to %s {tp.copy = "x"} : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @pairs(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'math.exp': tp.pairs is an attribute of func.call only; remove it}}
  %y = math.exp %x {tp.pairs = [[0, 1]]} : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
// expected-error @below {{'func.func': argument 0 (%x): tp.name must be a string}}
func.func @name(%x: tensor<8xf32> {tp.name = 4}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
