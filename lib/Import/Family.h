//===- Family.h - what an importer of a model family makes ------*- C++ -*-===//

#ifndef TESSERA_LIB_IMPORT_FAMILY_H
#define TESSERA_LIB_IMPORT_FAMILY_H

#include "lib/Import/ConfigFile.h"
#include "lib/Import/ProgramBuilder.h"
#include "tessera/Import/Import.h"

#include <algorithm>

namespace tessera {

/// The longest sequence of a model, and the key that says so; errors are at
/// `model_type` in a file without it.
struct Longest {
  llvm::StringRef key;
  int64_t positions;
};

/// The sizes that the options choose for a model; an error where they do not
/// fit it.
mlir::FailureOr<ProgramSizes> chooseSizes(const ConfigFile &file,
                                          Longest longest,
                                          const ImportOptions &options);

/// The vocabulary of a small model; keeps its remainder by small powers of two,
/// so that what a mesh leaves uneven stays uneven.
int64_t shrunkVocabulary(int64_t vocabulary);
/// Limits of a small model.
constexpr int64_t kShrunkHeadSize = 8;

/// Makes a model small whose residual stream has the size `hidden`; its number
/// of layers is its family's to limit.
template <class Config>
void shrinkSizes(Config &config, int64_t hidden, const ImportOptions &options) {
  int64_t ratio = std::max<int64_t>(1, config.inner / config.hidden);
  config.hidden = hidden;
  config.inner = hidden * std::min<int64_t>(ratio, 4);
  config.positions = std::min(config.positions, options.shrunkPositions);
  config.vocabulary = shrunkVocabulary(config.vocabulary);
}

using Imported = mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>;

Imported importGPT2(const ConfigFile &file, const ImportOptions &options);
Imported importBert(const ConfigFile &file, const ImportOptions &options);
Imported importLlama(const ConfigFile &file, const ImportOptions &options);
Imported importT5(const ConfigFile &file, const ImportOptions &options);

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_FAMILY_H
