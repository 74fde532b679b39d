// The generator refuses these kernels, and says why.
// RUN: tessera-opt %s --convert-kernel-to-llvm -split-input-file -verify-diagnostics

// expected-error @+1 {{kernel: 'rt.schedule' must be "row", "column" or "both"}}
func.func private @schedule(%x: tensor<4xf32>) -> tensor<4xf32> attributes {rt.schedule = "diagonal"} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{kernel: 'tensor<4xf16>' is not a static tensor of rank 0 to 2 of f32, f64, bf16, i32, i64 or i8}}
func.func private @element(%x: tensor<4xf16>) -> tensor<4xf16> attributes {rt.schedule = "row"} {
  return %x : tensor<4xf16>
}

// -----

// expected-error @+1 {{kernel: 'tensor<8x4xf32, 1 : i64>' has an encoding; only #rt.row_stride is known}}
func.func private @layout(%x: tensor<8x4xf32, 1 : i64>) -> tensor<8x4xf32> attributes {rt.schedule = "row"} {
  %y = tensor.empty() : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

func.func private @transposed(%x: tensor<8x4xf32>) -> tensor<4x8xf32> attributes {rt.schedule = "row"} {
  %empty = tensor.empty() : tensor<4x8xf32>
  // expected-error @+1 {{kernel: an indexing map must be a projection such as (d0, d1) -> (d1)}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x4xf32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// expected-error @+1 {{kernel: result #0 lies along columns; use the column schedule}}
func.func private @wrong_schedule(%x: tensor<8x4xf32>, %init: tensor<4xf32>)
    -> tensor<4xf32> attributes {rt.schedule = "row"} {
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<8x4xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @over_rows(%x: tensor<8xf32>, %init: tensor<f32>) -> tensor<f32> attributes {rt.schedule = "row"} {
  // expected-error @+1 {{kernel: a row kernel reduces over d1 of (d0, d1) only}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
      iterator_types = ["reduction"]}
      ins(%x : tensor<8xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func private @product(%x: tensor<8x4xf32>, %init: tensor<8xf32>)
    -> tensor<8xf32> attributes {rt.schedule = "row"} {
  // expected-error @+1 {{kernel: reduction #0 must yield addf, maximumf, minimumf or an integer equivalent of its accumulator and one value}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x4xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.mulf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func private @table(%ids: tensor<8xi32>) -> tensor<8xf32> attributes {rt.schedule = "row"} {
  %empty = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%ids : tensor<8xi32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%id: i32, %o: f32):
    %i = arith.index_cast %id : i32 to index
    // expected-error @+1 {{kernel: the table must be an argument}}
    %e = tensor.extract %empty[%i] : tensor<8xf32>
    linalg.yield %e : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// expected-error @+1 {{kernel: 'rt.schedule' is "both", which only CUDA kernels can be; use two kernels}}
func.func private @both(%x: tensor<8x4xf32>, %init: tensor<4xf32>)
    -> tensor<4xf32> attributes {rt.schedule = "both"} {
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<8x4xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @reads_columns(%x: tensor<8x4xf32>, %init: tensor<4xf32>)
    -> tensor<8x4xf32> attributes {rt.schedule = "both"} {
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<8x4xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %plane = tensor.empty() : tensor<8x4xf32>
  // expected-error @+1 {{kernel: reads a reduction along columns that a kernel of rows makes; use another kernel}}
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
      affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<8x4xf32>, tensor<4xf32>) outs(%plane : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %z : tensor<8x4xf32>
}
