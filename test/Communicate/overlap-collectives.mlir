// A collective starts after what makes its operand and is waited for before the first use, where
// there is work in between.
// RUN: tessera-opt %s --split-input-file --rt-overlap-collectives | FileCheck %s
!g = tensor<16xf32>
module {
  func.func private @f(!g) -> !g
  // CHECK-LABEL: func.func @step
  func.func @step() -> (!g, !g, !g, !g, !g) {
    // CHECK: %[[A:.*]] = rt.zero
    // CHECK-NEXT: %[[PENDING:.*]] = rt.all_reduce %[[A]] over ["dp"] async
    // CHECK-SAME: {maximum = false, nn.phase = #nn.phase<backward>}
    // CHECK-NEXT: %[[WORK:.*]] = rt.zero
    // CHECK-NEXT: rt.launch @f(%[[WORK]])
    // CHECK-NEXT: %[[DONE:.*]] = rt.wait %[[PENDING]] {nn.phase = #nn.phase<backward>, rt.role = [{nn.param = "a"}]}
    // CHECK-SAME: : tensor<16xf32> -> tensor<16xf32>
    // CHECK-NEXT: rt.launch @f(%[[DONE]])
    %a = rt.zero : !g
    %w = rt.zero : !g
    %w1 = rt.launch @f(%w) {count = 1 : i64, grain = 1 : i64} : (!g) -> !g
    %a1 = rt.all_reduce %a over ["dp"] {maximum = false, nn.phase = #nn.phase<backward>, rt.role = [{nn.param = "a"}]}
        : !g -> !g
    %a2 = rt.launch @f(%a1) {count = 1 : i64, grain = 1 : i64} : (!g) -> !g
    // Nothing to do meanwhile.
    // CHECK: rt.all_reduce %{{.*}} over ["tp"] {maximum = false}
    // CHECK-NEXT: rt.launch
    %b = rt.zero : !g
    %b1 = rt.all_reduce %b over ["tp"] {maximum = false} : !g -> !g
    %b2 = rt.launch @f(%b1) {count = 1 : i64, grain = 1 : i64} : (!g) -> !g
    // The concatenation moves along with its sum, the views of the sum with the wait.
    // CHECK: %[[C:.*]] = rt.zero
    // CHECK: %[[D:.*]] = rt.zero
    // CHECK-NEXT: %[[WHOLE:.*]] = rt.concat %[[C]], %[[D]]
    // CHECK-NEXT: %[[SUM:.*]] = rt.all_reduce %[[WHOLE]] over ["dp"] async
    // CHECK-NEXT: rt.zero
    // CHECK-NEXT: rt.launch
    // CHECK-NEXT: %[[BOTH:.*]] = rt.wait %[[SUM]]
    // CHECK: rt.view %[[BOTH]]
    // CHECK: rt.launch
    %c = rt.zero : !g
    %d = rt.zero : !g
    %e = rt.zero : !g
    %e1 = rt.launch @f(%e) {count = 1 : i64, grain = 1 : i64} : (!g) -> !g
    %whole = rt.concat %c, %d {part_offsets = array<i64: 0, 16>} : (!g, !g) -> tensor<32xf32>
    %sum = rt.all_reduce %whole over ["dp"] {maximum = false} : tensor<32xf32> -> tensor<32xf32>
    %c1 = rt.view %sum {offset = 0 : i64} : tensor<32xf32> -> !g
    %c2 = rt.launch @f(%c1) {count = 1 : i64, grain = 1 : i64} : (!g) -> !g
    // A value that others read as well cannot be summed in place while they read.
    // CHECK: rt.all_reduce %[[SHARED:.*]] over ["dp"] {maximum = false}
    %x = rt.zero : !g
    %x1 = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!g) -> !g
    %x2 = rt.all_reduce %x over ["dp"] {maximum = false} : !g -> !g
    return %a2, %b2, %c2, %e1, %x2 : !g, !g, !g, !g, !g
  }
}

// -----

