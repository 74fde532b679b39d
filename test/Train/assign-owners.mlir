// Sums of gradients are kept at one rank of dp each: the largest first, to the rank that owns the
// fewest bytes. Moments lie there, and parameters come back.
// RUN: tessera-opt %s --dist-distribute=mesh=dp=2,tp=2 --nn-differentiate --nn-micro-batch \
// RUN:   --dist-assign-owners -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: tessera-opt %t.mlir --nn-add-optimizer | FileCheck %s --check-prefix=UPDATE
// RUN: not tessera-opt %s --dist-distribute=mesh=tp=2 --nn-differentiate --nn-micro-batch --dist-assign-owners 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ALONE
// RUN: not tessera-opt %s --dist-distribute="mesh=dp=2 zero=true" --nn-differentiate --nn-micro-batch \
// RUN:   --dist-assign-owners 2>&1 | FileCheck %s --check-prefix=SLICES

// ALONE: error: has no mesh axis 'dp' of several ranks to own parameters
// SLICES: error: returns S(0) on 'dp'; owners have whole parameters: leave ZeRO out

// CHECK: %[[DOWN:.*]] = dist.convert all_reduce {{.*}} on "dp" {{.*}} : tensor<16x5xf32, #dist<dp: P, tp: S(0)>>
// CHECK: dist.convert replicated_to_stage %[[DOWN]] on "dp" {{.*}} -> tensor<16x5xf32, #dist<dp: A(1), tp: S(0)>>
// CHECK: %[[UP:.*]] = dist.convert all_reduce {{.*}} on "dp" {{.*}} : tensor<7x16xf32, #dist<dp: P, tp: S(1)>>
// CHECK: dist.convert replicated_to_stage %[[UP]] on "dp" {{.*}} -> tensor<7x16xf32, #dist<dp: A(0), tp: S(1)>>
// CHECK: dist.convert replicated_to_stage %{{.*}} on "dp" {{.*}} -> tensor<7xf32, #dist<dp: A(1)>>

// An owner's squares are partial sums of the norm; parameters are I before and after the step, moments are not.
// UPDATE: @step(
// UPDATE-SAME: tensor<7xf32> {nn.dims = "h", nn.param = "scale"}
// UPDATE-SAME: tensor<7xf32, #dist<dp: A(1)>> {nn.of = "scale", nn.role = "moment1"}
// UPDATE-SAME: tensor<7x16xf32, #dist<dp: A(0), tp: S(1)>> {nn.of = "up", nn.role = "moment1"}
// UPDATE: dist.convert stage_to_partial %{{.*}} on "dp" {{.*}} : tensor<f32, #dist<dp: A(1)>>
// UPDATE-SAME: -> tensor<f32, #dist<dp: P>>
// UPDATE: nn.adamw
// UPDATE: dist.convert broadcast %{{.*}} on "dp" {{.*}} : tensor<7xf32, #dist<dp: A(1)>> -> tensor<7xf32>
func.func @loss(%x: tensor<4x7xf32> {nn.data = "x", nn.dims = "bh"},
    %scale: tensor<7xf32> {nn.param = "scale", nn.dims = "h"},
                %up: tensor<7x16xf32> {nn.param = "up", nn.dims = "hf"},
                %down: tensor<16x5xf32> {nn.param = "down", nn.dims = "fh"}) -> tensor<f32> {
  %y = nn.einsum "bh,h->bh" %x, %scale : (tensor<4x7xf32>, tensor<7xf32>) -> tensor<4x7xf32>
  %h = nn.einsum "bh,hf->bf" %y, %up : (tensor<4x7xf32>, tensor<7x16xf32>) -> tensor<4x16xf32>
  %a = nn.map gelu %h : tensor<4x16xf32> -> tensor<4x16xf32>
  %z = nn.einsum "bf,fh->bh" %a, %down : (tensor<4x16xf32>, tensor<16x5xf32>) -> tensor<4x5xf32>
  %loss = nn.einsum "bh->" %z : (tensor<4x5xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
