// What a value may be called: its name in the text, tp.name with or without a %, or the place that made it.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=%%arg0})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=X
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=input})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=X
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=%%input})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=X
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=layer.py:7})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=model/layer.py:7})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=layer.py:72})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=scale})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SCALAR

// The first annotation leaves no choice; a value without dimensions has none, and nobody annotated it.
// X: remark: input (%x) has layout {{\[\["dp"\], \[\]\]}}; the plan costs
// X-NEXT: dp: input (%x) is pinned to {{\[\["dp"\], \[\]\]}}
// X-NEXT: not along tp: all devices along it hold the same data
// X-NEXT: it causes no collective
// X-NEXT: its annotation leaves no other layout
// X-NOT: remark
// SCALAR: remark: scale (%s) has layout []; the plan costs
// SCALAR-NEXT: not along dp: all devices along it hold the same data
// SCALAR-NEXT: not along tp: all devices along it hold the same data
// SCALAR-NEXT: it causes no collective
// SCALAR-NEXT: it can have no other layout

// A line of one digit, and one that starts with it. Both annotations reach the value, each along its axis.
// SHORT: model/layer.py:7:1: remark: matmul with input and inputs (%0) has layout
// SHORT-NEXT: dp:{{$}}
// SHORT-NEXT: input (%x) is pinned to {{\[\["dp"\], \[\]\]}}
// SHORT-NEXT: matmul with input and inputs (%0) has layout {{\[\["dp"\], \["tp"\]\]$}}
// SHORT-NEXT: tp:{{$}}
// SHORT-NEXT: inputs (%w) is pinned to {{\[\[\], \["tp"\]\]}}
// SHORT-NEXT: matmul with input and inputs (%0) has layout {{\[\["dp"\], \["tp"\]\]$}}
// SHORT-NOT: remark
// LONG: model/layer.py:72:3: remark: {{.*}} (%1, result 0) has layout
// LONG-NEXT: dp:{{$}}
// LONG-NEXT: input (%x) is pinned to {{.*}}
// LONG-NEXT: 1 op between keeps dp where it is
// LONG-NEXT: {{.*}} (%1) has layout
// LONG-NOT: remark

// What is near: names of tp.name and of the text, the nearest first, at most five, however long they are.
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=nput})' 2>&1 | FileCheck %s --check-prefix=NEAR
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=outputs})' 2>&1 | FileCheck %s --check-prefix=OUT
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=sscal})' 2>&1 | FileCheck %s --check-prefix=TYPO
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=inp})' 2>&1 | FileCheck %s --check-prefix=PREFIX
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=argument})' 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// NEAR: there is no tensor named 'nput'; similar names: input, inputs, %x, %w, %c; names are
// OUT: there is no tensor named 'outputs'; similar names: inputs, input, {{.*}}; names are
// PREFIX: there is no tensor named 'inp'; similar names: input, inputs, %x, %w, %c; names are
// ARGUMENT: there is no tensor named 'argument'; similar names: input, inputs, scale, result 0, %x; names are
// TYPO: there is no tensor named 'sscal'; similar names: scale, {{.*}}; names are

// Places are no names: the end of a folder's name, a part of a number, a line without a file.
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=el/layer.py:7})' 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=layer.py:2})' 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{explain=:7})' 2>&1 | FileCheck %s --check-prefix=NAME
// PLACE: there is no tensor made at '{{.*}}layer.py:{{[27]}}'; names are
// NAME: there is no tensor named ':7'; similar names: %x

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @f(%x: tensor<64x512xf32> {tp.name = "input", tp.sharding = [["dp"], []]}, %w: tensor<512x64xf32> {tp.name = "inputs", tp.sharding = [[], ["tp"]]},
             %c: tensor<64x64xf32> {tp.name = "a_name_that_somebody_generated_from_the_whole_path_of_modules_to_this_bias"},
             %s: tensor<f32> {tp.name = "scale"}) -> tensor<64x64xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<64x512xf32>, tensor<512x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32> loc("model/layer.py":7:1)
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<f32>) outs(%y : tensor<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32> loc("model/layer.py":72:3)
  return %z : tensor<64x64xf32>
}
