// Norm, clipping and AdamW. The norm counts every parameter once: the invariant one goes to its first rank. A step
// whose loss or norm is not finite leaves everything as it is.
// RUN: tessera-opt %s --nn-add-optimizer="beta1=0.5 beta2=0.75 epsilon=0.125 weight-decay=0.25 clip=2" | FileCheck %s
// RUN: tessera-opt %s --nn-add-optimizer=clip=0 | FileCheck %s --check-prefix=FREE --implicit-check-not=clip_factor

// CHECK: func.func @step(
// CHECK-SAME: {nn.of = "w", nn.role = "moment1"}
// CHECK-SAME: {nn.of = "w", nn.role = "moment2"}
// CHECK-SAME: {nn.of = "b", nn.role = "moment1"}
// CHECK-SAME: tensor<f32> {nn.role = "lr"}, %{{.*}}: tensor<f32> {nn.role = "bias_correction1"}, %{{.*}}: tensor<f32>
// CHECK-SAME: {nn.role = "bias_correction2"}
// CHECK-SAME: -> (tensor<f32> {nn.role = "loss"}, tensor<f32> {nn.role = "grad_norm"}, tensor<f32> {nn.role = "applied"}, tensor<8xf32, #dist<tp: S(0)>>
// CHECK-SAME: {nn.param = "w", nn.role = "parameter"}
!w = tensor<8xf32, #dist<tp: S(0)>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @gradients(%w: !w {nn.param = "w", nn.decay}, %b: tensor<4xf32> {nn.param = "b"}, %loss: tensor<f32>,
      %dw: !w, %db: tensor<4xf32>) -> (tensor<f32>, !w, tensor<4xf32>) {
    return %loss, %dw, %db : tensor<f32>, !w, tensor<4xf32>
  }
}
// CHECK: nn.einsum "a,a->" {{.*}} -> tensor<f32, #dist<tp: P>>
// CHECK: nn.einsum "a,a->" {{.*}} -> tensor<f32>
// CHECK: dist.convert replicated_to_partial %{{.*}} on "tp" {{.*}} : tensor<f32> -> tensor<f32, #dist<tp: P>>
// CHECK: nn.add ",->" {{.*}} -> tensor<f32, #dist<tp: P>>
// CHECK: dist.convert all_reduce
// CHECK: %[[NORM:.*]] = nn.map sqrt {{.*}} {nn.phase = #nn.phase<optimizer>} : tensor<f32> -> tensor<f32>
// CHECK-NOT: all_reduce
// CHECK: %[[LOSS:.*]] = nn.map is_finite %arg2 {{.*}} : tensor<f32> -> tensor<f32>
// CHECK: %[[FINITE:.*]] = nn.map is_finite %[[NORM]] {{.*}} : tensor<f32> -> tensor<f32>
// CHECK: %[[COUNTS:.*]] = nn.einsum ",->" %[[LOSS]], %[[FINITE]] {{.*}} -> tensor<f32>
// CHECK: nn.map clip_factor %[[NORM]] {bound = 2.000000e+00 : f64
// CHECK: %[[M:.*]] = nn.add "a,a->a" %[[M0:.*]], %{{.*}} {coefs = array<f64: 5.000000e-01, 5.000000e-01>
// CHECK: %[[V:.*]] = nn.add "a,a->a" %[[V0:.*]], %{{.*}} {coefs = array<f64: 7.500000e-01, 2.500000e-01>
// CHECK: %[[P:.*]] = nn.adamw %arg0, %[[M]], %[[V]], {{.*}} {decay = 2.500000e-01 : f64, epsilon = 1.250000e-01 : f64
// CHECK: %[[EACH:.*]] = dist.convert enter %[[COUNTS]] on "tp"
// CHECK: %[[P1:.*]] = nn.commit %[[EACH]], %[[P]], %arg0
// CHECK: %[[M1:.*]] = nn.commit %[[EACH]], %[[M]], %[[M0]]
// CHECK: %[[V1:.*]] = nn.commit %[[EACH]], %[[V]], %[[V0]]
// CHECK: nn.adamw {{.*}} {decay = 0.000000e+00 : f64
// CHECK: nn.commit %[[COUNTS]]
// CHECK: return %arg2, %[[NORM]], %[[COUNTS]], %[[P1]], %[[M1]], %[[V1]],

// FREE: func.func @step(
// FREE: nn.map sqrt
// FREE: nn.adamw {{.*}} {decay = 1.000000e-01 : f64, epsilon = 1.000000e-08 : f64
