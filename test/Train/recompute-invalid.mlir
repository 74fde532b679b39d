// RUN: tessera-opt %s --nn-recompute=mode=some -split-input-file -verify-diagnostics
// RUN: sed s/@gradients/@loss/ %s | not tessera-opt --nn-recompute=mode=full 2>&1 | FileCheck %s --check-prefix=LOSS
// RUN: not tessera-opt %s --nn-recompute=mode=full 2>&1 | FileCheck %s --check-prefix=LAYERS
// RUN: sed 's/-> tensor<4x8xf32>$/& loc("h.0.mlp")/' %s > %t.mlir
// RUN: not tessera-opt %t.mlir "--nn-recompute=ranges=0-1=full" 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not tessera-opt %t.mlir "--nn-recompute=ranges=0=full,0=none" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not tessera-opt %t.mlir "--nn-recompute=ranges=0=some" 2>&1 | FileCheck %s --check-prefix=MODE
// RUN: not tessera-opt %t.mlir "--nn-recompute=ranges=x=full" 2>&1 | FileCheck %s --check-prefix=NUMBER
// OUTSIDE: error: layers 0-1 are to recompute 'full', but the model has 1 layer, numbered from 0; give numbers below 1
// TWICE: error: layer 'h.0' is in two ranges; give each layer once
// MODE: error: cannot recompute 'some'; use none, gathers, selective or full
// NUMBER: error: 'x' names no layers; write 0-3 or 5
// LOSS: error: {{.*}}@gradients
// LAYERS: error: has no layers to recompute: no location names one; use mode=selective
module {
  // expected-error@+1 {{cannot recompute 'some'; use none, gathers, selective or full}}
  func.func @gradients(%x: tensor<4x8xf32> {nn.data = "x"}) -> tensor<4x8xf32> {
    %y = nn.map relu %x : tensor<4x8xf32> -> tensor<4x8xf32>
    return %y : tensor<4x8xf32>
  }
}
