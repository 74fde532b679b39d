//===- NNMarks.td - what an op says beside its result ------*- tablegen -*-===//
// Marks are discardable attributes: they do not change what an op computes.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_NN_NNMARKS_TD
#define TESSERA_DIALECT_NN_NNMARKS_TD

include "tessera/Dialect/NN/NNBase.td"

def NN_Phase : I32EnumAttr<"Phase", "part of the training step that an op belongs to", [
    I32EnumAttrCase<"Forward", 0, "forward">,
    I32EnumAttrCase<"Backward", 1, "backward">,
    I32EnumAttrCase<"Recompute", 2, "recompute">,
    I32EnumAttrCase<"Optimizer", 3, "optimizer">]> {
  let cppNamespace = "::tessera::nn";
  let genSpecializedAttr = 0;
}

def NN_PhaseAttr : EnumAttr<NN_Dialect, NN_Phase, "phase"> {
  let description = [{
    `nn.phase = #nn.phase<backward>`, on nn ops and on the ops that they are
    lowered to. An op without it belongs to the forward program. `recompute` is
    forward work that backward repeats; the mark also keeps such an op different
    from the one that it repeats, so that CSE does not merge the two.
  }];
  let assemblyFormat = "`<` $value `>`";
}

def NN_Tag : I32EnumAttr<"Tag", "role of an op in a parallel strategy", [
    I32EnumAttrCase<"Stream", 0, "stream">,
    I32EnumAttrCase<"Attention", 1, "attention">,
    I32EnumAttrCase<"Dispatch", 2, "dispatch">,
    I32EnumAttrCase<"Collect", 3, "collect">,
    I32EnumAttrCase<"BatchTotal", 4, "batch_total">,
    I32EnumAttrCase<"CrossEntropy", 5, "cross_entropy">,
    I32EnumAttrCase<"Memory", 6, "memory">]> {
  let cppNamespace = "::tessera::nn";
  let genSpecializedAttr = 0;
}

def NN_TagAttr : EnumAttr<NN_Dialect, NN_Tag, "tag"> {
  let description = [{
    `nn.tag = #nn.tag<stream>` tells the parallel strategies what an op is:

    * `stream`: computes a value of the residual stream.
    * `attention`: an attention.
    * `dispatch`, `collect`: move tokens to experts and back.
    * `batch_total`: computes a scalar that is summed over all micro-batches before
      the first one runs.
    * `cross_entropy`: computes the mean over labels that an evaluation reports.
    * `memory`: computes what a decoder's cross-attention reads, the last hidden states
      of the encoder.
  }];
  let assemblyFormat = "`<` $value `>`";
}

#endif // TESSERA_DIALECT_NN_NNMARKS_TD
