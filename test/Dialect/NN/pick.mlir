// The target's logit stays a partial sum over a split vocabulary; its gradient is split like the logits.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

!logits = tensor<2x8x64xf32, #dist<tp: S(2)>>
!labels = tensor<2x8xi32, #dist<tp: R>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  // CHECK-LABEL: @split_vocabulary
  func.func @split_vocabulary(%x: !logits, %labels: !labels, %g: tensor<2x8xf32, #dist<tp: R>>) {
    // CHECK: nn.pick {{.*}} -> tensor<2x8xf32, #dist<tp: P>>
    %y = nn.pick %x, %labels : (!logits, !labels) -> tensor<2x8xf32, #dist<tp: P>>
    // CHECK: nn.pick_grad %{{.*}}, %{{.*}} like %{{.*}} : ({{.*}}) -> tensor<2x8x64xf32, #dist<tp: S(2)>>
    %d = nn.pick_grad %g, %labels like %x : (tensor<2x8xf32, #dist<tp: R>>, !labels, !logits) -> !logits
    return
  }
}
