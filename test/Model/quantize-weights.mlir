// A matrix of products becomes integers, with a scale for each factor that no product sums over; results are scaled.
// A table that is a head, too, is looked up as integers. Other parameters stay.
// RUN: tessera-opt %s --nn-quantize-weights --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @loss
// CHECK-SAME: (%[[TABLE:[^:]*]]: tensor<64x16xi8> {nn.dims = "vh", nn.param = "wte"}
// CHECK-SAME: %[[UP:[^:]*]]: tensor<16x2x8xi8> {nn.dims = "hnd", nn.param = "up"}
// CHECK-SAME: %[[BIAS:[^:]*]]: tensor<2x8xf32> {nn.dims = "nd", nn.param = "bias"}
// CHECK-SAME: %[[DOWN:[^:]*]]: tensor<2x8x16xi8> {nn.dims = "ndh", nn.param = "down"}
// CHECK-SAME: tensor<64x16xf32> {nn.dims = "ph", nn.param = "wpe"}
// CHECK-SAME: %[[TABLE_SCALE:[^:]*]]: tensor<64xf32> {nn.channels = array<i64: 0>, nn.dims = "v", nn.of = "wte", nn.param = "wte_scale"}
// CHECK-SAME: %[[UP_SCALE:[^:]*]]: tensor<2x8xf32> {nn.channels = array<i64: 1, 2>, nn.dims = "nd", nn.of = "up", nn.param = "up_scale"}
// CHECK-SAME: %[[DOWN_SCALE:[^:]*]]: tensor<16xf32> {nn.channels = array<i64: 2>, nn.dims = "h", nn.of = "down", nn.param = "down_scale"}
func.func @loss(%wte: tensor<64x16xf32> {nn.param = "wte", nn.dims = "vh"},
                %up: tensor<16x2x8xf32> {nn.param = "up", nn.dims = "hnd"},
                %bias: tensor<2x8xf32> {nn.param = "bias", nn.dims = "nd"},
                %down: tensor<2x8x16xf32> {nn.param = "down", nn.dims = "ndh"},
                %wpe: tensor<64x16xf32> {nn.param = "wpe", nn.dims = "ph"},
                %ids: tensor<1x4xi32> {nn.data = "ids", nn.dims = "bs"},
                %positions: tensor<1x4xi32> {nn.data = "positions", nn.dims = "bs"}) -> tensor<1x4x64xf32> {
  // CHECK: %[[ROWS:.*]] = nn.embedding %[[IDS:.*]], %[[TABLE]] : {{.*}} -> tensor<1x4x16xi8>
  // CHECK: %[[WIDE:.*]] = nn.cast %[[ROWS]] to f32
  // CHECK: %[[SCALES:.*]] = nn.embedding %[[IDS]], %[[TABLE_SCALE]] : {{.*}} -> tensor<1x4xf32>
  // CHECK: %[[X:.*]] = nn.einsum "bsh,bs->bsh" %[[WIDE]], %[[SCALES]]
  %x = nn.embedding %ids, %wte : (tensor<1x4xi32>, tensor<64x16xf32>) -> tensor<1x4x16xf32>
  // CHECK: nn.embedding %{{.*}}, %{{.*}} : (tensor<1x4xi32>, tensor<64x16xf32>) -> tensor<1x4x16xf32>
  %p = nn.embedding %positions, %wpe : (tensor<1x4xi32>, tensor<64x16xf32>) -> tensor<1x4x16xf32>
  // CHECK: nn.add "bsh,bsh->bsh" %[[X]]
  %s = nn.add "bsh,bsh->bsh" %x, %p : (tensor<1x4x16xf32>, tensor<1x4x16xf32>) -> tensor<1x4x16xf32>
  // CHECK: %[[Y:.*]] = nn.einsum "bsh,hnd->bsnd" %{{.*}}, %[[UP]] {element_type = f32} : (tensor<1x4x16xf32>, tensor<16x2x8xi8>)
  // CHECK: %[[SCALED:.*]] = nn.einsum "bsnd,nd->bsnd" %[[Y]], %[[UP_SCALE]]
  %y = nn.einsum "bsh,hnd->bsnd" %s, %up : (tensor<1x4x16xf32>, tensor<16x2x8xf32>) -> tensor<1x4x2x8xf32>
  // CHECK: nn.add "bsnd,nd->bsnd" %[[SCALED]], %[[BIAS]]
  %a = nn.add "bsnd,nd->bsnd" %y, %bias : (tensor<1x4x2x8xf32>, tensor<2x8xf32>) -> tensor<1x4x2x8xf32>
  // CHECK: nn.einsum "bsnd,ndh->bsh" %{{.*}}, %[[DOWN]]
  // CHECK: nn.einsum "bsh,h->bsh" %{{.*}}, %[[DOWN_SCALE]]
  %z = nn.einsum "bsnd,ndh->bsh" %a, %down : (tensor<1x4x2x8xf32>, tensor<2x8x16xf32>) -> tensor<1x4x16xf32>
  // CHECK: nn.einsum "bsh,vh->bsv" %{{.*}}, %[[TABLE]]
  // CHECK: nn.einsum "bsv,v->bsv" %{{.*}}, %[[TABLE_SCALE]]
  %logits = nn.einsum "bsh,vh->bsv" %z, %wte : (tensor<1x4x16xf32>, tensor<64x16xf32>) -> tensor<1x4x64xf32>
  return %logits : tensor<1x4x64xf32>
}

