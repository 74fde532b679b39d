//===- RuntimeCall.cpp - one op as one call of the runtime ----------------===//

#include "lib/Codegen/Calls/RuntimeCall.h"
#include "mlir/IR/Matchers.h"
#include "tessera/Dialect/RT/RowLayout.h"
#include "tessera/abi.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera;

CallArgument CallArgument::of(Value scalar) {
  APInt constant;
  if (matchPattern(scalar, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  CallArgument argument;
  argument.source = Scalar;
  argument.scalar = scalar;
  return argument;
}

/// The arguments of an entry; a launch adds the scalars of its kernel.
static int64_t argumentsOf(int entry) {
  static constexpr int64_t counts[] = {
      0,
#define TSR_ABI_ENTRY(name, NAME, KIND, BUFFERS, ARGUMENTS) ARGUMENTS,
#include "tessera/abi_entries.def"
  };
  return counts[entry];
}

RuntimeCall::RuntimeCall(int entry)
    : entry(entry), arguments(argumentsOf(entry)) {}

RankedTensorType tessera::typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

FailureOr<int64_t> tessera::dtypeOf(Operation *op, Value value) {
  Type type = typeOf(value).getElementType();
  if (type.isF32())
    return TSR_DTYPE_F32;
  if (type.isBF16())
    return TSR_DTYPE_BF16;
  if (type.isF64())
    return TSR_DTYPE_F64;
  if (type.isInteger(32))
    return TSR_DTYPE_I32;
  if (type.isInteger(8))
    return TSR_DTYPE_I8;
  return op->emitError() << "has elements of " << type
                         << "; the runtime knows f32, bf16, f64, i32 and i8";
}

namespace {

using Call = FailureOr<RuntimeCall>;

Call launch(rt::LaunchOp op) {
  RuntimeCall call(TSR_ENTRY_LAUNCH);
  call.kernel = op.getKernelAttr();
  llvm::append_range(call.buffers, op.getInputs());
  llvm::append_range(call.buffers, op.getOutputs());
  auto followers =
      op->getAttrOfType<IntegerAttr>(rt::RTDialect::kFollowersAttr);
  call.arguments = {static_cast<int64_t>(op.getCount()),
                    static_cast<int64_t>(op.getGrain()),
                    followers ? followers.getInt() : 0};
  for (Value scalar : op.getScalars())
    call.arguments.push_back(CallArgument::of(scalar));
  return call;
}

Call gemm(rt::GemmOp op) {
  FailureOr<int64_t> in = dtypeOf(op, op.getA()), out = dtypeOf(op, op.getC());
  if (failed(in) || failed(out))
    return failure();
  RuntimeCall call(TSR_ENTRY_GEMM);
  Value aux = op.getSaved() ? op.getSaved() : op.getGeluInput();
  call.buffers = {op.getA(),    op.getB(), op.getC(),
                  op.getBias(), aux,       op.getSums()};
  call.arguments[TSR_GEMM_M] = op.getM();
  call.arguments[TSR_GEMM_N] = op.getN();
  call.arguments[TSR_GEMM_K] = op.getK();
  call.arguments[TSR_GEMM_LDA] = op.getLda();
  call.arguments[TSR_GEMM_LDB] = op.getLdb();
  call.arguments[TSR_GEMM_LDC] = op.getLdc();
  call.arguments[TSR_GEMM_TRANS_A] = op.getTransA();
  call.arguments[TSR_GEMM_TRANS_B] = op.getTransB();
  call.arguments[TSR_GEMM_ACCUMULATE] = op.getAccumulator() ? 1 : 0;
  call.arguments[TSR_GEMM_DTYPE_AB] = *in;
  call.arguments[TSR_GEMM_DTYPE_C] = *out;
  call.arguments[TSR_GEMM_INT8_B] =
      typeOf(op.getB()).getElementType().isInteger(8);
  call.arguments[TSR_GEMM_BATCH] = 1;
  call.arguments[TSR_GEMM_EPILOGUE] = op.getSaved() ? TSR_GEMM_EPILOGUE_GELU
                                      : op.getGeluInput()
                                          ? TSR_GEMM_EPILOGUE_GELU_GRAD
                                          : TSR_GEMM_EPILOGUE_NONE;
  call.arguments[TSR_GEMM_LD_AUX] = aux ? op.getN() : 0;
  call.arguments[TSR_GEMM_SUMS] = !op.getSumsOf() ? TSR_GEMM_SUMS_NONE
                                  : *op.getSumsOf() == rt::GemmOperand::A
                                      ? TSR_GEMM_SUMS_A
                                      : TSR_GEMM_SUMS_B;
  if (!op.getChunks())
    return call;
  call.entry = TSR_ENTRY_CHUNKED_GEMM;
  call.arguments.resize(argumentsOf(call.entry));
  call.arguments[TSR_CHUNKED_GEMM_CHUNKS] =
      static_cast<int64_t>(*op.getChunks());
  call.arguments[TSR_CHUNKED_GEMM_OUTER] = static_cast<int64_t>(op.getOuter());
  return call;
}

Call scatterAdd(rt::ScatterAddOp op) {
  FailureOr<int64_t> in = dtypeOf(op, op.getSource());
  FailureOr<int64_t> out = dtypeOf(op, op.getResult());
  if (failed(in) || failed(out))
    return failure();
  RuntimeCall call(TSR_ENTRY_SCATTER_ADD);
  call.buffers = {op.getSource(), op.getIds(), op.getResult()};
  call.arguments[TSR_SCATTER_ROWS] = typeOf(op.getIds()).getNumElements();
  call.arguments[TSR_SCATTER_COLS] = typeOf(op.getResult()).getShape().back();
  call.arguments[TSR_SCATTER_START] = CallArgument::of(op.getStart());
  call.arguments[TSR_SCATTER_VALID] = CallArgument::of(op.getValid());
  call.arguments[TSR_SCATTER_DTYPE_SRC] = *in;
  call.arguments[TSR_SCATTER_DTYPE_TABLE] = *out;
  if (!op.getChunks())
    return call;
  call.entry = TSR_ENTRY_CHUNKED_SCATTER_ADD;
  call.arguments.resize(argumentsOf(call.entry));
  call.arguments[TSR_SCATTER_CHUNKS] = static_cast<int64_t>(*op.getChunks());
  return call;
}

Call zero(rt::ZeroOp op) {
  RuntimeCall call(TSR_ENTRY_FILL);
  call.buffers = {op.getResult()};
  call.arguments = {CallArgument(rt::bytesOf(op.getResult()))};
  return call;
}

/// Between layouts with the same rows, or where one side is contiguous.
Call copy(rt::CopyOp op) {
  rt::RowLayout from = rt::layoutOf(op.getInput());
  rt::RowLayout to = rt::layoutOf(op.getResult());
  if (!from.isContiguous() && !to.isContiguous() &&
      (from.rows != to.rows || from.rowElements != to.rowElements))
    return op.emitError() << "copies rows of " << from.rowElements
                          << " elements to rows of " << to.rowElements;
  const rt::RowLayout &rows = from.isContiguous() ? to : from;
  int64_t element = rt::elementBytesOf(op.getResult());
  auto strideOf = [&](const rt::RowLayout &layout) {
    return element * (layout.isContiguous() ? rows.rowElements : layout.stride);
  };
  RuntimeCall call(TSR_ENTRY_COPY);
  call.buffers = {op.getInput(), op.getResult()};
  call.arguments = {rows.rows, rows.rowElements * element, strideOf(from),
                    strideOf(to)};
  return call;
}

/// Mesh axes as bits; -1 after an error.
FailureOr<int64_t> axisBits(Operation *op, ArrayAttr axes,
                            dist::MeshAttr mesh) {
  int64_t bits = 0;
  for (auto axis : axes.getAsRange<StringAttr>()) {
    int64_t index = mesh ? mesh.getIndex(axis) : -1;
    if (index < 0)
      return op->emitError() << "runs over axis '" << axis.getValue()
                             << "', which the mesh does not have";
    bits |= int64_t(1) << index;
  }
  return bits;
}

/// A collective in which every rank gives or gets `outer` rows of `count`
/// elements.
Call collective(rt::CollectiveOpInterface op, int64_t entry, int64_t outer,
                int64_t count, dist::MeshAttr mesh) {
  FailureOr<int64_t> dtype = dtypeOf(op, op->getResult(0));
  FailureOr<int64_t> axes = axisBits(op, op.getAxes(), mesh);
  if (failed(dtype) || failed(axes))
    return failure();
  RuntimeCall call(entry);
  call.arguments[TSR_COLLECTIVE_AXES] = *axes;
  call.arguments[TSR_COLLECTIVE_COUNT] = count;
  call.arguments[TSR_COLLECTIVE_DTYPE] = *dtype;
  call.arguments[TSR_COLLECTIVE_REDUCTION] = TSR_REDUCE_SUM;
  call.arguments[TSR_COLLECTIVE_OUTER] = outer;
  call.arguments[TSR_COLLECTIVE_ASYNC] = op.getAsync();
  return call;
}

/// Of all elements at once.
template <typename OpTy>
Call ofWhole(OpTy op, int64_t entry, dist::MeshAttr mesh) {
  return collective(op, entry, 1, typeOf(op.getResult()).getNumElements(),
                    mesh);
}

Call allReduce(rt::AllReduceOp op, dist::MeshAttr mesh) {
  Call call = ofWhole(op, TSR_ENTRY_ALL_REDUCE, mesh);
  if (failed(call))
    return failure();
  call->buffers = {op.getResult()};
  if (op.getMaximum())
    call->arguments[TSR_COLLECTIVE_REDUCTION] = TSR_REDUCE_MAX;
  return call;
}

Call shift(rt::ShiftOp op, dist::MeshAttr mesh) {
  Call call = ofWhole(op, TSR_ENTRY_SHIFT, mesh);
  if (failed(call))
    return failure();
  call->buffers = {op.getInput(), op.getResult()};
  call->arguments[TSR_COLLECTIVE_DISTANCE] = op.getDistance();
  return call;
}

/// Of [outer, 2, count].
Call zigzag(rt::ZigzagOp op, dist::MeshAttr mesh) {
  ArrayRef<int64_t> sizes = typeOf(op.getEarly()).getShape();
  int64_t outer = llvm::product_of(sizes.take_front(op.getDim()));
  int64_t count = llvm::product_of(sizes.drop_front(op.getDim()));
  Call call = collective(op, TSR_ENTRY_ZIGZAG, outer, count, mesh);
  if (failed(call))
    return failure();
  call->buffers = {op.getWhole(), op.getEarly(), op.getLate()};
  call->arguments[TSR_COLLECTIVE_MAKES_WHOLE] = op.makesWhole();
  return call;
}

/// The product of the sizes before a dimension.
int64_t outerOf(RankedTensorType type, int64_t dim) {
  return llvm::product_of(type.getShape().take_front(dim));
}

/// all_gather and reduce_scatter: a dimension of the whole is [ranks, chunk].
template <typename OpTy>
Call alongDimension(OpTy op, Value chunk, int64_t entry, dist::MeshAttr mesh) {
  RankedTensorType type = typeOf(chunk);
  int64_t outer = outerOf(type, op.getDim());
  int64_t count = outer ? type.getNumElements() / outer : 0;
  Call call = collective(op, entry, outer, count, mesh);
  if (failed(call))
    return failure();
  call->buffers = {op.getInput(), op.getResult()};
  return call;
}

/// Of the members' chunks.
template <typename OpTy>
Call coalesced(OpTy op, ValueRange chunks, int64_t entry, dist::MeshAttr mesh) {
  int64_t all = 0;
  for (Value chunk : chunks)
    all += typeOf(chunk).getNumElements();
  Call call = collective(op, entry, 1, all, mesh);
  if (failed(call))
    return failure();
  llvm::append_range(call->buffers, op.getInputs());
  llvm::append_range(call->buffers, op.getOutputs());
  call->arguments[TSR_COALESCED_MEMBERS] = static_cast<int64_t>(chunks.size());
  for (auto [chunk, dim] : llvm::zip(chunks, op.getDims())) {
    FailureOr<int64_t> dtype = dtypeOf(op, chunk);
    if (failed(dtype))
      return failure();
    int64_t outer = outerOf(typeOf(chunk), dim);
    int64_t count = outer ? typeOf(chunk).getNumElements() / outer : 0;
    call->arguments.append({count, outer, *dtype});
  }
  return call;
}

/// The first result names the call.
Call wait(rt::WaitOp op) {
  RuntimeCall call(TSR_ENTRY_WAIT);
  call.buffers = {op.getResults().front()};
  return call;
}

/// The outer of the two dimensions is gathered or scattered.
Call allToAll(rt::AllToAllOp op, dist::MeshAttr mesh) {
  RankedTensorType from = typeOf(op.getInput()), to = op.getType();
  int64_t gathered = op.getGathered(), scattered = op.getScattered();
  bool gathersOuter = gathered < scattered;
  // The form in which chunks of the inner dimension stand side by side.
  ArrayRef<int64_t> sizes = (gathersOuter ? from : to).getShape();
  int64_t first = std::min(gathered, scattered);
  int64_t second = std::max(gathered, scattered);
  auto product = [&](int64_t begin, int64_t end) {
    int64_t n = 1;
    for (int64_t dim = begin; dim < end; ++dim)
      n *= sizes[dim];
    return n;
  };
  int64_t ranks = to.getDimSize(gathered) / from.getDimSize(gathered);
  int64_t count = product(second, sizes.size()) / ranks;
  Call call =
      collective(op, TSR_ENTRY_ALL_TO_ALL, product(0, first), count, mesh);
  if (failed(call))
    return failure();
  call->buffers = {op.getInput(), op.getResult(), op.getGates()};
  call->arguments[TSR_COLLECTIVE_ROWS] = product(first, second);
  call->arguments[TSR_COLLECTIVE_GATHERS_OUTER] = gathersOuter;
  if (!op.getGates())
    return call;
  FailureOr<int64_t> dtype = dtypeOf(op, op.getGates());
  if (failed(dtype))
    return failure();
  ArrayRef<int64_t> gates = typeOf(op.getGates()).getShape();
  call->arguments[TSR_COLLECTIVE_GATED_EXPERTS] = gates.back();
  call->arguments[TSR_COLLECTIVE_GATED_TOKENS] = gates[0] * gates[1];
  call->arguments[TSR_COLLECTIVE_GATED_ROW] =
      to.getNumElements() / typeOf(op.getGates()).getNumElements();
  call->arguments[TSR_COLLECTIVE_DTYPE_GATES] = *dtype;
  return call;
}

Call exchangeRows(rt::ExchangeRowsOp op, dist::MeshAttr mesh) {
  RankedTensorType from = typeOf(op.getInput()), to = op.getType();
  Call call =
      collective(op, TSR_ENTRY_EXCHANGE_ROWS, 1, from.getShape().back(), mesh);
  FailureOr<int64_t> dtype = dtypeOf(op, op.getSourceGates());
  if (failed(call) || failed(dtype))
    return failure();
  call->buffers = {op.getInput(), op.getResult(), op.getSourceGates(),
                   op.getTargetGates()};
  ArrayRef<int64_t> source = typeOf(op.getSourceGates()).getShape();
  call->arguments[TSR_COLLECTIVE_ROWS] = from.getDimSize(0);
  call->arguments[TSR_COLLECTIVE_TARGET_ROWS] = to.getDimSize(0);
  call->arguments[TSR_COLLECTIVE_GATED_EXPERTS] = source.back();
  call->arguments[TSR_COLLECTIVE_GATED_TOKENS] =
      llvm::product_of(source.drop_back());
  call->arguments[TSR_COLLECTIVE_GATED_ROW] = from.getShape().back();
  call->arguments[TSR_COLLECTIVE_DTYPE_GATES] = *dtype;
  call->arguments[TSR_COLLECTIVE_TO_EXPERTS] = op.goesToExperts();
  call->arguments[TSR_COLLECTIVE_ROUND] = static_cast<int64_t>(op.getRound());
  return call;
}

/// Of a send or receive.
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

Call send(rt::SendOp op, dist::MeshAttr mesh) {
  Call call = message(op, TSR_ENTRY_SEND, op.getInput(), op.getAxis(),
                      op.getPeer(), mesh);
  if (succeeded(call))
    call->buffers.push_back(op.getToken());
  return call;
}

Call receive(rt::ReceiveOp op, dist::MeshAttr mesh) {
  return message(op, TSR_ENTRY_RECEIVE, op.getResult(), op.getAxis(),
                 op.getPeer(), mesh);
}

Call broadcast(rt::BroadcastOp op, dist::MeshAttr mesh) {
  Call call = ofWhole(op, TSR_ENTRY_BROADCAST, mesh);
  if (failed(call))
    return failure();
  call->buffers = {op.getResult()};
  call->arguments[TSR_COLLECTIVE_ROOT] = op.getRoot();
  return call;
}

} // namespace

FailureOr<RuntimeCall> tessera::describeCall(rt::RuntimeCallOpInterface op,
                                             dist::MeshAttr mesh) {
  return TypeSwitch<Operation *, Call>(op)
      .Case([](rt::LaunchOp op) { return launch(op); })
      .Case([](rt::GemmOp op) { return gemm(op); })
      .Case<rt::AttentionOp, rt::AttentionGradOp, rt::RingAttentionOp,
            rt::RingAttentionGradOp>([](auto op) { return attentionCall(op); })
      .Case([](rt::ScatterAddOp op) { return scatterAdd(op); })
      .Case([](rt::AppendOp op) { return appendCall(op); })
      .Case([](rt::CachedAttentionOp op) { return cachedAttentionCall(op); })
      .Case([](rt::MergeMeansOp op) { return mergeMeansCall(op); })
      .Case([](rt::PenalizeOp op) { return penalizeCall(op); })
      .Case([](rt::TopOp op) { return topCall(op); })
      .Case([](rt::MergeTopOp op) { return mergeTopCall(op); })
      .Case([](rt::RoutedOp op) { return routedCall(op); })
      .Case([](rt::ExpandRowsOp op) { return expandCall(op); })
      .Case([](rt::RowRoundsOp op) { return roundsCall(op); })
      .Case([](rt::PackRowsOp op) { return packCall(op); })
      .Case([](rt::UnpackRowsOp op) { return unpackCall(op); })
      .Case([](rt::ZeroOp op) { return zero(op); })
      .Case([](rt::CopyOp op) { return copy(op); })
      .Case([&](rt::AllReduceOp op) { return allReduce(op, mesh); })
      .Case([&](rt::AllGatherOp op) {
        return alongDimension(op, op.getInput(), TSR_ENTRY_ALL_GATHER, mesh);
      })
      .Case([&](rt::AllGatherCoalescedOp op) {
        return coalesced(op, op.getInputs(), TSR_ENTRY_ALL_GATHER_COALESCED,
                         mesh);
      })
      .Case([&](rt::ReduceScatterCoalescedOp op) {
        return coalesced(op, op.getOutputs(),
                         TSR_ENTRY_REDUCE_SCATTER_COALESCED, mesh);
      })
      .Case([&](rt::AllToAllOp op) { return allToAll(op, mesh); })
      .Case([&](rt::ExchangeRowsOp op) { return exchangeRows(op, mesh); })
      .Case([&](rt::ReduceScatterOp op) {
        return alongDimension(op, op.getResult(), TSR_ENTRY_REDUCE_SCATTER,
                              mesh);
      })
      .Case([](rt::WaitOp op) { return wait(op); })
      .Case([&](rt::SendOp op) { return send(op, mesh); })
      .Case([&](rt::ReceiveOp op) { return receive(op, mesh); })
      .Case([&](rt::BroadcastOp op) { return broadcast(op, mesh); })
      .Case([&](rt::ShiftOp op) { return shift(op, mesh); })
      .Case([&](rt::ZigzagOp op) { return zigzag(op, mesh); })
      .Default([](Operation *op) -> Call {
        return op->emitError() << "has no entry in the runtime";
      });
}
