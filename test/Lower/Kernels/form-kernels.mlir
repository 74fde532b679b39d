// Ops over the same rows and columns are one kernel; sums over rows are another; equal kernels are shared.
// RUN: tessera-opt %s --rt-form-kernels -split-input-file | FileCheck %s --implicit-check-not="= nn."

// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:.*]]: tensor<64x32xf32>, %[[B:.*]]: tensor<32xf32>
// CHECK-NEXT: %[[Y:.*]] = rt.launch @[[NAME:.*]](%[[X]], %[[B]]) {count = 64 : i64,
// CHECK-SAME: grain = {{[0-9]+}} : i64, nn.phase = #nn.phase<forward>, rt.role = [{nn.role = "gradient"}]}
// CHECK-SAME: : (tensor<64x32xf32>, tensor<32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: return %[[Y]]
// CHECK: func.func private @[[NAME]](
// CHECK-SAME: rt.schedule = "row"
// CHECK: linalg.generic
func.func @step(%x: tensor<64x32xf32>, %b: tensor<32xf32>) -> tensor<64x32xf32> {
  %y = nn.add "ab,b->ab" %x, %b : (tensor<64x32xf32>, tensor<32xf32>) -> tensor<64x32xf32>
  %z = nn.map gelu %y {nn.phase = #nn.phase<forward>, rt.role = [{nn.role = "gradient"}]} : tensor<64x32xf32>
      -> tensor<64x32xf32>
  return %z : tensor<64x32xf32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: rt.launch @[[NAME:.*]](%{{.*}}) {count = 32 : i64
// CHECK: func.func private @[[NAME]](
// CHECK-SAME: rt.schedule = "column"
func.func @step(%x: tensor<64x32xf32>) -> tensor<32xf32> {
  %y = nn.einsum "ab->b" %x : (tensor<64x32xf32>) -> tensor<32xf32>
  return %y : tensor<32xf32>
}

// -----

// Two layers, one kernel.
// CHECK-LABEL: func.func @step
// CHECK: rt.launch @[[NAME:.*]](%{{.*}})
// CHECK: rt.gemm
// CHECK: rt.launch @[[NAME]](%{{.*}})
// CHECK-COUNT-1: func.func private
// CHECK-NOT: func.func private
func.func @step(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = nn.map gelu %x : tensor<64x64xf32> -> tensor<64x64xf32>
  %y = rt.gemm %a, %a {m = 64 : i64, n = 64 : i64, k = 64 : i64, lda = 64 : i64, ldb = 64 : i64, ldc = 64 : i64,
      trans_a = false, trans_b = false} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %b = nn.map gelu %y : tensor<64x64xf32> -> tensor<64x64xf32>
  return %b : tensor<64x64xf32>
}

// -----

// Numbers that depend on the rank are scalars of the launch: the first row of the vocabulary, and how many rows are
// valid.
// CHECK-LABEL: func.func @step
// CHECK: %[[C:.*]] = rt.coord "tp"
// CHECK: rt.launch @{{.*}} scalars(%{{.*}})
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @step(%ids: tensor<2x4xi32>, %table: tensor<5x8xf32>) -> tensor<2x4x8xf32> {
    %y = nn.embedding %ids, %table {rt.factors = {v = {axes = ["tp"], chunks = array<i64: 5>, total = 9 : i64}}}
        : (tensor<2x4xi32>, tensor<5x8xf32>) -> tensor<2x4x8xf32>
    return %y : tensor<2x4x8xf32>
  }
}

// -----

// Ops inside of a loop are kernels inside of it.
// CHECK-LABEL: func.func @step
// CHECK: rt.loop 2
// CHECK: rt.launch
// CHECK: rt.yield
func.func @step(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = rt.loop 2 init(%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%i: i64, %a: tensor<8xf32>):
    %b = nn.map gelu %a : tensor<8xf32> -> tensor<8xf32>
    rt.yield %b : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}

// -----

// A rotation reads the other half of its head, so it never shares a kernel with what makes that: two launches, rows are
// halves of heads, angles of the row's position are read at the row's columns.
// CHECK-LABEL: func.func @step
// CHECK: %[[X:.*]] = rt.launch @[[MAP:kernel_0_[a-z]*]](
// CHECK-NEXT: rt.launch @[[ROPE:kernel_1_rope]](%[[X]], %{{.*}}, %{{.*}}) {count = 96 : i64
// CHECK: func.func private @[[ROPE]](%[[HALVES:.*]]: tensor<96x8xf32>, %[[COS:.*]]: tensor<8x8xf32>,
// CHECK-SAME: %[[SIN:.*]]: tensor<8x8xf32>)
// CHECK: arith.remui
// CHECK: arith.xori
// CHECK: tensor.extract %[[HALVES]]
// CHECK: tensor.extract %[[HALVES]]
// CHECK: tensor.extract %[[COS]]
// CHECK: tensor.extract %[[SIN]]
func.func @step(%x: tensor<2x8x3x16xf32>, %c: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> tensor<2x8x3x16xf32> {
  %m = nn.map silu %x : tensor<2x8x3x16xf32> -> tensor<2x8x3x16xf32>
  %y = nn.rope %m, %c, %z : (tensor<2x8x3x16xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<2x8x3x16xf32>
  return %y : tensor<2x8x3x16xf32>
}

// -----

// A cast that only sums over rows read is made in their kernel, though it would fit the rows'
// kernel too: that one stays open for the sum with the stream, and nobody stores the widened
// gradient.
// CHECK-LABEL: func.func @step
// CHECK-SAME:  %[[G:[^:]*]]: tensor<64x32xbf16>, %[[X:[^:]*]]: tensor<64x32xf32>, %[[STREAM:[^:]*]]: tensor<64x32xf32>
// CHECK-DAG:   rt.launch @{{.*}}(%[[G]], %[[X]]) {{.*}} : (tensor<64x32xbf16>, tensor<64x32xf32>) -> tensor<32xf32>
// CHECK-DAG:   rt.launch @{{.*}}(%[[G]], %[[STREAM]]) {{.*}} -> tensor<64x32xf32>
// CHECK-NOT:   rt.launch
func.func @step(%g: tensor<64x32xbf16>, %x: tensor<64x32xf32>, %stream: tensor<64x32xf32>)
    -> (tensor<64x32xf32>, tensor<32xf32>) {
  %wide = nn.cast %g to f32 : tensor<64x32xbf16> -> tensor<64x32xf32>
  %mean = nn.einsum "ab->a" %wide : (tensor<64x32xf32>) -> tensor<64xf32>
  %centered = nn.add "ab,a->ab" %wide, %mean {coefs = array<f64: 1.0, -1.0>} : (tensor<64x32xf32>, tensor<64xf32>)
      -> tensor<64x32xf32>
  %again = nn.cast %g to f32 : tensor<64x32xbf16> -> tensor<64x32xf32>
  %sum = nn.einsum "ab,ab->b" %again, %x : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<32xf32>
  %y = nn.add "ab,ab->ab" %centered, %stream : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  return %y, %sum : tensor<64x32xf32>, tensor<32xf32>
}

// -----

// Each micro-batch adds its term to the sum when it is there.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[A:.*]]: tensor<64xf32>, %[[B:.*]]: tensor<64xf32>, %[[C:.*]]: tensor<64xf32>
// CHECK-NEXT: %[[S:.*]] = rt.launch @[[NAME:.*]](%[[A]], %[[B]])
// CHECK-NEXT: rt.launch @[[NAME]](%[[S]], %[[C]])
func.func @step(%a: tensor<64xf32>, %b: tensor<64xf32>, %c: tensor<64xf32>) -> tensor<64xf32> {
  %s = nn.add "a,a->a" %a, %b {rt.micro_batch = 1 : i64} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %t = nn.add "a,a->a" %s, %c {rt.micro_batch = 2 : i64} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %t : tensor<64xf32>
}

// -----

// Each kernel widens what it reads, so that no wide value is stored, also where a call stands between the kernels. One
// that a call reads is stored, once.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:.*]]: tensor<64x64xbf16>
// CHECK: %[[MAX:.*]] = rt.launch @{{.*}}cast_max(%[[X]]) {{.*}} : (tensor<64x64xbf16>) -> tensor<64xf32>
// CHECK: %[[ALL:.*]] = rt.all_reduce %[[MAX]]
// CHECK: rt.launch @{{.*}}cast_add(%[[X]], %[[ALL]]) {{.*}} : (tensor<64x64xbf16>, tensor<64xf32>) -> tensor<64x64xf32>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @step(%x: tensor<64x64xbf16>) -> tensor<64x64xf32> {
    %wide = nn.cast %x to f32 : tensor<64x64xbf16> -> tensor<64x64xf32>
    %max = nn.max %wide : tensor<64x64xf32> -> tensor<64xf32>
    %all = rt.all_reduce %max over ["tp"] {maximum = true} : tensor<64xf32> -> tensor<64xf32>
    %y = nn.add "ab,a->ab" %wide, %all : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
    return %y : tensor<64x64xf32>
  }
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: %[[WIDE:.*]]:2 = rt.launch @{{.*}}cast_max({{.*}}) {{.*}} -> (tensor<64x64xf32>, tensor<64xf32>)
// CHECK: rt.gemm %[[WIDE]]#0
// CHECK: rt.launch {{.*}}(%[[WIDE]]#0, {{.*}} : (tensor<64x64xf32>,
func.func @step(%x: tensor<64x64xbf16>) -> (tensor<64xf32>, tensor<64x64xf32>) {
  %wide = nn.cast %x to f32 : tensor<64x64xbf16> -> tensor<64x64xf32>
  %max = nn.max %wide : tensor<64x64xf32> -> tensor<64xf32>
  %y = rt.gemm %wide, %wide {m = 64 : i64, n = 64 : i64, k = 64 : i64, lda = 64 : i64, ldb = 64 : i64, ldc = 64 : i64,
      trans_a = false, trans_b = false} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %z = nn.add "ab,ab->ab" %wide, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %max, %z : tensor<64xf32>, tensor<64x64xf32>
}

// -----

// A value per row of one element is no row of another maximum.
// CHECK-LABEL: func.func @step
// CHECK: rt.launch @{{.*}} : (tensor<2x1x1xf64>) -> tensor<2x1xf64>
// CHECK: rt.launch @{{.*}} : (tensor<2x1xf64>) -> tensor<2xf64>
func.func @step(%x: tensor<2x1x1xf64>) -> tensor<2xf64> {
  %y = nn.max %x : tensor<2x1x1xf64> -> tensor<2x1xf64>
  %z = nn.max %y : tensor<2x1xf64> -> tensor<2xf64>
  return %z : tensor<2xf64>
}
