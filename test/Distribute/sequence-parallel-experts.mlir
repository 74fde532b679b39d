// Under sequence parallelism the partial sums of a token's experts are added before ranks of tp
// reduce them, so gates are gathered.
// RUN: tessera-opt %s --dist-distribute="mesh=ep=2,tp=2 sequence-parallel" | FileCheck %s

!x = tensor<4x8x16xf32>
!rows = tensor<4x4x8x16xf32>
!gates = tensor<4x8x4xf32>
// CHECK-LABEL: @mixture
func.func @mixture(%tokens: !x {nn.data = "x", nn.dims = "bsh"},
    %router: tensor<4x16xf32> {nn.param = "router", nn.dims = "yh"},
                   %w1: tensor<4x32x16xf32> {nn.param = "w1", nn.dims = "xfh"},
                   %w2: tensor<4x16x32xf32> {nn.param = "w2", nn.dims = "xhf"}) -> tensor<f32> {
  %x = nn.add "bsh,bsh->bsh" %tokens, %tokens {nn.tag = #nn.tag<stream>} : (!x, !x) -> !x
  %l = nn.einsum "bsh,yh->bsy" %x, %router : (!x, tensor<4x16xf32>) -> !gates
  // CHECK: %[[CUT:.*]] = nn.top_k 2 of {{.*}} -> tensor<4x8x4xf32, #dist<ep: S(0), tp: S(1)>>
  // CHECK: %[[GATES:.*]] = dist.convert all_gather %[[CUT]] on "tp"
  %g = nn.top_k 2 of %l : !gates -> !gates
  %r = nn.dispatch %x by %g {nn.tag = #nn.tag<dispatch>} : (!x, !gates) -> !rows
  %h = nn.expert_linear %r, %w1 by %g : (!rows, tensor<4x32x16xf32>, !gates) -> tensor<4x4x8x32xf32>
  %o = nn.expert_linear %h, %w2 by %g : (tensor<4x4x8x32xf32>, tensor<4x16x32xf32>, !gates) -> !rows
  // CHECK: %[[SUM:.*]] = nn.collect {{.*}} by %[[GATES]] weighted {{.*}} -> tensor<4x8x16xf32, #dist<ep: S(0), tp: P>>
  // CHECK: dist.convert reduce_scatter %[[SUM]] on "tp"
  %y = nn.collect %o by %g weighted {nn.tag = #nn.tag<collect>} : (!rows, !gates) -> !x
  %z = nn.add "bsh,bsh->bsh" %x, %y {nn.tag = #nn.tag<stream>} : (!x, !x) -> !x
  %loss = nn.einsum "bsh->" %z : (!x) -> tensor<f32>
  return %loss : tensor<f32>
}
