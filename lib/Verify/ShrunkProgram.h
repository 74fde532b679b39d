//===- ShrunkProgram.h - programs of small models ---------------*- C++ -*-===//
// Small models of the same make are compiled to be run and compared. A program
// (.mlir) keeps its sizes: they stand in every op.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_VERIFY_SHRUNKPROGRAM_H
#define TESSERA_LIB_VERIFY_SHRUNKPROGRAM_H

#include "lib/Verify/ForwardRun.h"
#include "tessera/Pipelines/PlannedModel.h"
#include <string>

namespace tessera {

class TemporaryFile;

/// Creates the file that a program is compiled to.
mlir::LogicalResult createProgramFile(mlir::MLIRContext &context,
                                      TemporaryFile &file);

/// The serial program runs on the CPU, in f64 the parallel one too. Formulas is
/// the serial program with attention, norms and rotations as products, sums and
/// maps.
enum class Side { Serial, Parallel, Formulas };

struct ShrunkProgram {
  Side side;
  Precision precision;
  /// f64 that decides what this precision cannot updates parameters as it does.
  Precision optimizer;
};

/// Compiles the training step, every value kept, and returns what it has as
/// formulas. The batch is that of `options`' mesh on both sides.
mlir::FailureOr<Formulation> compileShrunk(mlir::MLIRContext &context,
                                           const PlannedModel &options,
                                           const ShrunkProgram &program,
                                           const std::string &path);

/// The files of programs for inference and of the forward program that they are
/// compared with.
struct InferencePaths {
  std::string program, forward;
};

/// Compiles the programs for generation of such a model, and its serial forward
/// program with the same sizes, which it returns.
mlir::FailureOr<ForwardProgram>
compileShrunkGeneration(mlir::MLIRContext &context, const PlannedModel &options,
                        Precision precision, const InferencePaths &paths);

/// Does the same with the program for encoding, whose steps take fewer
/// sequences than the forward program's.
mlir::FailureOr<ForwardProgram>
compileShrunkEncoding(mlir::MLIRContext &context, const PlannedModel &options,
                      Precision precision, const InferencePaths &paths);

} // namespace tessera

#endif // TESSERA_LIB_VERIFY_SHRUNKPROGRAM_H
