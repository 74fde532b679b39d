// An adapter stands beside its layer. Split by columns, x A is replicated and B is split; split by rows, x A is partial and
// flows through B into the sum, before the layer's one all-reduce.
// RUN: tessera-opt %s --nn-add-lora="rank=2 alpha=3 targets=up,down" | FileCheck %s
// RUN: tessera-opt %s --nn-add-lora="rank=2 alpha=3 dropout=0.25 targets=all-linear" | FileCheck %s --check-prefix=ALL
// RUN: tessera-opt %s --nn-add-lora="rank=2 alpha=2 targets=up,down" --dist-distribute=mesh=tp=2 --nn-differentiate -o %t
// RUN: FileCheck %s --check-prefix=TP < %t
// RUN: grep -v backward %t | grep -c "dist.convert all_reduce " | FileCheck %s --check-prefix=FORWARD
// RUN: tessera-opt %s --nn-add-lora="rank=2 alpha=2 targets=up,down" --dist-distribute="mesh=tp=2 sequence-parallel=true" \
// RUN:   | FileCheck %s --check-prefix=SP
// RUN: not tessera-opt %s --nn-add-lora="rank=0 targets=up" 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not tessera-opt %s --nn-add-lora="targets=up_proj" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not tessera-opt %s --nn-add-lora="targets=table" 2>&1 | FileCheck %s --check-prefix=LOOKUP

// RANK: error: cannot add adapters of rank 0; use at least 1
// NONE: error: no linear layer is called 'up_proj', which is to get an adapter; there are 'up', 'down', 'head', and all-linear means all but the head
// LOOKUP: error: LoRA target 'table' is no linear layer of its own: 'nn.embedding' reads it; name layers that multiply by a matrix, e.g. targets=all-linear

// CHECK: module attributes {nn.config_files = {adapter_config.json =
// CHECK-SAME: \22fan_in_fan_out\22: true
// CHECK-SAME: \22lora_alpha\22: 3
// CHECK-SAME: \22r\22: 2
// CHECK-SAME: \22up\22,\0A    \22down\22
// CHECK: @loss(%{{.*}} {nn.dims = "vh", nn.frozen, nn.init = {{.*}}, nn.param = "table.weight"}
// CHECK-SAME: nn.frozen, nn.param = "mlp.up.weight"
// CHECK-SAME: %[[UPA:[a-z0-9]+]]: tensor<2x8xf32> {nn.decay, nn.dims = "ah", nn.file_shape = [2, 8], nn.init = {bound = 0.3535{{[0-9]*}} : f64, kind = "uniform", stream = 6 : i64}, nn.param = "base_model.model.mlp.up.lora_A.weight"}
// CHECK-SAME: %[[UPB:[a-z0-9]+]]: tensor<16x2xf32> {nn.decay, nn.dims = "fa", nn.file_shape = [16, 2], nn.init = {kind = "zeros"}, nn.param = "base_model.model.mlp.up.lora_B.weight"}
// CHECK-SAME: nn.file_shape = [2, 16]{{.*}}stream = 8 : i64}, nn.param = "base_model.model.mlp.down.lora_A.weight"}
// CHECK: %[[Y:.*]] = nn.einsum "bsh,hf->bsf" %[[X:.*]], %
// CHECK-NEXT: %[[LOW:.*]] = nn.einsum "bsh,ah->bsa" %[[X]], %[[UPA]] {nn.adapter}
// CHECK-NEXT: %[[SCALED:.*]] = nn.einsum "bsa->bsa" %[[LOW]] {nn.adapter, scale = 1.500000e+00 : f64}
// CHECK-NEXT: %[[HIGH:.*]] = nn.einsum "bsa,fa->bsf" %[[SCALED]], %[[UPB]] {nn.adapter}
// CHECK-NEXT: %[[SUM:.*]] = nn.add "bsf,bsf->bsf" %[[Y]], %[[HIGH]] {nn.adapter}
// CHECK-NEXT: nn.map gelu %[[SUM]]

