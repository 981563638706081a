// Numbers over all of a type, both zeros, denormals, infinities and NaN among them, and of a range, and what FUNCTION gives for them.
#id = affine_map<(i) -> (i)>
func.func @main() -> (tensor<COUNTxTYPE>, tensor<COUNTxTYPE>, tensor<COUNTxTYPE>) {
  %e = tensor.empty() : tensor<COUNTxTYPE>
  %0:3 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      outs(%e, %e, %e : tensor<COUNTxTYPE>, tensor<COUNTxTYPE>, tensor<COUNTxTYPE>) {
  ^bb0(%o0: TYPE, %o1: TYPE, %o2: TYPE):
    %i = linalg.index 0 : index
    %number = arith.index_cast %i : index to BITS
    %places = arith.constant PLACES : BITS
    %high = arith.shli %number, %places : BITS
    %odd = arith.constant 2654435761 : BITS
    %spread = arith.muli %number, %odd : BITS
    %low_mask = arith.constant MASK : BITS
    %low = arith.andi %spread, %low_mask : BITS
    %bits = arith.ori %high, %low : BITS
    %x_any = arith.bitcast %bits : BITS to TYPE
    // The other half of a range.
    %position = arith.sitofp %number : BITS to TYPE
    %step = arith.constant STEP : TYPE
    %start = arith.constant LOW : TYPE
    %beyond = arith.mulf %position, %step : TYPE
    %x_range = arith.addf %start, %beyond : TYPE
    %half = arith.constant 1 : BITS
    %turn = arith.shrui %number, %half : BITS
    %odd_turn = arith.andi %turn, %half : BITS
    %in_range = arith.cmpi eq, %odd_turn, %half : BITS
    %x = arith.select %in_range, %x_range, %x_any : TYPE
    // Half of the second arguments are numbers of size 100 and whole, the rest anything.
    %half_mask = arith.constant 1 : BITS
    %which = arith.andi %number, %half_mask : BITS
    %zero = arith.constant 0 : BITS
    %is_whole = arith.cmpi eq, %which, %zero : BITS
    %hundred = arith.constant 127 : BITS
    %few = arith.andi %spread, %hundred : BITS
    %middle = arith.constant 64 : BITS
    %whole = arith.subi %few, %middle : BITS
    %y_whole = arith.sitofp %whole : BITS to TYPE
    %y_any = arith.bitcast %spread : BITS to TYPE
    %y = arith.select %is_whole, %y_whole, %y_any : TYPE
    %z = FUNCTION %x SECOND : TYPE
    linalg.yield %x, %y, %z : TYPE, TYPE, TYPE
  } -> (tensor<COUNTxTYPE>, tensor<COUNTxTYPE>, tensor<COUNTxTYPE>)
  return %0#0, %0#1, %0#2 : tensor<COUNTxTYPE>, tensor<COUNTxTYPE>, tensor<COUNTxTYPE>
}
