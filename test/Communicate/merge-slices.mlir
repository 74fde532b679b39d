// Slices of one dimension that two axes cut move in one call, if the ranks lie like the slices.
// RUN: tessera-opt %s --rt-merge-collectives | FileCheck %s
!shard = tensor<2x8xf32>
!half = tensor<4x8xf32>
!whole = tensor<8x8xf32>
module attributes {dist.mesh = #dist.mesh<dp = 2, cp = 2>} {
  // CHECK-LABEL: func.func @step
  func.func @step(%p: !shard, %g: !whole) -> (!whole, !shard, !whole, !shard, tensor<4x16xf32>, !half, !whole) {
    // CHECK-NEXT: %[[ALL:.*]] = rt.all_gather %arg0 along 0 over ["cp", "dp"] {reason = "shards"} : tensor<2x8xf32> -> tensor<8x8xf32>
    %a = rt.all_gather %p along 0 over ["cp"] : !shard -> !half
    %all = rt.all_gather %a along 0 over ["dp"] {reason = "shards"} : !half -> !whole
    // CHECK-NEXT: %[[SUM:.*]] = rt.reduce_scatter %arg1 along 0 over ["cp", "dp"] {rt.role = [{nn.param = "p"}]} : tensor<8x8xf32> -> tensor<2x8xf32>
    %b = rt.reduce_scatter %g along 0 over ["dp"] : !whole -> !half
    %sum = rt.reduce_scatter %b along 0 over ["cp"] {rt.role = [{nn.param = "p"}]} : !half -> !shard
    // The slices of dp are inside those of cp, but its ranks are not.
    // CHECK-NEXT: %[[C:.*]] = rt.all_gather %arg0 along 0 over ["dp"] : tensor<2x8xf32> -> tensor<4x8xf32>
    // CHECK-NEXT: rt.all_gather %[[C]] along 0 over ["cp"]
    %c = rt.all_gather %p along 0 over ["dp"] : !shard -> !half
    %other = rt.all_gather %c along 0 over ["cp"] : !half -> !whole
    // CHECK-NEXT: %[[D:.*]] = rt.reduce_scatter %arg1 along 0 over ["cp"] : tensor<8x8xf32> -> tensor<4x8xf32>
    // CHECK-NEXT: rt.reduce_scatter %[[D]] along 0 over ["dp"]
    %d = rt.reduce_scatter %g along 0 over ["cp"] : !whole -> !half
    %part = rt.reduce_scatter %d along 0 over ["dp"] : !half -> !shard
    // Two dimensions.
    // CHECK-NEXT: %[[E:.*]] = rt.all_gather %arg0 along 0 over ["cp"]
    // CHECK-NEXT: rt.all_gather %[[E]] along 1 over ["dp"]
    %e = rt.all_gather %p along 0 over ["cp"] : !shard -> !half
    %square = rt.all_gather %e along 1 over ["dp"] : !half -> tensor<4x16xf32>
    // The slices of one axis are read as well.
    // CHECK-NEXT: %[[F:.*]] = rt.all_gather %arg0 along 0 over ["cp"]
    // CHECK-NEXT: %[[G:.*]] = rt.all_gather %[[F]] along 0 over ["dp"]
    %f = rt.all_gather %p along 0 over ["cp"] : !shard -> !half
    %read = rt.all_gather %f along 0 over ["dp"] : !half -> !whole
    return %all, %sum, %other, %part, %square, %f, %read : !whole, !shard, !whole, !shard, tensor<4x16xf32>, !half, !whole
  }
}
