// RUN: tessera-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{attention has scale = nan; it must be finite}}
func.func private @no_number() attributes {a = #nn.attention<scale = 0x7FF8000000000000>}

// -----

// expected-error @+1 {{attention has scale = INF; it must be finite}}
func.func private @infinite_scale() attributes {a = #nn.attention<causal, scale = 0x7FF0000000000000>}

// -----

// expected-error @+1 {{attention has window = -2; it must be at least 1, or absent}}
func.func private @negative_window() attributes {a = #nn.attention<causal, scale = 1.0, window = -2>}

// -----

// expected-error @+1 {{attention has window = 3 but is not causal; a window is of keys before the query}}
func.func private @window_of_all_keys() attributes {a = #nn.attention<scale = 1.0, window = 3>}

// -----

// expected-error @+1 {{attention has max_distance = -1; it must be at least 1, or absent}}
func.func private @negative_distance() attributes {a = #nn.attention<causal, scale = 1.0, max_distance = -1>}

// -----

// expected-error @+1 {{struct is missing required parameter: scale}}
func.func private @no_scale() attributes {a = #nn.attention<causal, window = 3>}

// -----

func.func @other_attribute(%x: tensor<2x8x4x16xf32>) {
  // expected-error @+1 {{Invalid attribute `attention` in property conversion: #nn.tag<attention>}}
  %o, %lse = "nn.attention"(%x, %x, %x) <{attention = #nn.tag<attention>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}>
      : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
  return
}
