// Keys and values go from rank to rank; their gradients follow them and return to their own rank.
// With a causal mask, all ranks have chunks of equal work.
// RUN: tessera-opt %s --split-input-file --rt-lower-rings --rt-lower-library | FileCheck %s

!x = tensor<2x4x3x8xf32>
!qkv = tensor<2x4x3x3x8xf32>
!lse = tensor<2x3x4xf32>
module attributes {dist.mesh = #dist.mesh<cp = 3>} {
  // The slices of a fused projection are copied before they are sent; the first step reads them where they lie.
  // CHECK-LABEL: @forward
  func.func @forward(%qkv: !qkv) -> (!x, !lse) {
    %q, %k, %v = nn.unstack %qkv along 2 : !qkv -> !x, !x, !x
    // CHECK: %[[COPY:.*]] = rt.copy
    // CHECK: %[[K1:.*]] = rt.shift %[[COPY]] over ["cp"] {reason = "keys of the next slice"}
    // CHECK: %[[V1:.*]] = rt.shift
    // CHECK: %[[O0:.*]], %[[L0:.*]] = rt.ring_attention {{.*}}keys_total = 12 : i64, queries_total = 12 : i64,
    // CHECK-SAME: row_k = 72 : i64, row_q = 72 : i64
    // CHECK: %[[K2:.*]] = rt.shift %[[K1]] over ["cp"]
    // CHECK: %[[V2:.*]] = rt.shift %[[V1]] over ["cp"]
    // Rank r has what rank r - 1 had, modulo 3.
    // CHECK: %[[RANK:.*]] = rt.coord "cp"
    // CHECK: %[[AHEAD:.*]] = arith.addi %[[RANK]], %c2_i64
    // CHECK: %[[OWNER:.*]] = arith.remui %[[AHEAD]], %c3_i64
    // CHECK: %[[START:.*]] = arith.muli %[[OWNER]], %c4_i64
    // CHECK: %[[O1:.*]], %[[L1:.*]] = rt.ring_attention %{{.*}}, %[[K1]], %[[V1]], %{{.*}}, %[[START]], %[[O0]],
    // CHECK-SAME: %[[L0]] {{.*}}row_k = 24 : i64, row_q = 72 : i64
    // CHECK-NOT: rt.shift
    // CHECK: rt.ring_attention %{{.*}}, %[[K2]], %[[V2]], %{{.*}}, %[[O1]], %[[L1]]
    %o, %l = nn.attention %q, %k, %v <scale = 0.25> {dist.ring = "cp",
      rt.factors = {s = {axes = ["cp"], chunks = array<i64: 4>, total = 12 : i64}, t =
          {axes = ["cp"], chunks = array<i64: 4>, total = 12 : i64}}} : (!x, !x, !x) -> (!x, !lse)
    return %o, %l : !x, !lse
  }
}

// -----

!x = tensor<2x4x3x8xf32>
!lse = tensor<2x3x4xf32>
module attributes {dist.mesh = #dist.mesh<cp = 3>} {
  // CHECK-LABEL: @backward
  func.func @backward(%g: !x, %q: !x, %k: !x, %v: !x, %o: !x, %l: !lse) -> (!x, !x, !x) {
    // CHECK: %[[Q0:.*]], %[[OWNK:.*]], %[[OWNV:.*]] = rt.ring_attention_grad
    // After their own rank, gradients of keys start from zero; the query's go on.
    // CHECK: %[[Q1:.*]], %[[DK1:.*]], %[[DV1:.*]] = rt.ring_attention_grad {{.*}}, %[[Q0]] <
    // CHECK: %[[DK2:.*]] = rt.shift %[[DK1]] over ["cp"] {nn.phase = #nn.phase<backward>,
    // CHECK-SAME: reason = "gradients that follow their keys"}
    // CHECK: %[[DV2:.*]] = rt.shift %[[DV1]]
    // CHECK: %[[Q2:.*]], %[[DK3:.*]], %[[DV3:.*]] = rt.ring_attention_grad {{.*}}, %[[Q1]], %[[DK2]], %[[DV2]] <
    // CHECK: %[[HOME:.*]] = rt.shift %[[DK3]]
    // CHECK: %[[DK:.*]] = nn.add "abcd,abcd->abcd" %[[OWNK]], %[[HOME]]
    %dq, %dk, %dv = nn.attention_grad %g, %q, %k, %v, %o, %l <scale = 0.25> {dist.ring = "cp", nn.phase = #nn.phase<backward>,
      rt.factors = {s = {axes = ["cp"], chunks = array<i64: 4>, total = 12 : i64}, t =
          {axes = ["cp"], chunks = array<i64: 4>, total = 12 : i64}}} : (!x, !x, !x, !x, !x, !lse) -> (!x, !x, !x)
    // CHECK: return %[[Q2]], %[[DK]]
    return %dq, %dk, %dv : !x, !x, !x
  }
}

