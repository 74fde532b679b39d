// Rows are exchanged in messages of fixed size: for all that a router can send, or for a round's share, of which the last
// round has what is left.
// RUN: tessera-opt %s --rt-lower-experts --rt-compact-rows --rt-pack-messages | FileCheck %s
// RUN: tessera-opt %s --rt-lower-experts --rt-compact-rows --rt-bound-rows="factor=1.25 pairs=true" --rt-pack-messages | FileCheck %s --check-prefix=ROUNDS
// RUN: not tessera-opt %s --rt-lower-experts --rt-compact-rows --rt-bound-rows=factor=1.24 --rt-pack-messages 2>&1 | FileCheck %s --check-prefix=UNEVEN

!tokens = tensor<2x80x16xf32>
!gates = tensor<2x80x4xf32>
!rows = tensor<4x2x80x16xf32>
!all = tensor<1x8x80x16xf32>
!whole = tensor<8x80x1xf32>
module attributes {dist.mesh = #dist.mesh<ep = 4>} {
  // UNEVEN: error: cannot be sent in messages: 397 rows of a round are of 4 ranks, each of which sent 0 before
  // CHECK-LABEL: @there_and_back
  // ROUNDS-LABEL: @there_and_back
  func.func @there_and_back(%t: !tokens, %l: !gates, %w: tensor<1x16x16xf32>) -> !tokens {
    // CHECK: %[[G:.*]] = rt.routed top_k
    // ROUNDS: %[[G:.*]] = rt.routed top_k
    %g = nn.top_k 2 of %l : !gates -> !gates
    // CHECK: %[[R:.*]] = rt.routed dispatch
    // ROUNDS: %[[R:.*]] = rt.routed dispatch
    %r = nn.dispatch %t by %g : (!tokens, !gates) -> !rows
    // CHECK: %[[ALL:.*]] = rt.all_to_all %[[G]] from 0 to 2
    %gs = rt.all_to_all %g from 0 to 2 over ["ep"] : !gates -> !whole
    // A rank has one expert, to which each of 160 tokens may go.
    // CHECK: %[[P:.*]] = rt.pack_rows %[[R]] by %[[G]] {k = 2 : i64, members = 4 : i64, own} : (tensor<320x16xf32>, tensor<2x80x4xf32>) -> tensor<4x160x16xf32>
    // CHECK: %[[A:.*]] = rt.all_to_all %[[P]] from 1 to 0 over ["ep"] {reason = "rows of experts, in messages of fixed size"} : tensor<4x160x16xf32> -> tensor<1x640x16xf32>
    // CHECK: %[[S:.*]] = rt.unpack_rows %[[A]] by %[[ALL]] {k = 2 : i64, members = 4 : i64} : (tensor<1x640x16xf32>, tensor<8x80x1xf32>) -> tensor<640x16xf32>
    // CHECK: %[[H:.*]] = rt.routed product %[[S]]
    // ROUNDS: %[[N:.*]] = rt.row_rounds
    // ROUNDS: rt.pack_rows %[[R]] by %[[G]] {k = 2 : i64, members = 4 : i64, own} : {{.*}} -> tensor<4x100x16xf32>
    // ROUNDS: rt.all_to_all {{.*}} : tensor<4x100x16xf32> -> tensor<1x400x16xf32>
    // ROUNDS: rt.unpack_rows %{{.*}} by %[[N]] {k = 2 : i64, members = 4 : i64, round = 1 : i64} : {{.*}} -> tensor<400x16xf32>
    %s = rt.all_to_all %r by %gs : !whole from 1 to 0 over ["ep"] {reason = "tokens"} : !rows -> !all
    %h = nn.expert_linear %s, %w by %gs : (!all, tensor<1x16x16xf32>, !whole) -> !all
    // CHECK: %[[BP:.*]] = rt.pack_rows %[[H]] by %[[ALL]] {k = 2 : i64, members = 4 : i64} : {{.*}} -> tensor<4x160x16xf32>
    // CHECK: %[[BA:.*]] = rt.all_to_all %[[BP]] from 1 to 0
    // CHECK: %[[B:.*]] = rt.unpack_rows %[[BA]] by %[[G]] {k = 2 : i64, members = 4 : i64, own} : {{.*}} -> tensor<320x16xf32>
    // CHECK: rt.routed collect %[[B]]
    // ROUNDS: rt.pack_rows %{{.*}} by %[[N]] {k = 2 : i64, members = 4 : i64, round = 1 : i64}
    // ROUNDS: %[[B1:.*]] = rt.unpack_rows %{{.*}} by %[[G]] {k = 2 : i64, members = 4 : i64, own}
    // ROUNDS: rt.pack_rows %[[R]] by %[[G]] {k = 2 : i64, members = 4 : i64, own, sent = 100 : i64} : {{.*}} -> tensor<4x60x16xf32>
    // ROUNDS: rt.all_to_all {{.*}} {reason = "rows of a later round"} : tensor<4x60x16xf32> -> tensor<1x240x16xf32>
    // ROUNDS: rt.unpack_rows %{{.*}} by %[[N]] {k = 2 : i64, members = 4 : i64, round = 2 : i64} : {{.*}} -> tensor<400x16xf32>
    // ROUNDS: rt.pack_rows %{{.*}} by %[[N]] {k = 2 : i64, members = 4 : i64, round = 2 : i64} : {{.*}} -> tensor<4x60x16xf32>
    // ROUNDS: %[[B2:.*]] = rt.unpack_rows %{{.*}} by %[[G]] into %[[B1]] {k = 2 : i64, members = 4 : i64, own, sent = 100 : i64}
    // ROUNDS: rt.routed collect %[[B2]]
    %b = rt.all_to_all %h by %g : !gates from 0 to 1 over ["ep"] : !all -> !rows
    %y = nn.collect %b by %g weighted : (!rows, !gates) -> !tokens
    return %y : !tokens
  }
}