// -----

// The transposed product leaves other factors, and a gain is multiplied as it is: both stay f32.

// CHECK-LABEL: func.func @loss
// CHECK-SAME: tensor<16x16xf32> {nn.dims = "hf", nn.param = "both"}
// CHECK-SAME: tensor<16xf32> {nn.dims = "f", nn.param = "gain"}
// CHECK-NOT: i8
func.func @loss(%both: tensor<16x16xf32> {nn.param = "both", nn.dims = "hf"},
                %gain: tensor<16xf32> {nn.param = "gain", nn.dims = "f"},
                %x: tensor<1x4x16xf32> {nn.data = "x", nn.dims = "bsh"}) -> tensor<1x4x16xf32> {
  %y = nn.einsum "bsh,hf->bsf" %x, %both : (tensor<1x4x16xf32>, tensor<16x16xf32>) -> tensor<1x4x16xf32>
  %z = nn.einsum "bsf,f->bsf" %y, %gain : (tensor<1x4x16xf32>, tensor<16xf32>) -> tensor<1x4x16xf32>
  %w = nn.einsum "bsf,hf->bsh" %z, %both : (tensor<1x4x16xf32>, tensor<16x16xf32>) -> tensor<1x4x16xf32>
  return %w : tensor<1x4x16xf32>
}

// -----

// Each expert has scales of its own, which its product takes. The router keeps its type: a choice has no bound.

// CHECK-LABEL: func.func @loss
// CHECK-SAME: tensor<4x16xf32> {nn.dims = "yh", nn.param = "router"}
// CHECK-SAME: %[[EXPERTS:[^:]*]]: tensor<4x8x16xi8> {nn.dims = "xfh", nn.param = "experts"}
// CHECK-SAME: %[[SCALES:[^:]*]]: tensor<4x8xf32> {nn.channels = array<i64: 0, 1>, nn.dims = "xf", nn.of = "experts", nn.param = "experts_scale"}
func.func @loss(%router: tensor<4x16xf32> {nn.param = "router", nn.dims = "yh"},
                %experts: tensor<4x8x16xf32> {nn.param = "experts", nn.dims = "xfh"},
                %x: tensor<1x4x16xf32> {nn.data = "x", nn.dims = "bsh"}) -> tensor<4x1x4x8xf32> {
  // CHECK-NOT: nn.einsum "bsy
  %l = nn.einsum "bsh,yh->bsy" %x, %router : (tensor<1x4x16xf32>, tensor<4x16xf32>) -> tensor<1x4x4xf32>
  %g = nn.top_k 2 of %l : tensor<1x4x4xf32> -> tensor<1x4x4xf32>
  %r = nn.dispatch %x by %g : (tensor<1x4x16xf32>, tensor<1x4x4xf32>) -> tensor<4x1x4x16xf32>
  // CHECK: %[[Y:.*]] = nn.expert_linear %{{.*}}, %[[EXPERTS]], %[[SCALES]] by %{{.*}} : (tensor<4x1x4x16xf32>, tensor<4x8x16xi8>, tensor<4x8xf32>, tensor<1x4x4xf32>)
  // CHECK-NEXT: return %[[Y]]
  %y = nn.expert_linear %r, %experts by %g : (tensor<4x1x4x16xf32>, tensor<4x8x16xf32>, tensor<1x4x4xf32>)
      -> tensor<4x1x4x8xf32>
  return %y : tensor<4x1x4x8xf32>
}
