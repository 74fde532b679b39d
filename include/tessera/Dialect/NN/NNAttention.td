//===- NNAttention.td - what a model says about attention --*- tablegen -*-===//
// All ops of attention carry this attribute, those of nn and those of rt, and
// passes copy it and read its mask alone. docs/Architecture.md says who reads a field.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_NN_NNATTENTION_TD
#define TESSERA_DIALECT_NN_NNATTENTION_TD

include "tessera/Dialect/NN/NNDialect.td"
include "mlir/IR/AttrTypeBase.td"

/// An f64, which is printed without its type.
class NN_F64Parameter<string desc> : APFloatParameter<desc> {
  let parser = "parseF64($_parser)";
  let printer = "$_printer.printFloat($_self)";
}

def NN_AttentionAttr : AttrDef<NN_Dialect, "Attention"> {
  let mnemonic = "attention";
  let summary = "How a model computes the scores of attention, and which keys a query sees";
  let description = [{
    `#nn.attention<causal, scale = 2.5e-01, window = 3>`: the score of query i and key
    j is `scale q_i k_j`, plus a bias where the op has a table of biases.

    * `causal` masks the keys after the query, by global position.
    * `scale` is finite.
    * `window` also masks the keys that are `window` or more positions before the
      query: query i sees the keys i - window < j <= i (sliding window; Beltagy et al.
      2020, section 3.1; Jiang et al. 2023). It needs `causal`; 0 is no window.
    * `max_distance` is the distance from which on all keys have the bias of the last
      bucket of the table; 0 without a table.

    The attribute holds what the model says. What an op adds for its place in the
    program, such as dropout's stream, offsets and strides, is not part of it. Ops
    print it behind their operands, without its name.
  }];
  let parameters = (ins DefaultValuedParameter<"bool", "false">:$causal,
                        NN_F64Parameter<"factor of the products of queries and keys">:$scale,
                        DefaultValuedParameter<"int64_t", "0">:$window,
                        DefaultValuedParameter<"int64_t", "0">:$max_distance);
  let assemblyFormat = "`<` custom<Causal>($causal) `` struct($scale, $window, $max_distance) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns which keys a query sees.
    ::tessera::nn::AttentionMask getMask() const;
    /// Returns the attribute with another mask.
    AttentionAttr withMask(::tessera::nn::AttentionMask mask) const;
  }];
}

#endif // TESSERA_DIALECT_NN_NNATTENTION_TD
