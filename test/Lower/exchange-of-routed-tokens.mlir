// Tokens that are not routed to the reader of an exchanged value are not sent; a value that is read otherwise is sent
// whole.
// RUN: tessera-opt %s --rt-localize | FileCheck %s

!tokens = tensor<4x8x16xf32, #dist<ep: S(0)>>
!logits = tensor<4x8x4xf32, #dist<ep: S(0)>>
!routes = tensor<4x8x4xf32, #dist<ep: S(2)>>
!sent = tensor<4x4x8x16xf32, #dist<ep: S(1)>>
!rows = tensor<4x4x8x16xf32, #dist<ep: S(0)>>
!weight = tensor<4x16x16xf32, #dist<ep: S(0)>>
module attributes {dist.mesh = #dist.mesh<ep = 2>} {
  // CHECK-LABEL: @step
  func.func @step(%t: !tokens, %l: !logits, %w: !weight) -> !tokens {
    %g = nn.top_k 2 of %l : !logits -> !logits
    // CHECK: nn.dispatch
    %r = nn.dispatch %t by %g : (!tokens, !logits) -> !sent
    // CHECK-NEXT: %[[GATES:.*]] = rt.all_to_all %{{.*}} from 0 to 2 over ["ep"] {reason = "another dimension split"}
    // CHECK-NEXT: rt.all_to_all %{{.*}} by %[[GATES]] : tensor<4x8x2xf32> from 1 to 0 over ["ep"]
    // CHECK-SAME: {{.*}}share = array<i64: 2, 4>{{.*}} : tensor<4x2x8x16xf32> -> tensor<2x4x8x16xf32>
    %s = dist.convert all_to_all %r on "ep" : !sent -> !rows
    %gs = dist.convert all_to_all %g on "ep" : !logits -> !routes
    %y = nn.expert_linear %s, %w by %gs : (!rows, !weight, !routes) -> !rows
    // The add reads every row.
    // CHECK: rt.all_to_all %{{.*}} from 0 to 1 over ["ep"] {reason = "another dimension split"}
    %b = dist.convert all_to_all %y on "ep" : !rows -> !sent
    %z = nn.add "xbsh,xbsh->xbsh" %b, %r : (!sent, !sent) -> !sent
    %o = nn.collect %z by %g weighted : (!sent, !logits) -> !tokens
    return %o : !tokens
  }
}
