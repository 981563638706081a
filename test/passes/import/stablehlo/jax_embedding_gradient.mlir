// Exported by export.py: what JAX computes on one device.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --mesh 2x2 --inputs-from %t/embedding_gradient | FileCheck %s
// RUN: %if long %{ shard-run %s --mesh 3 --inputs-from %t/embedding_gradient | FileCheck %s %}
// CHECK: verified
"builtin.module"() <{sym_name = "jit_embedding_gradient"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<32x16xf32>, tensor<12xi32>, tensor<12x16xf32>) -> tensor<32x16xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<32x16xf32>, %arg1: tensor<12xi32>, %arg2: tensor<12x16xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<12xi32>
    %2 = "stablehlo.compare"(%arg1, %1) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %3 = "stablehlo.constant"() <{value = dense<32> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<12xi32>
    %5 = "stablehlo.add"(%arg1, %4) : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi32>
    %6 = "stablehlo.select"(%2, %5, %arg1) : (tensor<12xi1>, tensor<12xi32>, tensor<12xi32>) -> tensor<12xi32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64: 0>}> : (tensor<12xi32>) -> tensor<12x1xi32>
    %8 = "stablehlo.gather"(%arg0, %7) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}> : (tensor<32x16xf32>, tensor<12x1xi32>) -> tensor<12x16xf32>
    %9 = "stablehlo.subtract"(%8, %arg2) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %10 = "stablehlo.multiply"(%9, %9) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %11 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12x16xf32>
    %13 = "stablehlo.multiply"(%12, %9) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %14 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.reduce"(%10, %14) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %23 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%23) : (tensor<f32>) -> ()
    }) : (tensor<12x16xf32>, tensor<f32>) -> tensor<f32>
    %16 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12x16xf32>
    %18 = "stablehlo.multiply"(%17, %13) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %19 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x16xf32>
    %21 = "stablehlo.scatter"(%20, %7, %18) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %22 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%22) : (tensor<f32>) -> ()
    }) : (tensor<32x16xf32>, tensor<12x1xi32>, tensor<12x16xf32>) -> tensor<32x16xf32>
    "func.return"(%21) : (tensor<32x16xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

