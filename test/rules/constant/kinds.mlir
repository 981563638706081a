// Constants of every type of elements: whole and sliced, splats, sparse, of rank 0, and resources.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x1 --strategy follow

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main()
    -> (tensor<3x2xf16> {tp.sharding = [["x"], ["y"]]}, tensor<3x2xf16> {tp.sharding = [[], ["x"]]},
        tensor<3x2xbf16> {tp.sharding = [[], ["x"]]}, tensor<3x2xbf16> {tp.sharding = [["x"], []]},
        tensor<3x2xf32> {tp.sharding = [["x"], []]}, tensor<3x2xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<3x2xf64> {tp.sharding = [["x"], ["y"]]}, tensor<3x2xf64> {tp.sharding = [[], ["x"]]},
        tensor<3x2xi1> {tp.sharding = [[], ["x"]]}, tensor<3x2xi1> {tp.sharding = [["x"], []]},
        tensor<3x2xi8> {tp.sharding = [["x"], []]}, tensor<3x2xi8> {tp.sharding = [["x"], ["y"]]},
        tensor<3x2xi16> {tp.sharding = [["x"], ["y"]]}, tensor<3x2xi16> {tp.sharding = [[], ["x"]]},
        tensor<3x2xi32> {tp.sharding = [[], ["x"]]}, tensor<3x2xi32> {tp.sharding = [["x"], []]},
        tensor<3x2xi64> {tp.sharding = [["x"], []]}, tensor<3x2xi64> {tp.sharding = [["x"], ["y"]]},
        tensor<3x2xindex> {tp.sharding = [["x"], ["y"]]}, tensor<3x2xindex> {tp.sharding = [[], ["x"]]},
        tensor<3x2xui8> {tp.sharding = [[], ["x"]]}, tensor<3x2xui8> {tp.sharding = [["x"], []]},
        tensor<3x2xsi32> {tp.sharding = [["x"], []]}, tensor<3x2xsi32> {tp.sharding = [["x"], ["y"]]},
        tensor<3x2xf32> {tp.sharding = [["x"], ["y"]]}, tensor<f32>,
        tensor<3x2xf32> {tp.sharding = [[], ["x"]]}, tensor<2xbf16> {tp.sharding = [["x"]]},
        tensor<3xi1> {tp.sharding = [["x"]]}, tensor<2xcomplex<f32>> {tp.sharding = [["x"]]}) {
  %a0 = arith.constant dense<[[1.5, -2.0], [0.5, 3.0], [1.0, 9.0]]> : tensor<3x2xf16>
  %b0 = arith.constant dense<1.5> : tensor<3x2xf16>
  %a1 = arith.constant dense<[[1.5, -2.0], [0.5, 3.0], [1.0, 9.0]]> : tensor<3x2xbf16>
  %b1 = arith.constant dense<1.5> : tensor<3x2xbf16>
  %a2 = arith.constant dense<[[1.5, -2.0], [0.5, 3.0], [1.0, 9.0]]> : tensor<3x2xf32>
  %b2 = arith.constant dense<1.5> : tensor<3x2xf32>
  %a3 = arith.constant dense<[[1.5, -2.0], [0.5, 3.0], [1.0, 9.0]]> : tensor<3x2xf64>
  %b3 = arith.constant dense<0.0> : tensor<3x2xf64>
  %a4 = arith.constant dense<[[true, false], [false, true], [true, true]]> : tensor<3x2xi1>
  %b4 = arith.constant dense<true> : tensor<3x2xi1>
  %a5 = arith.constant dense<[[1, -2], [3, 4], [-5, 127]]> : tensor<3x2xi8>
  %b5 = arith.constant dense<-3> : tensor<3x2xi8>
  %a6 = arith.constant dense<[[1, -2], [3, 4], [-5, 127]]> : tensor<3x2xi16>
  %b6 = arith.constant dense<4> : tensor<3x2xi16>
  %a7 = arith.constant dense<[[1, -2], [3, 4], [-5, 127]]> : tensor<3x2xi32>
  %b7 = arith.constant dense<0> : tensor<3x2xi32>
  %a8 = arith.constant dense<[[1, -2], [3, 4], [-5, 127]]> : tensor<3x2xi64>
  %b8 = arith.constant dense<-1> : tensor<3x2xi64>
  %a9 = arith.constant dense<[[1, 2], [3, 4], [5, 127]]> : tensor<3x2xindex>
  %b9 = arith.constant dense<7> : tensor<3x2xindex>
  %a10 = arith.constant dense<[[1, 2], [3, 4], [5, 255]]> : tensor<3x2xui8>
  %b10 = arith.constant dense<200> : tensor<3x2xui8>
  %a11 = arith.constant dense<[[1, -2], [3, 4], [-5, 127]]> : tensor<3x2xsi32>
  %b11 = arith.constant dense<-5> : tensor<3x2xsi32>
  %s = arith.constant sparse<[[0, 1], [2, 0]], [1.0, 2.0]> : tensor<3x2xf32>
  %z = arith.constant dense<2.0> : tensor<f32>
  %q = arith.constant dense_resource<numbers> : tensor<3x2xf32>
  %h = arith.constant dense_resource<halves> : tensor<2xbf16>
  %t = arith.constant dense_resource<truths> : tensor<3xi1>
  %w = arith.constant dense_resource<pairs> : tensor<2xcomplex<f32>>
  return %a0, %b0, %a1, %b1, %a2, %b2, %a3, %b3, %a4, %b4, %a5, %b5,
      %a6, %b6, %a7, %b7, %a8, %b8, %a9, %b9, %a10, %b10, %a11, %b11,
      %s, %z, %q, %h, %t, %w
      : tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xf32>, tensor<3x2xf32>,
        tensor<3x2xf64>, tensor<3x2xf64>, tensor<3x2xi1>, tensor<3x2xi1>, tensor<3x2xi8>, tensor<3x2xi8>,
        tensor<3x2xi16>, tensor<3x2xi16>, tensor<3x2xi32>, tensor<3x2xi32>, tensor<3x2xi64>, tensor<3x2xi64>,
        tensor<3x2xindex>, tensor<3x2xindex>, tensor<3x2xui8>, tensor<3x2xui8>, tensor<3x2xsi32>, tensor<3x2xsi32>,
        tensor<3x2xf32>, tensor<f32>, tensor<3x2xf32>, tensor<2xbf16>, tensor<3xi1>, tensor<2xcomplex<f32>>
}

{-#
  dialect_resources: {
    builtin: {
      numbers: "0x040000000000803F00000040000040400000804000000040000000C0",
      halves: "0x04000000803F0040",
      truths: "0x01000000010001",
      pairs: "0x040000000000803F00000040000040400000803F"
    }
  }
#-}
