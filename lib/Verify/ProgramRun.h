//===- ProgramRun.h - a program of verify, run in this process --*- C++ -*-===//

#ifndef TESSERA_LIB_VERIFY_PROGRAMRUN_H
#define TESSERA_LIB_VERIFY_PROGRAMRUN_H

#include "tessera/Artifact/ArtifactFile.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

constexpr double kVerifyLearningRate = 1e-4;

/// A tensor that is compared: state or a kept value.
struct KeptTensor {
  std::string role, name;
  int64_t elements = 1, localElements = 1;
  bool replicated = true;
  /// Stages that hold it; empty: there are no stages.
  std::vector<bool> stages;
  /// For `g f'(x)` where f' is a step, 0 up to x = 0 and 1 above: the names of
  /// the values g and x, as far as the program is serial. Else "".
  std::string gradient, input;
  /// For gates, 0 but for the largest logits of a row: the name of the logits,
  /// as far as the program is serial, and the elements of a row.
  std::string logits;
  int64_t columns = 1;

  bool jumps() const { return !input.empty() || !logits.empty(); }
  /// The first of its name, "17:einsum of h.1.mlp": its place in the program.
  int64_t number() const { return std::atoll(name.c_str()); }
  /// Returns whether AdamW made it: an updated parameter, or the value of the
  /// update.
  bool isUpdate() const {
    return role == "parameter" || name.find(":adamw of ") != std::string::npos;
  }
};

/// Reads what an artifact says about itself, without its calls.
llvm::Expected<program::Program> readMetadata(const ArtifactFile &artifact);

/// One program, loaded and initialised.
class ProgramRun {
public:
  llvm::Error open(const std::string &path, uint64_t seed);
  /// Returns batch `number` of a step, which is the same in each program.
  std::vector<int32_t> randomTokens(int64_t number) const;
  llvm::Error step(const std::vector<int32_t> &tokens);
  /// Runs a step of a masked model on [batch, sequence] as they are, each of
  /// which is its own label.
  llvm::Error stepOn(const std::vector<int32_t> &ids,
                     const std::vector<int32_t> &tokenTypes);
  /// Evaluates, which writes over what the step has kept.
  llvm::Expected<tsr_evaluation> evaluate(const std::vector<int32_t> &tokens);
  /// Puts documents or padding into tokens of a step, if the model has masks of
  /// them.
  void addMasked(std::vector<int32_t> &tokens) const;
  /// Returns the elements of the whole tensor, put together from its slices.
  llvm::Expected<std::vector<double>> read(const KeptTensor &tensor);
  llvm::Error write(const KeptTensor &tensor,
                    const std::vector<double> &values);
  /// Returns null if the program keeps no such tensor.
  const KeptTensor *find(const std::string &role,
                         const std::string &name) const;
  /// Returns whether all ranks that have it hold the same bits of a value that
  /// is I or R.
  llvm::Expected<bool> copiesAgree(const KeptTensor &tensor);

  ArtifactFile artifact;
  std::vector<KeptTensor> tensors;
  int64_t messages = 0, microBatches = 1;
  bool ignoresLabels = false; ///< Set for a causal model.
  /// For models with masks: the token that ends a document, and the padding.
  std::optional<int64_t> separator, padding;
  std::optional<int64_t> ignored; ///< A label that does not count.
  /// For an encoder-decoder model: the token with which every target begins.
  std::optional<int64_t> start;
  int32_t tokenTypes = 0; ///< 0: the model has none.
  bool hasEvaluation = false;

private:
  llvm::Error listTensors();
  void listStages(const program::Program &program);

  struct Destroy {
    void operator()(tsr_session *session) const {
      tsr_session_destroy(session);
    }
  };
  std::unique_ptr<tsr_session, Destroy> session;
  std::map<std::pair<std::string, std::string>, size_t> known;
  std::vector<int64_t> stageOfRank; ///< Empty: there are no stages.
};

} // namespace tessera

#endif // TESSERA_LIB_VERIFY_PROGRAMRUN_H
