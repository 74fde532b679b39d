// A split vocabulary gives partial sums, and its gradient is split alike.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

!table = tensor<64x16xf32, #dist<tp: S(0)>>
!ids = tensor<2x8xi32, #dist<tp: R>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  // CHECK-LABEL: @split_vocabulary
  func.func @split_vocabulary(%ids: !ids, %table: !table, %g: tensor<2x8x16xf32, #dist<tp: R>>) {
    // CHECK: nn.embedding {{.*}} -> tensor<2x8x16xf32, #dist<tp: P>>
    %y = nn.embedding %ids, %table : (!ids, !table) -> tensor<2x8x16xf32, #dist<tp: P>>
    // CHECK: nn.embedding_grad %{{.*}}, %{{.*}} like %{{.*}} : ({{.*}}) -> tensor<64x16xf32, #dist<tp: S(0)>>
    %d = nn.embedding_grad %g, %ids like %table : (tensor<2x8x16xf32, #dist<tp: R>>, !ids, !table) -> !table
    return
  }
}
