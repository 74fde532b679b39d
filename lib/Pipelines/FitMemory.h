//===- FitMemory.h - plans that fit into the memory of a rank ---*- C++ -*-===//

#ifndef TESSERA_LIB_PIPELINES_FITMEMORY_H
#define TESSERA_LIB_PIPELINES_FITMEMORY_H

#include "tessera/Pipelines/Compile.h"
#include "tessera/Pipelines/Pipeline.h"

namespace tessera {

/// The options of the passes that follow from those of a compilation.
void setOptions(PipelineOptions &passes, const CompileOptions &options);

} // namespace tessera

#endif // TESSERA_LIB_PIPELINES_FITMEMORY_H
