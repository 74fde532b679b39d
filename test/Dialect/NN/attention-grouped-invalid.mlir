// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @other_groups(%q: tensor<2x8x2x4x16xf32>, %k: tensor<2x8x4x16xf32>) {
  // expected-error @+1 {{sizes 2 and 4 of factor 'g' differ}}
  %o, %l = nn.attention %q, %k, %k <scale = 0.25>
      : (tensor<2x8x2x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
      -> (tensor<2x8x2x4x16xf32>, tensor<2x2x4x8xf32>)
  return
}

// -----

// Ranks with other queries of a head must all have its keys.
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @keys_do_not_enter(%q: tensor<2x8x2x4x16xf32, #dist<tp: S(3)>>, %k: tensor<2x8x2x16xf32>) {
    // expected-error @+2 {{refuses S(3), I, I on axis 'tp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %o, %l = nn.attention %q, %k, %k <scale = 0.25>
        : (tensor<2x8x2x4x16xf32, #dist<tp: S(3)>>, tensor<2x8x2x16xf32>, tensor<2x8x2x16xf32>)
        -> (tensor<2x8x2x4x16xf32, #dist<tp: S(3)>>, tensor<2x2x4x8xf32, #dist<tp: S(2)>>)
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @key_gradients_are_addends(%q: tensor<2x8x2x4x16xf32, #dist<tp: S(3)>>,
      %k: tensor<2x8x2x16xf32, #dist<tp: R>>, %l: tensor<2x2x4x8xf32, #dist<tp: S(2)>>) {
    // expected-error @+1 {{has result type 'tensor<2x8x2x16xf32, #dist<tp: R>>', but its operands give 'tensor<2x8x2x16xf32, #dist<tp: P>>'}}
    %dq, %dk, %dv = nn.attention_grad %q, %q, %k, %k, %q, %l <scale = 0.25>
        : (tensor<2x8x2x4x16xf32, #dist<tp: S(3)>>, tensor<2x8x2x4x16xf32, #dist<tp: S(3)>>,
        tensor<2x8x2x16xf32, #dist<tp: R>>, tensor<2x8x2x16xf32, #dist<tp: R>>, tensor<2x8x2x4x16xf32,
        #dist<tp: S(3)>>, tensor<2x2x4x8xf32, #dist<tp: S(2)>>) -> (tensor<2x8x2x4x16xf32, #dist<tp: S(3)>>,
        tensor<2x8x2x16xf32, #dist<tp: R>>, tensor<2x8x2x16xf32, #dist<tp: P>>)
    return
  }
}

// -----

func.func @other_head_size_of_values(%q: tensor<2x8x2x4x16xf32>, %k: tensor<2x8x2x16xf32>, %v: tensor<2x8x2x32xf32>) {
  // expected-error @+1 {{has queries and keys of head size 16 but values of head size 32; project the values to heads of size 16}}
  %o, %l = nn.attention %q, %k, %v <scale = 0.25>
      : (tensor<2x8x2x4x16xf32>, tensor<2x8x2x16xf32>, tensor<2x8x2x32xf32>)
      -> (tensor<2x8x2x4x32xf32>, tensor<2x2x4x8xf32>)
  return
}
