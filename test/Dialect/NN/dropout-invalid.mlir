// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @nothing_is_left(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{has p = 1.000000e+00; it must be in [0, 1)}}
  %y = nn.dropout %x {p = 1.0 : f64, stream = 3 : i64} : tensor<8xf32> -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @negative(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{has p = -1.000000e-01; it must be in [0, 1)}}
  %y = nn.dropout %x {p = -0.1 : f64, stream = 3 : i64} : tensor<8xf32> -> tensor<8xf32>
  return %y : tensor<8xf32>
}
