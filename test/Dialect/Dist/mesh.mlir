// Axes keep their order: the last varies fastest over ranks.
// RUN: tessera-opt %s -split-input-file | tessera-opt -split-input-file | FileCheck %s

// CHECK: dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 4>
module @axes_in_order attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 4>} {
}

// -----

// CHECK: dist.mesh = #dist.mesh<>
module @one_rank attributes {dist.mesh = #dist.mesh<>} {
}