!g = tensor<16xf32>
module {
  func.func private @f(!g) -> !g
  // A parameter is gathered while the last one is used; a sum of whole tensors waits before the next one starts.
  // CHECK-LABEL: func.func @step
  // CHECK: %[[A:.*]] = rt.all_gather %{{.*}} along 0 over ["dp"] :
  // CHECK-NEXT: %[[B:.*]] = rt.all_gather %{{.*}} along 0 over ["dp"] async
  // CHECK-NEXT: %[[X:.*]] = rt.launch @f(%[[A]])
  // CHECK-NEXT: %[[S:.*]] = rt.reduce_scatter %[[X]] along 0 over ["dp"] async
  // CHECK-NEXT: %[[GOT:.*]] = rt.wait %[[B]] reading(%{{.*}} : tensor<8xf32>)
  // CHECK-NEXT: %[[Y:.*]] = rt.launch @f(%[[GOT]])
  // CHECK-NEXT: rt.wait %[[S]] reading(%[[X]] : tensor<16xf32>)
  // CHECK-NEXT: %[[T:.*]] = rt.reduce_scatter %[[Y]] along 0 over ["dp"] async
  // CHECK-NEXT: rt.zero
  // CHECK-NEXT: rt.wait %[[T]]
  // CHECK-NEXT: return
  func.func @step(%p: tensor<8xf32>, %q: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, !g) {
    %a = rt.all_gather %p along 0 over ["dp"] : tensor<8xf32> -> !g
    %x = rt.launch @f(%a) {count = 1 : i64, grain = 1 : i64} : (!g) -> !g
    %b = rt.all_gather %q along 0 over ["dp"] : tensor<8xf32> -> !g
    %y = rt.launch @f(%b) {count = 1 : i64, grain = 1 : i64} : (!g) -> !g
    %s = rt.reduce_scatter %x along 0 over ["dp"] : !g -> tensor<8xf32>
    %t = rt.reduce_scatter %y along 0 over ["dp"] : !g -> tensor<8xf32>
    %w = rt.zero : !g
    return %s, %t, %w : tensor<8xf32>, tensor<8xf32>, !g
  }
}

// -----

!g = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<dp = 2, pp = 2>} {
  func.func private @f(!g) -> !g
  // Another stage waits for what is sent, so a sum starts after it; in a sum over stages ranks with
  // other programs meet.
  // CHECK-LABEL: func.func @step_1
  // CHECK-NEXT: %[[A:.*]] = rt.zero
  // CHECK-NEXT: %[[X:.*]] = rt.launch
  // CHECK-NEXT: rt.send %[[X]]
  // CHECK-NEXT: %[[PENDING:.*]] = rt.all_reduce %[[A]] over ["dp"] async
  // CHECK-NEXT: %[[Y:.*]] = rt.launch
  // CHECK-NEXT: rt.launch
  // CHECK-NEXT: rt.all_reduce %[[Y]] over ["pp"] {maximum = false}
  // CHECK-NEXT: rt.wait %[[PENDING]]
  func.func @step_1(%p: !g) -> (!g, !g, !g) attributes {rt.stage = 1 : i64} {
    %a = rt.zero : !g
    %x = rt.launch @f(%p) {count = 1 : i64, grain = 1 : i64} : (!g) -> !g
    rt.send %x to 0 on "pp" : !g
    %y = rt.launch @f(%p) {count = 1 : i64, grain = 1 : i64} : (!g) -> !g
    %z = rt.launch @f(%p) {count = 1 : i64, grain = 1 : i64} : (!g) -> !g
    %y1 = rt.all_reduce %y over ["pp"] {maximum = false} : !g -> !g
    %a1 = rt.all_reduce %a over ["dp"] {maximum = false} : !g -> !g
    return %a1, %y1, %z : !g, !g, !g
  }
}

// -----

