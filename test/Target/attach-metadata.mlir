// RUN: tessera-opt --rt-attach-metadata %s | sed 's/\\22/"/g' | FileCheck %s

// CHECK: rt.metadata = "{"arena":{"by_kind":{"weights":128},"bytes":320},"format":1,
// CHECK-SAME: "mesh":[{"axis":"dp","size":2},{"axis":"tp","size":2}],"model":{"family":"gpt2"}
// An op per call, in program order, with where it comes from.
// CHECK-SAME: "ops":[{"flops":1024,"layer":3,"name":"h.3.mlp","op":"gemm","phase":"forward","result_bytes":128,"shape":[4,8,16]},
// CHECK-SAME: {"flops":1024,"name":"","op":"gemm","phase":"backward","result_bytes":512,"shape":[16,8,4],"transposed":"a"},
// CHECK-SAME: {"flops":1024,"name":"","op":"gemm","phase":"backward","result_bytes":256,"shape":[4,16,8],"transposed":"b"},
// CHECK-SAME: {"axes":["tp"],"bytes":128,"elements":32,"layer":3,"name":"h.3.mlp","op":"all_reduce","phase":"backward","reason":"because"},
// Half of 4 experts, each with the rows of 4 of 8 tokens: its shape, and the flops of both.
// CHECK-SAME: {"experts":2,"flops":256,"name":"","op":"routed","phase":"forward","shape":[4,2,8]},
// CHECK-SAME: {"experts":2,"flops":256,"name":"","op":"routed","phase":"forward","shape":[2,8,4]},
// CHECK-SAME: {"bytes":16,"name":"","op":"zero","phase":"forward","times":3}
// Both results, what they are added to, and the operand that is summed.
// CHECK-SAME: "op":"gemm","phase":"backward","result_bytes":1184,"shape":[16,8,4],"transposed":"a"}
// CHECK-SAME: "precision":"f32"
// Sums, with what a ring sends: 2 * 1/2 * 128 bytes.
// CHECK-SAME: "communication_per_rank":{"tp":{"bytes":128,"calls":1,"elements":32,"ring_bytes_sent":128}},"flops":18432,"flops_per_rank":{"backward":3072,"forward":1536,"optimizer":0,"recompute":0},"gemms":4,"kernels":0,"launches":0,"note":"x","parameters":256,"parameters_per_rank":128,"tokens_per_step":16
// Tensors: global shape, the shape on a rank, the axes that cut it.
// CHECK-SAME: {"dtype":"f32","file_shape":[256],"init":{"kind":"zeros"},"local_shape":[16,8],"name":"w","offset":0,"partial":[],"role":"parameter","shape":[16,16],"sharding":[{"axis":"tp","dim":1}]}
// CHECK-SAME: {"dtype":"i32","local_shape":[1,4,2],"name":"ids","offset":512,"partial":[],"role":"input","shape":[1,8,2],"sharding":[{"axis":"dp","dim":1}]}
// CHECK-SAME: {"dtype":"f32","file_shape":[256],"local_shape":[16,8],"name":"w","offset":1024,"partial":[],"role":"moment1","shape":[16,16],"sharding":[{"axis":"tp","dim":1}]}
// CHECK-SAME: {"dtype":"f32","local_shape":[],"name":"loss","offset":320,"partial":[],"role":"output","shape":[],"sharding":[]}
// CHECK-SAME: {"dtype":"f32","local_shape":[4,8],"name":"y","offset":128,"partial":["tp"],"role":"value","shape":[4,8],"sharding":[]}
module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>, nn.model = {family = "gpt2"}, rt.arena = 320 : i64,
                   rt.arena_by_kind = {weights = 128 : i64}, rt.options = {precision = "f32"}, rt.report = {note = "x"}} {
  func.func @step(
      %w: tensor<16x8xf32> {nn.param = "w", nn.init = {kind = "zeros"}, nn.file_shape = [256], rt.offset = 0 : i64,
                            rt.global = tensor<16x16xf32, #dist<tp: S(1)>>},
      %ids: tensor<1x4x2xi32> {nn.data = "ids", rt.offset = 512 : i64, rt.global = tensor<1x8x2xi32, #dist<dp: S(1)>>},
      %m: tensor<16x8xf32> {nn.role = "moment1", nn.of = "w", rt.offset = 1024 : i64, rt.global = tensor<16x16xf32, #dist<tp: S(1)>>})
      -> (tensor<f32> {nn.role = "loss"}) {
    %x = rt.view %w {offset = 0 : i64, rt.offsets = array<i64: 0>} : tensor<16x8xf32> -> tensor<4x16xf32>
    %y = rt.gemm %x, %w {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false, trans_b = false,
                         rt.offsets = array<i64: 128>, rt.keep = [{name = "y", global = tensor<4x8xf32, #dist<tp: P>>}]}
        : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32> loc("h.3.mlp")
    %dw = rt.gemm %x, %y {m = 16 : i64, n = 8 : i64, k = 4 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = true, trans_b = false,
                          nn.phase = #nn.phase<backward>, rt.offsets = array<i64: 320>}
        : tensor<4x16xf32>, tensor<4x8xf32> -> tensor<16x8xf32>
    %dx = rt.gemm %y, %w {m = 4 : i64, n = 16 : i64, k = 8 : i64, lda = 8 : i64, ldb = 8 : i64, ldc = 16 : i64, trans_a = false, trans_b = true,
                          nn.phase = #nn.phase<backward>, rt.offsets = array<i64: 320>}
        : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
    %r = rt.all_reduce %y over ["tp"] {maximum = false, reason = "because", nn.phase = #nn.phase<backward>, rt.offsets = array<i64: 128>} : tensor<4x8xf32> -> tensor<4x8xf32> loc("h.3.mlp")
    %rows = rt.zero {rt.offsets = array<i64: 320>} : tensor<2x8x8xf32>
    %experts = rt.zero {rt.offsets = array<i64: 320>} : tensor<2x2x8xf32>
    %gates = rt.zero {rt.offsets = array<i64: 320>} : tensor<8x2xf32>
    %made = rt.routed product %rows, %experts, %gates {k = 2 : i64, total = 4 : i64, rt.offsets = array<i64: 320>}
        : (tensor<2x8x8xf32>, tensor<2x2x8xf32>, tensor<8x2xf32>) -> tensor<2x8x2xf32>
    %g = rt.routed product_grad_weight %made, %rows, %gates {k = 2 : i64, total = 4 : i64, rt.offsets = array<i64: 320>}
        : (tensor<2x8x2xf32>, tensor<2x8x8xf32>, tensor<8x2xf32>) -> tensor<2x2x8xf32>
    rt.loop 3 init() : () -> () {
    ^bb0(%i: i64):
      %z = rt.zero {rt.offsets = array<i64: 256>} : tensor<4xf32>
      rt.yield
    }
    %sum, %sums = rt.gemm %x, %y into(%dw : tensor<16x8xf32>) summing b
        {m = 16 : i64, n = 8 : i64, k = 4 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = true, trans_b = false,
         nn.phase = #nn.phase<backward>, rt.offsets = array<i64: 320, 256>}
        : tensor<4x16xf32>, tensor<4x8xf32> -> tensor<16x8xf32> sums tensor<8xf32>
    %l = rt.zero {rt.offsets = array<i64: 320>} : tensor<f32>
    return %l : tensor<f32>
  }
}
