// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @unknown_size() {
  // expected-error @+1 {{custom op 'rt.zero' invalid kind of type specified: expected builtin.tensor, but found 'tensor<*xf32>'}}
  %z = rt.zero : tensor<*xf32>
  return
}