!g = tensor<16xbf16>
module {
  func.func private @f(!g, !g) -> !g
  func.func private @round(tensor<8xf32>) -> tensor<8xbf16>
  // Stage 3 of ZeRO with rounded parameters: the kernel that rounds a shard moves along with its gather. In
  // backward the first gather runs beside the end of forward; a value that was made in forward is gathered where it
  // is needed.
  // CHECK-LABEL: func.func @step
  // CHECK-NEXT: %[[P:.*]] = rt.launch @round(%arg0)
  // CHECK-NEXT: %[[A:.*]] = rt.all_gather %[[P]]
  // CHECK-NEXT: %[[Q:.*]] = rt.launch @round(%arg1)
  // CHECK-NEXT: %[[B:.*]]:2 = rt.all_gather_coalesced %[[Q]], %arg2 along [0, 0] over ["dp"] async
  // CHECK-NEXT: %[[X:.*]] = rt.launch @f(%[[A]], %[[A]])
  // CHECK-NEXT: %[[W:.*]]:2 = rt.wait %[[B]]#0, %[[B]]#1 reading(%[[Q]], %arg2 :
  // CHECK-NEXT: %[[P2:.*]] = rt.launch @round(%arg0) {{.*}}recompute
  // CHECK-NEXT: %[[C:.*]] = rt.all_gather %[[P2]] along 0 over ["dp"] async
  // CHECK-NEXT: %[[Y:.*]] = rt.launch @f(%[[W]]#0, %[[W]]#1)
  // CHECK-NEXT: %[[H:.*]] = rt.launch
  // CHECK-NEXT: rt.wait %[[C]]
  // CHECK-NEXT: rt.launch
  // CHECK-NEXT: %[[D:.*]] = rt.all_gather %[[H]] along 0 over ["tp"] {nn.phase
  // CHECK-NEXT: rt.launch
  func.func private @slice(!g) -> tensor<8xbf16>
  func.func @step(%p: tensor<8xf32>, %q: tensor<8xf32>, %r: tensor<8xbf16>) -> !g {
    %p0 = rt.launch @round(%p) {count = 1 : i64, grain = 1 : i64} : (tensor<8xf32>) -> tensor<8xbf16>
    %a = rt.all_gather %p0 along 0 over ["dp"] : tensor<8xbf16> -> !g
    %x = rt.launch @f(%a, %a) {count = 1 : i64, grain = 1 : i64} : (!g, !g) -> !g
    %q0 = rt.launch @round(%q) {count = 1 : i64, grain = 1 : i64} : (tensor<8xf32>) -> tensor<8xbf16>
    %b:2 = rt.all_gather_coalesced %q0, %r along [0, 0] over ["dp"] : tensor<8xbf16>, tensor<8xbf16> -> !g, !g
    %y = rt.launch @f(%b#0, %b#1) {count = 1 : i64, grain = 1 : i64} : (!g, !g) -> !g
    %h = rt.launch @slice(%y) {count = 1 : i64, grain = 1 : i64} : (!g) -> tensor<8xbf16>
    %p1 = rt.launch @round(%p) {count = 1 : i64, grain = 1 : i64, nn.phase = #nn.phase<recompute>}
        : (tensor<8xf32>) -> tensor<8xbf16>
    %c = rt.all_gather %p1 along 0 over ["dp"] {nn.phase = #nn.phase<recompute>} : tensor<8xbf16> -> !g
    %z = rt.launch @f(%c, %x) {count = 1 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>} : (!g, !g) -> !g
    %d = rt.all_gather %h along 0 over ["tp"] {nn.phase = #nn.phase<recompute>} : tensor<8xbf16> -> !g
    %e = rt.launch @f(%d, %z) {count = 1 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>} : (!g, !g) -> !g
    return %e : !g
  }
}

// -----

!rows = tensor<32x8xf32>
!gates = tensor<2x8x4xf32>
module {
  func.func private @f(!rows) -> !rows
  // A message of the first round travels beside other work; one of a later round, which would need memory of its own at the
  // same time, is sent where it is used.
  // CHECK-LABEL: func.func @step
  // CHECK: %[[P:.*]] = rt.pack_rows
  // CHECK-NEXT: rt.all_to_all %[[P]] from 1 to 0 over ["ep"] async
  // CHECK: %[[Q:.*]] = rt.pack_rows {{.*}}sent = 9
  // CHECK-NEXT: rt.launch @f
  // CHECK-NEXT: rt.all_to_all %[[Q]] from 1 to 0 over ["ep"] :
  func.func @step(%a: !rows, %g: !gates, %all: tensor<4x8x2xf32>) -> (tensor<18x8xf32>, tensor<18x8xf32>, !rows) {
    %r = rt.launch @f(%a) {count = 1 : i64, grain = 1 : i64} : (!rows) -> !rows
    %p = rt.pack_rows %r by %g {k = 2 : i64, members = 2 : i64, own} : (!rows, !gates) -> tensor<2x9x8xf32>
    %x = rt.launch @f(%r) {count = 1 : i64, grain = 1 : i64} : (!rows) -> !rows
    %m = rt.all_to_all %p from 1 to 0 over ["ep"] : tensor<2x9x8xf32> -> tensor<1x18x8xf32>
    %u = rt.unpack_rows %m by %all {k = 2 : i64, members = 2 : i64, round = 1 : i64} : (tensor<1x18x8xf32>, tensor<4x8x2xf32>) -> tensor<18x8xf32>
    %q = rt.pack_rows %r by %g {k = 2 : i64, members = 2 : i64, own, sent = 9 : i64} : (!rows, !gates) -> tensor<2x9x8xf32>
    %y = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!rows) -> !rows
    %n = rt.all_to_all %q from 1 to 0 over ["ep"] : tensor<2x9x8xf32> -> tensor<1x18x8xf32>
    %v = rt.unpack_rows %n by %all {k = 2 : i64, members = 2 : i64, round = 2 : i64} : (tensor<1x18x8xf32>, tensor<4x8x2xf32>) -> tensor<18x8xf32>
    return %u, %v, %y : tensor<18x8xf32>, tensor<18x8xf32>, !rows
  }
}
