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

def RT_RoutedOp : RT_Op<"routed", [Pure, RT_Call<["getTiedOperand", "describe"]>,
                                   DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>]> {
  let summary = "One operation of a mixture of experts; its kind says which";
  let description = [{
    The entry `routed` in runtime/include/tessera/abi_arguments.h defines each kind.
    Sizes follow from the types. The last input holds the gates [.., experts] (for
    `top_k`, which computes the gates, the logits). A token is routed to an expert
    where its gate is not 0, and only routed rows are computed. Each token is routed
    to `k` experts out of `total`, the number of experts on all ranks.

    Rows have one of two layouts. Dense rows are [experts, .., columns]: there is a
    row for each expert and token. Compact rows are [rows, columns]: only the routed
    rows, sorted by expert and then by token.

    With `round`, the last input holds the round numbers of `rt.row_rounds` instead
    of gates, and the op processes only the rows of that round. From round 2 on,
    `product_grad_weight` adds its result, in place, to the input before the gates.
    A product with int8 weights has their scales [experts, columns] before the gates.
  }];
  let arguments = (ins RT_RoutedKind:$kind, Variadic<AnyRankedTensor>:$inputs,
                       RT_Positive:$k, RT_Positive:$total, UnitAttr:$weighted, UnitAttr:$transposed,
                       RT_Round:$round);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$kind $inputs attr-dict `:` functional-type($inputs, $result)";
}

def RT_RowRoundsOp : RT_Op<"row_rounds", [Pure, RT_Call<>, AllTypesMatch<["gates", "result"]>]> {
  let summary = "Divides routed rows into rounds of at most `rows` rows";
  let description = [{
    For each gate of [.., experts], the result holds the number of the round in which
    its row is processed: 1 for the first `rows` routed rows, 2 for the next `rows`,
    and so on, and 0 where the gate is 0. Rows are counted by expert and then by
    token. If `members` is more than 1, the tokens are cut into that many equal
    parts, and the rows of each part are counted separately.
  }];
  let arguments = (ins AnyRankedTensor:$gates, RT_Positive:$rows, RT_Members:$members);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$gates `by` $rows attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def RT_ExchangeRowsOp : RT_Op<"exchange_rows", [Pure, RT_Call<["getTiedOperand", "describe"]>, RT_Collective]> {
  let summary = "Sends compact rows of tokens to the ranks of their experts, or back";
  let description = [{
    An all-to-all that moves only routed rows. Two tensors of gates [batch, sequence,
    experts] say which compact rows the operand and the result hold (`rt.routed`
    defines compact rows). One side of the exchange is the token side: the rank's own
    tokens and all experts. The other is the expert side: the tokens of all ranks of
    the group and the rank's own experts. The direction follows from the gates. If
    the source gates have more experts, rows go to the ranks of their experts;
    otherwise they come back. Rows of the result that receive nothing are 0.

    With `round`, gates hold the round numbers of `rt.row_rounds`, and only the rows
    of that round move. Tensors on the expert side hold the rows of that round alone;
    tensors on the token side hold the rows of all rounds. So from round 2 on, an
    exchange back to the token side takes the buffer of `others` for its result and
    leaves the rows of other rounds as they are there. If the rounds of each rank's
    tokens are numbered separately (`members` of `rt.row_rounds`), the token side
    keeps its gates, because the rounds of its rows follow from them.
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
    /// Returns whether rows go to the ranks of their experts.
    bool goesToExperts();
    /// Returns the number of ranks between which rows go.
    int64_t getRanks();
  }];
  let hasVerifier = 1;
}

class RT_Messages<string mnemonic, list<string> facts = []>
    : RT_Op<mnemonic, [Pure, RT_Call<facts>]> {
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  code isLaterRound = [{
    /// Returns whether rows of an earlier round went before.
    bool isLaterRound() { return getRound() > 1 || getSent() > 0; }
  }];
}

def RT_PackRowsOp : RT_Messages<"pack_rows"> {
  let summary = "Packs compact rows into one message of fixed size for each rank";
  let description = [{
    The result is [members, rows of a message, columns]. With `own`, `rows` are those
    of the rank's own tokens, and message `i` holds the rows of the `i`-th of
    `members` equal parts of the experts. Without `own`, they are the rows of the
    rank's experts, and message `i` holds those of the `i`-th of `members` equal parts
    of the tokens. Rows keep their order. Sender and receiver both compute from their
    gates which rows a message holds, so no counts are sent.

    With `own`, a message skips the first `sent` rows of its part, which earlier
    rounds have sent, and then holds as many rows as fit. A part has at most
    tokens x min(k, experts of the part) rows. Without `own`, a message holds all
    rows of the part or, with `round`, all those of that round of `rt.row_rounds`. The
    space after the last row of a message is neither written nor read.
  }];
  let arguments = (ins AnyRankedTensor:$rows, AnyRankedTensor:$gates, RT_Members:$members,
                       RT_Positive:$k, UnitAttr:$own, RT_Round:$sent, RT_Round:$round);
  let assemblyFormat = "$rows `by` $gates attr-dict `:` functional-type(operands, $result)";
  let extraClassDeclaration = isLaterRound;
}

def RT_UnpackRowsOp : RT_Messages<"unpack_rows", ["getTiedOperand"]> {
  let summary = "Unpacks the messages of `rt.pack_rows` into compact rows";
  let description = [{
    `messages` is [1, rows of all messages, columns]: one message from each rank, in
    the order of the ranks. The attributes mean what they mean in `rt.pack_rows`.
    Rows of the result that no message holds are 0. But if the rows are those of the
    rank's `own` tokens and some were `sent` by earlier rounds, the result takes the
    buffer of `others`, and these rows stay as they are there.
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
  let summary = "Expands compact rows to dense ones [experts, .., columns]";
  let description = [{
    Rows whose gate is 0 are 0. The op serves `verify`, which compares rows at their
    global places, so its result may have no use. With `round`, only rows of that
    round are expanded; from round 2 on they are written into `others`, in place.
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