// -----

!x = tensor<2x4x3x8xbf16>
!lse = tensor<2x3x4xf32>
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  // Keys are sent in bf16, sums over slices are f32 and rounded once.
  // CHECK-LABEL: @rounded_once
  func.func @rounded_once(%q: !x, %k: !x, %v: !x) -> !x {
    // CHECK: rt.shift {{.*}} -> tensor<2x4x3x8xbf16>
    // CHECK: rt.ring_attention {{.*}} -> (tensor<2x4x3x8xf32>, tensor<2x3x4xf32>)
    // CHECK: %[[SUM:.*]], %{{.*}} = rt.ring_attention {{.*}} -> (tensor<2x4x3x8xf32>, tensor<2x3x4xf32>)
    // CHECK: nn.cast %[[SUM]] to bf16
    %o, %l = nn.attention %q, %k, %v <scale = 0.25> {dist.ring = "cp",
      rt.factors = {s = {axes = ["cp"], chunks = array<i64: 4>, total = 8 : i64}, t =
          {axes = ["cp"], chunks = array<i64: 4>, total = 8 : i64}}} : (!x, !x, !x) -> (!x, !lse)
    return %o : !x
  }
}

// -----

!x = tensor<2x4x3x8xf32>
// CHECK-LABEL: @whole_keys_are_no_ring
func.func @whole_keys_are_no_ring(%q: !x) -> !x {
  // CHECK: rt.attention %
  %o, %l = nn.attention %q, %q, %q <causal, scale = 0.25> {dist.ring = "cp"} : (!x, !x, !x)
      -> (!x, tensor<2x3x4xf32>)
  return %o : !x
}

// -----

