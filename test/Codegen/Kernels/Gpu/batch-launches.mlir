// Launches of one kernel that follow one another and touch nothing that another one writes are one launch.
// RUN: tessera-opt --split-input-file --rt-batch-launches %s | FileCheck %s
// RUN: tessera-opt --split-input-file --rt-batch-launches --convert-kernel-to-nvvm %s | FileCheck %s --check-prefix=CODE

#vector = affine_map<(d0) -> (d0)>

// The last two read one tensor, and write apart.
// CHECK-LABEL: func.func @step
// CHECK:      rt.launch @double(%arg0) {{.*}}rt.followers = 2
// CHECK-NEXT: rt.launch @double(%arg1) {{.*}}rt.followers = 1
// CHECK-NEXT: rt.launch @double(%arg1)
// CHECK-NOT:  rt.followers

// Block y of the grid takes its buffers from row y of the table.
// CODE-LABEL: llvm.func internal @double(
// CODE-SAME:  nvvm.kernel
// CODE-LABEL: llvm.func internal @double_batch(
// CODE-SAME:  %[[TABLE:.*]]: !llvm.ptr {llvm.align = 8 : i64, llvm.byval = !llvm.array<512 x ptr>}) attributes
// CODE-SAME:  nvvm.kernel
// CODE:       %[[Y:.*]] = nvvm.read.ptx.sreg.ctaid.y
// CODE:       %[[ROW:.*]] = llvm.zext %[[Y]]
// CODE:       %[[BUFFERS:.*]] = llvm.getelementptr %[[TABLE]][%[[ROW]]] {{.*}} !llvm.array<2 x ptr>
// CODE:       %[[AT0:.*]] = llvm.getelementptr %[[BUFFERS]][0]
// CODE:       %[[IN:.*]] = llvm.load %[[AT0]]
// CODE:       %[[AT1:.*]] = llvm.getelementptr %[[BUFFERS]][1]
// CODE:       %[[OUT:.*]] = llvm.load %[[AT1]]
// CODE:       llvm.getelementptr inbounds %[[IN]]
// CODE:       llvm.getelementptr inbounds %[[OUT]]
// CODE:       llvm.mlir.global internal constant @double_batch_name("double_batch\00")
// CODE:       llvm.mlir.global internal constant @double_descriptor()
// CODE:       llvm.mlir.addressof @double_batch_name
module attributes {rt.arena = 512 : i64} {
  func.func private @double(%x: tensor<8xf32>) -> tensor<8xf32> attributes {rt.schedule = "row"} {
    %e = tensor.empty() : tensor<8xf32>
    %y = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    return %y : tensor<8xf32>
  }
  func.func @step(%a: tensor<8xf32> {rt.offset = 0 : i64}, %b: tensor<8xf32> {rt.offset = 64 : i64}) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %x = rt.launch @double(%a) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 0>} : (tensor<8xf32>) -> tensor<8xf32>
    %y = rt.launch @double(%b) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 128>} : (tensor<8xf32>) -> tensor<8xf32>
    %z = rt.launch @double(%b) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 160>} : (tensor<8xf32>) -> tensor<8xf32>
    return %x, %y, %z : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// Each of these is ordered after the one before it, by a single element: it
// reads what that wrote, writes what that read, or writes where that wrote.
// CHECK-LABEL: func.func @step
// CHECK-NOT:   rt.followers
// CODE-NOT:    _batch
#vector = affine_map<(d0) -> (d0)>
module attributes {rt.arena = 1024 : i64} {
  func.func private @double(%x: tensor<8xf32>) -> tensor<8xf32> attributes {rt.schedule = "row"} {
    %e = tensor.empty() : tensor<8xf32>
    %y = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    return %y : tensor<8xf32>
  }
  func.func @step(%a: tensor<8xf32> {rt.offset = 0 : i64}, %b: tensor<8xf32> {rt.offset = 540 : i64}) -> (tensor<8xf32>, tensor<8xf32>) {
    %x = rt.launch @double(%a) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 512>} : (tensor<8xf32>) -> tensor<8xf32>
    %reads = rt.launch @double(%b) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 256>} : (tensor<8xf32>) -> tensor<8xf32>
    %overwrites = rt.launch @double(%a) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 568>} : (tensor<8xf32>) -> tensor<8xf32>
    %again = rt.launch @double(%a) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 540>} : (tensor<8xf32>) -> tensor<8xf32>
    return %overwrites, %again : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// Alone are: those with a call between them, of different kernels, with
