// RUN: tessera-opt %s | tessera-opt | FileCheck %s
// Types state what the padding of uneven shards holds; ops and conversions carry
// it on by one formula each.

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>, dist.masked} {
  // CHECK-LABEL: @zeros_stay_in_products
  func.func @zeros_stay_in_products(
      %x: tensor<8x9xf32, #dist<tp: S(1) Z>>, %y: tensor<8x9xf32, #dist<tp: S(1) F>>) {
    // CHECK: -> tensor<8x9xf32, #dist<tp: S(1) Z>>
    %z = nn.einsum "bh,bh->bh" %x, %y : (tensor<8x9xf32, #dist<tp: S(1) Z>>, tensor<8x9xf32, #dist<tp: S(1) F>>)
      -> tensor<8x9xf32, #dist<tp: S(1) Z>>
    // A contraction of zeros adds nothing.
    // CHECK: -> tensor<8xf32, #dist<tp: P>>
    %s = nn.einsum "bh->b" %z : (tensor<8x9xf32, #dist<tp: S(1) Z>>) -> tensor<8xf32, #dist<tp: P>>
    return
  }

  // CHECK-LABEL: @logits
  func.func @logits(%x: tensor<8x9xf32, #dist<tp: S(1)>>) {
    // CHECK: dist.mask %{{.*}} dim 1 fill N
    %m = dist.mask %x dim 1 fill N : tensor<8x9xf32, #dist<tp: S(1)>> -> tensor<8x9xf32, #dist<tp: S(1) N>>
    %top = nn.max %m : tensor<8x9xf32, #dist<tp: S(1) N>> -> tensor<8xf32, #dist<tp: M>>
    // exp(-inf) is 0.
    // CHECK: -> tensor<8x9xf32, #dist<tp: S(1) Z>>
    %e = nn.map exp %m : tensor<8x9xf32, #dist<tp: S(1) N>> -> tensor<8x9xf32, #dist<tp: S(1) Z>>
    return
  }

  // A slice fills new padding with zeros, a gather cuts padding off.
  // CHECK-LABEL: @conversions
  func.func @conversions(%x: tensor<9x9xf32, #dist<dp: S(0) F>>) {
    // CHECK: dist.convert all_slice {{.*}} -> tensor<9x9xf32, #dist<dp: S(0) F, tp: S(1) Z>>
    %s = dist.convert all_slice %x on "tp"
      : tensor<9x9xf32, #dist<dp: S(0) F>> -> tensor<9x9xf32, #dist<dp: S(0) F, tp: S(1) Z>>
    // CHECK: dist.convert all_gather {{.*}} -> tensor<9x9xf32, #dist<tp: S(1) Z>>
    %g = dist.convert all_gather %s on "dp"
      : tensor<9x9xf32, #dist<dp: S(0) F, tp: S(1) Z>> -> tensor<9x9xf32, #dist<tp: S(1) Z>>
    return
  }

  // A type may say less than is true.
  // CHECK-LABEL: @weaker
  func.func @weaker(%x: tensor<8x9xf32, #dist<tp: S(1) Z>>) {
    // CHECK: -> tensor<8x9xf32, #dist<tp: S(1) F>>
    %y = nn.map relu %x : tensor<8x9xf32, #dist<tp: S(1) Z>> -> tensor<8x9xf32, #dist<tp: S(1) F>>
    return
  }
}