!qkv = tensor<2x4x3x3x8xf32>
!x = tensor<2x4x3x8xf32>
!lse = tensor<2x3x4xf32>
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  // Rank r has number r and number 3 - r of 4 chunks: the early and the late one of queries and keys.
  // CHECK-LABEL: @causal
  func.func @causal(%qkv: !qkv) -> (!x, !lse) {
    %q, %k, %v = nn.unstack %qkv along 2 : !qkv -> !x, !x, !x
    // A fused projection goes as one, without copies.
    // CHECK: %[[QKV:.*]]:2 = rt.zigzag %{{.*}} along 1 over ["cp"] {reason = "balanced causal work"}
    // CHECK-SAME: : tensor<2x4x3x3x8xf32> -> tensor<2x2x3x3x8xf32>, tensor<2x2x3x3x8xf32>
    // CHECK: %[[QE:.*]] = rt.view %[[QKV]]#0 {offset = 0
    // CHECK: %[[KE:.*]] = rt.view %[[QKV]]#0 {offset = 24
    // CHECK: %[[VE:.*]] = rt.view %[[QKV]]#0 {offset = 48
    // CHECK: %[[QL:.*]] = rt.view %[[QKV]]#1 {offset = 0
    // CHECK: %[[KL:.*]] = rt.view %[[QKV]]#1 {offset = 24
    // CHECK: %[[VL:.*]] = rt.view %[[QKV]]#1 {offset = 48
    // CHECK: %[[COPY:.*]] = rt.copy %[[KE]]
    // CHECK: %[[EARLY:.*]] = rt.shift %[[COPY]]
    // CHECK: %[[COPY:.*]] = rt.copy %[[KL]]
    // CHECK: %[[LATE:.*]] = rt.shift %[[COPY]]
    // Late chunks are counted from the end.
    // CHECK: %[[RANK:.*]] = rt.coord "cp"
    // CHECK: %[[BACK:.*]] = arith.subi %c3_i64, %[[RANK]]
    // CHECK: arith.muli %[[BACK]], %c2_i64
    // CHECK: %[[OL:.*]], %[[LL:.*]] = rt.ring_attention %[[QL]], %[[KL]], %[[VL]], %{{.*}} <causal
    // Late queries see all early keys.
    // CHECK: %[[OL1:.*]], %[[LL1:.*]] = rt.ring_attention %[[QL]], %[[KE]], %[[VE]], %{{.*}}, %[[OL]], %[[LL]]
    // CHECK-SAME: <scale
    // CHECK: %[[OE:.*]], %[[LE:.*]] = rt.ring_attention %[[QE]], %[[KE]], %[[VE]], %{{.*}} <causal
    // CHECK: rt.ring_attention %[[QL]], %[[LATE]], {{.*}}, %[[OL1]], %[[LL1]] <causal
    // CHECK: %[[OL2:.*]], %[[LL2:.*]] = rt.ring_attention %[[QL]], %[[EARLY]], {{.*}} <scale
    // CHECK: %[[OE1:.*]], %[[LE1:.*]] = rt.ring_attention %[[QE]], %[[EARLY]], {{.*}}, %[[OE]], %[[LE]] <causal
    // CHECK: %[[O:.*]] = rt.zigzag %[[OE1]], %[[OL2]] along 1 over ["cp"] {{.*}} -> tensor<2x4x3x8xf32>
    // CHECK: %[[L:.*]] = rt.zigzag %[[LE1]], %[[LL2]] along 2 over ["cp"] {{.*}} -> tensor<2x3x4xf32>
    // CHECK: return %[[O]], %[[L]]
    %o, %l = nn.attention %q, %k, %v <causal, scale = 0.25> {dist.ring = "cp",
      rt.factors = {s = {axes = ["cp"], chunks = array<i64: 4>, total = 8 : i64}, t =
          {axes = ["cp"], chunks = array<i64: 4>, total = 8 : i64}}} : (!x, !x, !x) -> (!x, !lse)
    return %o, %l : !x, !lse
  }
}

// -----

