// An activation that a sum reads too stays f32; the product rounds it. Heads are bf16, their log-sum-exp is not.
// RUN: tessera-opt %s --nn-mixed-precision | FileCheck %s

// CHECK: %[[H:.*]] = nn.einsum "bsh,hcnd->bscnd" {{.*}} -> tensor<2x4x3x2x4xbf16>
// CHECK: nn.attention {{.*}} -> (tensor<2x4x2x4xbf16>, tensor<2x2x4xf32>)
// CHECK: %[[Y:.*]] = nn.einsum "bsnd,ndh->bsh" {{.*}} -> tensor<2x4x8xf32>
// CHECK: nn.einsum "bsh,hf->bsf" %[[Y]], {{.*}} {compute = bf16, element_type = f32}
// CHECK-SAME: : (tensor<2x4x8xf32>, tensor<8x5xf32>) -> tensor<2x4x5xf32>
// CHECK: nn.einsum "bsh->" %[[Y]] : (tensor<2x4x8xf32>) -> tensor<f32>
func.func @loss(%x: tensor<2x4x8xf32>, %qkv: tensor<8x3x2x4xf32> {nn.param = "qkv"},
                %proj: tensor<2x4x8xf32> {nn.param = "proj"}, %w: tensor<8x5xf32> {nn.param = "w"}) -> tensor<f32> {
  %h = nn.einsum "bsh,hcnd->bscnd" %x, %qkv : (tensor<2x4x8xf32>, tensor<8x3x2x4xf32>) -> tensor<2x4x3x2x4xf32>
  %q, %k, %v = nn.unstack %h along 2
      : tensor<2x4x3x2x4xf32> -> tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>
  %o, %lse = nn.attention %q, %k, %v <causal, scale = 0.5>
      : (tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>) -> (tensor<2x4x2x4xf32>, tensor<2x2x4xf32>)
  %y = nn.einsum "bsnd,ndh->bsh" %o, %proj : (tensor<2x4x2x4xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %z = nn.einsum "bsh,hf->bsf" %y, %w : (tensor<2x4x8xf32>, tensor<8x5xf32>) -> tensor<2x4x5xf32>
  %s = nn.einsum "bsf->" %z : (tensor<2x4x5xf32>) -> tensor<f32>
  %t = nn.einsum "bsh->" %y : (tensor<2x4x8xf32>) -> tensor<f32>
  %loss = nn.add ",->" %s, %t : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}
