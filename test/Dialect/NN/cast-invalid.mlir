// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @result_is_not_what_it_casts_to(%x: tensor<8xf32>) {
  // expected-error @+1 {{has result type 'tensor<8xf32>', but its operands give 'tensor<8xbf16>'}}
  %y = nn.cast %x to bf16 : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @to_integers(%x: tensor<8xf32>) {
  // expected-error @+1 {{attribute 'to' failed to satisfy constraint: type attribute of bfloat16 type or 16-bit float or 32-bit float or 64-bit float}}
  %y = nn.cast %x to i32 : tensor<8xf32> -> tensor<8xi32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @state_changes(%x: tensor<8xf32, #dist<tp: P>>) {
    // expected-error @+1 {{has result type 'tensor<8xbf16, #dist<tp: R>>', but its operands give 'tensor<8xbf16, #dist<tp: P>>'}}
    %y = nn.cast %x to bf16 : tensor<8xf32, #dist<tp: P>> -> tensor<8xbf16, #dist<tp: R>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @maxima(%x: tensor<8xf32, #dist<tp: M>>) {
    // expected-error @+2 {{refuses M on axis 'tp'}}
    // expected-note @+1 {{compare the partial maxima first (all_reduce_max)}}
    %y = nn.cast %x to bf16 : tensor<8xf32, #dist<tp: M>> -> tensor<8xbf16, #dist<tp: M>>
    return
  }
}
