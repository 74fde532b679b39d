// RUN: not tessera-opt %s --nn-freeze-parameters=patterns=*.w,*.gamma 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not tessera-opt %s --nn-freeze-parameters=patterns=*.w,*.b 2>&1 | FileCheck %s --check-prefix=ALL

// NONE: error: --freeze: no parameter is called '*.gamma'
// NONE-SAME: 'l0.w', 'l0.b'
// ALL: error: all 2 parameters are frozen, so that there is nothing to train; leave some out of --freeze
func.func @loss(%w: tensor<8xf32> {nn.param = "l0.w"}, %b: tensor<8xf32> {nn.param = "l0.b"}) -> tensor<f32> {
  %loss = nn.einsum "h,h->" %w, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
