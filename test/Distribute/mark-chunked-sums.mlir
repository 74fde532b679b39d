// A factor that a mesh may split is added in chunks: as many as divide it.
// RUN: tessera-opt %s --split-input-file --nn-mark-chunked-sums --verify-diagnostics | FileCheck %s

module attributes {dist.layout_invariant = 8 : i64} {
  // CHECK-LABEL: @step
  func.func @step(%x: tensor<4x8x16xf32> {nn.dims = "bsh"},
      %w: tensor<16x24xf32> {nn.dims = "hf"}) -> (tensor<16x16xf32>, tensor<24xf32>, tensor<4x8xf32>) {
    // Over hidden: nothing to split, but a product of a fixed order all the same.
    // CHECK: nn.einsum "bsh,hf->bsf" {{.*}} {dist.chunked_sums = {}}
    %y = nn.einsum "bsh,hf->bsf" %x, %w : (tensor<4x8x16xf32>, tensor<16x24xf32>) -> tensor<4x8x24xf32>
    // CHECK: nn.einsum "bsf,hf->bsh" {{.*}} {dist.chunked_sums = {f = 8 : i64}}
    %z = nn.einsum "bsf,hf->bsh" %y, %w : (tensor<4x8x24xf32>, tensor<16x24xf32>) -> tensor<4x8x16xf32>
    // CHECK: nn.einsum "bsh,bsg->hg" {{.*}} {dist.chunked_sums = {b = 4 : i64}}
    %dw = nn.einsum "bsh,bsg->hg" %z, %x : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<16x16xf32>
    // CHECK: nn.einsum "bsf->f" {{.*}} {dist.chunked_sums = {b = 4 : i64}}
    %db = nn.einsum "bsf->f" %y : (tensor<4x8x24xf32>) -> tensor<24xf32>
    // A sum over what no mesh splits is left to kernels.
    // CHECK: nn.einsum "bsh->bs" %{{[0-9]+}} : (
    %m = nn.einsum "bsh->bs" %z : (tensor<4x8x16xf32>) -> tensor<4x8xf32>
    return %dw, %db, %m : tensor<16x16xf32>, tensor<24xf32>, tensor<4x8xf32>
  }
}

// -----

!x = tensor<8x6xf32, #dist<tp: S(1)>>
module attributes {dist.layout_invariant = 8 : i64, dist.mesh = #dist.mesh<tp = 3>} {
  func.func @step(%x: !x {nn.dims = "bv"}) -> tensor<8xf32, #dist<tp: P>> {
    // expected-error @below {{'nn.einsum' op adds 6 of factor 'v' in 2 chunks, which 3 ranks cannot share; --layout-invariant needs mesh axes that divide 2, or a size that is a multiple of 8}}
    %y = nn.einsum "bv->b" %x : (!x) -> tensor<8xf32, #dist<tp: P>>
    return %y : tensor<8xf32, #dist<tp: P>>
  }
}

// -----

// A number of labels is exact, whoever adds what: it needs no chunks.
!cut = tensor<8x6xf32, #dist<tp: S(1)>>
!ids = tensor<8x6xi32, #dist<tp: S(1)>>
module attributes {dist.layout_invariant = 8 : i64, dist.mesh = #dist.mesh<tp = 3>} {
  // CHECK-LABEL: @step
  func.func @step(%labels: !ids {nn.dims = "bs"}, %logits: tensor<8x6x4xf32, #dist<tp: S(1)>> {nn.dims = "bsv"}) -> tensor<f32, #dist<tp: P>> {
    %target = nn.pick %logits, %labels : (tensor<8x6x4xf32, #dist<tp: S(1)>>, !ids) -> !cut
    %rank = nn.label_rank %logits, %labels, %target : (tensor<8x6x4xf32, #dist<tp: S(1)>>, !ids, !cut) -> !cut
    %whole = nn.constant 1.0 f32 : tensor<f32>
    %one = dist.convert enter %whole on "tp" : tensor<f32> -> tensor<f32, #dist<tp: R>>
    %less = nn.add "bs,->bs" %rank, %one {coefs = array<f64: -1.0, 1.0>} : (!cut, tensor<f32, #dist<tp: R>>) -> !cut
    %hit = nn.map relu %less : !cut -> !cut
    // CHECK: nn.einsum "bs->" %{{[0-9]+}} : (
    %n = nn.einsum "bs->" %hit : (!cut) -> tensor<f32, #dist<tp: P>>
    return %n : tensor<f32, #dist<tp: P>>
  }
}
