// RUN: tessera-opt %s --nn-recompute=mode=some -split-input-file -verify-diagnostics
// RUN: sed s/@gradients/@loss/ %s | not tessera-opt --nn-recompute=mode=full 2>&1 | FileCheck %s --check-prefix=LOSS
// RUN: not tessera-opt %s --nn-recompute=mode=full 2>&1 | FileCheck %s --check-prefix=LAYERS
// LOSS: error: {{.*}}@gradients
// LAYERS: error: has no layers to recompute: no location names one; use mode=selective
module {
  // expected-error@+1 {{cannot recompute 'some'; use none, gathers, selective or full}}
  func.func @gradients(%x: tensor<4x8xf32> {nn.data = "x"}) -> tensor<4x8xf32> {
    %y = nn.map relu %x : tensor<4x8xf32> -> tensor<4x8xf32>
    return %y : tensor<4x8xf32>
  }
}
