//===- NNOps.td - a Transformer as pure ops on tensors -----*- tablegen -*-===//
// Shapes are global. Dimensions are named by letters ("factors"): equal letters
// of one op are the same dimension and are split alike.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_NN_NNOPS_TD
#define TESSERA_DIALECT_NN_NNOPS_TD

include "tessera/Dialect/NN/NNAttention.td"
include "tessera/Dialect/NN/NNMarks.td"
include "tessera/Dialect/NN/NNMathOps.td"
include "tessera/Dialect/NN/NNModelOps.td"
include "tessera/Dialect/NN/NNExpertOps.td"
include "tessera/Dialect/NN/NNCacheOps.td"
include "tessera/Dialect/NN/NNSamplingOps.td"

#endif // TESSERA_DIALECT_NN_NNOPS_TD
