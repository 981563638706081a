// The memory traffic of slices, gathers, scatters and updates: what they touch, and the whole tensor
// only where it is copied or made. The device takes a picosecond for a byte and nothing for
// operations. A row has ROW bytes, the tensor WHOLE, eight indices INDICES.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate{mesh=1 topology=%S/../../Inputs/slow_memory.json})' | FileCheck %s -D#ROW=2000 -D#WHOLE=100000000 -D#INDICES=64

// The row is read, and written to the result.
// CHECK: @static_row{{.*}}cost_ps = [[#mul(2,ROW)]] :
func.func @static_row(%x: tensor<50000x500xf32>) -> (tensor<1x500xf32>) {
  %row = tensor.extract_slice %x[3, 0] [1, 500] [1, 1] : tensor<50000x500xf32> to tensor<1x500xf32>
  return %row : tensor<1x500xf32>
}
// -----
// CHECK: @dynamic_row{{.*}}cost_ps = [[#mul(2,ROW)]] :
func.func @dynamic_row(%x: tensor<50000x500xf32>, %i: index) -> (tensor<1x500xf32>) {
  %row = tensor.extract_slice %x[%i, 0] [1, 500] [1, 1] : tensor<50000x500xf32> to tensor<1x500xf32>
  return %row : tensor<1x500xf32>
}
// -----
// A slice of an argument is a view; its reader reads it.
// CHECK: @read_row{{.*}}cost_ps = [[#add(ROW,ROW)]] :
func.func @read_row(%x: tensor<50000x500xf32>, %y: tensor<1x500xf32>) -> (tensor<1x500xf32>) {
  %row = tensor.extract_slice %x[3, 0] [1, 500] [1, 1] : tensor<50000x500xf32> to tensor<1x500xf32>
  %sum = arith.addf %row, %y : tensor<1x500xf32>
  return %sum : tensor<1x500xf32>
}
// -----
// A slice of a value that does not stay in memory is copied: two rows are read for each of x and y, then one is copied and read.
// CHECK: @row_of_result{{.*}}cost_ps = [[#mul(7,ROW)]] :
func.func @row_of_result(%x: tensor<2x500xf32>, %y: tensor<2x500xf32>) -> (tensor<1x500xf32>) {
  %z = arith.addf %x, %y : tensor<2x500xf32>
  %row = tensor.extract_slice %z[1, 0] [1, 500] [1, 1] : tensor<2x500xf32> to tensor<1x500xf32>
  %sum = arith.negf %row : tensor<1x500xf32>
  return %sum : tensor<1x500xf32>
}
// -----
// Of an elementwise op, the inputs count.
// CHECK: @gather{{.*}}cost_ps = [[#add(INDICES,mul(8,ROW))]] :
#id = affine_map<(d0, d1) -> (d0)>
#out = affine_map<(d0, d1) -> (d0, d1)>
func.func @gather(%x: tensor<50000x500xf32>, %i: tensor<8xindex>) -> (tensor<8x500xf32>) {
  %e = tensor.empty() : tensor<8x500xf32>
  %rows = linalg.generic {indexing_maps = [#id, #out], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<8xindex>) outs(%e : tensor<8x500xf32>) {
  ^bb0(%row: index, %o: f32):
    %column = linalg.index 1 : index
    %v = tensor.extract %x[%row, %column] : tensor<50000x500xf32>
    linalg.yield %v : f32
  } -> tensor<8x500xf32>
  return %rows : tensor<8x500xf32>
}
// -----
// No more than the table counts.
// CHECK: @gather_many{{.*}}cost_ps = [[#add(mul(2000,INDICES),mul(1000,ROW))]] :
#id = affine_map<(d0, d1, d2) -> (d0, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @gather_many(%x: tensor<1000x500xf32>, %i: tensor<2000x8xindex>) -> (tensor<2000x8x500xf32>) {
  %e = tensor.empty() : tensor<2000x8x500xf32>
  %rows = linalg.generic {indexing_maps = [#id, #out], iterator_types = ["parallel", "parallel", "parallel"]} ins(%i : tensor<2000x8xindex>) outs(%e : tensor<2000x8x500xf32>) {
  ^bb0(%row: index, %o: f32):
    %column = linalg.index 2 : index
    %v = tensor.extract %x[%row, %column] : tensor<1000x500xf32>
    linalg.yield %v : f32
  } -> tensor<2000x8x500xf32>
  return %rows : tensor<2000x8x500xf32>
}
// -----
// An argument with a new value is updated in place: the row is read and written.
// CHECK: @update_donated{{.*}}cost_ps = [[#mul(2,ROW)]] :
func.func @update_donated(%x: tensor<50000x500xf32>, %row: tensor<1x500xf32>, %i: index) -> (tensor<50000x500xf32> {tp.updates = 0}) {
  %new = tensor.insert_slice %row into %x[%i, 0] [1, 500] [1, 1] : tensor<1x500xf32> into tensor<50000x500xf32>
  return %new : tensor<50000x500xf32>
}
// -----
// Any other argument is copied, that is read and written.
// CHECK: @update_kept{{.*}}cost_ps = [[#add(mul(2,ROW),mul(2,WHOLE))]] :
func.func @update_kept(%x: tensor<50000x500xf32>, %row: tensor<1x500xf32>, %i: index) -> (tensor<50000x500xf32>) {
  %new = tensor.insert_slice %row into %x[%i, 0] [1, 500] [1, 1] : tensor<1x500xf32> into tensor<50000x500xf32>
  return %new : tensor<50000x500xf32>
}
// -----
// Zeros are written first.
// CHECK: @update_zeros{{.*}}cost_ps = [[#add(mul(2,ROW),WHOLE)]] :
func.func @update_zeros(%row: tensor<1x500xf32>, %i: index) -> (tensor<50000x500xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<50000x500xf32>
  %x = linalg.fill ins(%zero : f32) outs(%e : tensor<50000x500xf32>) -> tensor<50000x500xf32>
  %new = tensor.insert_slice %row into %x[%i, 0] [1, 500] [1, 1] : tensor<1x500xf32> into tensor<50000x500xf32>
  return %new : tensor<50000x500xf32>
}
// -----
// The second update is in place: nothing else reads the first.
// CHECK: @update_twice{{.*}}cost_ps = [[#add(mul(4,ROW),mul(2,WHOLE))]] :
func.func @update_twice(%x: tensor<50000x500xf32>, %row: tensor<1x500xf32>, %i: index) -> (tensor<50000x500xf32>) {
  %new = tensor.insert_slice %row into %x[%i, 0] [1, 500] [1, 1] : tensor<1x500xf32> into tensor<50000x500xf32>
  %next = tensor.insert_slice %row into %new[0, 0] [1, 500] [1, 1] : tensor<1x500xf32> into tensor<50000x500xf32>
  return %next : tensor<50000x500xf32>
}
// -----
// Here the first is returned, too.
// CHECK: @update_both{{.*}}cost_ps = [[#add(mul(4,ROW),mul(4,WHOLE))]] :
func.func @update_both(%x: tensor<50000x500xf32>, %row: tensor<1x500xf32>, %i: index) -> (tensor<50000x500xf32>, tensor<50000x500xf32>) {
  %new = tensor.insert_slice %row into %x[%i, 0] [1, 500] [1, 1] : tensor<1x500xf32> into tensor<50000x500xf32>
  %next = tensor.insert_slice %row into %new[0, 0] [1, 500] [1, 1] : tensor<1x500xf32> into tensor<50000x500xf32>
  return %next, %new : tensor<50000x500xf32>, tensor<50000x500xf32>
}
// -----
// Updates are read; what they change is read and written.
// CHECK: @scatter_donated{{.*}}cost_ps = [[#add(INDICES,mul(24,ROW))]] :
#index = affine_map<(r, c, u) -> (u)>
#update = affine_map<(r, c, u) -> (u, c)>
#result = affine_map<(r, c, u) -> (r, c)>
func.func @scatter_donated(%x: tensor<50000x500xf32>, %i: tensor<8xindex>, %u: tensor<8x500xf32>) -> (tensor<50000x500xf32> {tp.updates = 0}) {
  %new = linalg.generic {indexing_maps = [#index, #update, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%i, %u : tensor<8xindex>, tensor<8x500xf32>) outs(%x : tensor<50000x500xf32>) {
  ^bb0(%p: index, %value: f32, %old: f32):
    %sum = arith.addf %old, %value : f32
    %row = linalg.index 0 : index
    %same = arith.cmpi eq, %p, %row : index
    %y = arith.select %same, %sum, %old : f32
    linalg.yield %y : f32
  } -> tensor<50000x500xf32>
  return %new : tensor<50000x500xf32>
}
// -----
// CHECK: @scatter_kept{{.*}}cost_ps = [[#add(INDICES,add(mul(24,ROW),mul(2,WHOLE)))]] :
#index = affine_map<(r, c, u) -> (u)>
#update = affine_map<(r, c, u) -> (u, c)>
#result = affine_map<(r, c, u) -> (r, c)>
func.func @scatter_kept(%x: tensor<50000x500xf32>, %i: tensor<8xindex>, %u: tensor<8x500xf32>) -> (tensor<50000x500xf32>) {
  %new = linalg.generic {indexing_maps = [#index, #update, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%i, %u : tensor<8xindex>, tensor<8x500xf32>) outs(%x : tensor<50000x500xf32>) {
  ^bb0(%p: index, %value: f32, %old: f32):
    %sum = arith.addf %old, %value : f32
    %row = linalg.index 0 : index
    %same = arith.cmpi eq, %p, %row : index
    %y = arith.select %same, %sum, %old : f32
    linalg.yield %y : f32
  } -> tensor<50000x500xf32>
  return %new : tensor<50000x500xf32>
}
// -----
// A loop over stacked layers reads each layer once: 16 times as many take 16 times as long.
// CHECK: @layers_4{{.*}}cost_ps = [[#LAYERS:]] :
func.func @layers_4(%x: tensor<8x512xf32>, %w: tensor<4x512x512xf32>) -> (tensor<8x512xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> (tensor<8x512xf32>) {
    %layer = tensor.extract_slice %w[%i, 0, 0] [1, 512, 512] [1, 1, 1] : tensor<4x512x512xf32> to tensor<512x512xf32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x512xf32>
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<8x512xf32>) -> tensor<8x512xf32>
    %next = linalg.matmul ins(%h, %layer : tensor<8x512xf32>, tensor<512x512xf32>) outs(%init : tensor<8x512xf32>) -> tensor<8x512xf32>
    scf.yield %next : tensor<8x512xf32>
  }
  return %y : tensor<8x512xf32>
}
// -----
// CHECK: @layers_64{{.*}}cost_ps = [[#mul(16,LAYERS)]] :
func.func @layers_64(%x: tensor<8x512xf32>, %w: tensor<64x512x512xf32>) -> (tensor<8x512xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> (tensor<8x512xf32>) {
    %layer = tensor.extract_slice %w[%i, 0, 0] [1, 512, 512] [1, 1, 1] : tensor<64x512x512xf32> to tensor<512x512xf32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x512xf32>
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<8x512xf32>) -> tensor<8x512xf32>
    %next = linalg.matmul ins(%h, %layer : tensor<8x512xf32>, tensor<512x512xf32>) outs(%init : tensor<8x512xf32>) -> tensor<8x512xf32>
    scf.yield %next : tensor<8x512xf32>
  }
  return %y : tensor<8x512xf32>
}
// -----
// A loop-carried value is updated in place, also where the loop reads it before.
// CHECK: @cache{{.*}}cost_ps = [[#mul(400,ROW)]] :
func.func @cache(%x: tensor<50000x500xf32>, %row: tensor<1x500xf32>) -> (tensor<50000x500xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 100 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%cache = %x) -> (tensor<50000x500xf32>) {
    %old = tensor.extract_slice %cache[%i, 0] [1, 500] [1, 1] : tensor<50000x500xf32> to tensor<1x500xf32>
    %sum = arith.addf %old, %row : tensor<1x500xf32>
    %next = tensor.insert_slice %sum into %cache[%i, 0] [1, 500] [1, 1] : tensor<1x500xf32> into tensor<50000x500xf32>
    scf.yield %next : tensor<50000x500xf32>
  }
  return %y : tensor<50000x500xf32>
}
