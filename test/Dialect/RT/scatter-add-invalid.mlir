// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @result_is_not_the_table(%g: tensor<8x16xf32>, %ids: tensor<8xi32>, %table: tensor<64x16xf32>, %i: i64) {
  // expected-error @+1 {{failed to verify that all of {table, result} have same type}}
  %y = rt.scatter_add %g, %ids into %table at %i, %i
      : tensor<8x16xf32>, tensor<8xi32>, tensor<64x16xf32> -> tensor<32x16xf32>
  return
}
