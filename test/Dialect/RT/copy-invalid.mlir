// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @shape_changes(%x: tensor<4xf32>) {
  // expected-error @+1 {{failed to verify that all of {input, result} have same type}}
  %y = rt.copy %x : tensor<4xf32> -> tensor<2x2xf32>
  return
}
