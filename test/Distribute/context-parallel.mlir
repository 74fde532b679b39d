// Queries are split over cp; keys and values are gathered, or whole sequences of some heads are
// exchanged, or keys and values stay split and go round.
// RUN: tessera-opt %s --dist-distribute="mesh=cp=2,tp=2" | FileCheck %s
// RUN: tessera-opt %s --dist-distribute="mesh=cp=2,tp=2 context-parallel=ulysses" \
// RUN:   | FileCheck %s --check-prefix=ULYSSES
// RUN: tessera-opt %s --dist-distribute="mesh=cp=2,tp=2 context-parallel=ring" | FileCheck %s --check-prefix=RING
// RUN: tessera-opt %s --dist-distribute="mesh=cp=2,tp=2 context-parallel=ring" --nn-differentiate \
// RUN:   | FileCheck %s --check-prefix=BACK

!x = tensor<2x8x16xf32>
!heads = tensor<2x8x4x4xf32>
// CHECK-LABEL: @loss
// CHECK-SAME: tensor<2x8x16xf32, #dist<cp: S(1)>>
// ULYSSES-LABEL: @loss
// RING-LABEL: @loss
// BACK-LABEL: @gradients
func.func @loss(%x: !x {nn.data = "x", nn.dims = "bsh"}, %w: tensor<16x4x4xf32> {nn.param = "w", nn.dims = "hnd"},
                     %o: tensor<4x4x16xf32> {nn.param = "o", nn.dims = "ndh"}) -> tensor<f32> {
  // CHECK: nn.einsum "bsh,hnd->bsnd" {{.*}} -> tensor<2x8x4x4xf32, #dist<cp: S(1), tp: S(2)>>
  %q = nn.einsum "bsh,hnd->bsnd" %x, %w : (!x, tensor<16x4x4xf32>) -> !heads
  // CHECK: dist.convert all_gather %{{.*}} on "cp" : tensor<2x8x4x4xf32, #dist<cp: S(1), tp: S(2)>>
  // CHECK-SAME: -> tensor<2x8x4x4xf32, #dist<cp: R, tp: S(2)>>
  // CHECK-NOT: all_gather
  // CHECK: nn.attention {{.*}} -> (tensor<2x8x4x4xf32, #dist<cp: S(1), tp: S(2)>>, tensor<2x4x8xf32, #dist<cp: S(2),
  // CHECK-SAME: tp: S(1)>>)
  // ULYSSES: dist.convert all_to_all %{{.*}} on "cp" : tensor<2x8x4x4xf32, #dist<cp: S(1), tp: S(2)>>
  // ULYSSES-SAME: -> tensor<2x8x4x4xf32, #dist<cp: S(2:1), tp: S(2)>>
  // ULYSSES-NEXT: nn.attention
  // ULYSSES: dist.convert all_to_all %{{.*}} on "cp" : tensor<2x8x4x4xf32, #dist<cp: S(2:1), tp: S(2)>>
  // ULYSSES-SAME: -> tensor<2x8x4x4xf32, #dist<cp: S(1), tp: S(2)>>
  // RING-NOT: dist.convert {{.*}}"cp" : tensor<2x8x4x4xf32
  // RING: nn.attention {{.*}}dist.ring = "cp"
  // RING-SAME: -> (tensor<2x8x4x4xf32, #dist<cp: S(1), tp: S(2)>>, tensor<2x4x8xf32, #dist<cp: S(2), tp: S(1)>>)
  // BACK: nn.attention_grad {{.*}}dist.ring = "cp"
  // BACK-SAME: -> (tensor<2x8x4x4xf32, #dist<cp: S(1), tp: S(2)>>, tensor<2x8x4x4xf32, #dist<cp: S(1), tp: S(2)>>,
  // BACK-SAME: tensor<2x8x4x4xf32, #dist<cp: S(1), tp: S(2)>>)
  %y, %lse = nn.attention %q, %q, %q <causal, scale = 0.25> {nn.tag = #nn.tag<attention>}
      : (!heads, !heads, !heads) -> (!heads, tensor<2x4x8xf32>)
  // ULYSSES: nn.einsum "bsnd,ndh->bsh" {{.*}} -> tensor<2x8x16xf32, #dist<cp: S(1), tp: P>>
  %z = nn.einsum "bsnd,ndh->bsh" %y, %o : (!heads, tensor<4x4x16xf32>) -> !x
  %r = nn.add "bsh,bsh->bsh" %x, %z {nn.tag = #nn.tag<stream>} : (!x, !x) -> !x
  %loss = nn.einsum "bsh->" %r : (!x) -> tensor<f32>
  return %loss : tensor<f32>
}
