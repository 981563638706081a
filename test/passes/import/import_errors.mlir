// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-import)'

// Section: meshes.

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2]>, sym_name = "mesh"}> : () -> ()
// expected-error-re @below {{'sdy.mesh': @other is a second mesh besides @mesh (at import_errors.mlir:{{[0-9]+}}); a program has one mesh, and no sharding names either by its symbol: remove the one that is not meant}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2]>, sym_name = "other"}> : () -> ()

// -----

// expected-error @below {{'sdy.mesh': @one is a maximal mesh (values on a single device), which is not supported; replicate the values on a mesh with axes instead}}
"sdy.mesh"() <{mesh = #sdy.mesh<[], device_ids=[0]>, sym_name = "one"}> : () -> ()

// -----

// expected-error @below {{'sdy.mesh': @mesh has an unsupported device order in device_ids: entry 1 is device 2; remove device_ids and place the ranks in the order of the mesh}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>, sym_name = "mesh"}> : () -> ()

// -----

// expected-error @below {{device_ids has 3 entries, but the mesh has 4 devices}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2], device_ids=[0, 1, 2]>, sym_name = "mesh"}> : () -> ()

// -----

// expected-error @below {{axis "x" occurs twice in mesh "mesh"}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "x"=2]>, sym_name = "mesh"}> : () -> ()

// -----

// expected-error @below {{the mesh has more than 8 axes}}
"sdy.mesh"() <{mesh = #sdy.mesh<["a"=1, "b"=1, "c"=1, "d"=1, "e"=1, "f"=1, "g"=1, "h"=1, "i"=1]>, sym_name = "mesh"}> : () -> ()

// -----

// expected-error @below {{the name of axis 0 is longer than 31 bytes}}
"sdy.mesh"() <{mesh = #sdy.mesh<["abcdefghijklmnopqrstuvwxyzabcdef"=1]>, sym_name = "mesh"}> : () -> ()

// -----

// expected-error @below {{mesh: #sdy.mesh<["x"=12345678901]> cannot be read: expected a number of at most nine digits at '12345678901]>'}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=12345678901]>, sym_name = "mesh"}> : () -> ()

// -----

// expected-error @below {{mesh: #sdy.mesh<["x"=2 "y"=2]> cannot be read: expected ']' at '"y"=2]>'}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2 "y"=2]>, sym_name = "mesh"}> : () -> ()

// -----

// expected-error @below {{mesh: #sdy.mesh<["x"=2], ids=[0, 1]> cannot be read: expected 'device_ids' at 'ids=[0, 1]>'}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2], ids=[0, 1]>, sym_name = "mesh"}> : () -> ()

// -----

// expected-error @below {{mesh is not a #sdy.mesh<...>}}
"sdy.mesh"() <{mesh = ["x", 2], sym_name = "mesh"}> : () -> ()

// -----

// expected-error @below {{'sdy.mesh': sym_name must be a string of at most 31 bytes}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>}> : () -> ()

// -----

shard.grid @grid(shape = 2)
// expected-error-re @below {{'sdy.mesh': @mesh is a second mesh besides @grid (at import_errors.mlir:{{[0-9]+}}); a program has one mesh, and shardings name both: write all of them with the axes of one mesh, and remove the other}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> : () -> ()
func.func @both_kinds(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %x to %s : tensor<8xf32>
  return
}

// -----

// Names with quotes; the third mesh is named nowhere.

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "one mesh"}> : () -> ()
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "one"}> : () -> ()
// expected-error @below {{@two is a second mesh besides @one mesh (at }}
"sdy.mesh"() <{mesh = #sdy.mesh<["y"=2]>, sym_name = "two"}> : () -> ()
func.func @quoted(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@"one mesh", [{"x"}]>},
                  %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@two, [{"y"}]>}) { return }

// -----

