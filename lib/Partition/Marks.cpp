//===- Marks.cpp - what the report and verify read off an op --------------===//

#include "tessera/Partition/Marks.h"
#include "tessera/Dialect/NN/NN.h"
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
