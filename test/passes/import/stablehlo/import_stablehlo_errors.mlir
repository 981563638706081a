// What is wrong with an op is said where it stands, before anything is built.
// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-import-stablehlo)'

func.func @unknown(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.ad': is not an op that tp-import-stablehlo knows; docs/reference/stablehlo.md lists them}}
  %0 = "stablehlo.ad"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @operands(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.add': has 1 operands, but the op takes 2}}
  %0 = "stablehlo.add"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'stablehlo.negate': operand 0 is a tensor without static shape, tensor<?xf32>; make all shapes static before sharding}}
  %0 = "stablehlo.negate"(%a) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @element(%a: tensor<4xf8E5M2FNUZ>) -> tensor<4xf8E5M2FNUZ> {
  // expected-error @below {{'stablehlo.negate': operand 0 has elements of type f8E5M2FNUZ; tensors may have}}
  %0 = "stablehlo.negate"(%a) : (tensor<4xf8E5M2FNUZ>) -> tensor<4xf8E5M2FNUZ>
  return %0 : tensor<4xf8E5M2FNUZ>
}

// -----

func.func @number(%a: f32) -> f32 {
  // expected-error @below {{'stablehlo.negate': operand 0 is a tensor without static shape, f32; make all shapes static before sharding}}
  %0 = "stablehlo.negate"(%a) : (f32) -> f32
  return %0 : f32
}

// -----