!x = tensor<2x4x3x8xf32>
!lse = tensor<2x3x4xf32>
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  // CHECK-LABEL: @causal_backward
  func.func @causal_backward(%g: !x, %q: !x, %k: !x, %v: !x, %o: !x, %l: !lse) -> (!x, !x, !x) {
    // CHECK-COUNT-6: rt.zigzag {{.*}}nn.phase = #nn.phase<backward>
    // Late keys, then early keys of late queries, to which early queries add.
    // CHECK: %[[QL:.*]], %[[OWNKL:.*]], %{{.*}} = rt.ring_attention_grad
    // CHECK: %[[QL1:.*]], %[[K0:.*]], %[[V0:.*]] = rt.ring_attention_grad {{.*}}, %[[QL]] <scale
    // CHECK: %[[QE:.*]], %[[OWNKE:.*]], %{{.*}} = rt.ring_attention_grad {{.*}}, %[[K0]], %[[V0]] <causal
    // After their own rank, gradients of keys start from zero; the queries' go on.
    // CHECK: %[[QL2:.*]], %[[KL:.*]], %[[VL:.*]] = rt.ring_attention_grad {{.*}}, %[[QL1]] <causal
    // CHECK: %[[QL3:.*]], %[[K1:.*]], %[[V1:.*]] = rt.ring_attention_grad {{.*}}, %[[QL2]] <scale
    // CHECK: %[[QE1:.*]], %[[KE:.*]], %[[VE:.*]] = rt.ring_attention_grad {{.*}}, %[[QE]], %[[K1]], %[[V1]]
    // CHECK-SAME: <causal
    // CHECK: %[[HOMEE:.*]] = rt.shift %[[KE]]
    // CHECK: %[[HOMEL:.*]] = rt.shift %[[KL]]
    // CHECK: %[[DKE:.*]] = nn.add "abcd,abcd->abcd" %[[OWNKE]], %[[HOMEE]]
    // CHECK: %[[DKL:.*]] = nn.add "abcd,abcd->abcd" %[[OWNKL]], %[[HOMEL]]
    // CHECK: %[[DQ:.*]] = rt.zigzag %[[QE1]], %[[QL3]]
    // CHECK: %[[DK:.*]] = rt.zigzag %[[DKE]], %[[DKL]]
    // CHECK: return %[[DQ]], %[[DK]]
    %dq, %dk, %dv = nn.attention_grad %g, %q, %k, %v, %o, %l <causal, scale = 0.25> {dist.ring = "cp", nn.phase = #nn.phase<backward>,
      rt.factors = {s = {axes = ["cp"], chunks = array<i64: 4>, total = 8 : i64}, t =
          {axes = ["cp"], chunks = array<i64: 4>, total = 8 : i64}}} : (!x, !x, !x, !x, !x, !lse) -> (!x, !x, !x)
    return %dq, %dk, %dv : !x, !x, !x
  }
}

// -----

!x = tensor<2x4x3x8xf32>
!lse = tensor<2x3x4xf32>
module attributes {dist.mesh = #dist.mesh<cp = 4>} {
  // Queries see 5 keys: of 4 slices of 4 their own and the one before, in whole slices.
  // CHECK-LABEL: @window
  func.func @window(%q: !x, %k: !x, %v: !x) -> !x {
    // CHECK-NOT: rt.zigzag
    // CHECK: %[[K1:.*]] = rt.shift %{{.*}} over ["cp"]
    // CHECK: %[[V1:.*]] = rt.shift %{{.*}} over ["cp"]
    // CHECK: %[[O0:.*]], %[[L0:.*]] = rt.ring_attention {{.*}} <causal, scale = {{.*}}, window = 5> {
    // CHECK-NOT: rt.shift
    // CHECK: %[[O1:.*]], %{{.*}} = rt.ring_attention %{{.*}}, %[[K1]], %[[V1]], {{.*}}, %[[O0]], %[[L0]] <causal,
    // CHECK-SAME: window = 5> {
    // CHECK-NEXT: return %[[O1]]
    %o, %l = nn.attention %q, %k, %v <causal, scale = 0.25, window = 5> {dist.ring = "cp",
      rt.factors = {s = {axes = ["cp"], chunks = array<i64: 4>, total = 16 : i64}, t =
          {axes = ["cp"], chunks = array<i64: 4>, total = 16 : i64}}} : (!x, !x, !x) -> (!x, !lse)
    return %o : !x
  }
  // CHECK-LABEL: @window_backward
  func.func @window_backward(%g: !x, %q: !x, %k: !x, %v: !x, %o: !x, %l: !lse) -> (!x, !x, !x) {
    // CHECK: %[[Q0:.*]], %[[OWNK:.*]], %{{.*}} = rt.ring_attention_grad
    // CHECK: %[[Q1:.*]], %[[DK:.*]], %{{.*}} = rt.ring_attention_grad {{.*}}, %[[Q0]] <
    // CHECK-NOT: rt.ring_attention_grad
    // The gradient is one rank after its own, which is the third from there.
    // CHECK: %[[HOME:.*]] = rt.shift %[[DK]] over ["cp"] {distance = 3 : i64,
    // CHECK: nn.add "abcd,abcd->abcd" %[[OWNK]], %[[HOME]]
    // CHECK: return %[[Q1]]
    %dq, %dk, %dv = nn.attention_grad %g, %q, %k, %v, %o, %l <causal, scale = 0.25, window = 5> {dist.ring = "cp",
      rt.factors = {s = {axes = ["cp"], chunks = array<i64: 4>, total = 16 : i64}, t =
          {axes = ["cp"], chunks = array<i64: 4>, total = 16 : i64}}} : (!x, !x, !x, !x, !x, !lse) -> (!x, !x, !x)
    return %dq, %dk, %dv : !x, !x, !x
  }
  // A query that sees itself alone needs no other rank.
  // CHECK-LABEL: @window_of_one
  func.func @window_of_one(%g: !x, %q: !x, %k: !x, %v: !x, %o: !x, %l: !lse) -> (!x, !x, !x) {
    // CHECK-NOT: rt.shift
    // CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = rt.ring_attention_grad
    // CHECK-NEXT: return %[[DQ]], %[[DK]], %[[DV]]
    %dq, %dk, %dv = nn.attention_grad %g, %q, %k, %v, %o, %l <causal, scale = 0.25, window = 1> {dist.ring = "cp",
      rt.factors = {s = {axes = ["cp"], chunks = array<i64: 4>, total = 16 : i64}, t =
          {axes = ["cp"], chunks = array<i64: 4>, total = 16 : i64}}} : (!x, !x, !x, !x, !x, !lse) -> (!x, !x, !x)
    return %dq, %dk, %dv : !x, !x, !x
  }
}

