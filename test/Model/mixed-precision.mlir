// Values that only matrix products read are bf16; what a norm or a sum reads stays f32, and so does every gradient of
// a parameter.
// RUN: tessera-opt %s --nn-mixed-precision | FileCheck %s
// RUN: tessera-opt %s --nn-mixed-precision --nn-differentiate | FileCheck %s --check-prefix=GRAD

// CHECK: %[[X:.*]] = nn.embedding {{.*}} -> tensor<2x4x8xf32>
// CHECK: %[[N:.*]] = nn.layer_norm %[[X]], {{.*}}element_type = bf16, {{.*}} -> tensor<2x4x8xbf16>
// CHECK: %[[U:.*]] = nn.einsum "bsh,hf->bsf" %[[N]], {{.*}} {compute = bf16, element_type = bf16}
// CHECK-SAME: : (tensor<2x4x8xbf16>, tensor<8x16xf32>) -> tensor<2x4x16xbf16>
// CHECK: %[[B:.*]] = nn.add "bsf,f->bsf" %[[U]], {{.*}} : (tensor<2x4x16xbf16>, tensor<16xf32>) -> tensor<2x4x16xbf16>
// CHECK: %[[A:.*]] = nn.map gelu_tanh %[[B]] : tensor<2x4x16xbf16>
// CHECK: %[[Y:.*]] = nn.einsum "bsf,hf->bsh" %[[A]], {{.*}} {compute = bf16, element_type = f32}
// CHECK-SAME: : (tensor<2x4x16xbf16>, tensor<8x16xf32>) -> tensor<2x4x8xf32>
// CHECK: nn.add "bsh,bsh->bsh" %[[X]], %[[Y]] : {{.*}} -> tensor<2x4x8xf32>

// The last product's gradients: of its activation in bf16, of its weight in f32.
// GRAD: nn.einsum "bsh,hf->bsf" {{.*}} {compute = bf16, element_type = bf16, {{.*}}}
// GRAD-SAME: : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xbf16>
// GRAD: nn.einsum "bsh,bsf->hf" {{.*}} {compute = bf16, element_type = f32, {{.*}}}
// GRAD-SAME: : (tensor<2x4x8xf32>, tensor<2x4x16xbf16>) -> tensor<8x16xf32>
// GRAD: nn.einsum "bsf->f" {{.*}} {element_type = f32, {{.*}}} : (tensor<2x4x16xbf16>) -> tensor<16xf32>
// GRAD: nn.layer_norm_grad_input {{.*}} : (tensor<2x4x8xbf16>, tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
// GRAD: nn.layer_norm_grad_weight {{.*}} -> tensor<8xf32>
func.func @loss(%table: tensor<6x8xf32> {nn.param = "table"}, %w: tensor<8xf32> {nn.param = "w"},
                %c: tensor<8xf32> {nn.param = "c"}, %up: tensor<8x16xf32> {nn.param = "up"},
                %bias: tensor<16xf32> {nn.param = "bias"}, %down: tensor<8x16xf32> {nn.param = "down"},
                %ids: tensor<2x4xi32> {nn.data = "ids"}) -> tensor<f32> {
  %x = nn.embedding %ids, %table : (tensor<2x4xi32>, tensor<6x8xf32>) -> tensor<2x4x8xf32>
  %n = nn.layer_norm %x, %w, %c {epsilon = 1.0e-5 : f64}
      : (tensor<2x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %u = nn.einsum "bsh,hf->bsf" %n, %up : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
  %b = nn.add "bsf,f->bsf" %u, %bias : (tensor<2x4x16xf32>, tensor<16xf32>) -> tensor<2x4x16xf32>
  %a = nn.map gelu_tanh %b : tensor<2x4x16xf32> -> tensor<2x4x16xf32>
  %y = nn.einsum "bsf,hf->bsh" %a, %down : (tensor<2x4x16xf32>, tensor<8x16xf32>) -> tensor<2x4x8xf32>
  %z = nn.add "bsh,bsh->bsh" %x, %y : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %loss = nn.einsum "bsh->" %z : (tensor<2x4x8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
