// A frozen parameter has no gradient, no moments and no update, and backward ends below the lowest one that is trained.
// RUN: tessera-opt %s --nn-freeze-parameters=patterns=*.w,l[0-1].b | FileCheck %s --check-prefix=MARK
// RUN: tessera-opt %s --nn-freeze-parameters=patterns=*.w,l[0-1].b --dist-distribute=mesh=dp=2 --nn-differentiate \
// RUN:   | FileCheck %s --check-prefix=GRAD --implicit-check-not="gelu_grad" --implicit-check-not="nn.map_grad"
// RUN: tessera-opt %s --nn-freeze-parameters=patterns=*.w,l[0-1].b --dist-distribute=mesh=dp=2 --nn-differentiate \
// RUN:   --nn-micro-batch --nn-add-optimizer | FileCheck %s --check-prefix=STEP
// RUN: tessera-opt %s --nn-freeze-parameters=patterns=*.w --dist-distribute="mesh=dp=2 zero=true" \
// RUN:   | FileCheck %s --check-prefix=ZERO
// RUN: tessera-opt %s --nn-freeze-parameters=patterns=*.w --dist-distribute="mesh=dp=2 zero=true splits-frozen=true" \
// RUN:   | FileCheck %s --check-prefix=SPLIT
// RUN: tessera-opt %s --nn-freeze-parameters=patterns=l0.* --nn-mixed-precision | FileCheck %s --check-prefix=HALF

// MARK: @loss(%{{.*}}: tensor<8x8xf32> {nn.dims = "hf", nn.frozen, nn.param = "l0.w"}
// MARK-SAME: tensor<8xf32> {nn.dims = "f", nn.frozen, nn.param = "l0.b"}
// MARK-SAME: tensor<8x8xf32> {nn.dims = "hf", nn.frozen, nn.param = "l2.w"}
// MARK-SAME: tensor<8xf32> {nn.dims = "f", nn.param = "l2.b"}

// One of two biases is trained: its gradient is a sum, and no product is in backward.
// GRAD: func.func @gradients
// GRAD-SAME: -> (tensor<f32> {nn.role = "loss"}, tensor<8xf32> {nn.param = "l2.b", nn.role = "gradient"})
// GRAD: nn.constant
// GRAD-NOT: nn.einsum "{{[a-z]+,[a-z]+}}->
// GRAD: %[[SUM:.*]] = nn.einsum "bf->f" {{.*}} -> tensor<8xf32, #dist<dp: P>>
// GRAD-NEXT: %[[GRAD:.*]] = dist.convert all_reduce %[[SUM]]
// GRAD-NEXT: return %{{.*}}, %[[GRAD]]

// STEP: func.func @step
// STEP-NOT: nn.of = "l0
// STEP-NOT: nn.of = "l2.w"
// STEP: nn.of = "l2.b", nn.role = "moment1"
// STEP: nn.adamw
// STEP-NOT: nn.adamw

// Without a state to split, a frozen parameter is whole, unless its values are to be split, too.
// ZERO: tensor<8x8xf32> {nn.dims = "hf", nn.frozen, nn.param = "l0.w"}
// ZERO-SAME: tensor<8xf32, #dist<dp: S(0)>> {nn.dims = "f", nn.param = "l0.b"}
// SPLIT: tensor<8x8xf32, #dist<dp: S(0)>> {nn.dims = "hf", nn.frozen, nn.param = "l0.w"}

// A parameter that only products read is rounded once for all steps, unlike one that a sum reads.
// HALF: tensor<8x8xbf16> {nn.dims = "hf", nn.frozen, nn.param = "l0.w"}
// HALF-SAME: tensor<8xf32> {nn.dims = "f", nn.frozen, nn.param = "l0.b"}
// HALF-SAME: tensor<8x8xf32> {nn.dims = "hf", nn.param = "l2.w"}
func.func @loss(%w0: tensor<8x8xf32> {nn.param = "l0.w", nn.dims = "hf"}, %b0: tensor<8xf32> {nn.param = "l0.b", nn.dims = "f"},
                %w2: tensor<8x8xf32> {nn.param = "l2.w", nn.dims = "hf"}, %b2: tensor<8xf32> {nn.param = "l2.b", nn.dims = "f"},
                %x: tensor<4x8xf32> {nn.data = "x", nn.dims = "bh"}) -> tensor<f32> {
  %p = nn.einsum "bh,hf->bf" %x, %w0 : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %q = nn.add "bf,f->bf" %p, %b0 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %a = nn.map gelu %q : tensor<4x8xf32> -> tensor<4x8xf32>
  %y = nn.einsum "bh,hf->bf" %a, %w2 : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %z = nn.add "bf,f->bf" %y, %b2 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %loss = nn.einsum "bf->" %z : (tensor<4x8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
