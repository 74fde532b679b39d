//===- ProductCall.cpp - products and sums into tables as calls -----------===//

#include "lib/Codegen/Calls/EntryCalls.h"
#include "tessera/abi.h"

using namespace mlir;
using namespace tessera;

namespace {

using Call = FailureOr<RuntimeCall>;

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
  call.extendTo(TSR_ENTRY_CHUNKED_GEMM);
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
  call.extendTo(TSR_ENTRY_CHUNKED_SCATTER_ADD);
  call.arguments[TSR_SCATTER_CHUNKS] = static_cast<int64_t>(*op.getChunks());
  return call;
}

} // namespace

void tessera::attachProductCalls(MLIRContext &context) {
  attachCall<rt::GemmOp, gemm>(context);
  attachCall<rt::ScatterAddOp, scatterAdd>(context);
}