// Section: shardings.

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=4]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{'func.func': argument 1: sdy.sharding names axis "z", which mesh @mesh(x=2, y=4) does not have}}
func.func private @unknown_axis(tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>})

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=4]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{argument 0: sdy.sharding names axis "z", which mesh @mesh(x=2, y=4) does not have}}
func.func private @unknown_replicated(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], replicated={"z"}>})

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=4]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{result 0: sdy.sharding names mesh @other, which the module does not have}}
func.func private @unknown_mesh() -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"x"}]>})

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<[]>, sym_name = "empty"}> : () -> ()
// expected-error @below {{argument 0: sdy.sharding names axis "x", but mesh @empty has no axes}}
func.func private @empty_mesh(tensor<8xf32> {sdy.sharding = #sdy.sharding<@empty, [{"x"}]>})

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=4]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{argument 0: sdy.sharding uses axis "y" twice; an axis may be used once}}
func.func private @overlap(tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)2}, {}], unreduced={"y"}>})

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=4]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{argument 0: sdy.sharding has 1 dimensions, but the value has 2}}
func.func private @rank(tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=4]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{argument 0: sub-axis "y":(2)1; the pre-size must be at least 1, the size at least 2}}
func.func private @sub_axis(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(2)1}]>})

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=4]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{sub-axis "y:(1)3" does not divide axis "y" of size 4}}
func.func private @not_a_divisor(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)3}]>})

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=4]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{argument 0 has sdy.sharding and also tp.sharding; keep one}}
func.func private @both(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, tp.sharding = [["x"]]})

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{argument 0: a mesh inside of #sdy.sharding is not supported; name it in an sdy.mesh op, as in @mesh}}
func.func private @inline_mesh(tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>})

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{argument 0: #sdy.sharding<@mesh, [{?, "x"}]> cannot be read: expected '}' at ', "x"}]>'}}
func.func private @open_first(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?, "x"}]>})

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{argument 0: #sdy.sharding<@mesh, [{"x"}], reduced={"x"}> cannot be read: expected replicated={...} or unreduced={...} at 'reduced={"x"}>'}}
func.func private @unknown_set(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], reduced={"x"}>})

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{argument 0: #sdy.sharding<@, [{"x"}]> cannot be read: expected the name of a mesh at ', [{"x"}]>'}}
func.func private @no_name(tensor<8xf32> {sdy.sharding = #sdy.sharding<@, [{"x"}]>})

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{argument 0: #sdy.sharding<@mesh, [{"x"}]> more cannot be read: expected the end at 'more'}}
func.func private @trailing(tensor<8xf32> {sdy.sharding = #sdy<sharding<@mesh, [{"x"}]> more>})

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{sdy.sharding has more than 14 dimensions}}
func.func private @dimensions(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}]>})

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{sdy.sharding has more than 32 axes}}
func.func private @axes(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x","x","x","x","x","x","x","x","x","x","x","x","x","x","x","x","x","x","x","x","x","x","x","x","x","x","x","x","x","x","x","x","x"}]>})

// -----

// Section: ops.

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> : () -> ()
func.func @entries(%x: tensor<8xf32>) {
  // expected-error @below {{'arith.negf': sdy.sharding has 2 entries, but the op has 1 results}}
  %0 = arith.negf %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{}]>]>} : tensor<8xf32>
  return
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> : () -> ()
func.func @both(%x: tensor<8xf32>) {
  // expected-error @below {{'arith.negf': the op has sdy.sharding and also tp.sharding; keep one}}
  %0 = arith.negf %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, tp.sharding = [["x"]]} : tensor<8xf32>
  return
}

// -----

func.func @results() {
  // expected-error @below {{sdy.sharding on an op with 65 results; at most 64 are supported}}
  %0:65 = "test.many"() {sdy.sharding = #sdy.sharding_per_value<[]>} : () -> (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)
  return
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2]>, sym_name = "mesh"}> : () -> ()
func.func @region(%x: tensor<8xf32>) {
  // expected-error @below {{'sdy.manual_computation': needs one region of one block that ends in sdy.return}}
  %0 = "sdy.manual_computation"(%x) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}> ({
  ^bb0(%y: tensor<4xf32>):
    "test.end"() : () -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2]>, sym_name = "mesh"}> : () -> ()
