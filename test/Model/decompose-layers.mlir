// Attention, norms and rotations become ops that other layers have, and are differentiated as these.
// RUN: tessera-opt %s -split-input-file -nn-decompose-layers | FileCheck %s
// RUN: tessera-opt %s -split-input-file -nn-decompose-layers -nn-differentiate -o /dev/null

// CHECK: module attributes {nn.formula = {replaced = 2 : i64, whole = []}}
// CHECK-LABEL: func.func @loss
// CHECK-SAME: tensor<2x1xf64> {{{.*}}nn.init = {frequencies = [9.9999999999999995E-8], kind = "sines", scale = 1.000000e+07 : f64}, nn.table = "formula.count.2"}
func.func @loss(%q: tensor<2x4x2x8xf64> {nn.dims = "bsnd", nn.param = "q"}, %v: tensor<2x4x2x8xf64> {nn.dims = "bsnd", nn.param = "v"},
    %w: tensor<8xf64> {nn.dims = "d", nn.param = "w"}) -> tensor<f64> {
  // The head's and the sequence's own keys, up to the query's position.
  // CHECK-NOT: nn.attention
  // CHECK: nn.einsum "bsnd,ctmd->bsnctm"
  // CHECK: nn.map sign
  // CHECK: nn.max {{.*}} -> tensor<2x4x2xf64>
  // CHECK: nn.map exp
  // CHECK: nn.map reciprocal
  // CHECK: nn.einsum "bsnctm,ctme->bsne" {{.*}} {nn.formula = {of = "attention", results = 2 : i64}, nn.tag = #nn.tag<attention>}
  %o, %lse = nn.attention %q, %q, %v <causal, scale = 0.25> {nn.tag = #nn.tag<attention>}
      : (tensor<2x4x2x8xf64>, tensor<2x4x2x8xf64>, tensor<2x4x2x8xf64>) -> (tensor<2x4x2x8xf64>, tensor<2x2x4xf64>)
  // CHECK-NOT: nn.rms_norm
  // CHECK: nn.map sqrt
  // CHECK: nn.einsum "abcd,d->abcd" {{.*}} {nn.formula = {of = "rms_norm", results = 1 : i64}}
  %y = nn.rms_norm %o, %w {epsilon = 1.0e-5 : f64} : (tensor<2x4x2x8xf64>, tensor<8xf64>) -> tensor<2x4x2x8xf64>
  %z = nn.einsum "bsnd->" %y : (tensor<2x4x2x8xf64>) -> tensor<f64>
  return %z : tensor<f64>
}

// -----

// A layer that cannot be written is left, and named.
// CHECK: module attributes {nn.formula = {replaced = 0 : i64, whole = ["attention: the program reads its log-sum-exp"]}}
// CHECK: %{{.*}}, %{{.*}} = nn.attention
func.func @loss(%q: tensor<2x4x2x8xf64> {nn.dims = "bsnd", nn.param = "q"}) -> tensor<f64> {
  %o, %lse = nn.attention %q, %q, %q <causal, scale = 0.25>
      : (tensor<2x4x2x8xf64>, tensor<2x4x2x8xf64>, tensor<2x4x2x8xf64>) -> (tensor<2x4x2x8xf64>, tensor<2x2x4xf64>)
  %z = nn.einsum "bsnd->" %o : (tensor<2x4x2x8xf64>) -> tensor<f64>
  %l = nn.einsum "bns->" %lse : (tensor<2x2x4xf64>) -> tensor<f64>
  %s = nn.add ",->" %z, %l : (tensor<f64>, tensor<f64>) -> tensor<f64>
  return %s : tensor<f64>
}
