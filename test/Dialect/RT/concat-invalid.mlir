// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @offset_is_missing(%a: tensor<4xf32>) {
  // expected-error @+1 {{has 2 parts and 1 offsets; give every part one}}
  %j = rt.concat %a, %a {part_offsets = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @part_ends_behind_the_result(%a: tensor<4xf32>) {
  // expected-error @+1 {{has a part of 4 elements at offset 6, which is not inside of the 8 elements of 'tensor<8xf32>'}}
  %j = rt.concat %a, %a {part_offsets = array<i64: 0, 6>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @part_of_another_type(%a: tensor<4xf32>) {
  // expected-error @+1 {{has a part of type 'tensor<4xf32>' in 'tensor<8xf64>'; element types must be the same}}
  %j = rt.concat %a, %a {part_offsets = array<i64: 0, 4>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf64>
  return
}
