// Rows of experts have room for factor times the even share; later rounds bring what is left, and backward makes them again.
// RUN: tessera-opt %s --rt-lower-experts --rt-compact-rows --rt-bound-rows=factor=1.25 | FileCheck %s
// RUN: tessera-opt %s --rt-lower-experts --rt-compact-rows --rt-bound-rows=factor=4 | FileCheck %s --check-prefix=ONE
// RUN: not tessera-opt %s --rt-lower-experts --rt-compact-rows --rt-bound-rows=factor=0.01 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: tessera-opt %s --rt-lower-experts --rt-compact-rows --rt-bound-rows="factor=0.01 raise=true" | FileCheck %s --check-prefix=RAISED
// RUN: tessera-opt %s --rt-lower-experts --rt-compact-rows --rt-bound-rows="factor=1.25 pairs=true" | FileCheck %s --check-prefix=PAIRS

!tokens = tensor<2x80x16xf32>
!gates = tensor<2x80x4xf32>
!rows = tensor<4x2x80x16xf32>
!all = tensor<1x8x80x16xf32>
!whole = tensor<8x80x1xf32>
!weight = tensor<1x16x16xf32>
module attributes {dist.mesh = #dist.mesh<ep = 4>} {
  // 640 tokens, 2 of 4 experts, 4 ranks: an even share is 320 rows, the most are 640.
  // CHECK-LABEL: @forward_and_backward
  // ONE-LABEL: @forward_and_backward
  // ONE-NOT: round
  // ONE: rt.exchange_rows {{.*}} -> tensor<640x16xf32>
  // MANY: error: --expert-buffer 1.000000e-02 has room for 4 of 640 rows, which needs 160 rounds of a layer's experts; at most 64: use --expert-buffer 0.032 or more
  // RAISED: rt.row_rounds {{.*}} by 10 : tensor<8x80x1xf32>
  func.func @forward_and_backward(%t: !tokens, %l: !gates, %w: !weight, %dy: !tokens) -> (!tokens, !tokens, !weight) {
    // CHECK: %[[G:.*]] = rt.routed top_k
    // For pairs there are 160 rows at most, 80 are even, 100 fit in each of two rounds. Own rows are known by their
    // gates.
    // PAIRS: %[[G:.*]] = rt.routed top_k
    // PAIRS: %[[ALL:.*]] = rt.all_to_all %[[G]] from 0 to 2
    // PAIRS: %[[N:.*]] = rt.row_rounds %[[ALL]] by 100 {members = 4 : i64} : tensor<8x80x1xf32>
    // PAIRS-NOT: rt.all_to_all
    // PAIRS: rt.exchange_rows %{{.*}} by %[[G]] to %[[N]] over ["ep"] {round = 1 : i64}
    // PAIRS-SAME: -> tensor<400x16xf32>
    // PAIRS: rt.exchange_rows %{{.*}} by %[[N]] to %[[G]] into %{{.*}} over ["ep"] {reason = "rows of a later round", round = 2 : i64}
    // PAIRS-NOT: round = 3
    %g = nn.top_k 2 of %l : !gates -> !gates
    // CHECK: %[[R:.*]] = rt.routed dispatch {{.*}} -> tensor<320x16xf32>
    %r = nn.dispatch %t by %g : (!tokens, !gates) -> !rows
    // CHECK: %[[ALL:.*]] = rt.all_to_all %[[G]] from 0 to 2
    // CHECK: %[[N:.*]] = rt.row_rounds %[[ALL]] by 400 : tensor<8x80x1xf32>
    // CHECK: %[[OWN:.*]] = rt.all_to_all %[[N]] from 2 to 0 over ["ep"] {reason = "rounds of experts' rows"} : tensor<8x80x1xf32> -> tensor<2x80x4xf32>
    %gs = rt.all_to_all %g from 0 to 2 over ["ep"] : !gates -> !whole
    // CHECK: %[[S1:.*]] = rt.exchange_rows %[[R]] by %[[OWN]] to %[[N]] over ["ep"] {round = 1 : i64}
    // CHECK-SAME: -> tensor<400x16xf32>
    // CHECK: %[[H1:.*]] = rt.routed product %[[S1]], %[[W:[^,]*]], %[[N]] {k = 2 : i64, round = 1 : i64, total = 4 : i64}
    // CHECK: %[[A1:.*]] = nn.map silu %[[H1]] : tensor<400x16xf32>
    // CHECK: %[[B1:.*]] = rt.exchange_rows %[[A1]] by %[[N]] to %[[OWN]] over ["ep"] {round = 1 : i64}
    // CHECK-SAME: -> tensor<320x16xf32>
    // CHECK: %[[S2:.*]] = rt.exchange_rows %[[R]] by %[[OWN]] to %[[N]] over ["ep"] {reason = "rows of a later round", round = 2 : i64}
    // CHECK: %[[H2:.*]] = rt.routed product %[[S2]], %[[W]], %[[N]] {k = 2 : i64, round = 2 : i64, total = 4 : i64}
    // CHECK: %[[A2:.*]] = nn.map silu %[[H2]]
    // CHECK: %[[B2:.*]] = rt.exchange_rows %[[A2]] by %[[N]] to %[[OWN]] into %[[B1]] over ["ep"] {reason = "rows of a later round", round = 2 : i64}
    // CHECK: rt.routed collect %[[B2]], %[[G]]
    %s = rt.all_to_all %r by %gs : !whole from 1 to 0 over ["ep"] : !rows -> !all
    %h = nn.expert_linear %s, %w by %gs : (!all, !weight, !whole) -> !all
    %a = nn.map silu %h : !all -> !all
    %b = rt.all_to_all %a by %g : !gates from 0 to 1 over ["ep"] : !all -> !rows
    %y = nn.collect %b by %g weighted : (!rows, !gates) -> !tokens
    // The use of the weight's gradient waits for all rounds.
    // CHECK: %[[D:.*]] = rt.routed dispatch %{{.*}}, %[[G]] {k = 2 : i64, nn.phase = #nn.phase<backward>
    // CHECK: %[[DA1:.*]] = rt.exchange_rows %[[D]] by %[[OWN]] to %[[N]] over ["ep"] {nn.phase = #nn.phase<backward>, round = 1 : i64}
    // CHECK: %[[DH1:.*]] = nn.map_grad silu %[[DA1]], %[[H1]]
    // CHECK: %[[DW1:.*]] = rt.routed product_grad_weight %[[DH1]], %[[S1]], %[[N]]
    // CHECK-NOT: nn.map relu
    // CHECK: %[[DX1:.*]] = rt.routed product %[[DH1]]
    // CHECK: %[[DR1:.*]] = rt.exchange_rows %[[DX1]]
    // CHECK: %[[AGAIN:.*]] = rt.routed dispatch {{.*}}nn.phase = #nn.phase<recompute>
    // CHECK: %[[S:.*]] = rt.exchange_rows %[[AGAIN]] by %[[OWN]] to %[[N]] over ["ep"] {nn.phase = #nn.phase<recompute>, reason = "rows of a later round", round = 2 : i64}
    // CHECK: %[[H:.*]] = rt.routed product %[[S]], {{.*}}nn.phase = #nn.phase<recompute>, round = 2 : i64
    // CHECK: %[[DA2:.*]] = rt.exchange_rows %[[D]] {{.*}}nn.phase = #nn.phase<backward>, reason = "rows of a later round", round = 2 : i64
    // CHECK: %[[DH2:.*]] = nn.map_grad silu %[[DA2]], %[[H]]
    // CHECK: %[[DW2:.*]] = rt.routed product_grad_weight %[[DH2]], %[[S]], %[[DW1]], %[[N]]
    // CHECK: %[[DX2:.*]] = rt.routed product %[[DH2]]
    // CHECK: %[[DR2:.*]] = rt.exchange_rows %[[DX2]] {{.*}}into %[[DR1]]
    // CHECK: nn.map relu %[[DW2]]
    // CHECK: rt.routed collect %[[DR2]]
    %d = nn.dispatch %dy by %g weighted {nn.phase = #nn.phase<backward>} : (!tokens, !gates) -> !rows
    %da = rt.all_to_all %d by %gs : !whole from 1 to 0 over ["ep"] {nn.phase = #nn.phase<backward>} : !rows -> !all
    %dh = nn.map_grad silu %da, %h {nn.phase = #nn.phase<backward>} : (!all, !all) -> !all
    %dw = nn.expert_linear_grad_weight %dh, %s by %gs {nn.phase = #nn.phase<backward>} : (!all, !all, !whole) -> !weight
    %used = nn.map relu %dw {nn.phase = #nn.phase<backward>} : !weight -> !weight
    %dx = nn.expert_linear %dh, %w by %gs transposed {nn.phase = #nn.phase<backward>} : (!all, !weight, !whole) -> !all
    %dr = rt.all_to_all %dx by %g : !gates from 0 to 1 over ["ep"] {nn.phase = #nn.phase<backward>} : !all -> !rows
    %dt = nn.collect %dr by %g {nn.phase = #nn.phase<backward>} : (!rows, !gates) -> !tokens
    return %y, %dt, %used : !tokens, !tokens, !weight
  }
}
