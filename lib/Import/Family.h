//===- Family.h - what an importer of a model family makes ------*- C++ -*-===//

#ifndef TESSERA_LIB_IMPORT_FAMILY_H
#define TESSERA_LIB_IMPORT_FAMILY_H

#include "lib/Import/ConfigFile.h"
#include "lib/Import/DecoderFamily.h"
#include "lib/Import/ProgramBuilder.h"
#include "tessera/Import/Import.h"

#include <algorithm>
#include <numeric>

namespace tessera {

/// The longest sequence of a model, and the key that says so.
struct Longest {
  llvm::StringRef key;
  int64_t positions;
  int64_t usual = 0; ///< The length of its config, if longer ones fit too.
};

/// Returns the sizes that the options choose for a model; an error where they
/// do not fit it.
mlir::FailureOr<ProgramSizes> chooseSizes(const ConfigFile &file,
                                          Longest longest,
                                          const ImportOptions &options);

/// Chooses the tokens of the masks that the options ask for; fails if the
/// family or the config has none.
mlir::LogicalResult chooseMasks(const ConfigFile &file,
                                const ImportOptions &options,
                                ProgramSizes &sizes);
/// Checks that a .mlir program has the masks that the options ask for.
mlir::LogicalResult checkMasks(mlir::ModuleOp module,
                               const SizeOptions &options);

/// Returns the head size of the model when it is shrunk.
int64_t shrunkHeadSize(int64_t headSize, const ShrinkOptions &options);
/// Returns the number of heads of a small model. Key heads and the query heads
/// of each are shrunk on their own.
int64_t shrunkHeads(int64_t heads, const ShrinkOptions &options);

/// Makes a model small whose residual stream has the size `hidden`; its number
/// of layers is its family's to limit.
template <class Config>
void shrinkSizes(Config &config, int64_t hidden, const ShrinkOptions &options) {
  constexpr int64_t vocabulary = 64;
  int64_t ratio = std::max<int64_t>(1, config.inner / config.hidden);
  int64_t ranks = options.tensorRanks * options.dataRanks;
  config.hidden = hidden;
  config.inner =
      shrunkSize(config.inner, hidden * std::min<int64_t>(ratio, 4), ranks);
  config.positions =
      shrunkSize(config.positions, options.positions, options.sequenceRanks);
  // Rows of an odd length are aligned to as many elements on a GPU.
  config.vocabulary = shrunkSize(config.vocabulary, vocabulary,
                                 std::lcm(vocabulary, options.tensorRanks));
}

using Imported = mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>;

Imported importGPT2(const ConfigFile &file, const ImportOptions &options);
Imported importBert(const ConfigFile &file, const ImportOptions &options);
Imported importDecoder(const ConfigFile &file, const DecoderFamily &family,
                       const ImportOptions &options);
Imported importT5(const ConfigFile &file, const ImportOptions &options);

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_FAMILY_H
