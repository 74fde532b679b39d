// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @nothing_is_left(%x: tensor<8xf32>) {
  // expected-error @+1 {{has p = 1.000000e+00; it must be in [0, 1)}}
  %y = nn.dropout %x {p = 1.0 : f64, stream = 3 : i64} : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @negative(%x: tensor<8xf32>) {
  // expected-error @+1 {{has p = -1.000000e-01; it must be in [0, 1)}}
  %y = nn.dropout %x {p = -0.1 : f64, stream = 3 : i64} : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @not_a_number(%x: tensor<8xf32>) {
  // expected-error @+1 {{has p = nan; it must be in [0, 1)}}
  %y = nn.dropout %x {p = 0x7FF8000000000000 : f64, stream = 3 : i64} : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @shape_changes(%x: tensor<8xf32>) {
  // expected-error @+1 {{has result type 'tensor<4xf32>', but its operands give 'tensor<8xf32>'}}
  %y = nn.dropout %x {p = 0.1 : f64, stream = 3 : i64} : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @state_changes(%x: tensor<8xf32, #dist<tp: P>>) {
    // expected-error @+1 {{has result type 'tensor<8xf32>', but its operands give 'tensor<8xf32, #dist<tp: P>>'}}
    %y = nn.dropout %x {p = 0.1 : f64, stream = 3 : i64} : tensor<8xf32, #dist<tp: P>> -> tensor<8xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @maxima(%x: tensor<8xf32, #dist<tp: M>>) {
    // expected-error @+2 {{refuses M on axis 'tp'}}
    // expected-note @+1 {{compare the partial maxima first (all_reduce_max)}}
    %y = nn.dropout %x {p = 0.1 : f64, stream = 3 : i64} : tensor<8xf32, #dist<tp: M>> -> tensor<8xf32, #dist<tp: M>>
    return
  }
}
