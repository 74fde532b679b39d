// Marked with an axis, attention may have a slice of the queries and of the keys there; a gradient too.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics
!x = tensor<2x8x4x16xf32, #dist<cp: S(1)>>
!r = tensor<2x8x4x16xf32, #dist<cp: R>>
!lse = tensor<2x4x8xf32, #dist<cp: S(2)>>
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  func.func @slices(%q: !x, %k: !x, %v: !x, %g: !x) {
    %o, %lse = nn.attention %q, %k, %v <causal, scale = 0.25> {dist.ring = "cp"} : (!x, !x, !x) -> (!x, !lse)
    %dq, %dk, %dv = nn.attention_grad %g, %q, %k, %v, %o, %lse <causal, scale = 0.25> {dist.ring = "cp"}
        : (!x, !x, !x, !x, !x, !lse) -> (!x, !x, !x)
    return
  }
  // It need not: whole keys are no ring.
  func.func @whole_keys(%q: !x, %k: !r, %v: !r) {
    %o, %lse = nn.attention %q, %k, %v <causal, scale = 0.25> {dist.ring = "cp"} : (!x, !r, !r) -> (!x, !lse)
    return
  }
}

// -----

!x = tensor<2x8x4x16xf32, #dist<cp: S(1)>>
!lse = tensor<2x4x8xf32, #dist<cp: S(2)>>
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  func.func @no_mark(%x: !x) {
    // expected-error @+2 {{refuses S(1), S(1), S(1) on axis 'cp'}}
    // expected-note @+1 {{operand 1 shards dimension 1, which this op needs whole: all_gather it first}}
    %o, %lse = nn.attention %x, %x, %x <causal, scale = 0.25> : (!x, !x, !x) -> (!x, !lse)
    return
  }
}

// -----

!x = tensor<2x8x4x16xf32, #dist<cp: S(1)>>
!lse = tensor<2x4x8xf32, #dist<cp: S(2)>>
module attributes {dist.mesh = #dist.mesh<cp = 2, tp = 2>} {
  func.func @mark_of_another_axis(%x: !x) {
    // expected-error @+2 {{refuses S(1), S(1), S(1) on axis 'cp'}}
    // expected-note @+1 {{operand 1 shards dimension 1}}
    %o, %lse = nn.attention %x, %x, %x <causal, scale = 0.25> {dist.ring = "tp"} : (!x, !x, !x) -> (!x, !lse)
    return
  }
}

// -----

!x = tensor<2x8x4x16xf32, #dist<cp: S(1)>>
!r = tensor<2x8x4x16xf32, #dist<cp: R>>
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  func.func @whole_queries(%q: !r, %x: !x) {
    // expected-error @+2 {{refuses R, S(1), S(1) on axis 'cp'}}
    // expected-note @+1 {{operand 1 shards dimension 1}}
    %o, %lse = nn.attention %q, %x, %x <causal, scale = 0.25> {dist.ring = "cp"}
        : (!r, !x, !x) -> (!r, tensor<2x4x8xf32, #dist<cp: R>>)
    return
  }
}

// -----

!x = tensor<2x6x4x16xf32, #dist<cp: S(1)>>
!lse = tensor<2x4x6xf32, #dist<cp: S(2)>>
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  func.func @odd_slices(%x: !x) {
    %o, %l = nn.attention %x, %x, %x <scale = 0.25> {dist.ring = "cp"} : (!x, !x, !x) -> (!x, !lse)
    // expected-error @+1 {{is causal: a ring cuts its 6 tokens into two chunks for each of 2 ranks of mesh axis 'cp'; use a multiple of 4 tokens, or --context-parallel all-gather or ulysses}}
    %oc, %lc = nn.attention %x, %x, %x <causal, scale = 0.25> {dist.ring = "cp"} : (!x, !x, !x) -> (!x, !lse)
    return
  }
  // A window that hides half of the keys leaves slices whole, a longer one does not.
  func.func @windows(%x: !x) {
    %o, %l = nn.attention %x, %x, %x <causal, scale = 0.25, window = 3> {dist.ring = "cp"} : (!x, !x, !x) -> (!x, !lse)
    // expected-error @+1 {{is causal: a ring cuts its 6 tokens into two chunks}}
    %oc, %lc = nn.attention %x, %x, %x <causal, scale = 0.25, window = 4> {dist.ring = "cp"} : (!x, !x, !x) -> (!x, !lse)
    return
  }
}
