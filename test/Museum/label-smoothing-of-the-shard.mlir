// Label smoothing divides by the shard's vocabulary size and averages over the shard only.
//
// Fault: the mean log probability is taken over a rank's columns and the smoothing is
// spread over their number. Loss and gradients depend on tp, and ranks disagree about the loss.
// With a padded vocabulary, padding counts too.
// Source: https://github.com/NVIDIA/Megatron-LM/issues/737, https://github.com/NVIDIA/Megatron-LM/issues/7464
// Here: shapes are global, so the mean is over 7 tokens on every mesh, padding is 0, and a sum over
// split columns is `P`. With the shard's size in its place the program is another one when its
// distribution is erased.
//
// The same numbers on every mesh, 7 tokens on 2 and 4 ranks; the mean over log probabilities, shifted or not.
// RUN: tessera verify %s --mesh tp=2 --precision f64 | FileCheck %s
// RUN: tessera verify %s --mesh dp=2,tp=4 --precision f64 | FileCheck %s
// RUN: sed 's/einsum "bsv->bs" %%logits/einsum "bsv->bs" %%shifted/; s/1.0, 1.0, -0.9, -0.1>/1.0, 0.9, -0.9, -0.1>/' %s > %t.shifted.mlir
// RUN: tessera verify %t.shifted.mlir --mesh tp=4 --precision f64 | FileCheck %s
// CHECK: erasure  ok
// CHECK: f64      ok
//
// RUN: tessera-opt %s -o %t.serial
// RUN: tessera-opt %s --dist-distribute=mesh=tp=2 -o %t.typed
// RUN: tessera-opt %t.typed --dist-erase -o %t.erased
// RUN: diff %t.serial %t.erased
// RUN: sed 's/scale = 0.14285714285714285/scale = 0.25/' %t.typed > %t.wrong
// RUN: tessera-opt %t.wrong --dist-erase -o %t.erased
// RUN: not diff %t.serial %t.erased

!x = tensor<4x6x8xf32>
!logits = tensor<4x6x7xf32>
!tokens = tensor<4x6xf32>
module attributes {nn.model = {batch = 4 : i64, family = "smoothed", layers = 1 : i64, micro_batches = 1 : i64, sequence = 6 : i64, vocabulary = 7 : i64}} {
  func.func @loss(%table: tensor<7x8xf32> {nn.decay, nn.dims = "vh", nn.file_shape = [7, 8], nn.init = {kind = "normal", mean = 0.0 : f64, std = 0.5 : f64, stream = 0 : i64}, nn.param = "table"},
                  %ids: tensor<4x6xi32> {nn.data = "ids", nn.dims = "bs"},
                  %labels: tensor<4x6xi32> {nn.data = "labels", nn.dims = "bs"}) -> tensor<f32> {
    %x = nn.embedding %ids, %table {nn.tag = #nn.tag<stream>} : (tensor<4x6xi32>, tensor<7x8xf32>) -> !x
    %y = nn.map gelu %x {nn.tag = #nn.tag<stream>} : !x -> !x
    %logits = nn.einsum "bsh,vh->bsv" %y, %table : (!x, tensor<7x8xf32>) -> !logits
    %max = nn.max %logits : !logits -> !tokens
    %shifted = nn.add "bsv,bs->bsv" %logits, %max {coefs = array<f64: 1.0, -1.0>} : (!logits, !tokens) -> !logits
    %e = nn.map exp %shifted : !logits -> !logits
    %sum = nn.einsum "bsv->bs" %e : (!logits) -> !tokens
    %target = nn.pick %logits, %labels : (!logits, tensor<4x6xi32>) -> !tokens
    %mean = nn.einsum "bsv->bs" %logits {scale = 0.14285714285714285 : f64} : (!logits) -> !tokens
    %log = nn.map log %sum : !tokens -> !tokens
    %smoothed = nn.add "bs,bs,bs,bs->bs" %log, %max, %target, %mean {coefs = array<f64: 1.0, 1.0, -0.9, -0.1>}
        : (!tokens, !tokens, !tokens, !tokens) -> !tokens
    %loss = nn.einsum "bs->" %smoothed {scale = 0.041666666666666664 : f64} : (!tokens) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
