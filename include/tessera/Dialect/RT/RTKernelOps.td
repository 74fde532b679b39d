//===- RTKernelOps.td - what only kernels compute ----------*- tablegen -*-===//
// Parts of fused kernels; the runtime never calls them.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_RT_RTKERNELOPS_TD
#define TESSERA_DIALECT_RT_RTKERNELOPS_TD

def RT_FirstOp : RT_Op<"first", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "Keeps the value on rank 0 of an axis, makes zeros elsewhere; part of a kernel";
  let arguments = (ins AnyRankedTensor:$input, StrAttr:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `on` $axis attr-dict `:` type($input) `->` type($result)";
}

def RT_SliceOp : RT_Op<"slice", [Pure]> {
  let summary = "A rank's chunk of a dimension; part of a kernel";
  let description = [{
    `result[.., j, ..] = input[.., c n + j, ..]` in dimension `dim`, where c is the
    rank's coordinate on `axis` (0 if there is no axis) and n is the size of the result
    in that dimension. Elements beyond the end of the input are 0.
  }];
  let arguments = (ins AnyRankedTensor:$input, ConfinedAttr<I64Attr, [IntNonNegative]>:$dim,
                       OptionalAttr<StrAttr>:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `along` $dim (`on` $axis^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def RT_PadOp : RT_Op<"pad", [Pure]> {
  let summary = "Puts a rank's chunk of a dimension at its place, zeros elsewhere; part of a kernel";
  let description = [{
    `result[.., c n + j, ..] = input[.., j, ..]` in dimension `dim`, where c is the
    rank's coordinate on `axis` (0 if there is no axis) and n is the size of the input
    in that dimension. Elements beyond the end of the result are dropped.
  }];
  let arguments = (ins AnyRankedTensor:$input, ConfinedAttr<I64Attr, [IntNonNegative]>:$dim,
                       OptionalAttr<StrAttr>:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `along` $dim (`on` $axis^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

#endif // TESSERA_DIALECT_RT_RTKERNELOPS_TD
