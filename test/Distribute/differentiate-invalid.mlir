// RUN: tessera-opt %s --split-input-file --verify-diagnostics --nn-differentiate

// expected-error @+1 {{has no function @loss}}
module {
}

// -----

// expected-error @+1 {{@loss must have a body of one block}}
func.func private @loss() -> tensor<f32>

// -----

// expected-error @+1 {{@loss must compute one result, the loss, but returns 2 values of 1 ops}}
func.func @loss(%w: tensor<8xf32> {nn.param = "w"}) -> (tensor<f32>, tensor<f32>) {
  %loss = nn.einsum "h->" %w : (tensor<8xf32>) -> tensor<f32>
  return %loss, %loss : tensor<f32>, tensor<f32>
}

// -----

// expected-error @+1 {{@loss must compute one result, the loss, but returns 1 values of 0 ops}}
func.func @loss(%w: tensor<f32> {nn.param = "w"}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-error @+1 {{the loss must be a scalar, I on every axis, but is 'tensor<8xf32>'}}
func.func @loss(%w: tensor<8xf32> {nn.param = "w"}) -> tensor<8xf32> {
  %y = nn.map gelu %w : tensor<8xf32> -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  // expected-error @+1 {{the loss must be a scalar, I on every axis, but is 'tensor<f32, #dist<tp: P>>'}}
  func.func @loss(%w: tensor<8xf32, #dist<tp: S(0)>> {nn.param = "w"}) -> tensor<f32, #dist<tp: P>> {
    %loss = nn.einsum "h->" %w : (tensor<8xf32, #dist<tp: S(0)>>) -> tensor<f32, #dist<tp: P>>
    return %loss : tensor<f32, #dist<tp: P>>
  }
}

// -----

// expected-error @+1 {{the loss does not depend on parameter "unused"}}
func.func @loss(%w: tensor<8xf32> {nn.param = "w"}, %u: tensor<8xf32> {nn.param = "unused"}) -> tensor<f32> {
  %loss = nn.einsum "h->" %w : (tensor<8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

func.func @loss(%w: tensor<2x8xf32> {nn.param = "w"}) -> tensor<f32> {
  // expected-error @+1 {{cannot be differentiated: the loss does not depend on result #1}}
  %a, %b = nn.unstack %w along 0 : tensor<2x8xf32> -> tensor<8xf32>, tensor<8xf32>
  %loss = nn.einsum "h->" %a : (tensor<8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

!x = tensor<2x8x4x16xf32>
!v = tensor<2x8x4x16xbf16>
func.func @loss(%q: !x {nn.param = "q"},
                // expected-error @+1 {{the gradient of a value of type 'tensor<2x8x4x16xbf16>' must be 'tensor<2x8x4x16xbf16>', but is 'tensor<2x8x4x16xf32>'}}
                %v: !v {nn.param = "v"}) -> tensor<f32> {
  %o, %lse = nn.attention %q, %q, %v {scale = 0.25 : f64} : (!x, !x, !v) -> (!x, tensor<2x4x8xf32>)
  %loss = nn.einsum "bsnd->" %o : (!x) -> tensor<f32>
  return %loss : tensor<f32>
}
