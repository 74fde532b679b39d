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

!x = tensor<2x8x16xf32>
!w = tensor<16xbf16>
func.func @loss(%x: !x {nn.param = "x"},
                // expected-error @+1 {{the gradient of a value of type 'tensor<16xbf16>' must be 'tensor<16xbf16>', but is 'tensor<16xf32>'}}
                %w: !w {nn.param = "w"}) -> tensor<f32> {
  %y = nn.rms_norm %x, %w {epsilon = 1.0e-5 : f64} : (!x, !w) -> !x
  %loss = nn.einsum "bsh->" %y : (!x) -> tensor<f32>
  return %loss : tensor<f32>
}
