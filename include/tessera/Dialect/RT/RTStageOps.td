//===- RTStageOps.td - between pipeline stages -------------*- tablegen -*-===//
// Messages of one rank to its peer: the rank whose coordinates differ on one
// mesh axis only. They are not pure: both sides must make them, in one order.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_RT_RTSTAGEOPS_TD
#define TESSERA_DIALECT_RT_RTSTAGEOPS_TD

defvar RT_Coordinate = ConfinedAttr<I64Attr, [IntNonNegative]>;

/// The result of a pending send: it names the send and holds no data.
def RT_Token : Type<CPred<"::tessera::rt::isToken($_self)">, "a token, tensor<1xi8>">;

def RT_SendOp : RT_Op<"send", [RT_Call<>, AsyncOpInterface]> {
  let summary = "Sends a tensor to the rank at coordinate `peer` of an axis";
  let description = [{
    The send ends when the peer has received the tensor. The peer must make the
    matching `rt.receive`, and messages between two ranks pair up in order. A
    message is asynchronous at both ends or at neither. An asynchronous send makes
    a token for `rt.wait`; until then the operand may be read, but not written.
  }];
  let arguments = (ins AnyRankedTensor:$input, RT_Coordinate:$peer, StrAttr:$axis, UnitAttr:$async);
  let results = (outs Optional<RT_Token>:$token);
  let assemblyFormat = [{
    $input `to` $peer `on` $axis (`async` $async^)? attr-dict `:` type($input) (`->` type($token)^)?
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::mlir::IntegerAttr":$peer, "::mlir::StringAttr":$axis,
                                 CArg<"bool", "false">:$async)>];
  let hasVerifier = 1;
}

def RT_ReceiveOp : RT_Op<"receive", [RT_Call<>, AsyncOpInterface]> {
  let summary = "Receives a tensor from the rank at coordinate `peer` of an axis";
  let arguments = (ins RT_Coordinate:$peer, StrAttr:$axis, UnitAttr:$async);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "`from` $peer `on` $axis (`async` $async^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def RT_BroadcastOp : RT_Op<"broadcast", [RT_Call<["getTiedOperand"]>, RT_Collective]> {
  let summary = "The tensor of the rank at coordinate `root`, on all ranks of one axis";
  let description = [{
    Only the root has an operand; the result is its buffer.
  }];
  let arguments = (ins Optional<AnyRankedTensor>:$input, RT_Coordinate:$root, StrArrayAttr:$axes, UnitAttr:$async);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    ($input^ `:` type($input))? `from` $root `over` $axes (`async` $async^)? attr-dict
    `->` type($result)
  }];
  let hasVerifier = 1;
}

// -------------------------------------------------------------------- tasks

def RT_TaskOp : RT_Op<"task"> {
  let summary = "Begins a task of a pipeline stage";
  let description = [{
    What follows, up to the next `rt.task`, `rt.tasks_end` or the end of the block,
    is one task: the forward or backward pass of a chunk for one micro-batch, or a
    message. The body of the micro-batch loop holds the tasks of all micro-batches
    but the last, whose tasks follow the loop under the same numbers. In which order
    a stage runs them is not where they stand, but its `rt.order`: pairs of the number
    of a task and a micro-batch.
  }];
  let arguments = (ins RT_Coordinate:$number, StrAttr:$name);
  let assemblyFormat = "$number $name attr-dict";
}

def RT_TasksEndOp : RT_Op<"tasks_end"> {
  let summary = "Ends the last task: what follows runs after all tasks";
  let assemblyFormat = "attr-dict";
}

#endif // TESSERA_DIALECT_RT_RTSTAGEOPS_TD
