// The head writes logits in bf16, and a cast widens them for the cross-entropy; so their gradient is rounded, too. Where
// nothing is trained, logits are f32, and so are those that something else reads or makes.
// RUN: tessera-opt %s --nn-mixed-precision -split-input-file | FileCheck %s
// RUN: tessera-opt %s --nn-mixed-precision --nn-differentiate -split-input-file | FileCheck %s --check-prefix=GRAD
// RUN: tessera-opt %s --nn-mixed-precision=trains=false -split-input-file | FileCheck %s --check-prefix=FROZEN

// CHECK: %[[HEAD:.*]] = nn.einsum "bsh,vh->bsv" {{.*}} {compute = bf16, element_type = bf16} {{.*}} -> tensor<2x4x6xbf16>
// CHECK: %[[BIASED:.*]] = nn.add "bsv,v->bsv" %[[HEAD]], %{{.*}} -> tensor<2x4x6xbf16>
// CHECK: %[[LOGITS:.*]] = nn.cast %[[BIASED]] to f32
// CHECK: %[[MAX:.*]] = nn.max %[[LOGITS]] : tensor<2x4x6xf32>
// CHECK: nn.add "bsv,bs->bsv" %[[LOGITS]], %[[MAX]]
// CHECK: nn.pick %[[LOGITS]], %{{.*}} : (tensor<2x4x6xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
// GRAD: %[[PICKED:.*]] = nn.pick_grad {{.*}} -> tensor<2x4x6xf32>
// GRAD: %[[SUM:.*]] = nn.add {{.*}}%[[PICKED]]{{.*}} -> tensor<2x4x6xf32>
// GRAD: %[[GRAD:.*]] = nn.cast %[[SUM]] to bf16
// GRAD: nn.einsum "bsv,bsh->vh" %[[GRAD]]
// FROZEN-NOT: nn.cast
// FROZEN: nn.pick {{.*}} : (tensor<2x4x6xf32>
func.func @loss(%x: tensor<2x4x8xf32>, %table: tensor<6x8xf32> {nn.param = "table"},
                %bias: tensor<6xf32> {nn.param = "bias"}, %labels: tensor<2x4xi32> {nn.data = "labels"}) -> tensor<f32> {
  %y = nn.einsum "bsh,vh->bsv" %x, %table : (tensor<2x4x8xf32>, tensor<6x8xf32>) -> tensor<2x4x6xf32>
  %logits = nn.add "bsv,v->bsv" %y, %bias : (tensor<2x4x6xf32>, tensor<6xf32>) -> tensor<2x4x6xf32>
  %max = nn.max %logits : tensor<2x4x6xf32> -> tensor<2x4xf32>
  %shifted = nn.add "bsv,bs->bsv" %logits, %max {coefs = array<f64: 1.0, -1.0>}
      : (tensor<2x4x6xf32>, tensor<2x4xf32>) -> tensor<2x4x6xf32>
  %exp = nn.map exp %shifted : tensor<2x4x6xf32> -> tensor<2x4x6xf32>
  %z = nn.einsum "bsv->bs" %exp : (tensor<2x4x6xf32>) -> tensor<2x4xf32>
  %log = nn.map log %z : tensor<2x4xf32> -> tensor<2x4xf32>
  %target = nn.pick %logits, %labels : (tensor<2x4x6xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
  %tokens = nn.add "bs,bs,bs->bs" %log, %max, %target {coefs = array<f64: 1.0, 1.0, -1.0>}
      : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %loss = nn.einsum "bs->" %tokens : (tensor<2x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// The op that makes these logits cannot round them: nothing is widened.
// CHECK: func.func @loss
// CHECK-NOT: nn.cast
// CHECK: nn.pick {{.*}} : (tensor<2x4x8xf32>
func.func @loss(%x: tensor<2x4x8xf32>, %w: tensor<8xf32> {nn.param = "w"},
                %labels: tensor<2x4xi32> {nn.data = "labels"}) -> tensor<f32> {
  %logits = nn.add "bsv,v->bsv" %x, %w : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %target = nn.pick %logits, %labels : (tensor<2x4x8xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
  %loss = nn.einsum "bs->" %target : (tensor<2x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