func.func @values(%x: tensor<8xf32>) {
  // expected-error @below {{has 1 operands and 1 results, but its body takes 2 values and returns 1; the numbers must match}}
  %0 = "sdy.manual_computation"(%x) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}> ({
  ^bb0(%y: tensor<4xf32>, %z: tensor<4xf32>):
    "sdy.return"(%y) : (tensor<4xf32>) -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2]>, sym_name = "mesh"}> : () -> ()
func.func @lists(%x: tensor<8xf32>) {
  // expected-error @below {{in_shardings has 2 entries, but the op has 1 operands}}
  %0 = "sdy.manual_computation"(%x) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}> ({
  ^bb0(%y: tensor<4xf32>):
    "sdy.return"(%y) : (tensor<4xf32>) -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2]>, sym_name = "mesh"}> : () -> ()
func.func @axis(%x: tensor<8xf32>) {
  // expected-error @below {{manual_axes names axis "z", which mesh @mesh(x=2, y=2) does not have}}
  %0 = "sdy.manual_computation"(%x) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"z"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}> ({
  ^bb0(%y: tensor<4xf32>):
    "sdy.return"(%y) : (tensor<4xf32>) -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2]>, sym_name = "mesh"}> : () -> ()
func.func @types(%x: tensor<8xf32>) {
  // expected-error @below {{operand 0: its type in the body is not the type of a shard along the manual axes}}
  %0 = "sdy.manual_computation"(%x) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}> ({
  ^bb0(%y: tensor<8xf32>):
    "sdy.return"(%y) : (tensor<8xf32>) -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2]>, sym_name = "mesh"}> : () -> ()
func.func @uneven(%x: tensor<5xf32>) {
  // expected-error @below {{operand 0: manual axis "x" (2) does not divide dimension 0 (size 5 of a shard); pad it outside of the manual computation}}
  %0 = "sdy.manual_computation"(%x) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}> ({
  ^bb0(%y: tensor<3xf32>):
    "sdy.return"(%y) : (tensor<3xf32>) -> ()
  }) : (tensor<5xf32>) -> tensor<5xf32>
  return
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2]>, sym_name = "mesh"}> : () -> ()
func.func @unreduced(%x: tensor<8xf32>) {
  // expected-error @below {{operand 0: manual axis "x" is unreduced; at the boundary of a manual computation manual axes must be whole, and values must be reduced}}
  %0 = "sdy.manual_computation"(%x) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}> ({
  ^bb0(%y: tensor<8xf32>):
    "sdy.return"(%y) : (tensor<8xf32>) -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=4, "y"=2]>, sym_name = "mesh"}> : () -> ()
func.func @part(%x: tensor<8xf32>) {
  // expected-error @below {{operand 0: manual axis "x" is split into sub-axes}}
  %0 = "sdy.manual_computation"(%x) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x":(1)2}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}> ({
  ^bb0(%y: tensor<4xf32>):
    "sdy.return"(%y) : (tensor<4xf32>) -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2]>, sym_name = "mesh"}> : () -> ()
func.func @other_mesh(%x: tensor<8xf32>) {
  // expected-error @below {{operand 0: sdy.sharding names mesh @other, which the module does not have}}
  %0 = "sdy.manual_computation"(%x) <{in_shardings = #sdy.sharding_per_value<[<@other, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}> ({
  ^bb0(%y: tensor<4xf32>):
    "sdy.return"(%y) : (tensor<4xf32>) -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2]>, sym_name = "mesh"}> : () -> ()
func.func @no_axes(%x: tensor<8xf32>) {
  // expected-error @below {{manual_axes is not a #sdy<manual_axes{...}>}}
  %0 = "sdy.manual_computation"(%x) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}> ({
  ^bb0(%y: tensor<4xf32>):
    "sdy.return"(%y) : (tensor<4xf32>) -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2]>, sym_name = "mesh"}> : () -> ()
func.func @spelled(%x: tensor<8xf32>) {
  // expected-error @below {{manual_axes: #sdy.manual_axes{"x" "y"} cannot be read: expected '}' at '"y"}'}}
  %0 = "sdy.manual_computation"(%x) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x" "y"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}> ({
  ^bb0(%y: tensor<4xf32>):
    "sdy.return"(%y) : (tensor<4xf32>) -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2]>, sym_name = "mesh"}> : () -> ()
