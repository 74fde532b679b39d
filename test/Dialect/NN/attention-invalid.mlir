// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @nothing_is_kept(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>) {
  // expected-error @+1 {{has dropout = 1.000000e+00; it must be in [0, 1)}}
  %o, %lse = nn.attention %q, %k, %v <scale = 0.25> {dropout = 1.0 : f64}
      : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @heads_are_missing(%q: tensor<2x8x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>) {
  // expected-error @+1 {{operand #0 must be tensor [batch, sequence, heads, head size], or with groups of heads}}
  %o, %lse = nn.attention %q, %k, %v <causal, scale = 0.25>
      : (tensor<2x8x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @other_heads(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x2x16xf32>, %v: tensor<2x8x2x16xf32>) {
  // expected-error @+1 {{sizes 4 and 2 of factor 'n' differ}}
  %o, %lse = nn.attention %q, %k, %v <causal, scale = 0.25>
      : (tensor<2x8x4x16xf32>, tensor<2x8x2x16xf32>, tensor<2x8x2x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @fewer_values_than_keys(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x4x4x16xf32>) {
  // expected-error @+1 {{sizes 8 and 4 of factor 't' differ}}
  %o, %lse = nn.attention %q, %k, %v <causal, scale = 0.25>
      : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @lse_in_another_order(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>) {
  // expected-error @+1 {{has result type 'tensor<2x8x4xf32>', but its operands give 'tensor<2x4x8xf32>'}}
  %o, %lse = nn.attention %q, %k, %v <causal, scale = 0.25>
      : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4xf32>)
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  func.func @keys_are_split(%q: tensor<2x8x4x16xf32, #dist<cp: S(1)>>, %k: tensor<2x8x4x16xf32, #dist<cp: S(1)>>,
      %v: tensor<2x8x4x16xf32, #dist<cp: S(1)>>) {
    // expected-error @+2 {{refuses S(1), S(1), S(1) on axis 'cp'}}
    // expected-note @+1 {{operand 1 shards dimension 1, which this op needs whole: all_gather it first}}
    %o, %lse = nn.attention %q, %k, %v <causal, scale = 0.25>
        : (tensor<2x8x4x16xf32, #dist<cp: S(1)>>, tensor<2x8x4x16xf32, #dist<cp: S(1)>>,
        tensor<2x8x4x16xf32, #dist<cp: S(1)>>) -> (tensor<2x8x4x16xf32, #dist<cp: S(1)>>, tensor<2x4x8xf32,
        #dist<cp: S(2)>>)
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @head_size_is_split(%q: tensor<2x8x4x16xf32, #dist<tp: S(3)>>, %k: tensor<2x8x4x16xf32, #dist<tp: S(3)>>,
      %v: tensor<2x8x4x16xf32, #dist<tp: R>>) {
    // expected-error @+2 {{refuses S(3), S(3), R on axis 'tp'}}
    // expected-note @+1 {{operand 0 shards dimension 3, which this op needs whole: all_gather it first}}
    %o, %lse = nn.attention %q, %k, %v <causal, scale = 0.25>
        : (tensor<2x8x4x16xf32, #dist<tp: S(3)>>, tensor<2x8x4x16xf32, #dist<tp: S(3)>>,
        tensor<2x8x4x16xf32, #dist<tp: R>>) -> (tensor<2x8x4x16xf32, #dist<tp: P>>, tensor<2x4x8xf32, #dist<tp: P>>)
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @scores_of_addends(%q: tensor<2x8x4x16xf32, #dist<tp: P>>, %k: tensor<2x8x4x16xf32, #dist<tp: R>>,
      %v: tensor<2x8x4x16xf32, #dist<tp: R>>) {
    // expected-error @+2 {{refuses P, R, R on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %o, %lse = nn.attention %q, %k, %v <causal, scale = 0.25>
        : (tensor<2x8x4x16xf32, #dist<tp: P>>, tensor<2x8x4x16xf32, #dist<tp: R>>, tensor<2x8x4x16xf32, #dist<tp: R>>)
        -> (tensor<2x8x4x16xf32, #dist<tp: P>>, tensor<2x4x8xf32>)
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @heads_split_in_the_query_only(%q: tensor<2x8x4x16xf32, #dist<tp: S(2)>>, %k: tensor<2x8x4x16xf32>,
      %v: tensor<2x8x4x16xf32>) {
    // expected-error @+2 {{refuses S(2), I, I on axis 'tp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %o, %lse = nn.attention %q, %k, %v <causal, scale = 0.25>
        : (tensor<2x8x4x16xf32, #dist<tp: S(2)>>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
        -> (tensor<2x8x4x16xf32, #dist<tp: S(2)>>, tensor<2x4x8xf32, #dist<tp: S(1)>>)
    return
  }
}

// -----

func.func @window_without_causality(%x: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>) {
  // expected-error @+1 {{has window = 3 but is not causal; a window is of keys before the query}}
  %dq, %dk, %dv = nn.attention_grad %x, %x, %x, %x, %x, %lse <scale = 0.25, window = 3>
      : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>,
      tensor<2x4x8xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
  return
}

// -----

// A window that hides everything.
func.func @negative_window(%x: tensor<2x8x4x16xf32>) {
  // expected-error @+1 {{has window = -1; it must be at least 1, or absent}}
  %o, %lse = nn.attention %x, %x, %x <causal, scale = 0.25, window = -1>
      : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @other_head_size_of_values(%q: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x8xf32>) {
  // expected-error @+1 {{has queries and keys of head size 16 but values of head size 8; project the values to heads of size 16}}
  %o, %lse = nn.attention %q, %q, %v <causal, scale = 0.25>
      : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x8xf32>) -> (tensor<2x8x4x8xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @other_head_size_of_keys(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x8xf32>) {
  // expected-error @+1 {{sizes 16 and 8 of factor 'd' differ}}
  %o, %lse = nn.attention %q, %k, %q <causal, scale = 0.25>
      : (tensor<2x8x4x16xf32>, tensor<2x8x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @keys_of_another_batch(%q: tensor<2x8x4x16xf32>, %k: tensor<3x8x4x16xf32>) {
  // expected-error @+1 {{sizes 2 and 3 of factor 'b' differ}}
  %o, %lse = nn.attention %q, %k, %k <causal, scale = 0.25>
      : (tensor<2x8x4x16xf32>, tensor<3x8x4x16xf32>, tensor<3x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @values_of_other_heads(%q: tensor<2x8x4x16xf32>, %v: tensor<2x8x2x16xf32>) {
  // expected-error @+1 {{sizes 4 and 2 of factor 'n' differ}}
  %o, %lse = nn.attention %q, %q, %v <causal, scale = 0.25>
      : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x2x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @rounded_keys(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xbf16>) {
  // expected-error @+1 {{has queries of 'f32' but keys of 'bf16'; cast them to one type}}
  %o, %lse = nn.attention %q, %k, %q <causal, scale = 0.25>
      : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xbf16>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @wide_values(%q: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf64>) {
  // expected-error @+1 {{has queries of 'f32' but values of 'f64'; cast them to one type}}
  %o, %lse = nn.attention %q, %q, %v <causal, scale = 0.25>
      : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf64>) -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
  return
}
