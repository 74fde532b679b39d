//===- NamedLayers.cpp - the layers that locations name -------------------===//

#include "tessera/Dialect/NN/NamedLayers.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Options/Counted.h"
#include "tessera/Program/PartName.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tessera;

StringRef tessera::layerOf(Operation *op) {
  while (isa<dist::ConvertOp>(op)) {
    auto users = op->getUsers();
    auto reader = llvm::find_if(users, nn::isForward);
    if (reader == users.end() || (*reader)->hasTrait<OpTrait::IsTerminator>())
      break;
    op = *reader;
  }
  return program::layerOfPart(nn::partOf(op->getLoc())).name;
}

SmallVector<StringRef> tessera::layersOf(func::FuncOp func) {
  llvm::SetVector<StringRef> layers;
  for (Operation &op : func.getBody().front())
    if (StringRef layer = layerOf(&op); !layer.empty())
      layers.insert(layer);
  return llvm::to_vector(layers);
}

FailureOr<ArrayRef<StringRef>> tessera::layersNumbered(Operation *program,
                                                       StringRef numbers,
                                                       ArrayRef<StringRef> all,
                                                       const Twine &purpose) {
  auto [from, to] = numbers.split('-');
  uint64_t first = 0, last = 0;
  if (from.getAsInteger(10, first) ||
      (to.empty() ? from : to).getAsInteger(10, last) || last < first)
    return program->emitError()
           << "'" << numbers << "' names no layers; write 0-3 or 5";
  if (last >= all.size())
    return program->emitError()
           << "layers " << numbers << " " << purpose << ", but the model has "
           << counted(all.size(), "layer")
           << ", numbered from 0; give numbers below " << all.size();
  return all.slice(first, last - first + 1);
}
