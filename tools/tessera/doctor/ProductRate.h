//===- ProductRate.h - how fast the machine multiplies matrices -*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_DOCTOR_PRODUCTRATE_H
#define TESSERA_TOOLS_TESSERA_DOCTOR_PRODUCTRATE_H

#include "tessera/Options/PlanOptions.h"

namespace tessera {

/// Flops per second of oneDNN, opened as `library`, on all cores: the best of
/// some products of large square matrices, within a quarter of a second or the
/// time of two. 0: it has none of that precision. Others that use the machine
/// make it less.
double productRate(void *library, Precision precision);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_DOCTOR_PRODUCTRATE_H
