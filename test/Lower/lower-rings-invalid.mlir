// Slices of queries and keys must be those of one ring.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics --rt-lower-rings
!x = tensor<2x4x3x8xf32>
module attributes {dist.mesh = #dist.mesh<cp = 2, tp = 2>} {
  func.func @other_axis(%q: !x) -> !x {
    // expected-error @+1 {{has 4 of 8 keys on a rank; queries and keys must be split over the same one axis, into equal slices}}
    %o, %l = nn.attention %q, %q, %q <scale = 0.25> {rt.factors = {s = {axes = ["tp"], chunks = array<i64: 4>, total = 8 : i64}, t =
          {axes = ["cp"], chunks = array<i64: 4>, total = 8 : i64}}} : (!x, !x, !x) -> (!x, tensor<2x3x4xf32>)
    return %o : !x
  }
}

// -----

!x = tensor<2x4x3x8xf32>
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  func.func @padded(%q: !x) -> !x {
    // expected-error @+1 {{has 4 of 7 keys on a rank; queries and keys must be split}}
    %o, %l = nn.attention %q, %q, %q <scale = 0.25> {rt.factors = {s = {axes = ["cp"], chunks = array<i64: 4>, total = 7 : i64}, t =
          {axes = ["cp"], chunks = array<i64: 4>, total = 7 : i64}}} : (!x, !x, !x) -> (!x, tensor<2x3x4xf32>)
    return %o : !x
  }
}

// -----

!x = tensor<2x3x3x8xf32>
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  func.func @odd(%q: !x) -> !x {
    // expected-error @+1 {{has 3 of 6 keys on a rank; with a causal mask the number of a rank must be even}}
    %o, %l = nn.attention %q, %q, %q <causal, scale = 0.25> {rt.factors = {s = {axes = ["cp"], chunks = array<i64: 3>, total = 6 : i64}, t =
          {axes = ["cp"], chunks = array<i64: 3>, total = 6 : i64}}} : (!x, !x, !x) -> (!x, tensor<2x3x3xf32>)
    return %o : !x
  }
}

// -----

// A rank's query heads are some of each group, and so no neighbours: dropout could not count them from the first one on.
!q = tensor<2x4x2x2x8xf32>
!kv = tensor<2x4x2x8xf32>
module attributes {dist.mesh = #dist.mesh<cp = 2, tp = 2>} {
  func.func @dropped_weights_of_heads_within_groups(%q: !q, %k: !kv) -> !q {
    // expected-error @+1 {{drops attention weights of query heads that are split within their groups; use a mesh axis no larger than the number of key heads, or no attention dropout}}
    %o, %l = nn.attention %q, %k, %k <scale = 0.25> {dropout = 0.1 : f64, stream = 1 : i64, rt.factors = {r =
          {axes = ["tp"], chunks = array<i64: 2>, total = 4 : i64}, s = {axes = ["cp"], chunks = array<i64: 4>, total = 8 : i64}, t =
          {axes = ["cp"], chunks = array<i64: 4>, total = 8 : i64}}} : (!q, !kv, !kv) -> (!q, tensor<2x2x2x4xf32>)
    return %o : !q
  }
}
