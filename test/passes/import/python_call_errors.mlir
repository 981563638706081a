// Calls into the Python process are refused before the meshes, by which JAX annotates them.
// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-import)'
// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-import-stablehlo{unknown-ops=replicate})'

"sdy.mesh"() <{mesh = #sdy.mesh<[], device_ids=[0]>, sym_name = "maximal_mesh_0"}> : () -> ()
func.func @print(%a: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.custom_call': is a callback into Python, of jax.debug.print, jax.debug.callback or io_callback: the function exists only in the process that traced the program, and each device would call it; remove it, and return what it prints as a result}}
  "stablehlo.custom_call"(%a) <{call_target_name = "xla_ffi_python_cpu_callback", has_side_effect = true}> {mhlo.backend_config = {index = 1 : ui64}, sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>} : (tensor<4xf32>) -> ()
  return
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<[], device_ids=[0]>, sym_name = "maximal_mesh_0"}> : () -> ()
func.func @pure(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.custom_call': is a callback into Python, of jax.pure_callback or io_callback: the function exists only in the process that traced the program, and each device would call it; remove it, and pass what it computes as an argument}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "xla_ffi_python_gpu_callback"}> {sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Of io_callback(ordered=True): tokens order the calls.
func.func @ordered(%t: !stablehlo.token, %a: tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>) {
  // expected-error @below {{is a callback into Python, of jax.pure_callback or io_callback}}
  %0:2 = "stablehlo.custom_call"(%t, %a) <{call_target_name = "xla_ffi_partitioned_python_cpu_callback", has_side_effect = true}> : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
  return %0#0, %0#1 : !stablehlo.token, tensor<4xf32>
}

// -----

// Its rule says how to split it, but not what it computes.
func.func @partitioned(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.custom_call': is a function of jax.custom_partitioning, whose partition function is in the Python process that traced the program; trace for one device, where JAX inlines the function, or lower it by jax.ffi.ffi_lowering, whose extra_attributes take an sdy.sharding_rule}}
  %0 = "stablehlo.custom_call"(%a) <{backend_config = "140", call_target_name = "CustomSPMDPartitioning"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=4}, custom>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Of jax.debug.print(ordered=True).
func.func @ordered_print(%t: !stablehlo.token, %a: tensor<4xf32>) -> !stablehlo.token {
  // expected-error @below {{is a callback into Python, of jax.debug.print, jax.debug.callback or io_callback}}
  %0 = "stablehlo.custom_call"(%t, %a) <{call_target_name = "xla_ffi_python_cpu_callback", has_side_effect = true}> : (!stablehlo.token, tensor<4xf32>) -> !stablehlo.token
  return %0 : !stablehlo.token
}
