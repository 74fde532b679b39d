//===- PackMessages.cpp - exchanges of rows in messages of fixed size -----===//
// A step that is captured sends as much in every run. A pair of ranks has a
// message per exchange, with room for all that a router can send or for a
// round's share; both find its rows by the gates that they have.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Dialect/RT/ResultMarks.h"
#include "tessera/Lower/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_PACKMESSAGESPASS
#include "tessera/Lower/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

RankedTensorType tensorTypeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The messages of one exchange, on the side of the tokens and on that of the
/// experts.
class Messages {
public:
  explicit Messages(rt::ExchangeRowsOp op);

  LogicalResult check() const;
  void replace();

private:
  Value pack(OpBuilder &b);
  Value send(Value packed, OpBuilder &b);
  Value unpack(Value arrived, OpBuilder &b);

  rt::ExchangeRowsOp op;
  bool forth;
  int64_t members, round;
  int64_t rows; ///< rows in a round's buffer
  int64_t k;    ///< experts of a token
  int64_t room; ///< rows of a pair of ranks among them
  int64_t sent; ///< rows of a pair that earlier rounds sent
  int64_t size; ///< rows of a message
};

} // namespace

/// A token goes to a member's experts at most as often as it has experts, and
/// as the member has some. The last round has what is left.
Messages::Messages(rt::ExchangeRowsOp op)
    : op(op), forth(op.goesToExperts()), members(op.getRanks()),
      round(static_cast<int64_t>(op.getRound())) {
  RankedTensorType gates =
      tensorTypeOf(forth ? op.getSourceGates() : op.getTargetGates());
  Value own = forth ? op.getInput() : op.getResult();
  Value experts = forth ? op.getResult() : op.getInput();
  int64_t tokens = llvm::product_of(gates.getShape().drop_back());
  k = tensorTypeOf(own).getDimSize(0) / tokens;
  rows = tensorTypeOf(experts).getDimSize(0);
  room = rows / members;
  sent = round > 0 ? (round - 1) * room : 0;
  int64_t most = tokens * std::min(k, gates.getShape().back() / members);
  size = std::min(room, most - sent);
}

LogicalResult Messages::check() const {
  if (size > 0 && rows == room * members)
    return success();
  return op->emitError() << "cannot be sent in messages: " << rows
                         << " rows of a round are of " << members
                         << " ranks, each of which sent " << sent << " before";
}

Value Messages::pack(OpBuilder &b) {
  RankedTensorType rows = tensorTypeOf(op.getInput());
  auto type = RankedTensorType::get({members, size, rows.getDimSize(1)},
                                    rows.getElementType());
  return rt::PackRowsOp::create(b, op.getLoc(), type, op.getInput(),
                                op.getSourceGates(), members, k, forth,
                                forth ? sent : 0, forth ? 0 : round);
}

Value Messages::send(Value packed, OpBuilder &b) {
  RankedTensorType type = tensorTypeOf(packed);
  auto arrived = RankedTensorType::get({1, members * size, type.getDimSize(2)},
                                       type.getElementType());
  return rt::AllToAllOp::create(b, op.getLoc(), arrived, packed,
                                /*gates=*/Value(), op.getAxes(),
                                /*gathered=*/1, /*scattered=*/0, op.getAsync());
}

Value Messages::unpack(Value arrived, OpBuilder &b) {
  return rt::UnpackRowsOp::create(
      b, op.getLoc(), op.getType(), arrived, op.getTargetGates(),
      op.getOthers(), members, k, !forth, forth ? 0 : sent, forth ? round : 0);
}

void Messages::replace() {
  OpBuilder b(op);
  Value packed = pack(b), arrived = send(packed, b);
  Value unpacked = unpack(arrived, b);
  for (Value value : {packed, arrived})
    inheritPhase(value.getDefiningOp(), op);
  inheritMarks(unpacked.getDefiningOp(), op);
  Attribute reason = op->getAttr("reason");
  if (round <= 1)
    reason = b.getStringAttr("rows of experts, in messages of fixed size");
  if (reason)
    arrived.getDefiningOp()->setAttr("reason", reason);
  op.replaceAllUsesWith(unpacked);
  op.erase();
}

namespace {

struct PackMessagesPass
    : tessera::impl::PackMessagesPassBase<PackMessagesPass> {
  void runOnOperation() override {
    SmallVector<Messages> found;
    getOperation().walk([&](rt::ExchangeRowsOp op) { found.emplace_back(op); });
    for (Messages &messages : found) {
      if (failed(messages.check()))
        return signalPassFailure();
      messages.replace();
    }
    if (found.empty())
      markAllAnalysesPreserved();
  }
};

} // namespace
