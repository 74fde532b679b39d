//===- Family.h - what an importer of a model family makes ------*- C++ -*-===//

#ifndef TESSERA_LIB_IMPORT_FAMILY_H
#define TESSERA_LIB_IMPORT_FAMILY_H

#include "lib/Import/ConfigFile.h"
#include "lib/Import/ProgramBuilder.h"
#include "tessera/Import/Import.h"

namespace tessera {

/// The longest sequence of a model, and the key that says so.
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

using Imported = mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>;

Imported importGPT2(const ConfigFile &file, const ImportOptions &options);
Imported importBert(const ConfigFile &file, const ImportOptions &options);
Imported importLlama(const ConfigFile &file, const ImportOptions &options);
Imported importT5(const ConfigFile &file, const ImportOptions &options);

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_FAMILY_H
