// RUN: tessera-opt %s -split-input-file -verify-diagnostics

!p = tensor<8xf32>
!addend = tensor<8xf32, #dist<dp: P>>
module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @gradient_was_not_reduced(%p: !p, %m: !addend, %v: !p, %s: tensor<f32>) {
    // expected-error @+2 {{refuses I, P, I, I, I, I on axis 'dp'}}
    // expected-note @+1 {{reduce the partial operand first}}
    %y = nn.adamw %p, %m, %v, %s, %s, %s {epsilon = 1.0e-8 : f64, decay = 0.1 : f64} : (!p, !addend, !p, tensor<f32>, tensor<f32>, tensor<f32>) -> !p
    return
  }
}
