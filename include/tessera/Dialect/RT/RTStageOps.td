//===- RTStageOps.td - between pipeline stages -------------*- tablegen -*-===//
// Messages of one rank to its peer: the rank whose coordinates differ on one
// mesh axis only. They are not pure: both sides must make them, in one order.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_RT_RTSTAGEOPS_TD
#define TESSERA_DIALECT_RT_RTSTAGEOPS_TD

defvar RT_Coordinate = ConfinedAttr<I64Attr, [IntNonNegative]>;

/// The result of a pending send: it names the send and holds no data.
def RT_Token : Type<CPred<"::tessera::rt::isToken($_self)">, "a token, tensor<1xi8>">;

def RT_SendOp : RT_Op<"send", [RT_Call<["describe"]>, AsyncOpInterface]> {
  let summary = "Sends a tensor to the rank at coordinate `peer` of an axis";
  let description = [{
    The send ends when the peer has received the tensor. The peer must execute the
    matching `rt.receive`: the n-th send from one rank to another matches the n-th
    receive. Either both ends of a message are asynchronous or neither is. An
    asynchronous send returns a token for `rt.wait`; until that wait the operand may
    be read, but not written.
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

def RT_ReceiveOp : RT_Op<"receive", [RT_Call<["describe"]>, AsyncOpInterface]> {
  let summary = "Receives a tensor from the rank at coordinate `peer` of an axis";
  let arguments = (ins RT_Coordinate:$peer, StrAttr:$axis, UnitAttr:$async);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "`from` $peer `on` $axis (`async` $async^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def RT_BroadcastOp : RT_Op<"broadcast", [RT_Call<["getTiedOperand", "describe"]>, RT_Collective]> {
  let summary = "Sends the tensor of the rank at coordinate `root` to all ranks of an axis";
  let description = [{
    Only the root has an operand, and its result takes the operand's buffer.
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
    A task consists of the ops up to the next `rt.task`, `rt.tasks_end` or the end of
    the block. It is the forward or backward pass of a chunk for one micro-batch, or
    one message. The body of the micro-batch loop holds the tasks of all micro-batches
    except the last. The tasks of the last one follow the loop and have the same
    numbers.

    A stage does not run its tasks in the order in which they are written. The
    attribute `rt.order` of the function gives the order, as a list of pairs: the
    number of a task, and a micro-batch.
  }];
  let arguments = (ins RT_Coordinate:$number, StrAttr:$name);
  let assemblyFormat = "$number $name attr-dict";
}

def RT_TasksEndOp : RT_Op<"tasks_end"> {
  let summary = "Ends the last task; the ops that follow run after all tasks";
  let assemblyFormat = "attr-dict";
}

#endif // TESSERA_DIALECT_RT_RTSTAGEOPS_TD
