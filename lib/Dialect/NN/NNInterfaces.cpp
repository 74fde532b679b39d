//===- NNInterfaces.cpp - backward and cost of an op ----------------------===//

#include "tessera/Dialect/NN/NNInterfaces.h"

#include "tessera/Dialect/NN/NNInterfaces.cpp.inc"
