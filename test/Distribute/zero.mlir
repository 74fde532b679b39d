// Parameters rest split over dp, in a dimension that needs no padding and inside of tp, and are
// gathered before any use.
// RUN: tessera-opt %s --dist-distribute="mesh=dp=2,tp=2 zero=true" | FileCheck %s
// RUN: tessera-opt %s --dist-distribute="mesh=dp=2,tp=2 zero=true" --nn-differentiate --nn-micro-batch=zero=1 \
// RUN:   | FileCheck %s --check-prefix=ONE
// RUN: tessera-opt %s --dist-distribute="mesh=dp=2,tp=2 zero=true" --nn-differentiate --nn-micro-batch=zero=2 \
// RUN:   | FileCheck %s --check-prefix=TWO
// RUN: tessera-opt %s --dist-distribute="mesh=dp=2,tp=2 zero=true" --nn-differentiate --dist-regather \
// RUN:   --nn-micro-batch=zero=3 | FileCheck %s --check-prefix=THREE

// CHECK-LABEL: @loss
// CHECK-SAME: tensor<7xf32, #dist<dp: S(0)>> {nn.dims = "h", nn.param = "scale"}
// CHECK-SAME: tensor<7x16xf32, #dist<dp: S(1:1), tp: S(1)>> {nn.dims = "hf", nn.param = "up"}
// CHECK-SAME: tensor<16x5xf32, #dist<dp: S(0:1), tp: S(0)>> {nn.dims = "fh", nn.param = "down"}

// Stage 1: gathered before the micro-batches, scattered after them.
// ONE: dist.convert all_gather
// ONE: nn.micro_batches
// ONE-NOT: reduce_scatter
// ONE: nn.yield
// ONE: dist.convert reduce_scatter

// Stage 2: scattered in each micro-batch.
// TWO: dist.convert all_gather
// TWO: nn.micro_batches
// TWO: dist.convert reduce_scatter
// TWO: nn.yield
// TWO-NOT: reduce_scatter

// Stage 3: gathered in each micro-batch; again in backward, but not where nothing else was gathered
// since the last use.
// THREE: nn.micro_batches
// THREE: dist.convert all_gather %[[SCALE:.*]] on "dp" : tensor<7xf32
// THREE: dist.convert all_gather %[[UP:.*]] on "dp" : tensor<7x16xf32
// THREE: dist.convert all_gather %[[DOWN:.*]] on "dp" : tensor<16x5xf32
// THREE: nn.phase = #nn.phase<backward>
// THREE-NOT: all_gather %[[DOWN]]
// THREE: dist.convert all_gather %[[UP]] on "dp" {nn.phase = #nn.phase<backward>}
// THREE-NOT: all_gather
// THREE: nn.yield
!x = tensor<4x7xf32>
func.func @loss(%x: !x {nn.data = "x", nn.dims = "bh"}, %scale: tensor<7xf32> {nn.param = "scale", nn.dims = "h"},
                %up: tensor<7x16xf32> {nn.param = "up", nn.dims = "hf"},
                %down: tensor<16x5xf32> {nn.param = "down", nn.dims = "fh"}) -> tensor<f32> {
  // CHECK: dist.convert all_gather %{{.*}} on "dp" : tensor<7x16xf32, #dist<dp: S(1:1), tp: S(1)>>
  // CHECK-SAME: -> tensor<7x16xf32, #dist<dp: R, tp: S(1)>>
  %y = nn.einsum "bh,h->bh" %x, %scale : (!x, tensor<7xf32>) -> !x
  %h = nn.einsum "bh,hf->bf" %y, %up : (!x, tensor<7x16xf32>) -> tensor<4x16xf32>
  %a = nn.map gelu %h : tensor<4x16xf32> -> tensor<4x16xf32>
  %z = nn.einsum "bf,fh->bh" %a, %down : (tensor<4x16xf32>, tensor<16x5xf32>) -> tensor<4x5xf32>
  %loss = nn.einsum "bh->" %z : (tensor<4x5xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
