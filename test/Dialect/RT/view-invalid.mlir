// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @ends_behind_its_source(%x: tensor<16xf32>) {
  // expected-error @+1 {{has a part of 8 elements at offset 9, which is not inside of the 16 elements of 'tensor<16xf32>'}}
  %v = rt.view %x {offset = 9 : i64} : tensor<16xf32> -> tensor<8xf32>
  return
}

// -----

func.func @starts_before_its_source(%x: tensor<16xf32>) {
  // expected-error @+1 {{has a part of 8 elements at offset -1}}
  %v = rt.view %x {offset = -1 : i64} : tensor<16xf32> -> tensor<8xf32>
  return
}

// -----

func.func @element_type_changes(%x: tensor<16xf32>) {
  // expected-error @+1 {{has a part of type 'tensor<16xi32>' in 'tensor<16xf32>'; element types must be the same}}
  %v = rt.view %x {offset = 0 : i64} : tensor<16xf32> -> tensor<16xi32>
  return
}