func.func @narrow(%a: tensor<4xi4>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.convert': operand 0 has elements of type i4; tensors may have f8E4M3FN, f8E5M2, f16, bf16, f32, f64, i1, i8, i16, i32, i64, index, complex<f32>, complex<f64>; convert it to i8 (jnp.int8) where it comes from, and make it an argument of that type}}
  %0 = "stablehlo.convert"(%a) : (tensor<4xi4>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @narrow_unsigned(%a: tensor<4xf32>) -> tensor<4xui4> {
  // expected-error @below {{'stablehlo.convert': result 0 has elements of type ui4; tensors may have f8E4M3FN, f8E5M2, f16, bf16, f32, f64, i1, i8, i16, i32, i64, index, complex<f32>, complex<f64>; convert it to ui8 (jnp.uint8) where it comes from, and make it an argument of that type}}
  %0 = "stablehlo.convert"(%a) : (tensor<4xf32>) -> tensor<4xui4>
  return %0 : tensor<4xui4>
}

// -----

func.func @shapes(%a: tensor<4xf32>, %b: tensor<5xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.add': operand 1 is tensor<5xf32>, but the result is tensor<4xf32>; their shapes must be equal}}
  %0 = "stablehlo.add"(%a, %b) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @elements(%a: tensor<4xf32>, %b: tensor<4xi32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.add': operand 0 is tensor<4xf32> and operand 1 is tensor<4xi32>; their element types must be equal}}
  %0 = "stablehlo.add"(%a, %b) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @kind(%a: tensor<4xi1>) -> tensor<4xi1> {
  // expected-error @below {{'stablehlo.cosine': is not supported for booleans; convert the operands}}
  %0 = "stablehlo.cosine"(%a) : (tensor<4xi1>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func @result(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.is_finite': the result is tensor<4xf32>, but the op computes elements of type i1 from its operands}}
  %0 = "stablehlo.is_finite"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @permutation(%a: tensor<4x2xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{'stablehlo.transpose': attribute 'permutation' names dimension 2, which is none of a tensor of rank 2}}
  %0 = "stablehlo.transpose"(%a) <{permutation = array<i64: 2, 0>}> : (tensor<4x2xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @slice(%a: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @below {{'stablehlo.slice': takes elements 2 to 5 in steps of 1 of dimension 0, which has 4}}
  %0 = "stablehlo.slice"(%a) <{start_indices = array<i64: 2>, limit_indices = array<i64: 5>, strides = array<i64: 1>}> : (tensor<4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @reshape(%a: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @below {{'stablehlo.reshape': operand 0 has 4 elements, but the result has 3}}
  %0 = "stablehlo.reshape"(%a) : (tensor<4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @iota() -> tensor<3xf32> {
  // expected-error @below {{'stablehlo.iota': iota_dimension 1 must be a dimension of the result, whose elements are numbers}}
  %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @dot(%a: tensor<4x8xf32>, %b: tensor<9x2xf32>) -> tensor<4x2xf32> {
  // expected-error @below {{'stablehlo.dot_general': dot_dimension_numbers: the dimensions of both operands must be as many, and of equal sizes}}
  %0 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x8xf32>, tensor<9x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

func.func @dot_list(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<4x2xf32> {
  // expected-error @below {{'stablehlo.dot_general': attribute 'dot_dimension_numbers' is not right: lhs_contracting_dimensions must be a list of at most}}
  %0 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [x], rhs_contracting_dimensions = [0]>}> : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

func.func @pad(%a: tensor<4xf32>, %v: tensor<f32>) -> tensor<1xf32> {
  // expected-error @below {{'stablehlo.pad': pads dimension 0 of size 4 by -3 before, -2 behind and 0 between elements; the part that negative padding leaves must be inside of it}}
  %0 = "stablehlo.pad"(%a, %v) <{edge_padding_low = array<i64: -3>, edge_padding_high = array<i64: -2>, interior_padding = array<i64: 0>}> : (tensor<4xf32>, tensor<f32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// -----

func.func @direction(%a: tensor<4xf32>) -> tensor<4xi1> {
  // expected-error @below {{'stablehlo.compare': comparison_direction 'XX' is not supported for floating-point numbers}}
  %0 = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction XX>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func @bitcast(%a: tensor<4xf32>) -> tensor<4x3xi8> {
  // expected-error @below {{'stablehlo.bitcast_convert': the shapes of operand and result do not fit: elements of 4 and 1 bytes; the narrower one has one more dimension, the last, for the parts of an element}}
  %0 = "stablehlo.bitcast_convert"(%a) : (tensor<4xf32>) -> tensor<4x3xi8>
  return %0 : tensor<4x3xi8>
}

// -----

func.func @bitcast_bool(%a: tensor<4xi1>) -> tensor<4xi8> {
  // expected-error @below {{'stablehlo.bitcast_convert': is not supported for booleans; convert the operands}}
  %0 = "stablehlo.bitcast_convert"(%a) : (tensor<4xi1>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @wrong_element(%a: tensor<4xf32>) -> tensor<4xi1> {
  // expected-error @below {{'stablehlo.multiply': the result is tensor<4xi1>, but the op computes elements of type f32 from its operands}}
  %0 = "stablehlo.multiply"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func @rng_state(%a: tensor<3xui64>) -> tensor<4xui32> {
  // expected-error @below {{'stablehlo.rng_bit_generator': the state must be of type tensor<2xui64>, a key and a counter, before and after the op}}
  %0:2 = "stablehlo.rng_bit_generator"(%a) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return %0#1 : tensor<4xui32>
}

// -----

func.func @rng_algorithm(%a: tensor<2xui64>) -> tensor<4xui32> {
  // expected-error @below {{'stablehlo.rng_bit_generator': rng_algorithm 'DICE' is not DEFAULT, PHILOX or THREE_FRY}}
  %0:2 = "stablehlo.rng_bit_generator"(%a) <{rng_algorithm = #stablehlo<rng_algorithm DICE>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  return %0#1 : tensor<4xui32>
}

// -----

func.func @rng_floats(%a: tensor<2xui64>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.rng_bit_generator': draws floating-point numbers; draw integers, and convert them}}
  %0:2 = "stablehlo.rng_bit_generator"(%a) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

// -----

func.func @complex_dot(%a: tensor<4x4xcomplex<f64>>) -> tensor<4x4xcomplex<f32>> {
  // expected-error @below {{'stablehlo.dot_general': rounds complex numbers to a narrower type; convert the result instead}}
  %0 = "stablehlo.dot_general"(%a, %a) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x4xcomplex<f64>>, tensor<4x4xcomplex<f64>>) -> tensor<4x4xcomplex<f32>>
  return %0 : tensor<4x4xcomplex<f32>>
}

// -----

func.func @region(%a: tensor<4xf32>, %v: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'stablehlo.reduce': region 0 has 1 arguments, but the op gives it 2}}
  %0 = "stablehlo.reduce"(%a, %v) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>):
    "stablehlo.return"(%x) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @other_dialect(%a: tensor<4xf32>, %v: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.reduce"(%a, %v) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    // expected-error @below {{'arith.addf': stands in the body of a StableHLO op; only ops of StableHLO and CHLO are supported there}}
    %1 = arith.addf %x, %y : tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @while(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.while': region 0 must return one tensor<i1>}}
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  }, {
  ^bb0(%x: tensor<4xf32>):
    "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @gather(%a: tensor<4x8xf32>, %i: tensor<3x1xi32>) -> tensor<3x8xf32> {
  // expected-error @below {{'stablehlo.gather': dimension_numbers and slice_sizes do not fit the types of its operands and of its result}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 7>}> : (tensor<4x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// -----

func.func @convolution(%a: tensor<1x8x8x4xf32>, %w: tensor<3x3x4x8xf32>) -> tensor<1x8x8x8xf32> {
  // expected-error @below {{'stablehlo.convolution': the windows along dimension 0 do not fit the input and the result: size, stride, dilation and padding are wrong}}
  %0 = "stablehlo.convolution"(%a, %w) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x8x8x8xf32>
  return %0 : tensor<1x8x8x8xf32>
}

// -----

func.func @custom(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{'stablehlo.custom_call': calls 'lapack_spotrf_ffi', a factorization, which has no implementation here; compute it outside of the program, or keep it by unknown-ops=replicate for an export to StableHLO}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "lapack_spotrf_ffi"}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @custom_unknown(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{'stablehlo.custom_call': calls 'mine', about which nothing is known; give it a rule, by sdy.sharding_rule or tp.rule, or compute it outside of the program, or keep it by unknown-ops=replicate for an export to StableHLO}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @ragged_sizes(%a: tensor<6x4xf32>, %b: tensor<4x4x5xf32>, %s: tensor<2x4xi32>) -> tensor<6x5xf32> {
  // expected-error @below {{'chlo.ragged_dot': needs one ragged dimension of operand 0, which is no batch dimension, and a list of the sizes of groups in operand 2}}
  %0 = "chlo.ragged_dot"(%a, %b, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<6x4xf32>, tensor<4x4x5xf32>, tensor<2x4xi32>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}

// -----

func.func @ragged_groups(%a: tensor<6x4xf32>, %b: tensor<4x4x5xf32>, %s: tensor<3xi32>) -> tensor<6x5xf32> {
  // expected-error @below {{'chlo.ragged_dot': ragged_dot_dimension_numbers: a ragged dimension that is free needs a free dimension of operand 1 of the size of operand 2, and one that is contracted takes no such dimension and no batches}}
  %0 = "chlo.ragged_dot"(%a, %b, %s) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<6x4xf32>, tensor<4x4x5xf32>, tensor<3xi32>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}

// -----

// expected-error @below {{'func.func': ends in stablehlo.return, but is the comparator of no approximate top-k; end it in func.return}}
func.func private @greater(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %0 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
  "stablehlo.return"(%0) : (tensor<i1>) -> ()
}

// -----

func.func @no_comparator(%x: tensor<4x64xf32>, %v: tensor<f32>) -> tensor<4x3xf32> {
  // expected-error @below {{'stablehlo.custom_call': calls 'ApproxTopK', but is not written as JAX writes lax.approx_max_k: with top_k and reduction_dim in mhlo.backend_config, a comparator, and 1 to 32 operands with their initial values}}
  %0 = "stablehlo.custom_call"(%x, %v) <{call_target_name = "ApproxTopK", called_computations = [@none]}> {mhlo.backend_config = {reduction_dim = 1 : i64, top_k = 3 : i64}} : (tensor<4x64xf32>, tensor<f32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

func.func private @greater(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %0 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
  "stablehlo.return"(%0) : (tensor<i1>) -> ()
}

func.func @too_many(%x: tensor<4x64xf32>, %v: tensor<f32>) -> tensor<4x65xf32> {
  // expected-error @below {{'stablehlo.custom_call': takes 65 elements of dimension 1, but operand 0 has fewer}}
  %0 = "stablehlo.custom_call"(%x, %v) <{call_target_name = "ApproxTopK", called_computations = [@greater]}> {mhlo.backend_config = {reduction_dim = 1 : i64, top_k = 65 : i64}} : (tensor<4x64xf32>, tensor<f32>) -> tensor<4x65xf32>
  return %0 : tensor<4x65xf32>
}

// -----

func.func private @greater(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %0 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
  "stablehlo.return"(%0) : (tensor<i1>) -> ()
}

func.func @no_dimension(%x: tensor<4x64xf32>, %v: tensor<f32>) -> tensor<4x3xf32> {
  // expected-error @below {{'stablehlo.custom_call': takes 3 elements of dimension 2, but operand 0 has no such dimension}}
  %0 = "stablehlo.custom_call"(%x, %v) <{call_target_name = "ApproxTopK", called_computations = [@greater]}> {mhlo.backend_config = {reduction_dim = 2 : i64, top_k = 3 : i64}} : (tensor<4x64xf32>, tensor<f32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

func.func private @greater(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %0 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
  "stablehlo.return"(%0) : (tensor<i1>) -> ()
}

func.func @not_aggregated(%x: tensor<4x64xf32>, %v: tensor<f32>) -> tensor<4x16xf32> {
  // expected-error @below {{'stablehlo.custom_call': result 0 must have the type of operand 0 with 3 elements in dimension 1; approximate top-k without aggregate_to_topk is not supported}}
  %0 = "stablehlo.custom_call"(%x, %v) <{call_target_name = "ApproxTopK", called_computations = [@greater]}> {mhlo.backend_config = {reduction_dim = 1 : i64, top_k = 3 : i64}} : (tensor<4x64xf32>, tensor<f32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

// expected-error @below {{'func.func': does not end in a return; add func.return with its results}}
func.func @no_return(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.negate"(%a) : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

func.func @index(%a: tensor<8xindex>) -> tensor<8xindex> {
  // expected-error @below {{'stablehlo.multiply': operand 0 has elements of type index; numbers of StableHLO have a width, such as i64}}
  %0 = "stablehlo.multiply"(%a, %a) : (tensor<8xindex>, tensor<8xindex>) -> tensor<8xindex>
  return %0 : tensor<8xindex>
}

// -----

// A region whose first op is not all of it.
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{'stablehlo.all_reduce': its region is not one add, multiply, maximum, minimum, and, or, xor}}
  %0 = "stablehlo.all_reduce"(%a) ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %1 = "stablehlo.maximum"(%b, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %2 = "stablehlo.negate"(%1) : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%2) : (tensor<f32>) -> ()
  }) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
