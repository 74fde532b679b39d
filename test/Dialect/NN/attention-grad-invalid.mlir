// RUN: tessera-opt %s -split-input-file -verify-diagnostics

!g = tensor<2x8x4x16xf32>
!q = tensor<2x8x4x16xf32>
!k = tensor<2x8x4x16xf32>
!v = tensor<2x8x4x16xf32>
!o = tensor<2x8x4x16xf32>
!lse = tensor<2x4x8xf32>
func.func @nothing_is_kept(%g: !g, %q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse) {
  // expected-error @+1 {{has dropout = 1.000000e+00; it must be in [0, 1)}}
  %dq, %dk, %dv = nn.attention_grad %g, %q, %k, %v, %o, %lse <scale = 0.25> {dropout = 1.0 : f64}
      : (!g, !q, !k, !v, !o, !lse) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
  return
}

// -----

!g = tensor<2x8x4x16xf32>
!q = tensor<2x8x4x16xf32>
!k = tensor<2x8x4x16xf32>
!v = tensor<2x8x4x16xf32>
!o = tensor<2x8x4x16xf32>
!lse = tensor<2x8x4xf32>
func.func @lse_in_another_order(%g: !g, %q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse) {
  // expected-error @+1 {{sizes 4 and 8 of factor 'n' differ}}
  %dq, %dk, %dv = nn.attention_grad %g, %q, %k, %v, %o, %lse <causal, scale = 0.25>
      : (!g, !q, !k, !v, !o, !lse) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
  return
}

// -----

!g = tensor<2x8x4x16xf32, #dist<tp: R>>
!q = tensor<2x8x4x16xf32, #dist<tp: S(3)>>
!k = tensor<2x8x4x16xf32, #dist<tp: S(3)>>
!v = tensor<2x8x4x16xf32, #dist<tp: R>>
!o = tensor<2x8x4x16xf32, #dist<tp: R>>
!lse = tensor<2x4x8xf32, #dist<tp: R>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @head_size_is_split(%g: !g, %q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse) {
    // expected-error @+2 {{refuses R, S(3), S(3), R, R, R on axis 'tp'}}
    // expected-note @+1 {{operand 1 shards dimension 3, which this op needs whole: all_gather it first}}
    %dq, %dk, %dv = nn.attention_grad %g, %q, %k, %v, %o, %lse <causal, scale = 0.25>
        : (!g, !q, !k, !v, !o, !lse)
        -> (tensor<2x8x4x16xf32, #dist<tp: S(3)>>, tensor<2x8x4x16xf32, #dist<tp: S(3)>>, tensor<2x8x4x16xf32>)
    return
  }
}

// -----

!g = tensor<2x8x4x16xf32, #dist<tp: P>>
!q = tensor<2x8x4x16xf32, #dist<tp: R>>
!k = tensor<2x8x4x16xf32, #dist<tp: R>>
!v = tensor<2x8x4x16xf32, #dist<tp: P>>
!o = tensor<2x8x4x16xf32, #dist<tp: P>>
!lse = tensor<2x4x8xf32, #dist<tp: R>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @gradient_and_value_are_partial(%g: !g, %q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse) {
    // expected-error @+2 {{refuses P, R, R, P, P, R on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %dq, %dk, %dv = nn.attention_grad %g, %q, %k, %v, %o, %lse <causal, scale = 0.25>
        : (!g, !q, !k, !v, !o, !lse)
        -> (tensor<2x8x4x16xf32, #dist<tp: P>>, tensor<2x8x4x16xf32, #dist<tp: P>>, tensor<2x8x4x16xf32, #dist<tp: P>>)
    return
  }
}

// -----

!g = tensor<2x8x4x16xf32, #dist<tp: R>>
!q = tensor<2x8x4x16xf32, #dist<tp: R>>
!k = tensor<2x8x4x16xf32, #dist<tp: R>>
!v = tensor<2x8x4x16xf32>
!o = tensor<2x8x4x16xf32, #dist<tp: R>>
!lse = tensor<2x4x8xf32, #dist<tp: R>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @value_did_not_enter(%g: !g, %q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse) {
    // expected-error @+2 {{refuses R, R, R, I, R, R on axis 'tp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %dq, %dk, %dv = nn.attention_grad %g, %q, %k, %v, %o, %lse <causal, scale = 0.25>
        : (!g, !q, !k, !v, !o, !lse)
        -> (tensor<2x8x4x16xf32, #dist<tp: R>>, tensor<2x8x4x16xf32, #dist<tp: R>>, tensor<2x8x4x16xf32, #dist<tp: R>>)
    return
  }
}

// -----

!g = tensor<2x8x4x16xf32, #dist<tp: P>>
!q = tensor<2x8x4x16xf32, #dist<tp: R>>
!k = tensor<2x8x4x16xf32, #dist<tp: R>>
!v = tensor<2x8x4x16xf32, #dist<tp: R>>
!o = tensor<2x8x4x16xf32, #dist<tp: R>>
!lse = tensor<2x4x8xf32, #dist<tp: R>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @gradient_of_the_query_is_not_reduced_yet(%g: !g, %q: !q, %k: !k, %v: !v, %o: !o, %lse: !lse) {
    // expected-error @+1 {{has result type 'tensor<2x8x4x16xf32>', but its operands give 'tensor<2x8x4x16xf32, #dist<tp: P>>'}}
    %dq, %dk, %dv = nn.attention_grad %g, %q, %k, %v, %o, %lse <causal, scale = 0.25>
        : (!g, !q, !k, !v, !o, !lse)
        -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32, #dist<tp: P>>, tensor<2x8x4x16xf32, #dist<tp: P>>)
    return
  }
}

// -----

!x = tensor<2x8x4x16xf32>
!v = tensor<2x8x4x8xf32>
!lse = tensor<2x4x8xf32>
func.func @other_head_size_of_values(%x: !x, %v: !v, %lse: !lse) {
  // expected-error @+1 {{has queries and keys of head size 16 but values of head size 8; project the values to heads of size 16}}
  %dq, %dk, %dv = nn.attention_grad %v, %x, %x, %v, %v, %lse <causal, scale = 0.25>
      : (!v, !x, !x, !v, !v, !lse) -> (!x, !x, !v)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!short = tensor<2x4x4x16xf32>
!lse = tensor<2x4x8xf32>
func.func @gradient_of_fewer_queries(%x: !x, %g: !short, %lse: !lse) {
  // expected-error @+1 {{sizes 4 and 8 of factor 's' differ}}
  %dq, %dk, %dv = nn.attention_grad %g, %x, %x, %x, %x, %lse <causal, scale = 0.25>
      : (!short, !x, !x, !x, !x, !lse) -> (!x, !x, !x)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!lse = tensor<2x4x8xf32>
func.func @wide_gradient(%x: !x, %g: tensor<2x8x4x16xf64>, %lse: !lse) {
  // expected-error @+1 {{has queries of 'f32' but gradients of 'f64'; cast them to one type}}
  %dq, %dk, %dv = nn.attention_grad %g, %x, %x, %x, %x, %lse <causal, scale = 0.25>
      : (tensor<2x8x4x16xf64>, !x, !x, !x, !x, !lse) -> (tensor<2x8x4x16xf64>, tensor<2x8x4x16xf64>, tensor<2x8x4x16xf64>)
  return
}
