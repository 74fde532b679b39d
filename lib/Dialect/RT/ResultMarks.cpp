//===- ResultMarks.cpp - what report and verify read ----------------------===//

#include "tessera/Dialect/RT/ResultMarks.h"
#include "tessera/Dialect/RT/RT.h"

using namespace mlir;
using namespace tessera;

static void inherit(Operation *to, Operation *from, StringRef name) {
  if (Attribute attr = from->getAttr(name))
    to->setAttr(name, attr);
}

void tessera::inheritMarks(Operation *to, Operation *from) {
  inheritPhase(to, from);
  inherit(to, from, rt::RTDialect::kRoleAttr);
  inherit(to, from, rt::RTDialect::kKeepAttr);
}

DictionaryAttr tessera::getResultEntry(OpResult result, StringRef name) {
  auto entries = result.getOwner()->getAttrOfType<ArrayAttr>(name);
  unsigned k = result.getResultNumber();
  return entries && k < entries.size() ? dyn_cast<DictionaryAttr>(entries[k])
                                       : DictionaryAttr();
}

void tessera::setResultEntry(OpResult result, StringRef name,
                             DictionaryAttr entry) {
  Operation *op = result.getOwner();
  SmallVector<Attribute> entries;
  for (OpResult other : op->getResults()) {
    DictionaryAttr known = getResultEntry(other, name);
    entries.push_back(known ? known : DictionaryAttr::get(op->getContext()));
  }
  entries[result.getResultNumber()] = entry;
  op->setAttr(name, ArrayAttr::get(op->getContext(), entries));
}
