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
