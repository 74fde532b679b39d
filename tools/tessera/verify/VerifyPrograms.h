//===- VerifyPrograms.h - the serial and the parallel program ---*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_VERIFY_VERIFYPROGRAMS_H
#define TESSERA_TOOLS_TESSERA_VERIFY_VERIFYPROGRAMS_H

#include "tools/tessera/options/OptionGroups.h"
#include "tools/tessera/verify/ForwardRun.h"
#include <string>

namespace tessera {

/// The findings about the typed program, without a run.
struct TypeCheck {
  int64_t ops = 0, conversions = 0;
  /// The first difference between the erased program and the serial one; "" if
  /// there is none.
  std::string difference;
  /// The same of a program for generation, unrolled over positions, and the
  /// model; or of one for encoding, without its choice of positions.
  std::string unrolled;
  /// The model is an encoder-decoder one: a program for encoding is its
  /// encoder, and those for generation are not unrolled.
  bool isPair = false;
};

/// Replaces `--recompute auto` by what it chooses for the model of full size
/// and checks the memory limit. False after an error that has been printed.
bool chooseRecompute(PlannedModel &options);

/// Builds the typed programs of the model for its mesh and for none, with
/// the verifier on after every pass, and compares them by erasure. False after
/// an error that has been printed.
bool checkTypes(const PlannedModel &options, TypeCheck &check);

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

/// Compiles a small model of the same make, every value kept. The batch is that
/// of `options`' mesh on both sides. A program (.mlir) keeps its sizes: they
/// stand in every op. `formulas` says what a program of formulas is. False
/// after an error that has been printed.
bool compileShrunk(const PlannedModel &options, const ShrunkProgram &program,
                   const std::string &path, Formulation *formulas = nullptr);

/// Compiles the programs for generation of such a model, and its serial forward
/// program with the same sizes. False after an error that has been printed.
bool compileShrunkGeneration(const PlannedModel &options, Precision precision,
                             const std::string &path, ForwardProgram &forward);

/// Does the same with the program for encoding, whose steps take fewer
/// sequences than the forward program's.
bool compileShrunkEncoding(const PlannedModel &options, Precision precision,
                           const std::string &path, ForwardProgram &forward);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_VERIFY_VERIFYPROGRAMS_H