// -----

!x = tensor<2x4x3x8xf32>
!lse = tensor<2x3x4xf32>
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  // Queries see 5 of 8 keys: chunks of balanced work, of which late queries do not see all early keys.
  // CHECK-LABEL: @long_window
  func.func @long_window(%q: !x, %k: !x, %v: !x) -> !x {
    // CHECK-COUNT-3: rt.zigzag
    // CHECK-COUNT-6: rt.ring_attention {{.*}} <causal, scale = {{.*}}, window = 5> {
    // CHECK-NOT: rt.ring_attention
    %o, %l = nn.attention %q, %k, %v <causal, scale = 0.25, window = 5> {dist.ring = "cp",
      rt.factors = {s = {axes = ["cp"], chunks = array<i64: 4>, total = 8 : i64}, t =
          {axes = ["cp"], chunks = array<i64: 4>, total = 8 : i64}}} : (!x, !x, !x) -> (!x, !lse)
    return %o : !x
  }
}

// -----

!x = tensor<2x4x3x8xf32>
!lse = tensor<2x3x4xf32>
module attributes {dist.mesh = #dist.mesh<cp = 3>} {
  // Segments are gathered once, and not passed on with the keys.
  // CHECK-LABEL: @segments
  // CHECK-SAME: %[[OWN:[a-z0-9]*]]: tensor<2x4xi32>
  func.func @segments(%own: tensor<2x4xi32>, %x: !x) -> (!x, !lse) {
    // CHECK: %[[ALL:.*]] = rt.all_gather %[[OWN]] along 1 over ["cp"] {reason = "segments of all positions"} : tensor<2x4xi32> -> tensor<2x12xi32>
    // CHECK-NOT: rt.all_gather
    // CHECK: rt.ring_attention {{.*}} segments(%[[ALL]], %[[ALL]]) <
    // CHECK: rt.ring_attention {{.*}} segments(%[[ALL]], %[[ALL]]) <
    // CHECK: rt.ring_attention {{.*}} segments(%[[ALL]], %[[ALL]]) <
    %o, %l = nn.attention %x, %x, %x segments(%own, %own) <scale = 0.25> {dist.ring = "cp",
      rt.factors = {s = {axes = ["cp"], chunks = array<i64: 4>, total = 12 : i64}, t =
          {axes = ["cp"], chunks = array<i64: 4>, total = 12 : i64}}}
        : (!x, !x, !x, tensor<2x4xi32>, tensor<2x4xi32>) -> (!x, !lse)
    return %o, %l : !x, !lse
  }
}
