// A causal convolution of each feature (a group each), split along its rows: the groups are split off in front of the padding, which the
// convolution reads in place. A device gets the three rows before its own.
// RUN: shard-run %s --mesh x=4 --objective bytes | FileCheck %s
// CHECK: permute x 1 1.5 KiB
// CHECK-NOT: x 1
// CHECK: verified
"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{arg_attrs = [{tp.sharding = [[], ["x"], []]}], function_type = (tensor<2x256x64xf32>) -> tensor<2x256x64xf32>, res_attrs = [{tp.sharding = [[], ["x"], []]}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<2x256x64xf32>):
    %0 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x1x64xf32>
    %2 = "stablehlo.convolution"(%arg0, %1) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 64 : i64, lhs_dilation = array<i64: 1>, padding = dense<[[3, 0]]> : tensor<1x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1>, window_reversal = array<i1: false>, window_strides = array<i64: 1>}> : (tensor<2x256x64xf32>, tensor<4x1x64xf32>) -> tensor<2x256x64xf32>
    "func.return"(%2) : (tensor<2x256x64xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
