// RUN: tessera-opt %s --nn-choose-decay="except=*.bias,h.[0-1].w" | FileCheck %s
// RUN: not tessera-opt %s --nn-choose-decay="except=h.*,g.*" 2>&1 | FileCheck %s --check-prefix=NOTHING

// CHECK: @loss(%{{.*}}: tensor<4xf32> {nn.param = "h.0.w"}, %{{.*}}: tensor<4xf32> {nn.decay, nn.param = "h.2.w"},
// CHECK-SAME: tensor<4xf32> {nn.param = "h.2.bias"}, %{{.*}}: tensor<4xf32> {nn.decay, nn.param = "bias"}
// NOTHING: error: --no-decay: no parameter is called 'g.*'; a pattern is of the whole name, in which * stands for any letters. The 4 parameters begin with 'h.0.w', 'h.2.w', 'h.2.bias'
func.func @loss(%a: tensor<4xf32> {nn.param = "h.0.w", nn.decay}, %b: tensor<4xf32> {nn.param = "h.2.w", nn.decay},
    %c: tensor<4xf32> {nn.param = "h.2.bias", nn.decay}, %d: tensor<4xf32> {nn.param = "bias", nn.decay}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
