//===- MemoryRules.cpp - what the memory passes agree on ------------------===//

#include "tessera/Transforms/MemoryRules.h"
#include "tessera/Conversion/KernelToLLVM/BufferSharing.h"
#include <map>

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

ShareRule tessera::rt::kernelShareRule() {
  // Analyzing a kernel costs more than looking up the answer; kernels are
  // shared by layers.
  using Question = std::tuple<Operation *, unsigned, unsigned>;
  auto known = std::make_shared<std::map<Question, bool>>();
  return [known](func::FuncOp kernel, unsigned argument, unsigned result) {
    if (kernel.isDeclaration())
      return false;
    auto [it, isNew] = known->try_emplace({kernel, argument, result}, false);
    if (isNew)
      it->second = mayShareBuffer(kernel, argument, result);
    return it->second;
  };
}

void tessera::rt::reportConflict(const Conflict &conflict) {
  Operation *op = conflict.operand->getOwner();
  InFlightDiagnostic error =
      op->emitError() << "operand #" << conflict.operand->getOperandNumber()
                      << " " << conflict.why;
  if (conflict.remedy != Conflict::None)
    error << "; run rt-insert-copies first";
  error.attachNote(conflict.operand->get().getLoc()) << "the value is here";
}