// scalars, and with a place that depends on the micro-batch.
// CHECK-LABEL: func.func @step
// CHECK-NOT:   rt.followers
#vector = affine_map<(d0) -> (d0)>
module attributes {rt.arena = 2048 : i64} {
  func.func private @double(%x: tensor<8xf32>) -> tensor<8xf32> attributes {rt.schedule = "row"} {
    %e = tensor.empty() : tensor<8xf32>
    %y = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    return %y : tensor<8xf32>
  }
  func.func private @count(%x: tensor<8xf32>, %i: i64) -> tensor<8xf32> attributes {rt.schedule = "row"} {
    %e = tensor.empty() : tensor<8xf32>
    %y = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %n = arith.sitofp %i : i64 to f32
      %s = arith.addf %a, %n : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    return %y : tensor<8xf32>
  }
  func.func @step(%a: tensor<8xf32> {rt.offset = 0 : i64}, %b: tensor<2x8xf32> {rt.offset = 64 : i64}) -> (tensor<8xf32>) {
    %i = arith.constant 1 : i64
    %p = rt.launch @double(%a) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 128>} : (tensor<8xf32>) -> tensor<8xf32>
    %zero = rt.zero {rt.offsets = array<i64: 192>} : tensor<8xf32>
    %q = rt.launch @double(%a) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 256>} : (tensor<8xf32>) -> tensor<8xf32>
    %r = rt.launch @count(%a) scalars(%i) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 320>} : (tensor<8xf32>) -> tensor<8xf32>
    %s = rt.launch @count(%a) scalars(%i) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 384>} : (tensor<8xf32>) -> tensor<8xf32>
    %l = rt.loop 2 init(%zero) attributes {rt.offsets = array<i64: 192>} : (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%n: i64, %last: tensor<8xf32>):
      %v = rt.view %b[%n] {offset = 0 : i64, stride = 8 : i64, rt.offsets = array<i64: 64>} : tensor<2x8xf32> -> tensor<8xf32>
      %t = rt.launch @double(%v) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 448>} : (tensor<8xf32>) -> tensor<8xf32>
      %u = rt.launch @double(%v) {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 192>} : (tensor<8xf32>) -> tensor<8xf32>
      rt.yield %u : tensor<8xf32>
    }
    return %l : tensor<8xf32>
  }
}

// -----

// Sums in two kernels pass through the workspace, of which there is one.
// CHECK-LABEL: func.func @step
// CHECK-NOT:   rt.followers
// CODE-NOT:    _batch
#full = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
module attributes {rt.arena = 4259840 : i64} {
  func.func private @sum(%x: tensor<8192x64xf32>) -> tensor<64xf32> attributes {rt.schedule = "column"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %y = linalg.generic {indexing_maps = [#full, #column], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<8192x64xf32>) outs(%f : tensor<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    return %y : tensor<64xf32>
  }
  func.func @step(%a: tensor<8192x64xf32> {rt.offset = 0 : i64}) -> (tensor<64xf32>, tensor<64xf32>) {
    %x = rt.launch @sum(%a) {count = 64 : i64, grain = 1 : i64, rt.offsets = array<i64: 2097152>} : (tensor<8192x64xf32>) -> tensor<64xf32>
    %y = rt.launch @sum(%a) {count = 64 : i64, grain = 1 : i64, rt.offsets = array<i64: 2097408>} : (tensor<8192x64xf32>) -> tensor<64xf32>
    return %x, %y : tensor<64xf32>, tensor<64xf32>
  }
}