func.func @inside(%x: tensor<8xf32>) {
  %0 = "sdy.manual_computation"(%x) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}> ({
  ^bb0(%y: tensor<4xf32>):
    // expected-error @below {{sharding: sdy.sharding uses axis "x", which is manual here; the value is a shard along it already}}
    %z = "sdy.sharding_constraint"(%y) <{sharding = #sdy.sharding<@mesh, [{"y", "x"}]>}> : (tensor<4xf32>) -> tensor<4xf32>
    "sdy.return"(%z) : (tensor<4xf32>) -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2]>, sym_name = "mesh"}> : () -> ()
func.func @nested(%x: tensor<8xf32>) {
  %0 = "sdy.manual_computation"(%x) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}> ({
  ^bb0(%y: tensor<4xf32>):
    // expected-error @below {{operand 0: sdy.sharding uses axis "x", which is manual here}}
    %z = "sdy.manual_computation"(%y) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}> ({
    ^bb0(%a: tensor<2xf32>):
      "sdy.return"(%a) : (tensor<2xf32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>
    "sdy.return"(%z) : (tensor<4xf32>) -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @stray(%x: tensor<8xf32>) {
  "test.region"() ({
    // expected-error @below {{'sdy.return': must end an sdy.manual_computation or sdy.named_computation}}
    "sdy.return"(%x) : (tensor<8xf32>) -> ()
  }) : () -> ()
  return
}

// -----

func.func @unknown(%x: tensor<8xf32>) {
  // expected-error @below {{'sdy.data_flow_edge': is not supported; the supported Shardy ops are mesh, sharding_constraint, reshard, the collectives, manual_computation, propagation_barrier and sharding_group}}
  %0 = "sdy.data_flow_edge"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @form(%x: tensor<8xf32>) {
  // expected-error @below {{'sdy.sharding_constraint': has 2 operands, 1 results and 0 regions, but takes 1, 1 and none}}
  %0 = "sdy.sharding_constraint"(%x, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @type(%x: tensor<8xf32>) {
  // expected-error @below {{'sdy.propagation_barrier': the result has another type than the operand}}
  %0 = "sdy.propagation_barrier"(%x) : (tensor<8xf32>) -> tensor<9xf32>
  return
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> : () -> ()
func.func @no_sharding(%x: tensor<8xf32>) {
  // expected-error @below {{'sdy.sharding_constraint': sharding is not a #sdy.sharding<...>}}
  %0 = "sdy.sharding_constraint"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @carries(%x: tensor<8xf32>) {
  // expected-error @below {{'sdy.sharding_group': has an sdy.sharding, which is only allowed on ops that compute a value}}
  "sdy.sharding_group"(%x) {sdy.sharding = #sdy.sharding_per_value<[]>} : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @nested() {
  // expected-error @below {{'sdy.mesh': is nested in another op; a mesh must be at module level}}
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> : () -> ()
  return
}

// -----

func.func @mesh_form() {
  // expected-error @below {{'sdy.mesh': has 0 operands, 1 results and 0 regions, but takes 0, 0 and none}}
  %0 = "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> : () -> i32
  return
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> : () -> ()
func.func @dynamic(%x: tensor<?xf32>) {
  // expected-error @below {{'sdy.sharding_constraint': tp.sharding on a result that is not a tensor of static shape}}
  %0 = "sdy.sharding_constraint"(%x) <{sharding = #sdy.sharding<@mesh, [{"x"}]>}> : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

// Section: upstream's dialect.

shard.grid @a(shape = 2)
// expected-error-re @below {{'shard.grid': @b is a second mesh besides @a (at import_errors.mlir:{{[0-9]+}}); a program has one mesh, and shardings name both: write all of them with the axes of one mesh, and remove the other}}
shard.grid @b(shape = 2)
func.func @grids(%x: tensor<8xf32>) {
  %s = shard.sharding @a split_axes = [[0]] : !shard.sharding
  %t = shard.sharding @b split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %x to %s : tensor<8xf32>
  %1 = shard.shard %x to %t : tensor<8xf32>
  return
}

// -----

shard.grid @g(shape = 2x2)
func.func @halo(%x: tensor<8xf32>) {
  // expected-error @below {{'shard.sharding': halo_sizes and sharded_dims_offsets are not supported: shards do not overlap and have equal sizes, except for smaller last ones; remove them}}
  %s = shard.sharding @g split_axes = [[0]] halo_sizes = [1, 1] : !shard.sharding
  %0 = shard.shard %x to %s : tensor<8xf32>
  return
}

// -----

shard.grid @g(shape = 2x2)
func.func @offsets(%x: tensor<8xf32>) {
  // expected-error @below {{'shard.sharding': halo_sizes and sharded_dims_offsets are not supported}}
  %s = shard.sharding @g split_axes = [[0]] sharded_dims_offsets = [0, 3, 8] : !shard.sharding
  %0 = shard.shard %x to %s : tensor<8xf32>
  return
}

// -----

shard.grid @g(shape = 2x2)
func.func @dynamic_halo(%x: tensor<8xf32>, %h: i64) {
  // expected-error @below {{'shard.sharding': halo_sizes and sharded_dims_offsets are not supported}}
  %s = shard.sharding @g split_axes = [[0]] halo_sizes = [%h, %h] : !shard.sharding
  %0 = shard.shard %x to %s annotate_for_users : tensor<8xf32>
  return
}

// -----

shard.grid @g(shape = 2x2)
func.func @passed(%x: tensor<8xf32>, %s: !shard.sharding) {
  // expected-error @below {{'shard.shard': the sharding operand is not defined by a shard.sharding op; add one, or use tp.sharding}}
  %0 = shard.shard %x to %s annotate_for_users : tensor<8xf32>
  return
}

// -----

shard.grid @g(shape = 2x2)
func.func @rank(%x: tensor<8xf32>) {
  %s = shard.sharding @g split_axes = [[0], [1]] : !shard.sharding
  // expected-error @below {{'shard.shard': split_axes splits dimension 1, but the tensor has rank 1}}
  %0 = shard.shard %x to %s annotate_for_users : tensor<8xf32>
  return
}

// -----

shard.grid @g(shape = 2x2)
func.func @axis(%x: tensor<8xf32>) {
  %s = shard.sharding @g split_axes = [[2]] : !shard.sharding
  // expected-error @below {{'shard.shard': split_axes names axis 2, but grid @g has 2 axes}}
  %0 = shard.shard %x to %s annotate_for_users : tensor<8xf32>
  return
}

// -----

shard.grid @g(shape = 2x2)
func.func @dimensions(%x: tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) {
  %s = shard.sharding @g split_axes = [[0]] : !shard.sharding
  // expected-error @below {{'shard.shard': split_axes: at most 14 dimensions with 8 axes each are supported}}
  %0 = shard.shard %x to %s annotate_for_users : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>
  return
}

// -----

shard.grid @g(shape = 2x2)
// expected-error @below {{'func.func': shard.shard ops give argument 0 (%x) two layouts; add annotate_for_users to the one that is meant for the users}}
func.func @two_layouts(%x: tensor<8x8xf32>) {
  %s = shard.sharding @g split_axes = [[0]] : !shard.sharding
  %t = shard.sharding @g split_axes = [[1]] : !shard.sharding
  %0 = shard.shard %x to %s : tensor<8x8xf32>
  %1 = shard.shard %x to %t : tensor<8x8xf32>
  return
}

// -----

// expected-error @below {{the module is already partitioned (tp.phase = "local") but still has annotations to import; run tp-import before tp-partition}}
module attributes {tp.phase = "local"} {
  shard.grid @g(shape = 2)
  func.func @local(%x: tensor<8xf32>) {
    %s = shard.sharding @g split_axes = [[0]] : !shard.sharding
    %0 = shard.shard %x to %s : tensor<8xf32>
    return
  }
}
