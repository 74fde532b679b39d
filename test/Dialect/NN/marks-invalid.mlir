// A mark of another type would be ignored, so it is refused.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @phase_as_text(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'nn.phase' is "backward"; it must be #nn.phase<...>}}
  %y = nn.map exp %x {nn.phase = "backward"} : tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @tag_as_text(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'nn.tag' is "stream"; it must be #nn.tag<...>}}
  %y = nn.map exp %x {nn.tag = "stream"} : tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @unknown_phase(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+2 {{to be one of: forward, backward, recompute, optimizer}}
  // expected-error @+1 {{failed to parse}}
  %y = nn.map exp %x {nn.phase = #nn.phase<sideways>} : tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}
