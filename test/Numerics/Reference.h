//===- Reference.h - what PyTorch computed ----------------------*- C++ -*-===//
// The files that the scripts in reference/ wrote, which say what is in them.
// reference/NAME belongs to test/models/NAME.json, or has a config of its own.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_NUMERICS_REFERENCE_H
#define TESSERA_TEST_NUMERICS_REFERENCE_H

#include "test/Numerics/Trainer.h"
#include <map>

namespace tessera::test {

struct Reference {
  struct Step {
    double loss, gradNorm, lr;
  };
  double lr, minLr, beta1, beta2, clip;
  int64_t totalSteps;
  std::vector<Step> steps;
  Tokens tokens; ///< The tokens of a causal model.
  /// The inputs of a masked one; without types those of an encoder-decoder
  /// model, with `target` labels a sequence.
  Tokens ids, labels, tokenTypes, segments;
  int64_t target = 0;
  bool ignoresLabels = false; ///< A causal one, of which labels are ignored.
  bool documentMask = false, paddingMask = false;
  /// The tensors of expected.safetensors.
  std::map<std::string, Values> tensors;

  double clipFactor(size_t step) const;
  const Values &gradient(size_t step, const std::string &name) const;
  const Values &parameter(size_t step, const std::string &name) const;
  /// Returns the moments after `step` (from 0), by their definition from the
  /// gradients.
  Values moment1(size_t step, const std::string &name) const;
  Values moment2(size_t step, const std::string &name) const;
};

/// Expects the same names, types, shapes and bytes in two safetensors files.
void expectSameTensors(const std::string &path, const std::string &wanted);

/// Returns the tensors of a safetensors file, which are in F64.
std::map<std::string, Values> readTensors(const std::string &path);

/// Returns the names of the references that have a config of their own, sorted.
std::vector<std::string> ownReferences();
/// Returns the folder of a reference, which need not exist.
std::string referencePath(const std::string &name);
/// Returns the path of a reference's config, in which nothing is dropped.
std::string referenceConfig(const std::string &name);

/// Reads DIRECTORY/expected.{json,safetensors}; missing parts are failed
/// expectations.
Reference readReference(const std::string &directory);

} // namespace tessera::test

#endif // TESSERA_TEST_NUMERICS_REFERENCE_H
