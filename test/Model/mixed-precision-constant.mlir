// If nothing is trained, parameters that products and embeddings read are bf16. Rows of a table are widened, so that
// the stream stays f32; parameters that a norm reads stay f32.
// RUN: tessera-opt %s --nn-mixed-precision=trains=false | FileCheck %s
// RUN: tessera-opt %s --nn-mixed-precision | FileCheck %s --check-prefix=TRAINED

// CHECK: @loss(%{{.*}}: tensor<2x4xi32>, %[[TABLE:.*]]: tensor<6x8xbf16> {nn.param = "table"},
// CHECK-SAME: %[[NORM:.*]]: tensor<8xf32> {nn.param = "norm"}, %[[W:.*]]: tensor<8x16xbf16> {nn.param = "w"})
// CHECK: %[[ROWS:.*]] = nn.embedding {{.*}}, %[[TABLE]] : {{.*}} -> tensor<2x4x8xbf16>
// CHECK: %[[X:.*]] = nn.cast %[[ROWS]] to f32
// CHECK: %[[N:.*]] = nn.rms_norm %[[X]], %[[NORM]] {element_type = bf16
// CHECK: nn.einsum "bsh,hf->bsf" %[[N]], %[[W]] {compute = bf16, element_type = f32} : (tensor<2x4x8xbf16>, tensor<8x16xbf16>)
// CHECK: nn.einsum "bsh,vh->bsv" %[[N]], %[[TABLE]] {compute = bf16, element_type = f32} : (tensor<2x4x8xbf16>, tensor<6x8xbf16>)
// TRAINED-NOT: xbf16> {nn.param
// TRAINED-NOT: nn.cast
func.func @loss(%ids: tensor<2x4xi32>, %table: tensor<6x8xf32> {nn.param = "table"}, %norm: tensor<8xf32> {nn.param = "norm"},
                %w: tensor<8x16xf32> {nn.param = "w"}) -> tensor<f32> {
  %x = nn.embedding %ids, %table : (tensor<2x4xi32>, tensor<6x8xf32>) -> tensor<2x4x8xf32>
  %n = nn.rms_norm %x, %norm {epsilon = 1.0e-5 : f64} : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %y = nn.einsum "bsh,hf->bsf" %n, %w : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
  %z = nn.einsum "bsh,vh->bsv" %n, %table : (tensor<2x4x8xf32>, tensor<6x8xf32>) -> tensor<2x4x6xf32>
  %s = nn.einsum "bsf->" %y : (tensor<2x4x16xf32>) -> tensor<f32>
  %t = nn.einsum "bsv->" %z : (tensor<2x4x6xf32>) -> tensor<f32>
  %loss = nn.add ",->" %s, %t : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}
