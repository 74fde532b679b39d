// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @outside_of_a_loop() {
  // expected-error @+1 {{expects parent op 'rt.loop'}}
  rt.yield
}
