// Exchanges of rows are of the routed ones, in the order of the gates on either side. A rank has no more experts than it
// has: of 2 of 4 experts on 4 ranks it has one per token.
// RUN: tessera-opt %s --rt-lower-experts --rt-compact-rows | FileCheck %s

!tokens = tensor<2x8x16xf32>
!gates = tensor<2x8x4xf32>
!rows = tensor<4x2x8x16xf32>
module attributes {dist.mesh = #dist.mesh<ep = 4>} {
  // CHECK-LABEL: @there_and_back
  func.func @there_and_back(%t: !tokens, %l: !gates, %w: tensor<1x16x16xf32>) -> !tokens {
    // CHECK: %[[G:.*]] = rt.routed top_k
    %g = nn.top_k 2 of %l : !gates -> !gates
    // CHECK: %[[R:.*]] = rt.routed dispatch {{.*}} -> tensor<32x16xf32>
    %r = nn.dispatch %t by %g : (!tokens, !gates) -> !rows
    // CHECK: %[[ALL:.*]] = rt.all_to_all %[[G]] from 0 to 2
    %gs = rt.all_to_all %g from 0 to 2 over ["ep"] : !gates -> tensor<8x8x1xf32>
    // CHECK: rt.exchange_rows %[[R]] by %[[G]] to %[[ALL]] over ["ep"] {reason = "tokens of experts, where these share them evenly"}
    // CHECK-SAME: (tensor<32x16xf32>, tensor<2x8x4xf32>, tensor<8x8x1xf32>) -> tensor<64x16xf32>
    %s = rt.all_to_all %r by %gs : tensor<8x8x1xf32> from 1 to 0 over ["ep"]
        {reason = "tokens of experts, where these share them evenly", share = array<i64: 2, 4>} : !rows -> tensor<1x8x8x16xf32>
    %h = nn.expert_linear %s, %w by %gs
        : (tensor<1x8x8x16xf32>, tensor<1x16x16xf32>, tensor<8x8x1xf32>) -> tensor<1x8x8x16xf32>
    // CHECK: rt.exchange_rows %{{.*}} by %[[ALL]] to %[[G]] over ["ep"]
    // CHECK-SAME: (tensor<64x16xf32>, tensor<8x8x1xf32>, tensor<2x8x4xf32>) -> tensor<32x16xf32>
    %b = rt.all_to_all %h by %g : !gates from 0 to 1 over ["ep"] : tensor<1x8x8x16xf32> -> !rows
    %y = nn.collect %b by %g weighted : (!rows, !gates) -> !tokens
    return %y : !tokens
  }

  // One side cannot be compact, so the other is not either.
  // CHECK-LABEL: @one_side
  func.func @one_side(%t: !tokens, %l: !gates) -> tensor<1x8x8x16xf32> {
    %g = nn.top_k 2 of %l : !gates -> !gates
    // CHECK: rt.routed dispatch {{.*}} -> tensor<4x2x8x16xf32>
    %r = nn.dispatch %t by %g : (!tokens, !gates) -> !rows
    // CHECK: rt.all_to_all
    // CHECK: rt.all_to_all
    %gs = rt.all_to_all %g from 0 to 2 over ["ep"] : !gates -> tensor<8x8x1xf32>
    %s = rt.all_to_all %r by %gs : tensor<8x8x1xf32> from 1 to 0 over ["ep"] : !rows -> tensor<1x8x8x16xf32>
    return %s : tensor<1x8x8x16xf32>
  }

  // The gates on the other side are of other tokens.
  // CHECK-LABEL: @gates_not_exchanged
  func.func @gates_not_exchanged(%t: !tokens, %l: !gates, %m: tensor<8x8x1xf32>) -> tensor<8x8x16xf32> {
    %g = nn.top_k 2 of %l : !gates -> !gates
    // CHECK: rt.routed dispatch {{.*}} -> tensor<4x2x8x16xf32>
    %r = nn.dispatch %t by %g : (!tokens, !gates) -> !rows
    %gs = nn.top_k 1 of %m : tensor<8x8x1xf32> -> tensor<8x8x1xf32>
    %s = rt.all_to_all %r by %gs : tensor<8x8x1xf32> from 1 to 0 over ["ep"] : !rows -> tensor<1x8x8x16xf32>
    %y = nn.collect %s by %gs : (tensor<1x8x8x16xf32>, tensor<8x8x1xf32>) -> tensor<8x8x16xf32>
    return %y : tensor<8x8x16xf32>
  }
}
