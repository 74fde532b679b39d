// The factors of a product name what is split and what is summed.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  // CHECK-LABEL: @matrix_product
  func.func @matrix_product(%x: tensor<2x8x16xf32>, %w: tensor<16x64xf32>) -> tensor<2x8x64xf32> {
    // CHECK: nn.einsum "bsh,hf->bsf" %{{.*}}, %{{.*}} : (tensor<2x8x16xf32>, tensor<16x64xf32>) -> tensor<2x8x64xf32>
    %y = nn.einsum "bsh,hf->bsf" %x, %w : (tensor<2x8x16xf32>, tensor<16x64xf32>) -> tensor<2x8x64xf32>
    return %y : tensor<2x8x64xf32>
  }

  // CHECK-LABEL: @scaled_sum_in_another_type
  func.func @scaled_sum_in_another_type(%x: tensor<2x8xbf16>) -> tensor<f32> {
    // CHECK: nn.einsum "bs->" %{{.*}} {element_type = f32, scale = 6.250000e-02 : f64}
    %y = nn.einsum "bs->" %x {scale = 0.0625 : f64, element_type = f32} : (tensor<2x8xbf16>) -> tensor<f32>
    return %y : tensor<f32>
  }

  // CHECK-LABEL: @rounded_product
  func.func @rounded_product(%x: tensor<8x16xbf16>, %w: tensor<16x64xf32>) -> tensor<8x64xf32> {
    // CHECK: nn.einsum "bh,hf->bf" %{{.*}}, %{{.*}} {compute = bf16, element_type = f32}
    %y = nn.einsum "bh,hf->bf" %x, %w {compute = bf16, element_type = f32}
        : (tensor<8x16xbf16>, tensor<16x64xf32>) -> tensor<8x64xf32>
    return %y : tensor<8x64xf32>
  }

  // CHECK-LABEL: @columns
  func.func @columns(%x: tensor<8x16xf32, #dist<tp: R>>,
      %w: tensor<16x64xf32, #dist<tp: S(1)>>) -> tensor<8x64xf32, #dist<tp: S(1)>> {
    // CHECK: -> tensor<8x64xf32, #dist<tp: S(1)>>
    %y = nn.einsum "bh,hf->bf" %x, %w
        : (tensor<8x16xf32, #dist<tp: R>>, tensor<16x64xf32, #dist<tp: S(1)>>) -> tensor<8x64xf32, #dist<tp: S(1)>>
    return %y : tensor<8x64xf32, #dist<tp: S(1)>>
  }

  // CHECK-LABEL: @rows_leave_an_addend
  func.func @rows_leave_an_addend(%x: tensor<8x16xf32, #dist<tp: S(1)>>,
      %w: tensor<16x64xf32, #dist<tp: S(0)>>) -> tensor<8x64xf32, #dist<tp: P>> {
    // CHECK: -> tensor<8x64xf32, #dist<tp: P>>
    %y = nn.einsum "bh,hf->bf" %x, %w
        : (tensor<8x16xf32, #dist<tp: S(1)>>, tensor<16x64xf32, #dist<tp: S(0)>>) -> tensor<8x64xf32, #dist<tp: P>>
    return %y : tensor<8x64xf32, #dist<tp: P>>
  }
}
