// The updates of SGD, Lion and Muon: what they read, keep and multiply.
// RUN: tessera-opt %s --nn-add-optimizer="optimizer=sgd momentum=0.75 weight-decay=0.25 clip=0" | FileCheck %s --check-prefix=SGD --implicit-check-not=moment2 --implicit-check-not=bias_correction
// RUN: tessera-opt %s --nn-add-optimizer="optimizer=sgd momentum=0.75 nesterov weight-decay=0 clip=0" | FileCheck %s --check-prefix=NESTEROV
// RUN: tessera-opt %s --nn-add-optimizer="optimizer=sgd momentum=0 clip=0" | FileCheck %s --check-prefix=PLAIN --implicit-check-not=moment
// RUN: tessera-opt %s --nn-add-optimizer="optimizer=lion beta1=0.5 beta2=0.75 weight-decay=0.25 clip=0" | FileCheck %s --check-prefix=LION --implicit-check-not=moment2 --implicit-check-not=bias_correction
// RUN: tessera-opt %s --nn-add-optimizer="optimizer=muon momentum=0.5 weight-decay=0.25 clip=0" | FileCheck %s --check-prefix=MUON
// RUN: not tessera-opt %s --nn-add-optimizer="optimizer=adamax" 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: error: optimizer 'adamax' is not supported; use adamw, sgd, lion or muon

!w = tensor<8x16xf32, #dist<tp: S(1)>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @gradients(%w: !w {nn.param = "w", nn.decay}, %b: tensor<4xf32> {nn.param = "b"},
      %x: tensor<2x8xf32, #dist<tp: R>>, %loss: tensor<f32>, %dw: !w, %db: tensor<4xf32>)
      -> (tensor<f32>, !w, tensor<4xf32>) {
    %y = nn.einsum "bh,hf->bf" %x, %w : (tensor<2x8xf32, #dist<tp: R>>, !w) -> tensor<2x16xf32, #dist<tp: S(1)>>
    return %loss, %dw, %db : tensor<f32>, !w, tensor<4xf32>
  }
}

// PyTorch's: decay is part of the gradient, the momentum is a sum.
// SGD: func.func @step(%[[W:.*]]: tensor<8x16xf32, #dist<tp: S(1)>> {nn.decay, nn.param = "w"}
// SGD-SAME: %[[MOM:[a-z0-9]*]]: tensor<8x16xf32, #dist<tp: S(1)>> {nn.of = "w", nn.role = "moment1"}
// SGD: nn.map is_finite
// SGD: %[[G:.*]] = nn.add "ab,ab->ab" %{{.*}}, %[[W]] {coefs = array<f64: 1.000000e+00, 2.500000e-01>
// SGD: %[[M:.*]] = nn.add "ab,ab->ab" %[[MOM]], %[[G]] {coefs = array<f64: 7.500000e-01, 1.000000e+00>
// SGD: %[[MOVE:.*]] = nn.einsum ",ab->ab" %{{.*}}, %[[M]]
// SGD: %[[NEW:.*]] = nn.add "ab,ab->ab" %[[W]], %[[MOVE]] {coefs = array<f64: 1.000000e+00, -1.000000e+00>
// SGD: nn.commit %{{.*}}, %[[NEW]], %[[W]]
// SGD: nn.commit %{{.*}}, %[[M]], %[[MOM]]

// NESTEROV: %[[M:.*]] = nn.add "ab,ab->ab" %{{.*}}, %[[G:.*]] {coefs = array<f64: 7.500000e-01, 1.000000e+00>
// NESTEROV: %[[AHEAD:.*]] = nn.add "ab,ab->ab" %[[G]], %[[M]] {coefs = array<f64: 1.000000e+00, 7.500000e-01>
// NESTEROV: nn.einsum ",ab->ab" %{{.*}}, %[[AHEAD]]

// PLAIN: nn.einsum ",ab->ab"
// PLAIN: return

// LION: func.func @step(%[[W:.*]]: tensor<8x16xf32, #dist<tp: S(1)>> {nn.decay
// LION: %[[MIX:.*]] = nn.add "ab,ab->ab" %[[MOM:.*]], %[[G:.*]] {coefs = array<f64: 5.000000e-01, 5.000000e-01>
// LION: %[[SIGN:.*]] = nn.map sign %[[MIX]]
// LION: nn.add "ab,ab->ab" %[[SIGN]], %[[W]] {coefs = array<f64: 1.000000e+00, 2.500000e-01>
// LION: %[[M:.*]] = nn.add "ab,ab->ab" %[[MOM]], %[[G]] {coefs = array<f64: 7.500000e-01, 2.500000e-01>
// LION: nn.commit %{{.*}}, %[[M]], %[[MOM]]

// The matrix of 8 rows and 16 split columns: the products of its rows are partial sums, reduced once a step; all else
// stays split. The vector is AdamW's.
// MUON: func.func @step(
// MUON-SAME: {nn.of = "w", nn.role = "moment1"}, %{{.*}}: tensor<4xf32> {nn.of = "b", nn.role = "moment1"},
// MUON-SAME: {nn.of = "b", nn.role = "moment2"}
// MUON: nn.map is_finite
// MUON: nn.add "ab,ab->ab" %{{.*}} {coefs = array<f64: 5.000000e-01, 5.000000e-01>
// MUON: nn.einsum "ab,ab->" {{.*}} -> tensor<f32, #dist<tp: P>>
// MUON: nn.map clip_factor
// MUON: nn.einsum "ab,cb->ac" {{.*}} -> tensor<8x8xf32, #dist<tp: P>>
// MUON: dist.convert all_reduce
// MUON: nn.einsum "ac,cd->ad"
// MUON: nn.add "ab,ab->ab" {{.*}} {coefs = array<f64: -4.775{{0*}}e+00, 2.031500e+00>
// MUON: nn.einsum "ac,cb->ab" {{.*}} -> tensor<8x16xf32, #dist<tp: S(1)>>
// MUON-COUNT-4: nn.einsum "ab,cb->ac"
// MUON-NOT: nn.einsum "ab,cb->ac"
// MUON: nn.adamw
