// Backward gathers split activations again, beside the product for the gradient of the input; nothing else is repeated.
// RUN: tessera-opt %s --dist-distribute="mesh=tp=2 sequence-parallel=true" --nn-differentiate \
// RUN:   --nn-recompute=mode=gathers | FileCheck %s
// The gather overlaps with that product, though its operand is made in forward.
// RUN: tessera-opt %s --dist-distribute="mesh=tp=2 sequence-parallel=true" --nn-differentiate \
// RUN:   --nn-recompute=mode=gathers --nn-micro-batch --nn-add-optimizer --tessera-lower --tessera-communicate \
// RUN:   | FileCheck %s --check-prefix=OVERLAP

// CHECK-LABEL: @gradients
// CHECK: %[[NORM:.*]] = nn.rms_norm {{.*}} -> tensor<4x6x8xf32, #dist<tp: S(1)>>
// CHECK: %[[WHOLE:.*]] = dist.convert all_gather %[[NORM]] on "tp"
// CHECK: nn.einsum "bsh,hf->bsf" %[[WHOLE]],
// CHECK: %[[GELU:.*]] = nn.map gelu
// CHECK-NOT: nn.map gelu
// CHECK: %[[GRAD:.*]] = nn.map_grad gelu
// CHECK-NEXT: %[[AGAIN:.*]] = dist.convert all_gather %[[NORM]] on "tp" {nn.phase = #nn.phase<recompute>}
// CHECK: nn.einsum {{.*}} %[[GRAD]], %{{.*}} -> tensor<4x6x8xf32, #dist<tp: P>>
// CHECK: nn.einsum {{.*}}%[[AGAIN]]{{.*}} -> tensor<8x16xf32, #dist<tp: S(1)>>
// CHECK-NOT: <recompute>

// OVERLAP: %[[START:.*]] = rt.all_gather %[[NORM:.*]] along 1 over ["tp"] async {nn.phase = #nn.phase<recompute>
// OVERLAP-NEXT: rt.gemm
// OVERLAP-NEXT: rt.reduce_scatter
// OVERLAP-NEXT: %[[AGAIN:.*]] = rt.wait %[[START]] reading(%[[NORM]] :
// OVERLAP-NEXT: rt.gemm {{.*}}%[[AGAIN]]
!x = tensor<4x6x8xf32>
!h = tensor<4x6x16xf32>
func.func @loss(%x: !x {nn.data = "x", nn.dims = "bsh"}, %g: tensor<8xf32> {nn.param = "g", nn.dims = "h"},
                %up: tensor<8x16xf32> {nn.param = "up", nn.dims = "hf"},
                %down: tensor<16x8xf32> {nn.param = "down", nn.dims = "fh"}) -> tensor<f32> {
  %s = nn.einsum "bsh,h->bsh" %x, %g {nn.tag = #nn.tag<stream>} : (!x, tensor<8xf32>) -> !x
  %n = nn.rms_norm %s, %g {epsilon = 1.0e-5 : f64} : (!x, tensor<8xf32>) -> !x
  %u = nn.einsum "bsh,hf->bsf" %n, %up : (!x, tensor<8x16xf32>) -> !h
  %a = nn.map gelu %u : !h -> !h
  %d = nn.einsum "bsf,fh->bsh" %a, %down : (!h, tensor<16x8xf32>) -> !x
  %r = nn.add "bsh,bsh->bsh" %s, %d {nn.tag = #nn.tag<stream>} : (!x, !x) -> !x
  %loss = nn.einsum "bsh->" %r : (!x) -> tensor<f32>
  return %loss : tensor<f32>
}
