// The whole way: nothing but the LLVM dialect is left, and f64 functions call libm.
// RUN: tessera-opt %s --kernel-to-llvm-pipeline=vector-bits=128 \
// RUN:   | FileCheck %s --implicit-check-not=arith. --implicit-check-not=scf. \
// RUN:     --implicit-check-not=vector. --implicit-check-not=math. --implicit-check-not=func.func

// CHECK-DAG: llvm.func @erf(f64) -> f64
// CHECK-DAG: llvm.func internal @erf_of
// CHECK: llvm.call @erf
#line = affine_map<(d0) -> (d0)>
func.func private @erf_of(%x: tensor<10xf64>) -> tensor<10xf64> attributes {rt.schedule = "row"} {
  %empty = tensor.empty() : tensor<10xf64>
  %y = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
      ins(%x : tensor<10xf64>) outs(%empty : tensor<10xf64>) {
  ^bb0(%a: f64, %o: f64):
    %e = math.erf %a : f64
    linalg.yield %e : f64
  } -> tensor<10xf64>
  return %y : tensor<10xf64>
}