// The head makes logits. Each adapter drops other elements.
// ALL: %[[D:.*]] = nn.dropout %{{.*}} {nn.adapter, p = 2.500000e-01 : f64, stream = 1 : i64}
// ALL-NEXT: nn.einsum "bsh,ah->bsa" %[[D]]
// ALL: nn.dropout %{{.*}} {nn.adapter, p = 2.500000e-01 : f64, stream = 3 : i64}
// ALL-NOT: nn.adapter{{.*}}->bsv

// TP: nn.einsum "bsh,ah->bsa" {{.*}} -> tensor<2x4x2xf32, #dist<tp: R>>
// TP: nn.einsum "bsa,fa->bsf" {{.*}} tensor<16x2xf32, #dist<tp: S(0)>>) -> tensor<2x4x16xf32, #dist<tp: S(2)>>
// TP: nn.einsum "bsf,af->bsa" {{.*}} tensor<2x16xf32, #dist<tp: S(1)>>) -> tensor<2x4x2xf32, #dist<tp: P>>
// TP-NEXT: dist.convert enter %{{.*}} on "tp" : tensor<8x2xf32> -> tensor<8x2xf32, #dist<tp: R>>
// TP-NEXT: nn.einsum "bsa,ha->bsh" {{.*}} -> tensor<2x4x8xf32, #dist<tp: P>>
// TP-NEXT: %[[SUM:.*]] = nn.add "bsh,bsh->bsh" {{.*}} -> tensor<2x4x8xf32, #dist<tp: P>>
// TP-NEXT: dist.convert all_reduce %[[SUM]] on "tp"
// One of the lookup, one of the layer and one of the loss: adapters add none.
// FORWARD: {{^}}3{{$}}

// SP: nn.einsum "bsa,ha->bsh" {{.*}} -> tensor<2x4x8xf32, #dist<tp: P>>
// SP-NEXT: %[[SUM:.*]] = nn.add "bsh,bsh->bsh" {{.*}} -> tensor<2x4x8xf32, #dist<tp: P>>
// SP-NEXT: dist.convert reduce_scatter %[[SUM]] on "tp"
module attributes {nn.model = {family = "test"}} {
  func.func @loss(%table: tensor<6x8xf32> {nn.param = "table.weight", nn.dims = "vh", nn.init = {kind = "normal", stream = 4 : i64}},
      %up: tensor<8x16xf32> {nn.param = "mlp.up.weight", nn.dims = "hf"}, %down: tensor<16x8xf32> {nn.param = "mlp.down.weight", nn.dims = "fh"},
      %head: tensor<6x8xf32> {nn.param = "head.weight", nn.dims = "vh"}, %ids: tensor<2x4xi32> {nn.data = "ids", nn.dims = "bs"}) -> tensor<f32> {
    %e = nn.embedding %ids, %table : (tensor<2x4xi32>, tensor<6x8xf32>) -> tensor<2x4x8xf32>
    %x = nn.add "bsh->bsh" %e {nn.tag = #nn.tag<stream>} : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    %u = nn.einsum "bsh,hf->bsf" %x, %up : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
    %g = nn.map gelu %u : tensor<2x4x16xf32> -> tensor<2x4x16xf32>
    %d = nn.einsum "bsf,fh->bsh" %g, %down : (tensor<2x4x16xf32>, tensor<16x8xf32>) -> tensor<2x4x8xf32>
    %z = nn.add "bsh,bsh->bsh" %x, %d {nn.tag = #nn.tag<stream>} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    %l = nn.einsum "bsh,vh->bsv" %z, %head : (tensor<2x4x8xf32>, tensor<6x8xf32>) -> tensor<2x4x6xf32>
    %loss = nn.einsum "bsv->" %l : (tensor<2x4x6xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
