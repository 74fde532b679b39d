// Backward computes cheap values again (selective), or a layer from what enters it (full), right before the first use.
// RUN: tessera-opt %s --nn-differentiate --nn-recompute=mode=selective | FileCheck %s --check-prefix=CHEAP
// RUN: tessera-opt %s --nn-differentiate "--nn-recompute=mode=full layers=1" | FileCheck %s --check-prefix=ONE
// RUN: tessera-opt %s --nn-differentiate --nn-recompute=mode=full | FileCheck %s --check-prefix=ALL
// RUN: tessera-opt %s --nn-differentiate "--nn-recompute=ranges=1=full" | FileCheck %s --check-prefix=RANGE
// RUN: tessera-opt %s --nn-differentiate "--nn-recompute=mode=full ranges=0=none" | FileCheck %s --check-prefix=RANGE
// RUN: tessera-opt %s --nn-differentiate "--nn-recompute=mode=full ranges=0-1=selective" -o %t.ranges
// RUN: tessera-opt %s --nn-differentiate "--nn-recompute=mode=selective" | diff - %t.ranges
// RUN: tessera-opt %s --nn-differentiate -o %t.kept
// RUN: tessera-opt %s --nn-differentiate --nn-recompute -o %t.none
// RUN: diff %t.kept %t.none

// CHEAP: func.func @gradients
// CHEAP: %[[P0:.*]] = nn.einsum "bh,hf->bf"
// CHEAP: %[[X1:.*]] = nn.einsum "bf,fh->bh"
// CHEAP: %[[P1:.*]] = nn.einsum "bh,hf->bf" %[[X1]],
// The results of products are kept; the activation and its dropout are made again, the last layer's first.
// CHEAP-NOT: recompute
// CHEAP: nn.einsum {{.*}}nn.phase = #nn.phase<backward>}
// CHEAP: %[[A1:.*]] = nn.map relu %[[P1]] {nn.phase = #nn.phase<recompute>}
// CHEAP-NEXT: %[[D1:.*]] = nn.dropout %[[A1]] {nn.phase = #nn.phase<recompute>, p = 1.000000e-01 : f64, stream = 3
// CHEAP-SAME: : i64}
// CHEAP-NEXT: nn.einsum "bh,bf->fh" %{{.*}}, %[[D1]] {{.*}}nn.phase = #nn.phase<backward>}
// CHEAP: nn.map_grad relu %{{.*}}, %[[P1]] {nn.phase = #nn.phase<backward>}
// CHEAP: %[[A0:.*]] = nn.map relu %[[P0]] {nn.phase = #nn.phase<recompute>}
// CHEAP-NEXT: %[[D0:.*]] = nn.dropout %[[A0]] {nn.phase = #nn.phase<recompute>, p = 1.000000e-01 : f64, stream = 1
// CHEAP-SAME: : i64}
// CHEAP-NEXT: nn.einsum "bh,bf->fh" %{{.*}}, %[[D0]] {{.*}}nn.phase = #nn.phase<backward>}
// CHEAP-NOT: recompute

// ONE: %[[X1:.*]] = nn.einsum "bf,fh->bh"
// ONE: %[[P1:.*]] = nn.einsum "bh,hf->bf" %[[X1]],
// ONE-NOT: nn.einsum {{.*}}<recompute>
// ONE: nn.map relu %[[P1]] {nn.phase = #nn.phase<recompute>}
// ONE: %[[P0:.*]] = nn.einsum "bh,hf->bf" %{{.*}} {nn.phase = #nn.phase<recompute>}
// ONE-NEXT: nn.map relu %[[P0]] {nn.phase = #nn.phase<recompute>}
// ONE: nn.map_grad relu %{{.*}}, %[[P0]] {nn.phase = #nn.phase<backward>}

// The second layer from what enters it, nothing of the first.
// RANGE: %[[X1:.*]] = nn.einsum "bf,fh->bh"
// RANGE: %[[P1:.*]] = nn.einsum "bh,hf->bf" %[[X1]], %{{.*}} {nn.phase = #nn.phase<recompute>}
// RANGE: nn.map_grad relu %{{.*}}, %[[P1]] {nn.phase = #nn.phase<backward>}
// RANGE-NOT: recompute

// The value that a layer hands on is kept.
// ALL: %[[X1:.*]] = nn.einsum "bf,fh->bh"
// ALL: %[[P1:.*]] = nn.einsum "bh,hf->bf" %[[X1]], %{{.*}} {nn.phase = #nn.phase<recompute>}
// ALL: nn.map_grad relu %{{.*}}, %[[P1]] {nn.phase = #nn.phase<backward>}
// ALL: nn.einsum "bh,hf->bf" %{{.*}} {nn.phase = #nn.phase<recompute>}
// ALL-NOT: nn.einsum {{.*}}<recompute>
module {
  func.func @loss(%w: tensor<8x32xf32> {nn.param = "w"}, %v: tensor<32x8xf32> {nn.param = "v"},
      %x: tensor<4x8xf32> {nn.data = "x"}) -> tensor<f32> {
    %p0 = nn.einsum "bh,hf->bf" %x, %w : (tensor<4x8xf32>, tensor<8x32xf32>) -> tensor<4x32xf32> loc("h.0.mlp")
    %a0 = nn.map relu %p0 : tensor<4x32xf32> -> tensor<4x32xf32> loc("h.0.mlp")
    %d0 = nn.dropout %a0 {p = 0.1 : f64, stream = 1 : i64} : tensor<4x32xf32> -> tensor<4x32xf32> loc("h.0.mlp")
    %x1 = nn.einsum "bf,fh->bh" %d0, %v : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32> loc("h.0.mlp")
    %p1 = nn.einsum "bh,hf->bf" %x1, %w : (tensor<4x8xf32>, tensor<8x32xf32>) -> tensor<4x32xf32> loc("h.1.mlp")
    %a1 = nn.map relu %p1 : tensor<4x32xf32> -> tensor<4x32xf32> loc("h.1.mlp")
    %d1 = nn.dropout %a1 {p = 0.1 : f64, stream = 3 : i64} : tensor<4x32xf32> -> tensor<4x32xf32> loc("h.1.mlp")
    %x2 = nn.einsum "bf,fh->bh" %d1, %v : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32> loc("h.1.mlp")
    %loss = nn.einsum "bh->" %x2 : (tensor<4x8xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
