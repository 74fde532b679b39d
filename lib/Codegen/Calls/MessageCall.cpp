//===- MessageCall.cpp - sends and receives as calls ----------------------===//

#include "lib/Codegen/Calls/EntryCalls.h"
#include "tessera/Dialect/RT/RowLayout.h"
#include "tessera/abi.h"

using namespace mlir;
using namespace tessera;

namespace {

using Call = FailureOr<RuntimeCall>;

/// A send or a receive.
Call message(rt::AsyncOpInterface op, int entry, Value tensor, StringRef axis,
             int64_t peer, dist::MeshAttr mesh) {
  int64_t index = mesh ? mesh.getIndex(axis) : -1;
  if (index < 0 || peer >= mesh.getSize(axis))
    return op->emitError() << "has peer " << peer << " on axis '" << axis
                           << "', which the mesh does not have";
  RuntimeCall call(entry);
  call.buffers = {tensor};
  call.arguments[TSR_MESSAGE_AXIS] = index;
  call.arguments[TSR_MESSAGE_PEER] = peer;
  call.arguments[TSR_MESSAGE_BYTES] = rt::bytesOf(tensor);
  call.arguments[TSR_MESSAGE_ASYNC] = op.getAsync();
  return call;
}

Call sendCall(rt::SendOp op, dist::MeshAttr mesh) {
  Call call = message(op, TSR_ENTRY_SEND, op.getInput(), op.getAxis(),
                      op.getPeer(), mesh);
  if (succeeded(call))
    call->buffers.push_back(op.getToken());
  return call;
}

Call receiveCall(rt::ReceiveOp op, dist::MeshAttr mesh) {
  return message(op, TSR_ENTRY_RECEIVE, op.getResult(), op.getAxis(),
                 op.getPeer(), mesh);
}

} // namespace

void tessera::attachMessageCalls(MLIRContext &context) {
  attachCall<rt::SendOp, sendCall>(context);
  attachCall<rt::ReceiveOp, receiveCall>(context);
}
