// Every row of the table of conversions, and the second level of a dimension that two axes cut.
// RUN: tessera-opt -split-input-file %s | tessera-opt -split-input-file | FileCheck %s
// RUN: tessera-opt -split-input-file -mlir-print-op-generic %s | tessera-opt -split-input-file | FileCheck %s

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  // CHECK-LABEL: @invariant_to_replicated
  func.func @invariant_to_replicated(%x: tensor<8x4xf32>) {
    // CHECK: dist.convert enter %{{.*}} on "tp" : tensor<8x4xf32> -> tensor<8x4xf32, #dist<tp: R>>
    %y = dist.convert enter %x on "tp" : tensor<8x4xf32> -> tensor<8x4xf32, #dist<tp: R>>
    return
  }

  // CHECK-LABEL: @partial_to_invariant
  func.func @partial_to_invariant(%x: tensor<8x4xf32, #dist<tp: P>>) {
    // CHECK: dist.convert all_reduce %{{.*}} on "tp" : tensor<8x4xf32, #dist<tp: P>> -> tensor<8x4xf32>
    %y = dist.convert all_reduce %x on "tp" : tensor<8x4xf32, #dist<tp: P>> -> tensor<8x4xf32>
    return
  }

  // CHECK-LABEL: @sharded_to_replicated
  func.func @sharded_to_replicated(%x: tensor<8x4xf32, #dist<tp: S(0)>>) {
    // CHECK: dist.convert all_gather %{{.*}} on "tp" : tensor<8x4xf32, #dist<tp: S(0)>>
    // CHECK-SAME: -> tensor<8x4xf32, #dist<tp: R>>
    %y = dist.convert all_gather %x on "tp" : tensor<8x4xf32, #dist<tp: S(0)>> -> tensor<8x4xf32, #dist<tp: R>>
    return
  }

  // CHECK-LABEL: @sharded_to_invariant
  func.func @sharded_to_invariant(%x: tensor<8x4xf32, #dist<tp: S(0)>>) {
    // CHECK: dist.convert all_gather %{{.*}} on "tp" : tensor<8x4xf32, #dist<tp: S(0)>> -> tensor<8x4xf32>
    %y = dist.convert all_gather %x on "tp" : tensor<8x4xf32, #dist<tp: S(0)>> -> tensor<8x4xf32>
    return
  }

  // CHECK-LABEL: @partial_to_sharded
  func.func @partial_to_sharded(%x: tensor<8x4xf32, #dist<tp: P>>) {
    // CHECK: dist.convert reduce_scatter %{{.*}} on "tp" : tensor<8x4xf32, #dist<tp: P>>
    // CHECK-SAME: -> tensor<8x4xf32, #dist<tp: S(0)>>
    %y = dist.convert reduce_scatter %x on "tp" : tensor<8x4xf32, #dist<tp: P>> -> tensor<8x4xf32, #dist<tp: S(0)>>
    return
  }

  // CHECK-LABEL: @invariant_to_sharded
  func.func @invariant_to_sharded(%x: tensor<8x4xf32>) {
    // CHECK: dist.convert all_slice %{{.*}} on "tp" : tensor<8x4xf32> -> tensor<8x4xf32, #dist<tp: S(0)>>
    %y = dist.convert all_slice %x on "tp" : tensor<8x4xf32> -> tensor<8x4xf32, #dist<tp: S(0)>>
    return
  }

  // CHECK-LABEL: @replicated_to_sharded
  func.func @replicated_to_sharded(%x: tensor<8x4xf32, #dist<tp: R>>) {
    // CHECK: dist.convert all_slice %{{.*}} on "tp" : tensor<8x4xf32, #dist<tp: R>>
    // CHECK-SAME: -> tensor<8x4xf32, #dist<tp: S(0)>>
    %y = dist.convert all_slice %x on "tp" : tensor<8x4xf32, #dist<tp: R>> -> tensor<8x4xf32, #dist<tp: S(0)>>
    return
  }

  // CHECK-LABEL: @sharded_to_partial
  func.func @sharded_to_partial(%x: tensor<8x4xf32, #dist<tp: S(0)>>) {
    // CHECK: dist.convert sharded_to_partial %{{.*}} on "tp" : tensor<8x4xf32, #dist<tp: S(0)>>
    // CHECK-SAME: -> tensor<8x4xf32, #dist<tp: P>>
    %y = dist.convert sharded_to_partial %x on "tp" : tensor<8x4xf32, #dist<tp: S(0)>> -> tensor<8x4xf32, #dist<tp: P>>
    return
  }

  // CHECK-LABEL: @invariant_to_partial
  func.func @invariant_to_partial(%x: tensor<8x4xf32>) {
    // CHECK: dist.convert replicated_to_partial %{{.*}} on "tp" : tensor<8x4xf32> -> tensor<8x4xf32, #dist<tp: P>>
    %y = dist.convert replicated_to_partial %x on "tp" : tensor<8x4xf32> -> tensor<8x4xf32, #dist<tp: P>>
    return
  }

  // CHECK-LABEL: @replicated_to_partial
  func.func @replicated_to_partial(%x: tensor<8x4xf32, #dist<tp: R>>) {
    // CHECK: dist.convert replicated_to_partial %{{.*}} on "tp" : tensor<8x4xf32, #dist<tp: R>>
    // CHECK-SAME: -> tensor<8x4xf32, #dist<tp: P>>
    %y = dist.convert replicated_to_partial %x on "tp" : tensor<8x4xf32, #dist<tp: R>> -> tensor<8x4xf32, #dist<tp: P>>
    return
  }

  // CHECK-LABEL: @replicated_to_invariant
  func.func @replicated_to_invariant(%x: tensor<8x4xf32, #dist<tp: R>>) {
    // CHECK: dist.convert leave %{{.*}} on "tp" : tensor<8x4xf32, #dist<tp: R>> -> tensor<8x4xf32>
    %y = dist.convert leave %x on "tp" : tensor<8x4xf32, #dist<tp: R>> -> tensor<8x4xf32>
    return
  }

  // CHECK-LABEL: @sharded_to_other_dimension
  func.func @sharded_to_other_dimension(%x: tensor<8x4xf32, #dist<tp: S(0)>>) {
    // CHECK: dist.convert all_to_all %{{.*}} on "tp" : tensor<8x4xf32, #dist<tp: S(0)>>
    // CHECK-SAME: -> tensor<8x4xf32, #dist<tp: S(1)>>
    %y = dist.convert all_to_all %x on "tp" : tensor<8x4xf32, #dist<tp: S(0)>> -> tensor<8x4xf32, #dist<tp: S(1)>>
    return
  }

  // CHECK-LABEL: @maxima_to_invariant
  func.func @maxima_to_invariant(%x: tensor<8x4xf32, #dist<tp: M>>) {
    // CHECK: dist.convert all_reduce_max %{{.*}} on "tp" : tensor<8x4xf32, #dist<tp: M>> -> tensor<8x4xf32>
    %y = dist.convert all_reduce_max %x on "tp" : tensor<8x4xf32, #dist<tp: M>> -> tensor<8x4xf32>
    return
  }

  // CHECK-LABEL: @means_to_invariant
  func.func @means_to_invariant(%x: tensor<8x4xf32, #dist<tp: L>>) {
    // CHECK: dist.convert all_reduce_mean %{{.*}} on "tp" : tensor<8x4xf32, #dist<tp: L>> -> tensor<8x4xf32>
    %y = dist.convert all_reduce_mean %x on "tp" : tensor<8x4xf32, #dist<tp: L>> -> tensor<8x4xf32>
    return
  }

  // CHECK-LABEL: @candidates_to_invariant
  func.func @candidates_to_invariant(%x: tensor<8x4x2xf32, #dist<tp: C>>) {
    // CHECK: dist.convert all_reduce_top %{{.*}} on "tp" : tensor<8x4x2xf32, #dist<tp: C>> -> tensor<8x4x2xf32>
    %y = dist.convert all_reduce_top %x on "tp" : tensor<8x4x2xf32, #dist<tp: C>> -> tensor<8x4x2xf32>
    return
  }

  // CHECK-LABEL: @means_to_sharded
  func.func @means_to_sharded(%x: tensor<8x4xf32, #dist<tp: L>>) {
    // CHECK: dist.convert reduce_scatter_mean %{{.*}} on "tp" : tensor<8x4xf32, #dist<tp: L>>
    // CHECK-SAME: -> tensor<8x4xf32, #dist<tp: S(0)>>
    %y = dist.convert reduce_scatter_mean %x on "tp" : tensor<8x4xf32, #dist<tp: L>> -> tensor<8x4xf32, #dist<tp: S(0)>>
    return
  }

  // CHECK-LABEL: @other_axes_stay
  func.func @other_axes_stay(%x: tensor<8x4xf32, #dist<dp: S(0), tp: P>>) {
    // CHECK: dist.convert all_reduce %{{.*}} on "tp" : tensor<8x4xf32, #dist<dp: S(0), tp: P>>
    // CHECK-SAME: -> tensor<8x4xf32, #dist<dp: S(0)>>
    %y = dist.convert all_reduce %x on "tp"
        : tensor<8x4xf32, #dist<dp: S(0), tp: P>> -> tensor<8x4xf32, #dist<dp: S(0)>>
    return
  }

  // CHECK-LABEL: @inner_level_is_added_and_removed
  func.func @inner_level_is_added_and_removed(%x: tensor<8x4xf32, #dist<tp: S(0)>>) {
    // CHECK: dist.convert all_slice %{{.*}} on "dp" : tensor<8x4xf32, #dist<tp: S(0)>>
    // CHECK-SAME: -> tensor<8x4xf32, #dist<dp: S(0:1), tp: S(0)>>
    %y = dist.convert all_slice %x on "dp"
        : tensor<8x4xf32, #dist<tp: S(0)>> -> tensor<8x4xf32, #dist<dp: S(0:1), tp: S(0)>>
    // CHECK: dist.convert all_gather %{{.*}} on "dp" : tensor<8x4xf32, #dist<dp: S(0:1), tp: S(0)>>
    // CHECK-SAME: -> tensor<8x4xf32, #dist<dp: R, tp: S(0)>>
    %z = dist.convert all_gather %y on "dp"
        : tensor<8x4xf32, #dist<dp: S(0:1), tp: S(0)>> -> tensor<8x4xf32, #dist<dp: R, tp: S(0)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  // CHECK-LABEL: @stages
  func.func @stages(%i: tensor<4xf32>, %r: tensor<4xf32, #dist<pp: R>>, %a: tensor<4xf32, #dist<pp: A(0)>>) {
    // CHECK: dist.convert replicated_to_stage %{{.*}} on "pp" : tensor<4xf32> -> tensor<4xf32, #dist<pp: A(1)>>
    %0 = dist.convert replicated_to_stage %i on "pp" : tensor<4xf32> -> tensor<4xf32, #dist<pp: A(1)>>
    // CHECK: dist.convert replicated_to_stage %{{.*}} on "pp" : tensor<4xf32, #dist<pp: R>>
    // CHECK-SAME: -> tensor<4xf32, #dist<pp: A(1)>>
    %1 = dist.convert replicated_to_stage %r on "pp" : tensor<4xf32, #dist<pp: R>> -> tensor<4xf32, #dist<pp: A(1)>>
    // CHECK: dist.convert send %{{.*}} on "pp" : tensor<4xf32, #dist<pp: A(0)>> -> tensor<4xf32, #dist<pp: A(1)>>
    %2 = dist.convert send %a on "pp" : tensor<4xf32, #dist<pp: A(0)>> -> tensor<4xf32, #dist<pp: A(1)>>
    // CHECK: dist.convert stage_to_partial %{{.*}} on "pp" : tensor<4xf32, #dist<pp: A(0)>>
    // CHECK-SAME: -> tensor<4xf32, #dist<pp: P>>
    %3 = dist.convert stage_to_partial %a on "pp" : tensor<4xf32, #dist<pp: A(0)>> -> tensor<4xf32, #dist<pp: P>>
    // CHECK: dist.convert broadcast %{{.*}} on "pp" : tensor<4xf32, #dist<pp: A(0)>> -> tensor<4xf32>
    %4 = dist.convert broadcast %a on "pp" : tensor<4xf32, #dist<pp: A(0)>> -> tensor<4xf32>
    return
  }
}
