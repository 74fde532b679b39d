//===- RTExpertOps.td - routed tokens on one rank ----------*- tablegen -*-===//

#ifndef TESSERA_DIALECT_RT_RTEXPERTOPS_TD
#define TESSERA_DIALECT_RT_RTEXPERTOPS_TD

include "mlir/IR/EnumAttr.td"

def RT_RoutedKind : I32EnumAttr<"RoutedKind", "what is done with routed rows", [
    I32EnumAttrCase<"TopK", 0, "top_k">,
    I32EnumAttrCase<"Dispatch", 1, "dispatch">,
    I32EnumAttrCase<"Collect", 2, "collect">,
    I32EnumAttrCase<"CollectGradGates", 3, "collect_grad_gates">,
    I32EnumAttrCase<"Product", 4, "product">,
    I32EnumAttrCase<"ProductGradWeight", 5, "product_grad_weight">]> {
  let cppNamespace = "::tessera::rt";
}

defvar RT_Members = ConfinedAttr<DefaultValuedAttr<I64Attr, "1">, [IntPositive]>;
defvar RT_Round = ConfinedAttr<DefaultValuedAttr<I64Attr, "0">, [IntNonNegative]>;

def RT_RoutedOp : RT_Op<"routed", [Pure, RT_Call<["getTiedOperand"]>,
                                   DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>]> {
  let summary = "Work on routed rows, as TSR_ROUTED of runtime/tessera/abi.h";
  let description = [{
    The sizes are those of the tensors. The last input holds the gates
    [.., experts]; work is done only where they are not 0. A token is routed to
    `k` experts of the `total` on all ranks. Rows are [experts, .., columns], or
    compact, [rows, columns]: those whose gate is not 0, in order of experts and
    then of tokens. With `round` gates are numbers of `rt.row_rounds`, and rows are
    those of that round; product_grad_weight of a later one than the first adds to
    the input before the gates, in place. A product with weights of i8 has their
    scales [experts, columns] before the gates.
  }];
  let arguments = (ins RT_RoutedKind:$kind, Variadic<AnyRankedTensor>:$inputs,
                       RT_Positive:$k, RT_Positive:$total, UnitAttr:$weighted, UnitAttr:$transposed,
                       RT_Round:$round);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$kind $inputs attr-dict `:` functional-type($inputs, $result)";
}

def RT_RowRoundsOp : RT_Op<"row_rounds", [Pure, RT_Call<>, AllTypesMatch<["gates", "result"]>]> {
  let summary = "The round in which each routed row is among `rows` ones";
  let description = [{
    Of gates [.., experts]: 1 for the first `rows` rows that they route, in order of
    experts and then of tokens, 2 for the next, and so on; 0 where the gate is 0.
    Each of `members` equal parts of the tokens is numbered by itself.
  }];
  let arguments = (ins AnyRankedTensor:$gates, RT_Positive:$rows, RT_Members:$members);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$gates `by` $rows attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def RT_ExchangeRowsOp : RT_Op<"exchange_rows", [Pure, RT_Call<["getTiedOperand"]>, RT_Collective]> {
  let summary = "Brings compact rows of tokens to the ranks of their experts, or back";
  let description = [{
    Gates [batch, sequence, experts] say which rows the operand and the result
    hold. Of a rank's own tokens and all experts, and of the tokens of all ranks
    and its own experts, one side has more experts: from it rows go to the ranks
    of their experts, to it they come back. Rows that are left of the result are
    0. With `round` gates are numbers of `rt.row_rounds`: only rows of that round
    move, and the ranks of experts have no others. The other rows of what comes
    back stay as they are in `others`, whose buffer it takes. Where the rounds of
    the members' tokens are numbered apart, those of a rank's own tokens follow
    from its gates, which stand in the place of numbers.
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$source_gates,
                       AnyRankedTensor:$target_gates, Optional<AnyRankedTensor>:$others,
                       StrArrayAttr:$axes, UnitAttr:$async, RT_Round:$round);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `by` $source_gates `to` $target_gates (`into` $others^)? `over` $axes
    (`async` $async^)? attr-dict `:`
    functional-type(operands, $result)
  }];
  let extraClassDeclaration = [{
    /// Whether rows go to the ranks of their experts.
    bool goesToExperts();
    /// Between which rows go.
    int64_t getRanks();
  }];
  let hasVerifier = 1;
}

class RT_Messages<string mnemonic, list<string> facts = []>
    : RT_Op<mnemonic, [Pure, RT_Call<facts>]> {
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  code isLaterRound = [{
    /// Whether rows of an earlier round went before.
    bool isLaterRound() { return getRound() > 1 || getSent() > 0; }
  }];
}

def RT_PackRowsOp : RT_Messages<"pack_rows"> {
  let summary = "Compact rows, put into a message of fixed size for each rank";
  let description = [{
    Message `i` of [members, rows of a message, columns] has the rows of the `i`-th
    of `members` equal parts of the tokens or, of a rank's `own` tokens, of the
    experts. Both sides know from their gates which rows a message has. Of `own`
    rows it leaves out the first `sent` of the part, and those that it has no room
    for; a part has at most tokens x min(k, its experts). Of others it has those of
    the `round` of `rt.row_rounds`, which have room. The rest of it is not written,
    and nobody reads it.
  }];
  let arguments = (ins AnyRankedTensor:$rows, AnyRankedTensor:$gates, RT_Members:$members,
                       RT_Positive:$k, UnitAttr:$own, RT_Round:$sent, RT_Round:$round);
  let assemblyFormat = "$rows `by` $gates attr-dict `:` functional-type(operands, $result)";
  let extraClassDeclaration = isLaterRound;
}

def RT_UnpackRowsOp : RT_Messages<"unpack_rows", ["getTiedOperand"]> {
  let summary = "Compact rows of the messages of `rt.pack_rows` at other ranks";
  let description = [{
    Messages [1, rows of all, columns] are one after the other, in the order of the
    ranks. Rows that are left of the result are 0, but of a rank's `own` tokens,
    where some were `sent` before, the others stay as they are in `others`, whose
    buffer the result takes.
  }];
  let arguments = (ins AnyRankedTensor:$messages, AnyRankedTensor:$gates,
                       Optional<AnyRankedTensor>:$others, RT_Members:$members, RT_Positive:$k,
                       UnitAttr:$own, RT_Round:$sent, RT_Round:$round);
  let assemblyFormat = [{
    $messages `by` $gates (`into` $others^)? attr-dict `:` functional-type(operands, $result)
  }];
  let extraClassDeclaration = isLaterRound;
}

def RT_ExpandRowsOp : RT_Op<"expand_rows", [RT_Call<["getTiedOperand"]>]> {
  let summary = "Compact rows as [experts, .., columns], 0 where the gate is 0";
  let description = [{
    For `verify`, which compares rows at their global places. Its result need
    not have a use. Rows of a `round` are added to `others`, in place.
  }];
  let arguments = (ins AnyRankedTensor:$rows, AnyRankedTensor:$gates,
                       Optional<AnyRankedTensor>:$others, RT_Round:$round);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $rows `by` $gates (`into` $others^)? attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

#endif // TESSERA_DIALECT_RT_RTEXPERTOPS_TD
